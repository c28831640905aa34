package live

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"cw/internal/board"
	"cw/internal/cw"
)

// subject is the agent that a key is about: the selected one, or that of the
// selected thing that waits.
func (m *Model) subject() (cw.AgentView, bool) {
	if m.view.Pane == board.PaneInbox && !m.view.Opened {
		it, is := m.view.Waiting()
		if !is || it.AgentID == "" {
			return cw.AgentView{}, false
		}
		for _, a := range m.view.Agents {
			if a.ID == it.AgentID {
				return a, true
			}
		}
		return cw.AgentView{}, false
	}
	return m.view.Agent()
}

// noSubject says that there is no agent here.
func (m *Model) noSubject() tea.Cmd {
	if it, is := m.view.Waiting(); is && m.view.Pane == board.PaneInbox && it.Hint != "" {
		m.note("no agent is behind this: " + it.Hint)
		return nil
	}
	m.note("no agent is selected")
	return nil
}

// mark selects an agent for what is done with several, or takes it out again.
func (m *Model) mark() {
	a, is := m.view.Agent()
	if m.view.Pane != board.PaneAgents || !is {
		m.note("agents are selected in their list: 2")
		return
	}
	if m.view.Marked[a.ID] {
		delete(m.view.Marked, a.ID)
	} else {
		m.view.Marked[a.ID] = true
	}
	m.view.Move(1)
}

// message asks for a text to an agent and sends it. What could not be sent is
// there again the next time.
func (m *Model) message() tea.Cmd {
	a, is := m.subject()
	if !is {
		return m.noSubject()
	}
	label := "Message to " + a.Alias + ":"
	if a.Status.Alive() {
		label = "Message to " + a.Alias + ", for its next run:"
	}
	m.read(label, typing{done: func(text string) tea.Cmd {
		m.drafts[a.ID] = text
		return m.call(func(ctx context.Context) did {
			req := cw.SendRequest{Text: text, WhenBusy: cw.BusyQueue}
			if err := req.Check(); err != nil {
				return did{err: err}
			}
			if _, err := m.Services.Send(ctx, string(a.ID), req); err != nil {
				return did{err: err}
			}
			sent := func() tea.Cmd { delete(m.drafts, a.ID); return nil }
			if a.Status == cw.StatusIdle {
				return did{note: a.Alias + " goes on with it", then: sent}
			}
			return did{note: a.Alias + " has it in its next prompt", then: sent}
		})
	}})
	m.write(m.drafts[a.ID])
	return nil
}

// diff shows what an agent changed.
func (m *Model) diff() tea.Cmd {
	a, is := m.subject()
	if !is {
		return m.noSubject()
	}
	m.note("Reading what " + a.Alias + " changed")
	return m.fetch(func(ctx context.Context) did {
		var text, files strings.Builder
		for _, p := range a.Projects {
			d, err := m.Services.Diff(ctx, string(a.ID), cw.DiffRequest{Project: p.Project})
			if err != nil {
				return did{err: err}
			}
			for _, path := range d.Uncommitted {
				fmt.Fprintf(&files, "not committed: %s\n", path)
			}
			text.WriteString(d.Patch + d.WorkPatch)
		}
		title := fmt.Sprintf("%s changed since its base", a.Alias)
		whole := files.String() + text.String()
		if whole == "" {
			return did{note: a.Alias + " changed nothing so far"}
		}
		return did{open: func() tea.Cmd {
			m.view.Note, m.view.Sheet = board.Note{}, board.NewSheet(title, whole, true)
			return nil
		}}
	})
}

// stop ends the selected agents, or the one that the key is about. It asks first
// when there are several, and when work would be left uncommitted.
func (m *Model) stop() tea.Cmd {
	targets := m.targets()
	if len(targets) == 0 {
		m.note("nothing to stop: it does not run")
		return nil
	}
	m.note("Looking for work that is not committed")
	return m.fetch(func(ctx context.Context) did {
		files, unknown := m.uncommitted(ctx, targets)
		if len(targets) == 1 && files+unknown == 0 {
			return did{then: func() tea.Cmd { return m.stopAll(targets) }}
		}
		late := "nothing was stopped, for that is to be confirmed: press s again"
		return did{late: late, open: func() tea.Cmd {
			m.view.Note = board.Note{}
			m.ask(stopQuestion(targets, files, unknown), func() tea.Cmd { return m.stopAll(targets) })
			return nil
		}}
	})
}

// targets are the agents that stop would end.
func (m *Model) targets() []cw.AgentView {
	var out []cw.AgentView
	for _, a := range m.view.Shown() {
		if m.view.Marked[a.ID] && stoppable(a) {
			out = append(out, a)
		}
	}
	if len(m.view.Marked) > 0 && !m.view.Opened && m.view.Pane == board.PaneAgents {
		return out
	}
	if a, is := m.subject(); is && stoppable(a) {
		return []cw.AgentView{a}
	}
	return nil
}

// stoppable tells whether there is anything to end.
func stoppable(a cw.AgentView) bool {
	return a.Status.Alive() || a.Status == cw.StatusParked || a.Status == cw.StatusWaitingForInput
}

// uncommitted counts files that are not committed, and agents of which that
// cannot be told.
func (m *Model) uncommitted(ctx context.Context, targets []cw.AgentView) (files, unknown int) {
	for _, a := range targets {
		for _, p := range a.Projects {
			d, err := m.Services.Diff(ctx, string(a.ID), cw.DiffRequest{Project: p.Project, Stat: true})
			if err != nil {
				unknown++
				break
			}
			files += len(d.Uncommitted)
		}
	}
	return files, unknown
}

func stopQuestion(targets []cw.AgentView, files, unknown int) string {
	who := targets[0].Alias
	if len(targets) > 1 {
		who = plural(len(targets), "agent")
	}
	switch {
	case files == 1:
		return fmt.Sprintf("Stop %s? 1 file is not committed; it stays.", who)
	case files > 1:
		return fmt.Sprintf("Stop %s? %d files are not committed; they stay.", who, files)
	case unknown > 0:
		return fmt.Sprintf("Stop %s? What is not committed cannot be told; it stays.", who)
	}
	return fmt.Sprintf("Stop %s?", who)
}

// stopAll ends agents one beside the other: each may take its whole grace.
func (m *Model) stopAll(targets []cw.AgentView) tea.Cmd {
	names := make([]string, len(targets))
	for i, a := range targets {
		names[i] = a.Alias
	}
	clear(m.view.Marked)
	m.note("Stopping " + strings.Join(names, ", "))
	return m.call(func(ctx context.Context) did {
		errs := make(chan error, len(targets))
		for _, a := range targets {
			go func() {
				_, err := m.Services.Stop(ctx, string(a.ID), cw.StopRequest{})
				errs <- err
			}()
		}
		var failed []error
		for range targets {
			failed = append(failed, <-errs)
		}
		if err := errors.Join(failed...); err != nil {
			return did{err: first(failed)}
		}
		return did{note: "Stopped " + strings.Join(names, ", ") + "; what was written is kept"}
	})
}

// first gives the first error there is.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
