package orchestrator

import (
	"context"
	"fmt"
	"time"

	"cw/internal/cw"
)

// responseRead is how many bytes of a run's output are read for what a response
// tells beside its text.
const responseRead = 32 << 20

// AwaitMessage implements cw.AgentMessageService. It looks at the rows again and
// again, so that it may be called at any time, by any daemon.
func (o *Orchestrator) AwaitMessage(ctx context.Context, responseID string) (cw.AgentMessageResult, error) {
	none := cw.AgentMessageResult{}
	actor := cw.ActorOf(ctx)
	m, err := o.Store.MessageByID(ctx, cw.MessageID(responseID))
	if err != nil {
		return none, err
	}
	theirs := actor.Kind == cw.ActorAgent && m.SenderAgentID != actor.AgentID && !o.Guards.Off("own-response")
	if m.SenderAgentID == "" || theirs { // nothing is learned of others' texts
		return none, cw.Errorf(cw.CodeNotFound, "there is no message %.100q", responseID).
			WithHint("the responseId is in the answer to your message")
	}
	if actor.Kind == cw.ActorAgent {
		end, err := o.beginWait(ctx, actor.AgentID, m.AgentID)
		if err != nil {
			return none, err
		}
		defer end()
	}
	for {
		ring := o.bell.Next(m.AgentID)
		if done, over, err := o.lookAtResponse(ctx, m.ID); over || err != nil {
			return done, err
		}
		if !awaitRing(ctx, ring) {
			return none, ctx.Err()
		}
	}
}

// lookAtResponse gives the response to a text once there is one.
func (o *Orchestrator) lookAtResponse(ctx context.Context, id cw.MessageID) (done cw.AgentMessageResult, over bool, err error) {
	m, err := o.Store.MessageByID(ctx, id)
	if err != nil {
		return done, false, err
	}
	view, err := o.Store.AgentView(ctx, string(m.AgentID))
	if err != nil {
		return done, false, err
	}
	run, over, err := answeringRun(m, view)
	if !over || err != nil {
		return done, over, err
	}
	done, err = o.response(ctx, m, view, run)
	return done, true, err
}

// answeringRun is the run whose final word answers a text: the one that had it
// in its prompt, or, when that was cut off and cw let another go on, that one.
// over is false while it is still to come. CodeRefused when only a person can
// bring it about.
func answeringRun(m cw.Message, v cw.AgentView) (run cw.Run, over bool, err error) {
	if m.DeliveredAt == nil || m.RunID == "" {
		if err := cw.MayMessage(v.Agent); err != nil {
			return run, true, cw.Errorf(cw.CodeRefused, "%s, and has not had the message %s", err, m.ID).WithHint("%s", cw.ErrorHint(err))
		}
		return run, false, nil
	}
	carried := false
	for _, r := range v.Runs {
		switch {
		case r.ID == m.RunID:
			run, carried = r, true
		case carried && goesOnFor(r.Reason):
			run = r
		case carried:
			return run, run.EndedAt != nil, nil
		}
	}
	waits := run.Outcome == cw.StatusParked && v.Status == cw.StatusParked
	return run, run.EndedAt != nil && !waits, nil
}

// goesOnFor tells whether a run goes on with the work of the one before, which
// was cut off.
func goesOnFor(reason cw.RunReason) bool {
	return reason == cw.RunFailover || reason == cw.RunStalled || reason == cw.RunReboot
}

// response puts together what a run that is over said.
func (o *Orchestrator) response(ctx context.Context, m cw.Message, v cw.AgentView, run cw.Run) (cw.AgentMessageResult, error) {
	r := startedResult(m, v.Agent, cw.MessageSync)
	r.Status, r.DurationMS = cw.MessageComplete, max(0, run.EndedAt.Sub(m.CreatedAt).Milliseconds())
	word, err := o.Store.FinalWord(ctx, run.ID)
	if err != nil {
		return r, fmt.Errorf("read the response: %w", err)
	}
	r.Response = shortened(word, cw.AgentResponseMax)
	r.Truncated = len(r.Response) < len(word)
	r.Message = howResponded(v.Alias, run, word)
	if err := o.addCalls(ctx, &r, v.Agent, run); err != nil {
		return r, err
	}
	return r, nil
}

// howResponded says what a sender must know of a run that did not simply end
// well.
func howResponded(name string, run cw.Run, word string) string {
	switch {
	case run.Outcome == cw.StatusWaitingForInput:
		return fmt.Sprintf("agent %s has asked people something and waits for their answers", name)
	case run.Outcome == cw.StatusCrashed || run.Outcome == cw.StatusStopped:
		return fmt.Sprintf("the run of agent %s that had the message ended %s%s; only a person can resume it", name, run.Outcome, colon(string(run.OutcomeReason)))
	case word == "":
		return fmt.Sprintf("agent %s ended without a word", name)
	}
	return ""
}

// addCalls adds what the output of a run tells of its tools and its thinking.
func (o *Orchestrator) addCalls(ctx context.Context, r *cw.AgentMessageResult, a cw.Agent, run cw.Run) error {
	reading, err := o.newReading(providerOf(run, a), run.CreatedAt)
	if err != nil {
		return nil // nobody knows its form any more
	}
	calls := callsOf{result: r, open: map[string]openCall{}}
	left := responseRead
	for c, err := range o.Output(ctx, string(a.ID), cw.OutputQuery{Session: run.SessionNumber, Only: true, Until: cw.UntilNow}) {
		if err != nil {
			return fmt.Errorf("read the output of the response: %w", err)
		}
		calls.take(reading.FeedAt(c.Bytes, c.CreatedAt), c.CreatedAt)
		if left -= len(c.Bytes); left <= 0 {
			break
		}
	}
	calls.take(reading.Flush(), time.Time{})
	return ctx.Err()
}

// callsOf gathers what a response tells beside its text.
type callsOf struct {
	result *cw.AgentMessageResult
	open   map[string]openCall // by the id of their use
}

// openCall is a call that is listed and has no end yet.
type openCall struct {
	index int
	at    time.Time
}

// take adds what was read at a time; zero: that is not known.
func (c *callsOf) take(events []cw.StreamEvent, at time.Time) {
	for _, ev := range events {
		switch ev.Kind {
		case cw.StreamThinking:
			c.result.ThinkingText = shortened(c.result.ThinkingText+ev.Text, cw.AgentThinkingMax)
		case cw.StreamToolCall:
			c.result.ToolCallCount++
			if len(c.result.ToolCalls) < cw.AgentToolCallsMax {
				c.open[ev.ToolUseID] = openCall{len(c.result.ToolCalls), at}
				c.result.ToolCalls = append(c.result.ToolCalls, cw.AgentToolCall{Name: ev.Tool})
			}
		case cw.StreamToolResult:
			if call, ok := c.open[ev.ToolUseID]; ok && !at.IsZero() {
				c.result.ToolCalls[call.index].DurationMS = max(0, at.Sub(call.at).Milliseconds())
				delete(c.open, ev.ToolUseID)
			}
		}
	}
}
