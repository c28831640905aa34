package live

import (
	"context"
	"iter"
	"time"

	tea "charm.land/bubbletea/v2"

	"cw/internal/board"
	"cw/internal/cw"
)

const (
	// gather is how long output is collected before it is drawn: a log changes at
	// most four times a second.
	gather = 250 * time.Millisecond
	// gatherMax bounds the lines of one batch; the oldest go.
	gatherMax = 2000
)

// stream is the output of one agent that is followed.
type stream struct {
	agent cw.AgentID
	stop  context.CancelFunc
	lines chan []string // closed at its end
}

// logged are new lines of a stream.
type logged struct {
	from  *stream
	lines []string
	over  bool
}

// chase follows the log of another agent once the selection is another one.
func (m *Model) chase() tea.Cmd {
	if m.view.Log.Agent == m.view.AgentID {
		return nil
	}
	if m.stream != nil {
		m.stream.stop()
		m.stream = nil
	}
	m.view.Log = board.Log{Agent: m.view.AgentID}
	m.wanted++
	wish := m.wanted
	return tea.Tick(settle, func(time.Time) tea.Msg { return chosen{wish} })
}

// openLog begins to follow the selected agent, unless another one was selected
// meanwhile.
func (m *Model) openLog(wish int) tea.Cmd {
	agent, is := m.view.Agent()
	if !is || wish != m.wanted || m.stream != nil {
		return nil
	}
	ctx, stop := context.WithCancel(m.ctx)
	s := &stream{agent: agent.ID, stop: stop, lines: make(chan []string)}
	m.stream = s
	q := cw.OutputQuery{Session: max(agent.SessionNumber, 1), Until: cw.UntilClosed}
	go s.pump(ctx, m.Services.OutputEvents(ctx, string(agent.ID), q), m.Lines(agent))
	return s.next()
}

// pump reads until the stream is over or nobody wants it any more.
func (s *stream) pump(ctx context.Context, events iter.Seq2[cw.OutputEvent, error], render func(cw.OutputEvent) []string) {
	defer close(s.lines)
	for e, err := range events {
		lines := []string{}
		if err == nil {
			lines = render(e)
		} else if ctx.Err() == nil {
			lines = append(lines, "error: the log cannot be read: "+err.Error())
		}
		if len(lines) == 0 {
			continue
		}
		select {
		case s.lines <- lines:
		case <-ctx.Done():
			return
		}
	}
}

// next waits for lines and collects what comes right behind them.
func (s *stream) next() tea.Cmd {
	return func() tea.Msg {
		out, open := <-s.lines
		if !open {
			return logged{from: s, over: true}
		}
		enough := time.After(gather)
		for {
			select {
			case more, open := <-s.lines:
				if !open {
					return logged{from: s, lines: out, over: true}
				}
				if out = append(out, more...); len(out) > gatherMax {
					out = out[len(out)-gatherMax:]
				}
			case <-enough:
				return logged{from: s, lines: out}
			}
		}
	}
}

// log takes new lines.
func (m *Model) log(l logged) tea.Cmd {
	if l.from != m.stream {
		return nil
	}
	m.view.Log.Add(l.lines...)
	if l.over {
		return nil
	}
	return l.from.next()
}
