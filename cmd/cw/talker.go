package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"cw/internal/cw"
)

// sendMax is how long sending one message may take.
const sendMax = 10 * time.Second

// talker sends an agent that is watched what somebody types, or pipes in. Its
// methods may be called on nil: then nothing is read.
type talker struct {
	svc   cw.Services
	agent cw.AgentID
	lines *lineReader
	out   io.Writer
	paint paint
	// piped tells that no person types: every line is to be sent, and one that
	// cannot be is an error.
	piped bool
	begun []string // lines of a message that is not at its end
	over  bool     // nothing more is read
	sent  int      // messages
}

// talker gives who sends what is typed while w watches; nil for nobody.
func (w watch) talker(lines *lineReader) *talker {
	if !w.talks && !w.messages {
		return nil
	}
	return &talker{svc: w.svc, agent: w.agent.ID, lines: lines, out: w.app.err, paint: w.app.paint(w.app.errTTY), piped: w.messages}
}

// listens tells whether somebody may be typing.
func (t *talker) listens() bool { return t != nil && !t.over && !t.piped }

// typed gives the channel of the next line; nil when nothing is read.
func (t *talker) typed() <-chan typedLine {
	if t == nil || t.over {
		return nil
	}
	return t.lines.next()
}

// take takes a line that was received, and sends the message that ends with it.
// It gives what is to be said about it. An error ends the watching.
func (t *talker) take(ctx context.Context, l typedLine) (said []string, err error) {
	t.lines.taken()
	if l.err != nil {
		return t.end(ctx, l.err)
	}
	text := strings.TrimRight(l.text, "\r\n")
	if begins, ok := strings.CutSuffix(text, `\`); ok {
		t.begun = append(t.begun, begins)
		return nil, nil
	}
	t.begun = append(t.begun, text)
	return t.send(ctx)
}

// end is the end of the input. A message that waits for its next line is sent as
// it is. A terminal that cannot be read any more is no reason to watch no more.
func (t *talker) end(ctx context.Context, why error) (said []string, err error) {
	t.over = true
	if said, err = t.send(ctx); err != nil {
		return said, err
	}
	switch {
	case t.piped && !errors.Is(why, io.EOF):
		return said, fmt.Errorf("read the messages: %w", why)
	case !t.piped:
		said = append(said, t.paint.dim("nothing more is sent; watching goes on until the agent rests, or Ctrl-C"))
	}
	return said, nil
}

// send sends the message that was begun; an empty one is none. It is sent to its
// end, also when the watching ends meanwhile.
func (t *talker) send(ctx context.Context) (said []string, err error) {
	text := strings.Join(t.begun, "\n")
	t.begun = nil
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendMax)
	defer cancel()
	m, err := t.svc.Send(whole, string(t.agent), cw.SendRequest{Text: text, WhenBusy: cw.BusyQueue})
	switch {
	case err != nil && t.piped:
		return nil, fmt.Errorf("%q was not sent: %w", cut(oneLine(text), titleMax), err)
	case err != nil:
		said := "not sent: " + oneLine(err.Error())
		if hint := cw.ErrorHint(err); hint != "" {
			said += "; " + oneLine(hint)
		}
		return []string{t.paint.yellow(said)}, nil
	}
	t.sent++
	if m.QueuedAt != nil {
		return []string{t.paint.dim("queued: sent when this run ends")}, nil
	}
	return []string{t.paint.dim("sent")}, nil
}

// more tells, of an agent that is at rest, whether it is to be watched on because
// it was told something. What is typed already is taken; what is piped in is
// waited for, as long as the agent can be told anything.
func (t *talker) more(ctx context.Context, v cw.AgentView) (bool, error) {
	if t == nil || v.Status == cw.StatusCrashed || v.Status == cw.StatusStopped || !t.piped && len(v.PendingQuestions) > 0 {
		return false, nil
	}
	for !t.over {
		before := t.sent
		line, ok := t.waiting(ctx)
		if !ok {
			return false, ctx.Err()
		}
		said, err := t.take(ctx, line)
		for _, text := range said {
			fmt.Fprintln(t.out, text)
		}
		if err != nil {
			return false, err
		}
		if t.sent > before && len(v.PendingQuestions) == 0 {
			return true, nil
		}
	}
	return false, nil
}

// waiting gives the next line that is piped in, or one that was typed already.
func (t *talker) waiting(ctx context.Context) (line typedLine, ok bool) {
	if !t.piped {
		select {
		case line = <-t.typed():
			return line, true
		default:
			return line, false
		}
	}
	select {
	case line = <-t.typed():
		return line, true
	case <-ctx.Done():
		return line, false
	}
}
