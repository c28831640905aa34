package live

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// house are services in memory; tests say what they add.
type house struct {
	*servicetest.Memory

	mu          sync.Mutex
	waits       []cw.InboxItem                    // guarded by mu; beside what waits in memory
	uncommitted []string                          // guarded by mu; of every agent
	calls       []string                          // guarded by mu: verdicts, in words
	pages       int                               // guarded by mu: of output that were read
	pageErr     error                             // guarded by mu: in place of a page
	away        bool                              // guarded by mu: nothing can be sent
	proposals   map[cw.ProposalID]cw.ProposalView // by id
	tasks       map[cw.TaskID]cw.Task
}

func (h *house) told(call string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, call)
	return nil
}

func (h *house) said() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.calls, "; ")
}

func (h *house) Inbox(ctx context.Context, initiative string) (cw.Inbox, error) {
	in, err := h.Memory.Inbox(ctx, initiative)
	h.mu.Lock()
	defer h.mu.Unlock()
	in.Items = append(in.Items, h.waits...)
	return in, err
}

func (h *house) Diff(context.Context, string, cw.DiffRequest) (cw.Diff, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return cw.Diff{Patch: "diff --git a/x b/x\n+new line\n", Uncommitted: h.uncommitted}, nil
}

func (h *house) there() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.away {
		return cw.Errorf(cw.CodeUnreachable, "no daemon").Because(errors.New("dial"))
	}
	return nil
}

func (h *house) Send(ctx context.Context, ref string, r cw.SendRequest) (cw.Message, error) {
	if err := h.there(); err != nil {
		return cw.Message{}, err
	}
	return h.Memory.Send(ctx, ref, r)
}

func (h *house) Answer(ctx context.Context, r cw.AnswersRequest) ([]cw.QuestionView, error) {
	if err := h.there(); err != nil {
		return nil, err
	}
	return h.Memory.Answer(ctx, r)
}

func (h *house) OutputPage(ctx context.Context, ref string, q cw.OutputPageQuery) (cw.OutputPage, error) {
	h.mu.Lock()
	h.pages++
	err := h.pageErr
	h.mu.Unlock()
	if err != nil {
		return cw.OutputPage{}, err
	}
	page, err := h.Memory.OutputPage(ctx, ref, q)
	for i := range page.Items {
		page.Items[i].Event.Text += "\n"
	}
	return page, err
}

// OutputEvents gives lines with their ends, as parsers do.
func (h *house) OutputEvents(ctx context.Context, ref string, q cw.OutputQuery) iter.Seq2[cw.OutputEvent, error] {
	return func(yield func(cw.OutputEvent, error) bool) {
		for e, err := range h.Memory.OutputEvents(ctx, ref, q) {
			e.Event.Text += "\n"
			if !yield(e, err) {
				return
			}
		}
	}
}

func (h *house) Proposal(_ context.Context, id cw.ProposalID) (cw.ProposalView, error) {
	return h.proposals[id], nil
}

func (h *house) AcceptProposals(_ context.Context, c cw.ProposalChoice) ([]cw.Proposal, error) {
	return nil, h.told("accept " + string(c.IDs[0]))
}

func (h *house) DismissProposals(_ context.Context, c cw.ProposalChoice) ([]cw.Proposal, error) {
	return nil, h.told("dismiss " + string(c.IDs[0]) + " " + c.Note)
}

func (h *house) Task(_ context.Context, id cw.TaskID) (cw.Task, error) { return h.tasks[id], nil }

func (h *house) DecideTask(_ context.Context, id cw.TaskID, v cw.TaskVerdict) (cw.Task, error) {
	verdict := "reject "
	if v.Accept {
		verdict = "accept "
	}
	return cw.Task{}, h.told(verdict + string(id) + " " + v.Comment + v.Answers["q1"])
}

// player plays a person at the board. It is used inside of a synctest bubble.
type player struct {
	t      *testing.T
	house  *house
	model  *Model
	msgs   chan tea.Msg
	done   context.CancelFunc
	quit   bool
	linger sync.WaitGroup
}

// play lets a test play at a board of 80 columns and 24 lines.
func play(t *testing.T, f func(*player)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := &house{Memory: servicetest.NewMemory(), proposals: map[cw.ProposalID]cw.ProposalView{}, tasks: map[cw.TaskID]cw.Task{}}
		p := &player{t: t, house: h, done: cancel, msgs: make(chan tea.Msg, 1000)}
		p.model = New(ctx, Options{Services: h, Now: time.Now, Lines: func(cw.AgentView) func(cw.OutputEvent) []string {
			return func(e cw.OutputEvent) []string { return strings.Split(strings.TrimSuffix(e.Event.Text, "\n"), "\n") }
		}})
		p.take(tea.WindowSizeMsg{Width: 80, Height: 24})
		defer p.linger.Wait()
		defer cancel()
		f(p)
	})
}

// spawn makes an agent.
func (p *player) spawn(name string) cw.AgentView {
	p.t.Helper()
	v, err := p.house.Spawn(p.t.Context(), cw.SpawnRequest{Name: name, Goal: "Work on " + name})
	if err != nil {
		p.t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
	return v
}

// take gives the model a message, and all that follow from it at once.
func (p *player) take(msg tea.Msg) {
	p.update(msg)
	for {
		synctest.Wait()
		select {
		case msg := <-p.msgs:
			p.update(msg)
		default:
			return
		}
	}
}

func (p *player) update(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.BatchMsg:
		for _, cmd := range msg {
			p.start(cmd)
		}
		return
	case tea.QuitMsg:
		p.quit = true
		return
	}
	_, cmd := p.model.Update(msg)
	p.start(cmd)
}

func (p *player) start(cmd tea.Cmd) {
	if cmd != nil {
		p.linger.Go(func() { p.msgs <- cmd() })
	}
}

// look reads all anew, as the watch does.
func (p *player) look() {
	sight, err := read(p.t.Context(), p.house, time.Now, "")
	p.take(seen{sight, err})
}

// pass lets time pass, with all that happens in it.
func (p *player) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(gather / 2)
		p.take(ticked{})
	}
}

// press presses keys: names of one, or letters one after the other.
func (p *player) press(keys ...string) {
	special := map[string]rune{"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "backspace": tea.KeyBackspace, "down": tea.KeyDown}
	for _, key := range keys {
		if code, is := special[key]; is {
			p.take(tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range key {
			p.take(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

func (p *player) screen() string { return p.model.View().Content }

// shows fails when the screen lacks one of the texts.
func (p *player) shows(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.screen(), text) {
			p.t.Errorf("%q is not shown:\n%s", text, p.screen())
		}
	}
}

func (p *player) hides(text string) {
	p.t.Helper()
	if strings.Contains(p.screen(), text) {
		p.t.Errorf("%q is shown:\n%s", text, p.screen())
	}
}
