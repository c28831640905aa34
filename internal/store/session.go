package store

import (
	"context"
	"time"

	"gorm.io/gorm"

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

// Session finds a session by its id, one that is over too, and tells whether
// there is one.
func (db *DB) Session(ctx context.Context, id cw.TokenID) (session cw.Token, found bool, err error) {
	err = db.query(ctx, "find a session", func(g *gorm.DB) error {
		found, err = one(g, &session, "id = ? AND session", id)
		return err
	})
	return session, found, err
}

// EndExpiredSessions revokes the sessions that nobody used for too long, with
// their events, and gives them.
func (db *DB) EndExpiredSessions(ctx context.Context) ([]cw.Token, error) {
	return db.endSessions(ctx, "end expired sessions", func(t *tx) *gorm.DB { return t.Where("expires_at <= ?", t.now) })
}

// EndSessions revokes all sessions, with their events, and gives them.
func (db *DB) EndSessions(ctx context.Context) ([]cw.Token, error) {
	return db.endSessions(ctx, "end sessions", func(t *tx) *gorm.DB { return t.DB })
}

func (db *DB) endSessions(ctx context.Context, what string, among func(*tx) *gorm.DB) ([]cw.Token, error) {
	var ended []cw.Token
	err := db.change(ctx, what, func(t *tx) error {
		ended = nil
		if err := among(t).Where("session AND revoked_at IS NULL").Find(&ended).Error; err != nil {
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
