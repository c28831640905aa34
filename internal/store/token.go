package store

import (
	"context"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// AddToken stores a token: its hash and its rights.
func (db *DB) AddToken(ctx context.Context, token cw.Token) error {
	return db.change(ctx, "add token", func(t *tx) error { return t.Create(&token).Error })
}

// TokenByHash finds a token, revoked ones too (see RevokedAt), and tells
// whether there is one.
func (db *DB) TokenByHash(ctx context.Context, hash string) (token cw.Token, found bool, err error) {
	err = db.query(ctx, "find token", func(g *gorm.DB) error {
		found, err = one(g, &token, "hash = ?", hash)
		return err
	})
	return token, found, err
}

// revokeTokens ends all tokens of a run.
func (t *tx) revokeTokens(run cw.RunID) error {
	return t.Model(&cw.Token{}).Where("run_id = ? AND revoked_at IS NULL", run).
		Updates(map[string]any{"revoked_at": t.now}).Error
}
