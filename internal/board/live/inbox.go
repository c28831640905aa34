package live

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"cw/internal/board"
	"cw/internal/cw"
)

// next goes to the next thing that waits, after the last one to the first.
func (m *Model) next() tea.Cmd {
	m.view.Opened, m.view.Pane = false, board.PaneInbox
	before := m.view.Item
	if m.view.Move(1); m.view.Item == before {
		m.view.Move(-len(m.view.Inbox))
	}
	return nil
}

// open shows more of what is selected: a question is answered, an agent fills the
// screen, proposals are read.
func (m *Model) open() tea.Cmd {
	if m.view.Pane == board.PaneAgents {
		_, m.view.Opened = m.view.Agent()
		return nil
	}
	it, is := m.view.Waiting()
	if !is {
		return nil
	}
	switch it.Kind {
	case cw.InboxQuestion:
		return m.answer()
	case cw.InboxProposal:
		return m.proposals(it)
	case cw.InboxCheckpoint:
		return m.checkpoint(it)
	case cw.InboxCrashed, cw.InboxStalled, cw.InboxMerge:
		if _, is := m.subject(); is {
			m.view.AgentID, m.view.Opened = it.AgentID, true
			return nil
		}
	}
	m.elsewhere(it)
	return nil
}

// elsewhere tells the command for what cannot be done here.
func (m *Model) elsewhere(it cw.InboxItem) {
	if it.Hint == "" {
		m.note("nothing can be done about it here")
		return
	}
	m.note("not from here: " + it.Hint)
}

// answer asks the questions of the agent or of the thing that the key is about,
// else those of the selected thing that waits.
func (m *Model) answer() tea.Cmd {
	if a, is := m.view.Agent(); is && (m.view.Opened || m.view.Pane == board.PaneAgents) {
		if len(a.PendingQuestions) > 0 {
			m.begin(&board.Asking{Who: a.Alias, Questions: a.PendingQuestions})
			return nil
		}
		if m.view.Opened {
			m.note(a.Alias + " asks nothing now")
			return nil
		}
	}
	it, is := m.view.Waiting()
	switch {
	case !is:
		m.note("nobody asks anything")
	case it.Kind == cw.InboxQuestion:
		return m.questions(it)
	case it.Kind == cw.InboxCheckpoint:
		return m.accept()
	default:
		m.note("this asks nothing; 1 and j k choose another one")
	}
	return nil
}

// begin shows questions. One agent that fills the screen makes room for them.
func (m *Model) begin(k *board.Asking) {
	m.view.Note = board.Note{}
	m.view.Opened, m.view.Sheet, m.view.Asking = false, nil, k
}

// questions reads the questions of a thing that waits, as they are now.
func (m *Model) questions(it cw.InboxItem) tea.Cmd {
	return m.fetch(func(ctx context.Context) did {
		k := board.Asking{Who: it.Agent, Behind: it.Behind}
		for _, id := range it.QuestionIDs {
			q, err := m.Services.Question(ctx, string(id))
			if err != nil {
				return did{err: err}
			}
			if q.Status == cw.QuestionOpen {
				k.Questions = append(k.Questions, q.Question)
			}
		}
		if len(k.Questions) == 0 {
			return did{note: "it was answered meanwhile"}
		}
		return did{open: func() tea.Cmd { m.begin(&k); return nil }}
	})
}

// ownWords asks for an answer in words.
func (m *Model) ownWords(k *board.Asking) {
	m.read("Answer:", typing{done: func(text string) tea.Cmd { return m.answered(k.Say(text)) }})
}

// answered goes on after one answer, and sends all after the last.
func (m *Model) answered(last bool, err error) tea.Cmd {
	if err != nil {
		m.say(err)
		return nil
	}
	if !last {
		return nil
	}
	k := m.view.Asking
	k.Sent = true
	return m.call(func(ctx context.Context) did {
		err := m.send(ctx, k)
		return did{err: err, note: "answered: " + k.Who + " goes on", then: func() tea.Cmd {
			k.Sent = false
			if m.view.Asking == k && (err == nil || cw.ErrorCode(err) == cw.CodeRefused || cw.ErrorCode(err) == cw.CodeNotFound) {
				m.view.Asking = nil // it is answered, by whomever
			}
			return nil
		}}
	})
}

// send sends all answers at once, to the agent that asked or for the decision.
func (m *Model) send(ctx context.Context, k *board.Asking) error {
	if k.Task == "" {
		_, err := m.Services.Answer(ctx, cw.AnswersRequest{Answers: k.Answers()})
		return err
	}
	v := cw.TaskVerdict{Accept: true, Answers: map[string]string{}}
	for id, answer := range k.Answers() {
		v.Answers[string(id)] = answer
	}
	_, err := m.Services.DecideTask(ctx, k.Task, v)
	return err
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
