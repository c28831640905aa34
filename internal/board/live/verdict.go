package live

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"cw/internal/board"
	"cw/internal/cw"
)

// verdictKeys are those of a sheet that is about something to be decided.
func verdictKeys(yes, no string) [][2]string { return [][2]string{{"y", yes}, {"d", no}} }

// proposals shows what an agent suggests.
func (m *Model) proposals(it cw.InboxItem) tea.Cmd {
	m.note("Reading the proposals")
	return m.fetch(func(ctx context.Context) did {
		var text strings.Builder
		for i, id := range it.ProposalIDs {
			p, err := m.Services.Proposal(ctx, id)
			if err != nil {
				return did{err: err}
			}
			fmt.Fprintf(&text, "%d of %d: %s %s %s\n", i+1, len(it.ProposalIDs), p.Action, p.Target, p.Title)
			if p.Changed {
				text.WriteString("it changed since this was suggested\n")
			}
			if p.Reason != "" {
				text.WriteString(p.Reason + "\n")
			}
			text.WriteString(strings.TrimRight(p.Diff, "\n") + "\n\n")
		}
		title := fmt.Sprintf("%s suggests %d changes", it.Agent, len(it.ProposalIDs))
		if len(it.ProposalIDs) == 1 {
			title = it.Agent + " suggests a change"
		}
		return did{open: func() tea.Cmd {
			m.view.Note, m.view.Sheet = board.Note{}, board.NewSheet(title, text.String(), true)
			m.view.Sheet.Keys, m.reading = verdictKeys("accept all", "dismiss all"), &it
			return nil
		}}
	})
}

// checkpoint shows what a person is to decide, do or look at.
func (m *Model) checkpoint(it cw.InboxItem) tea.Cmd {
	return m.fetch(func(ctx context.Context) did {
		t, err := m.Services.Task(ctx, it.TaskID)
		if err != nil {
			return did{err: err}
		}
		text := t.Body
		if t.Summary != "" {
			text += "\n\nWhat was done:\n" + t.Summary
		}
		return did{open: func() tea.Cmd {
			m.view.Sheet = board.NewSheet(t.Name, strings.TrimSpace(text), false)
			m.view.Sheet.Keys, m.reading = verdictKeys("done", "not done"), &it
			return nil
		}}
	})
}

// matter is what a verdict is about: what is read, else the selected thing. The
// list may change while somebody reads.
func (m *Model) matter() (cw.InboxItem, bool) {
	if m.view.Sheet != nil && m.reading != nil {
		return *m.reading, true
	}
	return m.view.Waiting()
}

// accept says yes to the selected thing.
func (m *Model) accept() tea.Cmd {
	it, is := m.matter()
	switch {
	case !is:
		return nil
	case it.Kind == cw.InboxProposal:
		m.ask(fmt.Sprintf("Accept %s of %s?", plural(len(it.ProposalIDs), "proposal"), it.Agent), func() tea.Cmd {
			return m.settled("accepted", func(ctx context.Context) error {
				_, err := m.Services.AcceptProposals(ctx, cw.ProposalChoice{IDs: it.ProposalIDs})
				return err
			})
		})
	case it.Kind == cw.InboxCheckpoint:
		return m.decide(it)
	default:
		m.elsewhere(it)
	}
	return nil
}

// decide says that a checkpoint is done. A decision is asked for what it asks.
func (m *Model) decide(it cw.InboxItem) tea.Cmd {
	return m.fetch(func(ctx context.Context) did {
		t, err := m.Services.Task(ctx, it.TaskID)
		if err != nil {
			return did{err: err}
		}
		return did{open: func() tea.Cmd {
			k := board.Asking{Who: t.Name, Task: t.ID, Behind: it.Behind}
			for _, q := range cw.FilledQuestions(t.Questions) {
				k.Questions = append(k.Questions, q.Question())
			}
			switch {
			case len(k.Questions) > 0:
				m.begin(&k)
			case t.Type == cw.TaskCheckpointDecide:
				m.read("What is decided?", typing{done: func(text string) tea.Cmd {
					return m.verdict(t, cw.TaskVerdict{Accept: true, Comment: text})
				}})
			default:
				m.ask("Is this done: "+t.Name+"?", func() tea.Cmd { return m.verdict(t, cw.TaskVerdict{Accept: true}) })
			}
			return nil
		}}
	})
}

// verdict sends what a person says of a checkpoint.
func (m *Model) verdict(t cw.Task, v cw.TaskVerdict) tea.Cmd {
	word := "done: " + t.Name
	if !v.Accept {
		word = "goes back: " + t.Name
	}
	return m.settled(word, func(ctx context.Context) error {
		_, err := m.Services.DecideTask(ctx, t.ID, v)
		return err
	})
}

// dismiss says no to the selected thing, with a reason.
func (m *Model) dismiss() tea.Cmd {
	it, is := m.matter()
	switch {
	case !is:
	case it.Kind == cw.InboxProposal:
		m.read("Why are they dismissed? Enter for no reason:", typing{empty: true, done: func(text string) tea.Cmd {
			return m.settled("dismissed", func(ctx context.Context) error {
				_, err := m.Services.DismissProposals(ctx, cw.ProposalChoice{IDs: it.ProposalIDs, Note: strings.TrimSpace(text)})
				return err
			})
		}})
	case it.Kind == cw.InboxCheckpoint:
		m.read("What is not right?", typing{done: func(text string) tea.Cmd {
			return m.verdict(cw.Task{ID: it.TaskID, Name: it.Task}, cw.TaskVerdict{Comment: text})
		}})
	default:
		m.elsewhere(it)
	}
	return nil
}

// settled does what settles the selected thing, and goes back to the board.
func (m *Model) settled(word string, act func(context.Context) error) tea.Cmd {
	about := m.view.Sheet
	return m.call(func(ctx context.Context) did {
		err := act(ctx)
		return did{err: err, note: word, then: func() tea.Cmd {
			if err == nil && m.view.Sheet == about { // not one that was opened meanwhile
				m.view.Sheet = nil
			}
			return nil
		}}
	})
}
