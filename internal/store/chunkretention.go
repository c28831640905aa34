package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// dropChunks is how many chunks one transaction of DropRun takes: who wants to
// store output waits for it.
const dropChunks = 32

// EndedRun is a run that is over, of an agent at rest.
type EndedRun struct {
	AgentID       cw.AgentID
	Alias         string
	SessionNumber int
	Dir           string
	OutputPath    string
	EndedAt       time.Time
}

// EndedRuns gives the agents' runs that are over, oldest end first, without
// those of agents that are alive.
func (db *DB) EndedRuns(ctx context.Context) ([]EndedRun, error) {
	var out []EndedRun
	err := db.query(ctx, "list ended runs", func(g *gorm.DB) error {
		return g.Raw(`SELECT runs.agent_id, agents.alias, runs.session_number, runs.dir, runs.output_path, runs.ended_at
			FROM runs JOIN agents ON agents.id = runs.agent_id
			WHERE runs.kind = ? AND runs.ended_at IS NOT NULL AND agents.status NOT IN ?
			ORDER BY runs.ended_at, runs.agent_id, runs.session_number`,
			cw.RunAgent, []cw.AgentStatus{cw.StatusPending, cw.StatusStarting, cw.StatusRunning}).Scan(&out).Error
	})
	return out, err
}

// Kept tells how many bytes of a run's output are stored; 0 after DropRun.
func (db *DB) Kept(ctx context.Context, r EndedRun) (int64, error) {
	if db.dropped.has(runKey{r.AgentID, r.SessionNumber}) {
		return 0, nil
	}
	return db.NextOffset(ctx, r.AgentID, r.SessionNumber)
}

// DropRun forgets the stored output of a run that is over, in small pieces. Its
// end stays known for ever: what reads it is told CodeGone, and no byte of it
// is stored again. One that was interrupted is done again.
func (db *DB) DropRun(ctx context.Context, r EndedRun) error {
	const act = "drop the output of a run"
	now := db.now().UTC().Round(0)
	err := db.log.transact(ctx, now, func(g *gorm.DB) error {
		return g.Exec(`INSERT INTO dropped_runs (agent_id, session_number, agent_name, end_offset, last_id, dropped_at)
			SELECT agent_id, session_number, agent_name, offset + length(bytes), id, ? FROM agent_log_chunks
			WHERE agent_id = ? AND session_number = ? ORDER BY offset DESC LIMIT 1
			ON CONFLICT DO NOTHING`, now, r.AgentID, r.SessionNumber).Error
	}, nil)
	if err == nil {
		err = db.readDropped(ctx) // before the first chunk goes
	}
	for gone := int64(dropChunks); err == nil && gone == dropChunks; {
		err = db.log.transact(ctx, now, func(g *gorm.DB) error {
			done := g.Exec(`DELETE FROM agent_log_chunks WHERE id IN (SELECT id FROM agent_log_chunks
				WHERE agent_id = ? AND session_number = ? ORDER BY offset LIMIT ?)`, r.AgentID, r.SessionNumber, dropChunks)
			gone = done.RowsAffected
			return done.Error
		}, nil)
	}
	return inAct(act, err)
}

// dropped knows the runs whose output is kept no longer. Every reader asks for
// every page, so it is kept in memory.
type dropped struct {
	mu   sync.RWMutex
	runs map[cw.AgentID][]droppedRun // guarded by mu; sessions in order
}

type droppedRun struct {
	AgentID       cw.AgentID
	SessionNumber int
	AgentName     string
	EndOffset     int64
	LastID        int64
	DroppedAt     time.Time
}

func (db *DB) readDropped(ctx context.Context) error {
	var rows []droppedRun
	err := db.log.snapshot(ctx, func(g *gorm.DB) error {
		return g.Table("dropped_runs").Order("agent_id, session_number").Find(&rows).Error
	})
	if err != nil {
		return inAct("read dropped runs", err)
	}
	runs := map[cw.AgentID][]droppedRun{}
	for _, r := range rows {
		runs[r.AgentID] = append(runs[r.AgentID], r)
	}
	db.dropped.mu.Lock()
	defer db.dropped.mu.Unlock()
	db.dropped.runs = runs
	return nil
}

func (d *dropped) has(key runKey) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, r := range d.runs[key.agent] {
		if r.SessionNumber == key.session {
			return true
		}
	}
	return false
}

// check tells whether what a query asks for is gone, or a part of it. Who asks
// for everything gets what is left, if there is something.
func (d *dropped) check(q cw.ChunkQuery, some bool) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, r := range d.runs[q.AgentID] {
		switch {
		case q.AfterID > 0 && r.LastID > q.AfterID:
			return r.gone()
		case q.AfterID > 0:
		case q.Session == r.SessionNumber && q.Offset < r.EndOffset:
			return r.gone()
		case q.Session == 0 && !some:
			return r.gone()
		}
	}
	return nil
}

func (r droppedRun) gone() error {
	return cw.Errorf(cw.CodeGone, "the output of %s in session %d is kept no longer: %d bytes were dropped on %s",
		r.AgentName, r.SessionNumber, r.EndOffset, r.DroppedAt.Format(time.DateOnly)).
		WithHint("later sessions may still be there: cw agent logs %s --session %d; chunks.maxAge and chunks.maxSize say how long output is kept", r.AgentName, r.SessionNumber+1)
}

// String names a run for people.
func (r EndedRun) String() string { return fmt.Sprintf("%s, session %d", r.Alias, r.SessionNumber) }
