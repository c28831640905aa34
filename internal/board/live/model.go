package live

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"cw/internal/board"
	"cw/internal/cw"
)

const (
	// tick is how often ages are drawn anew.
	tick = time.Second
	// settle is how long a selection stays before its log is read: who runs through
	// the list reads none.
	settle = 150 * time.Millisecond
)

// Options are what the board needs.
type Options struct {
	Services Services
	Look     board.Look
	Now      func() time.Time
	Zone     string // time zone of the day whose cost is shown; "": UTC
	// Lines gives, for the output of one agent, what makes readable lines of each
	// event. Words that follow each other may come as one event or as several.
	Lines func(cw.AgentView) func(cw.OutputEvent) []string
}

// Model is the state of the program. Its methods are called by bubbletea, one
// after the other.
type Model struct {
	Options

	ctx     context.Context
	view    board.View
	reader  *reader // of the selected agent's log; nil before it is read
	wanted  int     // number of the last wish for a log
	turn    int     // number of the last key, and of what it asked for
	typed   *typing // what the line at the bottom is for
	confirm func() tea.Cmd
	reading *cw.InboxItem         // what the sheet with verdicts is about
	drafts  map[cw.AgentID]string // messages that are not sent
}

// New makes a model. ctx bounds all its calls.
func New(ctx context.Context, o Options) *Model {
	m := &Model{Options: o, ctx: ctx, drafts: map[cw.AgentID]string{}}
	m.view.Look, m.view.Now = o.Look, o.Now()
	m.view.Marked = map[cw.AgentID]bool{}
	return m
}

// Messages beside those of the terminal.
type (
	// seen is what a look saw, or why it saw nothing.
	seen struct {
		sight board.Sight
		err   error
	}
	// ticked says that a second is over.
	ticked struct{}
	// chosen says that a selection stayed.
	chosen struct{ wish int }
	// did is the end of a call: what to say, or what went wrong, and what follows.
	did struct {
		note string
		err  error
		then func() tea.Cmd // what follows in any case

		turn int            // that fetched it; 0: it is told whatever came meanwhile
		open func() tea.Cmd // what is shown or asked, in that turn alone
		late string         // what is said in a later one, instead of everything else
	}
)

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd { return ticking() }

func ticking() tea.Cmd { return tea.Tick(tick, func(time.Time) tea.Msg { return ticked{} }) }

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.view.Width, m.view.Height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		cmd = m.paste(msg.Content)
	case ticked:
		m.view.Now, cmd = m.Now(), ticking()
	case seen:
		cmd = m.saw(msg)
	case chosen:
		cmd = m.openLog(msg.wish)
	case paged:
		cmd = m.page(msg)
	case logged:
		cmd = m.log(msg)
	case did:
		cmd = m.did(msg)
	}
	m.view.Settle()
	return m, tea.Batch(cmd, m.chase(), m.fill())
}

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(board.Draw(m.view), "\n"))
	v.AltScreen = true
	v.WindowTitle = "cw top"
	return v
}

// saw takes what a look saw. Figures of a daemon that went away stay, with their
// age.
func (m *Model) saw(s seen) tea.Cmd {
	m.view.Now = m.Now()
	switch {
	case s.err == nil:
		m.view.Sight, m.view.Lost = s.sight, nil
		return m.readAgain()
	case cw.ErrorCode(s.err) == cw.CodeUnreachable:
		lost := board.Lost{Since: m.view.Now}
		if m.view.Lost != nil {
			lost.Since = m.view.Lost.Since
		}
		lost.Next = m.view.Now.Add(Away)
		m.view.Lost = &lost
	default:
		m.say(s.err)
	}
	return nil
}

// did takes the end of a call. What comes when the person went on neither changes
// what they type nor what they are asked.
func (m *Model) did(d did) (cmd tea.Cmd) {
	if d.then != nil {
		cmd = d.then()
	}
	if d.turn != 0 && (d.turn != m.turn || m.typed != nil || m.view.Confirm != "") {
		if d.late != "" {
			m.note(d.late)
		}
		return cmd
	}
	if d.open != nil {
		cmd = tea.Batch(cmd, d.open())
	}
	switch {
	case d.err != nil:
		m.say(d.err)
	case d.note != "":
		m.note(d.note)
	}
	return cmd
}

// note says something at the bottom, until the next key.
func (m *Model) note(text string) { m.view.Note = board.Note{Text: text} }

// say says what went wrong, and what to do about it.
func (m *Model) say(err error) {
	text := err.Error()
	switch hint := cw.ErrorHint(err); {
	case cw.ErrorCode(err) == cw.CodeUnreachable:
		text = "not done, the daemon was away: press the key again"
	case hint != "":
		text += "; " + hint
	}
	m.view.Note = board.Note{Text: text, Bad: true}
}

// call runs something that takes its time beside the program.
func (m *Model) call(f func(context.Context) did) tea.Cmd {
	return func() tea.Msg { return f(m.ctx) }
}

// fetch runs what is to be shown or asked next. Only its reply to the last turn
// counts: who pressed another key meanwhile wants something else.
func (m *Model) fetch(f func(context.Context) did) tea.Cmd {
	m.turn++
	turn := m.turn
	return m.call(func(ctx context.Context) did {
		d := f(ctx)
		d.turn = turn
		return d
	})
}
