package store

import (
	"cmp"
	"context"
	"fmt"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// IntendRun stores another run of an agent at rest, in one transaction: from one
// of From → starting, session number + 1, the run, the operation that starts it,
// its messages and the events. What was not delivered yet comes into the run,
// too, before the new messages. Warnings are about how it stood before, and go.
// An open clean-up of the agent is closed with it.
//
// CodeNotFound. CodeRefused, naming the status found, when the agent is in none
// of From; when it is removed, about to be or being restored; when it has had
// another run since the caller looked; and when its account was removed
// meanwhile. So of several calls at once exactly one succeeds.
func (db *DB) IntendRun(ctx context.Context, in cw.RunIntent) error {
	return db.change(ctx, "intend run", func(t *tx) error {
		agent, err := t.loadAgent(in.AgentID)
		if err != nil {
			return err
		}
		agent.Warnings = []string{} // they were about what was; the events keep them
		return t.intendRun(agent, in, true)
	})
}

// intendRun stores the run of an intent; firm refuses an account that cannot be
// used any more.
func (t *tx) intendRun(agent cw.Agent, in cw.RunIntent, firm bool) error {
	if err := t.checkNextRun(agent, in); err != nil {
		return err
	}
	if err := t.endCleanUp(agent.ID); err != nil {
		return err
	}
	agent.SessionNumber, agent.SessionID = in.Run.SessionNumber, in.SessionID
	agent.Reason, agent.RetryAt, agent.Error, agent.Result, agent.NoChanges = "", nil, "", "", ""
	if in.Options != "" {
		agent.OptionsJSON = in.Options
	}
	goOnWith(&agent, in)
	setRetries(&agent, in.Retries)
	err := t.move(&agent, in.From, cw.StatusStarting, append(retryColumns(),
		"session_number", "session_id", "reason", "retry_at", "error", "result", "no_changes", "warnings", "options_json",
		"provider", "account_id", "model")...)
	if err != nil {
		return err
	}
	if err := t.addRun(agent, in); err != nil {
		return err
	}
	if err := t.tellAnswers(agent.ID, in.Told); err != nil {
		return err
	}
	if err := t.useAccount(agent.AccountID, firm); err != nil {
		return err
	}
	return t.emit(in.Events...)
}

func (t *tx) checkNextRun(agent cw.Agent, in cw.RunIntent) error {
	switch next := agent.SessionNumber + 1; {
	case agent.DeletedAt != nil:
		return refusedRemoved(agent)
	case agent.Status.Alive():
		return refusedIn(agent, "it has a run already")
	case in.Run.SessionNumber != next:
		return refusedIn(agent, fmt.Sprintf("its next run is %d, not %d", next, in.Run.SessionNumber))
	}
	return t.checkSettled(agent, cw.OpRemove, cw.OpRestore)
}

// endCleanUp closes the clean-up of an agent that goes on, and an opening: there
// is nothing to clear up any more, and its run brings the worktree back itself.
func (t *tx) endCleanUp(agent cw.AgentID) error {
	return t.Model(&cw.Op{}).Where("agent_id = ? AND kind IN ? AND "+openOp, agent, []cw.OpKind{cw.OpCleanUp, cw.OpOpen}).
		Updates(map[string]any{"status": cw.OpDone}).Error
}

// goOnWith gives an agent the provider, account and model of an intent. A model
// belongs to its provider, and so does an account: with another provider those
// that are not named are its own.
func goOnWith(agent *cw.Agent, in cw.RunIntent) {
	if in.Provider != "" && in.Provider != agent.Provider {
		agent.Provider, agent.AccountID, agent.Model = in.Provider, in.AccountID, in.Model
	}
	agent.AccountID = accountOf(agent.Provider, cmp.Or(in.AccountID, agent.AccountID))
	agent.Model = cmp.Or(in.Model, agent.Model)
}

// addRun stores the run of an intent with its operation and messages. The run
// has the provider, account and model that the agent has from now on.
func (t *tx) addRun(agent cw.Agent, in cw.RunIntent) (err error) {
	run, op := in.Run, in.Op
	run.AgentID, run.Kind = agent.ID, cw.RunAgent
	run.Provider, run.AccountID, run.Model = agent.Provider, agent.AccountID, agent.Model
	if err := t.carryConversations(agent.ID, run.ID); err != nil {
		return err
	}
	if run.MessageID, err = t.carryMessages(agent.ID, run.ID, in.Messages); err != nil {
		return err
	}
	if err := t.Create(&run).Error; err != nil {
		return fmt.Errorf("store run: %w", err)
	}
	op.AgentID, op.RunID, op.Kind, op.Status = agent.ID, run.ID, cw.OpResume, cw.OpIntended
	if err := t.Create(&op).Error; err != nil {
		return fmt.Errorf("store operation: %w", err)
	}
	return nil
}

// readyAgents is answered from the indexes agents_status,
// messages_undelivered, conversations_wake and questions_untold.
const readyAgents = `
	SELECT a.id FROM agents a
	WHERE a.deleted_at IS NULL
		AND (a.status = 'waiting_for_input'
			AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.agent_id = a.id AND q.status = 'open')
		OR a.status = 'idle'
			AND (a.id IN (SELECT agent_id FROM messages WHERE ` + undelivered + `)
				OR a.id IN (SELECT to_agent_id FROM conversations INDEXED BY conversations_wake WHERE ` + waking + `)
				OR a.id IN (SELECT agent_id FROM questions WHERE ` + untold + ` AND status = 'answered')
				AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.agent_id = a.id AND q.status = 'open')))
		AND NOT EXISTS (SELECT 1 FROM ops o WHERE o.agent_id = a.id AND o.kind IN ('remove', 'restore') AND o.` + openOp + `)
	ORDER BY a.created_at, a.id`

// ReadyAgents gives the agents that may go on by themselves, oldest first:
// waiting for input without an open question, or idle with a text, with answers
// that wait or with a question of another agent that wakes it.
// Those that are removed, about to be or being restored are not among them.
func (db *DB) ReadyAgents(ctx context.Context) ([]cw.AgentID, error) {
	ids := []cw.AgentID{}
	err := db.query(ctx, "find agents that can go on", func(g *gorm.DB) error {
		return g.Raw(readyAgents).Scan(&ids).Error
	})
	return ids, err
}
