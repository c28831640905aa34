package store

import (
	"context"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// Gauges counts what the rows hold, at one moment.
type Gauges struct {
	Agents    []AgentCount
	Runs      []RunCount
	LastEvent int64 // the greatest number that was ever given to an event
}

// AgentCount is how many agents that are not removed have a status.
type AgentCount struct {
	Status cw.AgentStatus
	Count  int
}

// RunCount is how many agents' runs have all this in common.
type RunCount struct {
	Provider      string
	Reason        cw.RunReason   // why they were started
	Outcome       cw.AgentStatus // "" while they go on
	OutcomeReason cw.Reason
	Count         int
}

// Gauges counts agents and runs. It reads every run's row, and no more of it
// than these columns.
func (db *DB) Gauges(ctx context.Context) (Gauges, error) {
	var out Gauges
	err := db.query(ctx, "count for metrics", func(g *gorm.DB) (err error) {
		err = g.Raw("SELECT status, COUNT(*) AS count FROM agents WHERE deleted_at IS NULL GROUP BY status ORDER BY status").Scan(&out.Agents).Error
		if err != nil {
			return err
		}
		err = g.Raw(`SELECT agents.provider, runs.reason, runs.outcome, runs.outcome_reason, COUNT(*) AS count
			FROM runs JOIN agents ON agents.id = runs.agent_id WHERE runs.kind = ?
			GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`, cw.RunAgent).Scan(&out.Runs).Error
		if err != nil {
			return err
		}
		out.LastEvent, err = lastSeq(g)
		return err
	})
	return out, err
}

// Waiting is how many calls wait for their chunks to be stored.
func (db *DB) Waiting() int { return int(db.waiting.Load()) }
