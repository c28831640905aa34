package store

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cw/internal/cw"
)

// AliasTaken tells whether an agent has or ever had this name.
func (db *DB) AliasTaken(ctx context.Context, alias string) (bool, error) {
	var taken bool
	err := db.query(ctx, "look up a name", func(g *gorm.DB) (err error) {
		taken, err = one(g, &cw.Agent{}, "alias = ?", alias)
		return err
	})
	return taken, err
}

// SpawnByKey finds the operation of an earlier request with the same key, and
// tells whether there is one.
func (db *DB) SpawnByKey(ctx context.Context, key string) (op cw.Op, found bool, err error) {
	err = db.query(ctx, "look up a request", func(g *gorm.DB) error {
		found, err = one(g, &op, "request_key = ?", key)
		return err
	})
	return op, found, err
}

// IntendSpawn stores an agent, pending, with its worktrees, its first run, its
// budget and the operation that makes it. The run has the agent's provider,
// account and model. CodeRefused when the alias was ever used, the request key
// was, or a project or the account is gone, and when the agent that makes it may
// not (see cw.MaySpawn) or made too many; nothing is stored then.
func (db *DB) IntendSpawn(ctx context.Context, in cw.SpawnIntent) error {
	return db.change(ctx, "intend spawn", func(t *tx) error {
		if in.Agent.Status != cw.StatusPending {
			return fmt.Errorf("a new agent is pending, not %s", in.Agent.Status)
		}
		if err := t.checkSpawn(in, db.guards); err != nil {
			return err
		}
		in.Agent.AccountID = accountOf(in.Agent.Provider, in.Agent.AccountID)
		in.Run.Provider, in.Run.AccountID, in.Run.Model = in.Agent.Provider, in.Agent.AccountID, in.Agent.Model
		if err := t.useAccount(in.Agent.AccountID, true); err != nil {
			return err
		}
		if err := t.Create(&in.Agent).Error; err != nil {
			return err
		}
		if err := t.claimTask(in.Agent, in.Claim); err != nil {
			return err
		}
		if err := t.saveWorktrees(in.Agent.ID, in.Worktrees); err != nil {
			return err
		}
		if err := t.Create(&in.Run).Error; err != nil {
			return err
		}
		if in.BudgetUSD > 0 {
			b := cw.Budget{Scope: cw.BudgetAgent, ScopeID: string(in.Agent.ID), LimitUSD: in.BudgetUSD, SetAt: t.now}
			if err := t.saveBudget(b); err != nil {
				return err
			}
		}
		return t.Create(&in.Op).Error
	})
}

func (t *tx) checkSpawn(in cw.SpawnIntent, guards cw.Guards) error {
	if in.Agent.ParentID != "" {
		if err := t.checkParent(in, guards); err != nil {
			return err
		}
	}
	taken, err := one(t.DB, &cw.Agent{}, "alias = ?", in.Agent.Alias)
	if err != nil {
		return err
	}
	if taken {
		return cw.Errorf(cw.CodeRefused, "the name %s is taken; names are never used twice", in.Agent.Alias).
			WithHint("choose another name, or leave --name out")
	}
	if in.Op.RequestKey != nil {
		used, err := one(t.DB, &cw.Op{}, "request_key = ?", *in.Op.RequestKey)
		if err != nil {
			return err
		}
		if used {
			return cw.Errorf(cw.CodeRefused, "this request was made before")
		}
	}
	for _, w := range in.Worktrees { // no foreign key: see the migration
		there, err := one(t.DB, &cw.Project{}, "id = ?", w.ProjectID)
		if err != nil {
			return err
		}
		if !there {
			return cw.Errorf(cw.CodeRefused, "the project %s was removed meanwhile", w.Project)
		}
	}
	return nil
}

// SaveWorktrees stores what is known of an agent's worktrees with the step
// that made it known.
func (db *DB) SaveWorktrees(ctx context.Context, id cw.OpID, step string, worktrees []cw.AgentWorktree) error {
	return db.change(ctx, "save worktrees", func(t *tx) error {
		if err := t.stepOp(id, step); err != nil {
			return err
		}
		var op cw.Op
		if _, err := one(t.DB, &op, "id = ?", id); err != nil {
			return err
		}
		return t.saveWorktrees(op.AgentID, worktrees)
	})
}

// saveWorktrees adds or replaces rows of one agent.
func (t *tx) saveWorktrees(agent cw.AgentID, worktrees []cw.AgentWorktree) error {
	for _, w := range worktrees {
		w.AgentID = agent
		if err := t.Clauses(clause.OnConflict{UpdateAll: true}).Create(&w).Error; err != nil {
			return fmt.Errorf("save worktree %s: %w", w.Path, err)
		}
	}
	return nil
}

// SaveStarting stores that the shim is about to be started, with the prompt
// and the run's token: pending → starting. While the agent is starting, as one
// is that is resumed and one whose start is taken up again, only the token and
// the step are added; prompt and event stay those of the intent or of the first
// time. CodeRefused in any other status.
func (db *DB) SaveStarting(ctx context.Context, s cw.Starting) error {
	return db.change(ctx, "save starting", func(t *tx) error {
		agent, run, err := t.loadRun(s.AgentID, s.RunID)
		if err != nil {
			return err
		}
		if agent.Status != cw.StatusStarting {
			if err := t.begin(&agent, run, s); err != nil {
				return err
			}
		}
		s.Token.AgentID, s.Token.RunID = agent.ID, run.ID
		if err := t.Create(&s.Token).Error; err != nil {
			return fmt.Errorf("store token: %w", err)
		}
		return t.stepOp(s.OpID, s.Step)
	})
}

// begin is the first time of SaveStarting.
func (t *tx) begin(agent *cw.Agent, run cw.Run, s cw.Starting) error {
	if err := t.move(agent, []cw.AgentStatus{cw.StatusPending}, cw.StatusStarting); err != nil {
		return err
	}
	message, err := t.addMessage(agent.ID, run.ID, s.Message)
	if err != nil {
		return err
	}
	if err := t.Model(&run).Select("message_id").Updates(&cw.Run{MessageID: message.ID}).Error; err != nil {
		return err
	}
	return t.emit(s.Event)
}

// SaveRunning stores that the CLI runs: starting → running; the operation, if
// one is named, is done, and the texts of the run's prompt are delivered. What
// other agents asked of its task or its phase, and waits for an agent, is its own.
// CodeRefused in any other status.
func (db *DB) SaveRunning(ctx context.Context, r cw.Running) error {
	return db.change(ctx, "save running", func(t *tx) error {
		agent, run, err := t.loadRun(r.AgentID, r.RunID)
		if err != nil {
			return err
		}
		if err := t.move(&agent, []cw.AgentStatus{cw.StatusStarting}, cw.StatusRunning); err != nil {
			return err
		}
		if r.StartedAt.IsZero() {
			r.StartedAt = t.now
		}
		err = t.Model(&run).Select("handle", "pid", "started_at").
			Updates(&cw.Run{Handle: r.Handle, PID: r.PID, StartedAt: &r.StartedAt}).Error
		if err != nil {
			return err
		}
		if r.OpID != "" {
			if err := t.moveOp(r.OpID, cw.OpDone, map[string]any{}); err != nil {
				return err
			}
		}
		if err := t.deliver(run.ID, r.StartedAt); err != nil {
			return err
		}
		if err := t.emit(r.Events...); err != nil {
			return err
		}
		if err := t.deliverPrompted(run.ID); err != nil {
			return err
		}
		return t.assignConversations(agent)
	})
}

// AbortSpawn takes back a spawn of which nothing was started: all its rows go.
// Its alias is free again. CodeRefused once the agent is past starting, and for
// an operation that is over or none of a spawn: such an agent has a life behind
// it. Nothing happens when the operation is gone already.
func (db *DB) AbortSpawn(ctx context.Context, id cw.OpID) error {
	return db.change(ctx, "abort spawn", func(t *tx) error {
		var op cw.Op
		found, err := one(t.DB, &op, "id = ?", id)
		if err != nil || !found {
			return err
		}
		var agent cw.Agent
		if _, err := one(t.DB, &agent, "id = ?", op.AgentID); err != nil {
			return err
		}
		if !slices.Contains([]cw.AgentStatus{cw.StatusPending, cw.StatusStarting}, agent.Status) {
			return refusedIn(agent, "its spawn cannot be taken back")
		}
		if op.Kind != cw.OpSpawn || op.Status == cw.OpDone || op.Status == cw.OpFailed {
			return cw.Errorf(cw.CodeRefused, "the operation %s (%s, %s) is no spawn that can be taken back", id, op.Kind, op.Status)
		}
		self := cw.Actor{Kind: cw.ActorCW}
		if err := t.cancelConversations(self, agent.Alias+" could not be started", "to_agent_id = ?", agent.ID); err != nil {
			return err
		}
		if err := t.releaseTask(agent); err != nil {
			return err
		}
		return t.deleteAgent(agent.ID)
	})
}

// deleteAgent removes every row of an agent but its events, which were told.
func (t *tx) deleteAgent(id cw.AgentID) error {
	for _, rows := range []any{
		&cw.Token{}, &cw.Message{}, &cw.Question{}, &cw.Op{}, &cw.Run{}, &cw.AgentWorktree{}, &cw.WorktreePorts{},
	} {
		if err := t.Where("agent_id = ?", id).Delete(rows).Error; err != nil {
			return err
		}
	}
	if err := t.Where("scope = ? AND scope_id = ?", cw.BudgetAgent, id).Delete(&cw.Budget{}).Error; err != nil {
		return err
	}
	return t.Where("id = ?", id).Delete(&cw.Agent{}).Error
}
