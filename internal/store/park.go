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

// StopWaiting stops an agent that waits for an account or for answers, in one
// transaction with its event. Of one that waits for answers the open questions are
// withdrawn, with question:withdrawn for each. CodeNotFound; CodeRefused, naming
// the status found, when it waits for neither, and when it is removed.
func (db *DB) StopWaiting(ctx context.Context, id cw.AgentID, e cw.Event) error {
	return db.change(ctx, "stop an agent that waits", func(t *tx) error {
		agent, err := t.loadAgent(id)
		switch {
		case err != nil:
			return err
		case agent.DeletedAt != nil:
			return refusedRemoved(agent)
		case agent.Status == cw.StatusWaitingForInput:
			if err := t.withdrawQuestions(agent, cw.WithdrawnStopped, actorOf([]cw.Event{e})); err != nil {
				return err
			}
		}
		agent.Reason, agent.RetryAt, agent.Error = cw.ReasonUser, nil, ""
		from := []cw.AgentStatus{cw.StatusParked, cw.StatusWaitingForInput}
		if err := t.move(&agent, from, cw.StatusStopped, "reason", "retry_at", "error"); err != nil {
			return err
		}
		if err := t.emit(e); err != nil {
			return err
		}
		return t.cancelAsked(id, actorOf([]cw.Event{e}))
	})
}
