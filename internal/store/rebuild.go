package store

import (
	"cmp"
	"context"
	"fmt"

	"gorm.io/gorm/clause"

	"cw/internal/cw"
)

// Rebuilt is a run as its directory tells it, with what it belongs to.
type Rebuilt struct {
	Projects  []cw.Project
	Agent     cw.Agent // as this run leaves it
	Worktrees []cw.AgentWorktree
	Run       cw.Run
}

// Rebuild stores a run that only its directory knows, or whose agent is not
// known. It tells whether there was something to store. An agent that is there
// becomes what the run makes of it when this is the newest of its runs.
func (db *DB) Rebuild(ctx context.Context, r Rebuilt) (added bool, err error) {
	err = db.change(ctx, "rebuild a run", func(t *tx) error {
		added = false
		known, err := one(t.DB, &cw.Run{}, "id = ? OR kind = ? AND agent_id = ? AND session_number = ?",
			r.Run.ID, cw.RunAgent, r.Agent.ID, r.Run.SessionNumber)
		if err != nil {
			return err
		}
		agentKnown, err := one(t.DB, &cw.Agent{}, "id = ?", r.Agent.ID)
		if err != nil || known && agentKnown {
			return err
		}
		added = true
		r.Agent.AccountID = accountOf(r.Agent.Provider, r.Agent.AccountID)
		orAgents(&r.Run, r.Agent)
		if err := t.rebuildAgent(r.Agent); err != nil {
			return err
		}
		for _, p := range r.Projects {
			if err := t.Clauses(clause.OnConflict{DoNothing: true}).Create(&p).Error; err != nil {
				return fmt.Errorf("store project %s: %w", p.Name, err)
			}
		}
		for _, w := range r.Worktrees {
			if err := t.Clauses(clause.OnConflict{DoNothing: true}).Create(&w).Error; err != nil {
				return fmt.Errorf("store a worktree of %s: %w", r.Agent.Alias, err)
			}
		}
		if err := t.cancelAsked(r.Agent.ID, cw.Actor{Kind: cw.ActorCW}); err != nil {
			return err
		}
		if known {
			return nil
		}
		return t.Create(&r.Run).Error
	})
	return added && err == nil, err
}

func (t *tx) rebuildAgent(a cw.Agent) error {
	var there cw.Agent
	known, err := one(t.DB, &there, "id = ?", a.ID)
	if err != nil {
		return err
	}
	if !known {
		return t.Create(&a).Error
	}
	if there.SessionNumber >= a.SessionNumber {
		return nil
	}
	// A newer run was started, so the older ones were over.
	err = t.Model(&cw.Run{}).Where("agent_id = ? AND ended_at IS NULL", a.ID).
		Updates(map[string]any{"ended_at": t.now, "outcome": cw.StatusCrashed, "outcome_reason": cw.ReasonLost}).Error
	if err != nil {
		return err
	}
	a.Warnings = append(there.Warnings, a.Warnings...)
	a.OptionsJSON = cmp.Or(a.OptionsJSON, there.OptionsJSON)
	// It may have gone on with another account, provider or session since.
	return t.Model(&there).Select("Status", "Reason", "Error", "Result", "SessionNumber", "Warnings",
		"Provider", "AccountID", "Model", "SessionID", "OptionsJSON").Updates(a).Error
}
