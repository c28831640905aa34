package store

import (
	"context"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// refusedRemoved says that a removed agent cannot do anything.
func refusedRemoved(agent cw.Agent) *cw.Error {
	return cw.Errorf(cw.CodeRefused, "the agent %s is removed", agent.Alias).
		WithHint("bring it back first: cw agent restore %s", agent.Alias)
}

// RemoveAgent stores that an agent's places are in the trash, in one
// transaction: its row is marked, the worktrees are stored, its open questions
// are withdrawn (with question:withdrawn for each), conversations that it asked or
// is asked in are cancelled (conversation:cancelled), the texts that wait for a
// run are hidden, and the operation is done.
//
// CodeNotFound; CodeRefused while its status is alive, when it is removed
// already, and when the operation is over or none of its removal.
func (db *DB) RemoveAgent(ctx context.Context, r cw.Removal) error {
	return db.change(ctx, "remove agent", func(t *tx) error {
		agent, err := t.loadAgent(r.AgentID)
		if err != nil {
			return err
		}
		switch {
		case agent.DeletedAt != nil:
			return refusedRemoved(agent)
		case agent.Status.Alive():
			return refusedIn(agent, "it cannot be removed").WithHint("stop it first: cw agent stop %s", agent.Alias)
		}
		if err := t.endOpOf(r.OpID, agent, cw.OpRemove); err != nil {
			return err
		}
		if r.At.IsZero() {
			r.At = t.now
		}
		return t.remove(agent, r)
	})
}

func (t *tx) remove(agent cw.Agent, r cw.Removal) error {
	at := r.At.UTC()
	if err := t.Model(&agent).Select("deleted_at").Updates(&cw.Agent{DeletedAt: &at}).Error; err != nil {
		return err
	}
	if err := t.saveWorktrees(agent.ID, r.Worktrees); err != nil {
		return err
	}
	if err := t.withdrawQuestions(agent, cw.WithdrawnRemoved, actorOf(r.Events)); err != nil {
		return err
	}
	if err := t.hideQueued(agent.ID, at); err != nil {
		return err
	}
	by, gone := actorOf(r.Events), agent.Alias+" was removed"
	if err := t.cancelConversations(by, gone, "(to_agent_id = ? OR from_agent_id = ?)", agent.ID, agent.ID); err != nil {
		return err
	}
	return t.emit(r.Events...)
}

// RestoreAgent takes the mark away and undoes what else RemoveAgent did: the
// worktrees are stored, questions that were withdrawn are open again (with
// question:requested for each), texts that were hidden wait again, and the
// operation is done.
//
// CodeNotFound; CodeRefused when the agent is not removed, and when the
// operation is over or none of its restoring.
func (db *DB) RestoreAgent(ctx context.Context, r cw.Restoring) error {
	return db.change(ctx, "restore agent", func(t *tx) error {
		agent, err := t.loadAgent(r.AgentID)
		if err != nil {
			return err
		}
		if agent.DeletedAt == nil {
			return cw.Errorf(cw.CodeRefused, "the agent %s is not removed", agent.Alias)
		}
		if err := t.endOpOf(r.OpID, agent, cw.OpRestore); err != nil {
			return err
		}
		return t.restore(agent, r)
	})
}

func (t *tx) restore(agent cw.Agent, r cw.Restoring) error {
	removed := *agent.DeletedAt
	if err := t.Model(&agent).Select("deleted_at").Updates(&cw.Agent{}).Error; err != nil {
		return err
	}
	if err := t.saveWorktrees(agent.ID, r.Worktrees); err != nil {
		return err
	}
	if err := t.reopenQuestions(agent, actorOf(r.Events)); err != nil {
		return err
	}
	if err := t.showQueued(agent.ID, removed); err != nil {
		return err
	}
	return t.emit(r.Events...)
}

// actorOf is who did what the events tell; without any it was cw itself.
func actorOf(events []cw.Event) cw.Actor {
	if len(events) == 0 {
		return cw.Actor{Kind: cw.ActorCW}
	}
	return cw.Actor{Kind: events[0].ActorKind, ID: events[0].ActorID}
}

// trashedWorktrees is answered from the index agent_worktrees_trash.
const trashedWorktrees = `SELECT w.*, a.alias FROM agent_worktrees w JOIN agents a ON a.id = w.agent_id
	WHERE w.trash <> '' ORDER BY w.trashed_at, w.agent_id, w.project_id`

// TrashedWorktrees gives the worktrees that lie in the trash, oldest first, with
// the alias of their agents.
func (db *DB) TrashedWorktrees(ctx context.Context) ([]cw.TrashedWorktree, error) {
	trees := []cw.TrashedWorktree{}
	err := db.query(ctx, "find what is in the trash", func(g *gorm.DB) error {
		return g.Raw(trashedWorktrees).Scan(&trees).Error
	})
	return trees, err
}

// SavePurged stores that a directory left the trash for good: the worktree is
// removed and lies nowhere, the rest of it is stored as it is given. CodeRefused
// when it is not in the trash (any more).
func (db *DB) SavePurged(ctx context.Context, w cw.AgentWorktree, e cw.Event) error {
	return db.change(ctx, "save what was purged", func(t *tx) error {
		trashed, err := one(t.DB, &cw.AgentWorktree{}, "agent_id = ? AND project_id = ? AND trash <> ''", w.AgentID, w.ProjectID)
		if err != nil {
			return err
		}
		if !trashed {
			return cw.Errorf(cw.CodeRefused, "the worktree %s is not in the trash", w.Path)
		}
		w.State, w.Trash, w.TrashedAt = cw.WorktreeRemoved, "", nil
		if err := t.saveWorktrees(w.AgentID, []cw.AgentWorktree{w}); err != nil {
			return err
		}
		return t.emit(e)
	})
}

// SaveDropped stores that the snapshot of a removed agent's worktree is gone:
// the rest of it is stored as it is given. CodeNotFound; CodeRefused when the
// agent is not removed, for then it may need it.
func (db *DB) SaveDropped(ctx context.Context, w cw.AgentWorktree, e cw.Event) error {
	return db.change(ctx, "save what was dropped", func(t *tx) error {
		agent, err := t.loadAgent(w.AgentID)
		if err != nil {
			return err
		}
		if agent.DeletedAt == nil {
			return cw.Errorf(cw.CodeRefused, "the agent %s is not removed", agent.Alias)
		}
		if err := t.saveWorktrees(w.AgentID, []cw.AgentWorktree{w}); err != nil {
			return err
		}
		return t.emit(e)
	})
}
