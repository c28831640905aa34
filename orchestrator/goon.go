package orchestrator

import (
	"context"
	"fmt"
	"slices"

	"cw/internal/cw"
	"cw/prompts"
)

// standing is what decides whether an agent goes on by itself.
type standing struct {
	Status  cw.AgentStatus
	Notes   bool // what people answer it is noted on a page
	Removed bool
	Open    int           // questions without an answer
	Queued  int           // texts that wait for a run
	Wakes   int           // questions of other agents that it is to be woken with
	Asked   []cw.Question // of a waiting agent: its newest group
	Untold  []cw.Question // what became of questions of calls, and no call took
	Due     *successor    // of a parked agent: with which it can go on; nil: it waits
}

// intention is why an agent gets another run, and what that run is told beside
// what waits for it.
type intention struct {
	Reason   cw.RunReason
	Messages []cw.Message
	Asked    []cw.Question // that it goes on with the answers of
	To       *successor    // what it goes on with; nil: that is decided with the run
	Why      string        // for people
}

// nextRun decides whether an agent goes on by itself: one whose questions are
// all closed with the answers, an idle one with the texts that wait for it or
// with a question of another agent that wakes it or with answers that no call
// took, a parked one when there is an account. What no call took is told with
// every run.
// Questions that were withdrawn with their agent are no reason. One that waits
// goes on when the time for answers is over, too; an idle one has nothing to go
// on with then, and is told so in its next run.
func nextRun(s standing) (next intention, ok bool) {
	switch {
	case s.Removed:
	case s.Status == cw.StatusWaitingForInput && s.Open == 0 && answered(s.Asked)+unanswered(s.Asked)+answered(s.Untold) > 0:
		next = intention{Reason: cw.RunAnswers, Asked: slices.Concat(s.Asked, s.Untold)}
		if len(s.Asked) > 0 {
			next.Messages = ownMessages([]string{prompts.Answers(answersFor(s.Asked), s.Notes)})
		}
		return next, true
	case s.Status == cw.StatusIdle && s.Queued > 0:
		return intention{Reason: cw.RunFollowUp}, true
	case s.Status == cw.StatusIdle && s.Wakes > 0:
		return intention{Reason: cw.RunWake, Why: "another agent asks it something"}, true
	case s.Status == cw.StatusIdle && s.Open == 0 && answered(s.Untold) > 0:
		return intention{Reason: cw.RunAnswers, Asked: s.Untold}, true
	case s.Status == cw.StatusParked && s.Due != nil:
		return intention{Reason: cw.RunFailover, To: s.Due, Why: "it was parked until there was an account for it"}, true
	}
	return intention{}, false
}

func answered(questions []cw.Question) int {
	n := 0
	for _, q := range questions {
		if q.Status == cw.QuestionAnswered {
			n++
		}
	}
	return n
}

// unanswered counts the questions that nobody answered.
func unanswered(questions []cw.Question) int {
	n := 0
	for _, q := range questions {
		if q.Unanswered() {
			n++
		}
	}
	return n
}

// answersFor is what an agent is told of what became of its questions.
func answersFor(questions []cw.Question) []prompts.AnsweredQuestion {
	out := make([]prompts.AnsweredQuestion, len(questions))
	for i, q := range questions {
		out[i] = prompts.AnsweredQuestion{Header: q.Header, Question: q.Text, Answer: q.Answer}
		if q.Unanswered() {
			out[i].Unanswered, out[i].AskAgain = q.Reason, q.Reason == cw.WithdrawnStopped
		}
	}
	return out
}

// goOn lets an agent go on when it may. It is called whenever that may have
// changed: after answers, after a text, after the end of a run, and when a
// daemon starts. Called too often it does nothing: the intent is stored only in
// the status that it was decided for.
func (o *Orchestrator) goOn(ctx context.Context, agent cw.AgentID) {
	log := o.Log.With("agent", agent)
	_ = again(ctx, log, "go on", func(int) error { return o.goOnOnce(ctx, agent) }) // what ctx interrupted is taken up by the next daemon
}

// goOnOnce is one try. Its error is about what was not stored; a run that was
// intended and cannot be started is the agent's status.
func (o *Orchestrator) goOnOnce(ctx context.Context, agent cw.AgentID) error {
	done, err := o.turns.take(ctx, agent)
	if err != nil {
		return err
	}
	defer done()
	view, next, ok, err := o.mayGoOn(ctx, agent)
	if cw.ErrorCode(err) == cw.CodeNotFound {
		return nil // its spawn was taken back
	}
	if err != nil || !ok {
		return err
	}
	var warning string // of the run that begins: those of the last one are dropped
	if next.Reason == cw.RunAnswers {
		if warning, err = o.record(ctx, view.Agent, next.Asked); err != nil {
			return err
		}
	}
	if err := o.budgetLeft(ctx, agent); cw.ErrorCode(err) == cw.CodeRefused {
		o.Log.Debug("an agent does not go on", "agent", view.Alias, "because", err)
		return nil // its texts wait until somebody sets another limit
	} else if err != nil {
		return err
	}
	if err := o.enoughDisk(); err != nil {
		return o.hand(ctx, func(life context.Context) {
			if o.awaitDisk(life, view.Agent, func() bool { return false }) == nil {
				o.goOn(life, agent)
			}
		})
	}
	in, err := o.nextIntent(ctx, view.Agent, wish{Reason: next.Reason, Messages: next.Messages, Why: next.Why, To: next.To})
	if err != nil {
		return err
	}
	in.From = []cw.AgentStatus{view.Status}
	err = o.intend(ctx, in)
	if cw.ErrorCode(err) == cw.CodeRefused { // somebody was quicker
		o.Log.Debug("an agent goes on already", "agent", view.Alias, "because", err)
		return nil
	}
	if err != nil {
		return err
	}
	if warning != "" {
		if err := o.warn(ctx, view.Agent, warning); err != nil {
			o.Log.Error("store a warning", "agent", view.Alias, "warning", warning, "error", err)
		}
	}
	if next.Reason == cw.RunWake {
		o.Fail.Hit("conversation/woken")
	}
	if err := o.start(ctx, in.Run.ID, nil); err != nil && ctx.Err() == nil {
		o.Log.Error("start the next run", "agent", view.Alias, "run", in.Run.ID, "error", err)
	}
	return nil
}

// mayGoOn looks at the rows and decides.
func (o *Orchestrator) mayGoOn(ctx context.Context, agent cw.AgentID) (cw.AgentView, intention, bool, error) {
	view, err := o.Store.AgentView(ctx, string(agent))
	if err != nil {
		return view, intention{}, false, fmt.Errorf("read agent: %w", err)
	}
	s := standing{
		Status: view.Status, Removed: view.DeletedAt != nil, Notes: notesAnswers(view.Agent),
		Open: len(view.PendingQuestions), Queued: view.QueuedMessages,
	}
	if s.Status == cw.StatusIdle && !s.Removed {
		if s.Wakes, err = o.Store.WakingConversations(ctx, agent); err != nil {
			return view, intention{}, false, fmt.Errorf("look for questions of other agents: %w", err)
		}
	}
	if s.Status == cw.StatusWaitingForInput {
		if s.Asked, err = o.Store.LastQuestions(ctx, agent); err != nil {
			return view, intention{}, false, fmt.Errorf("read the questions: %w", err)
		}
	}
	if s.Status == cw.StatusWaitingForInput || s.Status == cw.StatusIdle {
		if s.Untold, err = o.Store.UntoldAnswers(ctx, agent); err != nil {
			return view, intention{}, false, fmt.Errorf("read the answers that wait: %w", err)
		}
	}
	if s.Status == cw.StatusParked && !s.Removed {
		if s.Due, err = o.unpark(ctx, view); err != nil {
			return view, intention{}, false, err
		}
	}
	next, ok := nextRun(s)
	return view, next, ok, nil
}
