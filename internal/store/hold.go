package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// OpenWorktrees stores that the worktrees of an agent are back and held, and
// that the operation is done, in one transaction. CodeNotFound; CodeRefused when
// the operation is over or none of its opening.
func (db *DB) OpenWorktrees(ctx context.Context, in cw.Opening) error {
	return db.change(ctx, "open worktrees", func(t *tx) error {
		agent, err := t.loadAgent(in.AgentID)
		if err != nil {
			return err
		}
		if err := t.endOpOf(in.OpID, agent, cw.OpOpen); err != nil {
			return err
		}
		if err := t.saveWorktrees(agent.ID, in.Worktrees); err != nil {
			return err
		}
		return t.hold(agent, in.Until, agent.CleanUpDue || in.CleanUp)
	})
}

// HoldWorktrees puts off until when the worktrees of an agent are not cleaned
// up. CodeNotFound; CodeRefused for a removed one.
func (db *DB) HoldWorktrees(ctx context.Context, id cw.AgentID, until time.Time) error {
	return db.change(ctx, "hold worktrees", func(t *tx) error {
		agent, err := t.loadAgent(id)
		switch {
		case err != nil:
			return err
		case agent.DeletedAt != nil:
			return refusedRemoved(agent)
		}
		return t.hold(agent, until, agent.CleanUpDue)
	})
}

func (t *tx) hold(agent cw.Agent, until time.Time, due bool) error {
	return t.Model(&agent).Updates(map[string]any{"held_until": until.UTC(), "clean_up_due": due}).Error
}

// PutOffCleanUp closes the open clean-up of an agent, if there is one: it is due
// when nobody has the worktrees open any more.
func (db *DB) PutOffCleanUp(ctx context.Context, id cw.AgentID) error {
	return db.change(ctx, "put a clean-up off", func(t *tx) error { return t.putOffCleanUp(id) })
}

func (t *tx) putOffCleanUp(id cw.AgentID) error {
	closed := t.Model(&cw.Op{}).Where("agent_id = ? AND kind = ? AND "+openOp, id, cw.OpCleanUp).
		Updates(map[string]any{"status": cw.OpDone})
	if closed.Error != nil || closed.RowsAffected == 0 {
		return closed.Error
	}
	return t.Model(&cw.Agent{}).Where("id = ?", id).Updates(map[string]any{"clean_up_due": true}).Error
}

// HeldAgents gives the agents whose worktrees somebody has open, or had, the
// first to be over first. It is answered from the index agents_held.
func (db *DB) HeldAgents(ctx context.Context) ([]cw.Agent, error) {
	agents := []cw.Agent{}
	err := db.query(ctx, "find held worktrees", func(g *gorm.DB) error {
		return g.Where("held_until IS NOT NULL").Order("held_until").Find(&agents).Error
	})
	return agents, err
}

// EndHold ends the hold of the agent that a clean-up is for, when it is over at
// a time. The clean-up is stored when it is due and the agent is idle: one that
// works, waits, crashed or was stopped keeps its places. It tells whether it was
// stored. CodeNotFound; CodeRefused while another operation of the agent is open.
func (db *DB) EndHold(ctx context.Context, cleanUp cw.Op, now time.Time) (due bool, err error) {
	err = db.change(ctx, "end a hold", func(t *tx) error {
		agent, err := t.loadAgent(cleanUp.AgentID)
		if due = false; err != nil || agent.HeldUntil == nil || agent.HeldUntil.After(now) {
			return err
		}
		due = agent.CleanUpDue && agent.Status == cw.StatusIdle && agent.DeletedAt == nil
		if err := t.Model(&agent).Updates(map[string]any{"held_until": nil, "clean_up_due": false}).Error; err != nil || !due {
			return err
		}
		return t.intendOp(cleanUp)
	})
	return due && err == nil, err
}
