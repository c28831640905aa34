package store

import (
	"context"
	"time"

	"cw/internal/cw"
)

// PutOff stores until when a parked agent waits now, with its event. One that went
// on meanwhile stays as it is, and nothing is told.
func (db *DB) PutOff(ctx context.Context, id cw.AgentID, until time.Time, e cw.Event) error {
	return db.change(ctx, "put a parked agent off", func(t *tx) error {
		changed := t.Model(&cw.Agent{}).Where("id = ? AND status = ? AND deleted_at IS NULL", id, cw.StatusParked).
			Updates(map[string]any{"retry_at": until.UTC()})
		if changed.Error != nil || changed.RowsAffected == 0 {
			return changed.Error
		}
		return t.emit(e)
	})
}

// StopParked stops an agent that waits for an account, in one transaction with
// its event. CodeNotFound; CodeRefused, naming the status found, when it is not
// parked.
func (db *DB) StopParked(ctx context.Context, id cw.AgentID, e cw.Event) error {
	return db.change(ctx, "stop a parked agent", func(t *tx) error {
		agent, err := t.loadAgent(id)
		if err != nil {
			return err
		}
		agent.Reason, agent.RetryAt, agent.Error = cw.ReasonUser, nil, ""
		if err := t.move(&agent, []cw.AgentStatus{cw.StatusParked}, cw.StatusStopped, "reason", "retry_at", "error"); err != nil {
			return err
		}
		if err := t.emit(e); err != nil {
			return err
		}
		return t.cancelAsked(id, actorOf([]cw.Event{e}))
	})
}
