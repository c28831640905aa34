package store

import (
	"cmp"
	"context"

	"cw/internal/cw"
)

// FinishRun stores how a run ended and where that leaves its agent, all in one
// transaction: status, counters, run, worktrees, questions, final text,
// proposals, the mark of an exhausted account and events; the run's tokens die.
// Every open operation of the run is closed: a spawn or resume that was still
// open counts as failed. It tells whether this call did it: false when the run
// had ended already.
//
// With CleanUp its operation is stored, and stays open. With Next the run that
// follows is intended in the same transaction, as IntendRun does it: the agent
// is starting then, and nothing is cleaned up.
//
// CodeRefused, naming the status found, when the agent's status is not one of
// From or cannot become Status. CodeNotFound.
func (db *DB) FinishRun(ctx context.Context, f cw.Finish) (done bool, err error) {
	err = db.change(ctx, "finish run", func(t *tx) error {
		done = false
		var run cw.Run
		found, err := one(t.DB, &run, "id = ? AND agent_id = ?", f.RunID, f.AgentID)
		if err != nil {
			return err
		}
		if !found {
			return cw.Errorf(cw.CodeNotFound, "the agent %s has no run %s", f.AgentID, f.RunID)
		}
		if run.EndedAt != nil {
			return nil
		}
		done = true
		return t.finish(run, f)
	})
	return done && err == nil, err
}

func (t *tx) finish(run cw.Run, f cw.Finish) error {
	for _, step := range []func() error{
		func() error { return t.finishAgent(f) },
		func() error { return t.finishRun(run, f) },
		func() error { return t.closeOps(f.RunID, cmp.Or(f.Error, string(f.Reason))) },
		func() error { return t.saveWorktrees(f.AgentID, f.Worktrees) },
		func() error { return t.addQuestions(f) },
		func() error { return t.addFinalText(f) },
		func() error { return t.addProposals(f) },
		func() error { return t.revokeTokens(f.RunID) },
		func() error { return t.exhaust(f.Exhausted) },
		func() error { return t.emit(f.Events...) },
		func() error { return t.goOn(f) },
		func() error { return t.cancelAsked(f.AgentID, actorOf(f.Events)) }, // with Next it is starting, and its questions wait
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) finishAgent(f cw.Finish) error {
	agent, err := t.loadAgent(f.AgentID)
	if err != nil {
		return err
	}
	agent.Reason, agent.RetryAt, agent.Error = f.Reason, f.RetryAt, f.Error
	agent.Result, agent.NoChanges = f.Result, f.NoChanges
	if f.Next != nil { // what was said of earlier runs no longer counts
		agent.Warnings = []string{}
	}
	agent.Warnings = addWarnings(agent.Warnings, f.Warnings)
	agent.LastSnippet = cmp.Or(f.LastSnippet, agent.LastSnippet)
	setRetries(&agent, f.Retries)
	return t.move(&agent, f.From, f.Status, append(retryColumns(),
		"reason", "retry_at", "error", "result", "no_changes", "warnings", "last_snippet")...)
}

// setRetries puts counters into the columns that retryColumns names.
func setRetries(a *cw.Agent, r cw.Retries) {
	a.SignalRetries, a.CommitRetries, a.EmptyRetries, a.StallRetries = r.Signal, r.Commit, r.Empty, r.Stall
}

func retryColumns() []string {
	return []string{"signal_retries", "commit_retries", "empty_retries", "stall_retries"}
}

// goOn intends what follows the run: another one, or the clean-up. The agent
// goes through Status to starting, both along the table of transitions, and
// nobody sees the first.
func (t *tx) goOn(f cw.Finish) error {
	switch {
	case f.Next != nil:
		agent, err := t.loadAgent(f.AgentID)
		if err != nil {
			return err
		}
		next := *f.Next
		next.From, next.Retries = []cw.AgentStatus{f.Status}, f.Retries
		return t.intendRun(agent, next, false)
	case f.CleanUp != nil:
		op := *f.CleanUp
		op.AgentID, op.Kind = f.AgentID, cw.OpCleanUp
		return t.intendOp(op)
	}
	return nil
}

func (t *tx) finishRun(run cw.Run, f cw.Finish) error {
	if f.EndedAt.IsZero() {
		f.EndedAt = t.now
	}
	run.PID = 0 // it lives no more; the handle still names it
	run.ExitCode, run.TermSignal = f.ExitCode, f.TermSignal
	run.Outcome, run.OutcomeReason, run.Result = f.Status, f.Reason, f.Result
	run.Turns, run.ContextTokens, run.ContextLimit = f.Turns, f.ContextTokens, f.ContextLimit
	run.CostUSD, run.CostSource, run.Usage, run.UnknownLines = f.CostUSD, f.CostSource, f.Usage, f.UnknownLines
	run.Model = cmp.Or(f.Model, run.Model)
	run.EndedAt = &f.EndedAt
	changed := t.Model(&run).Where("ended_at IS NULL").Select("pid", "exit_code", "term_signal",
		"outcome", "outcome_reason", "result", "turns", "context_tokens", "context_limit",
		"cost_usd", "cost_source", "model", "usage", "unknown_lines", "ended_at").Updates(&run)
	return orMissing(changed, "unfinished run", string(run.ID))
}

func (t *tx) addFinalText(f cw.Finish) error {
	if f.Assistant == nil {
		return nil
	}
	m := *f.Assistant
	m.Role = cmp.Or(m.Role, cw.RoleAssistant)
	_, err := t.addMessage(f.AgentID, f.RunID, m)
	return err
}
