package store

import (
	"context"
	"time"

	"cw/internal/cw"
)

// UseSession notes that a session was used, so that it lives on. One that was
// revoked meanwhile stays so.
func (db *DB) UseSession(ctx context.Context, id cw.TokenID, at time.Time) error {
	return db.change(ctx, "use session", func(t *tx) error {
		return t.Model(&cw.Token{}).Where("id = ? AND session AND revoked_at IS NULL", id).
			Updates(map[string]any{"used_at": at, "expires_at": at.Add(cw.SessionLife)}).Error
	})
}

// EndExpiredSessions revokes the sessions that nobody used for too long, with
// their events, and gives them.
func (db *DB) EndExpiredSessions(ctx context.Context) ([]cw.Token, error) {
	var ended []cw.Token
	err := db.change(ctx, "end expired sessions", func(t *tx) error {
		ended = nil
		if err := t.Where("session AND revoked_at IS NULL AND expires_at <= ?", t.now).Find(&ended).Error; err != nil {
			return err
		}
		for i := range ended {
			if err := t.revokeToken(&ended[i], cw.Actor{Kind: cw.ActorCW}); err != nil {
				return err
			}
		}
		return nil
	})
	return ended, err
}
