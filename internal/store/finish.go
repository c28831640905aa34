package store

import (
	"cmp"
	"context"
	"fmt"

	"cw/internal/cw"
)

// FinishRun stores how a run ended and where that leaves its agent, all in one
// transaction: status, run, worktrees, questions, final text and events; the
// run's tokens die, and a spawn that was still open counts as failed. It tells
// whether this call did it: false when the run had ended already.
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
		func() error { return t.finishOp(f) },
		func() error { return t.saveWorktrees(f.AgentID, f.Worktrees) },
		func() error { return t.addQuestions(f) },
		func() error { return t.addFinalText(f) },
		func() error { return t.revokeTokens(f.RunID) },
		func() error { return t.emit(f.Events...) },
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
	agent.Warnings = addWarnings(agent.Warnings, f.Warnings)
	agent.LastSnippet = cmp.Or(f.LastSnippet, agent.LastSnippet)
	return t.move(&agent, f.From, f.Status,
		"reason", "retry_at", "error", "result", "no_changes", "warnings", "last_snippet")
}

func (t *tx) finishRun(run cw.Run, f cw.Finish) error {
	if f.EndedAt.IsZero() {
		f.EndedAt = t.now
	}
	run.PID = 0 // it lives no more; the handle still names it
	run.ExitCode, run.TermSignal = f.ExitCode, f.TermSignal
	run.Outcome, run.OutcomeReason, run.Result = f.Status, f.Reason, f.Result
	run.Turns, run.ContextTokens, run.ContextLimit = f.Turns, f.ContextTokens, f.ContextLimit
	run.CostUSD, run.Usage, run.UnknownLines = f.CostUSD, f.Usage, f.UnknownLines
	run.EndedAt = &f.EndedAt
	changed := t.Model(&run).Where("ended_at IS NULL").Select("pid", "exit_code", "term_signal",
		"outcome", "outcome_reason", "result", "turns", "context_tokens", "context_limit",
		"cost_usd", "usage", "unknown_lines", "ended_at").Updates(&run)
	return orMissing(changed, "unfinished run", string(run.ID))
}

// finishOp closes the operation that was open. A spawn whose run ended before
// it counted as running has failed; other operations did what they were for.
func (t *tx) finishOp(f cw.Finish) error {
	if f.OpID == "" {
		return nil
	}
	var op cw.Op
	found, err := one(t.DB, &op, "id = ? AND status IN ?", f.OpID, openOps())
	if err != nil || !found {
		return err
	}
	if op.Kind == cw.OpSpawn {
		return t.moveOp(op.ID, cw.OpFailed, map[string]any{"error": cmp.Or(f.Error, string(f.Reason))})
	}
	return t.moveOp(op.ID, cw.OpDone, map[string]any{})
}

func (t *tx) addQuestions(f cw.Finish) error {
	for i, q := range f.Questions {
		q.AgentID, q.RunID = f.AgentID, f.RunID
		q.ID = cmp.Or(q.ID, cw.QuestionID(cw.NewID()))
		q.Seq = cmp.Or(q.Seq, i+1)
		q.Status = cmp.Or(q.Status, cw.QuestionOpen)
		if err := t.Create(&q).Error; err != nil {
			return fmt.Errorf("store question: %w", err)
		}
	}
	return nil
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
