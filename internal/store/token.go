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

// RunToken finds the token of a run, a revoked one too, and tells whether there
// is one.
func (db *DB) RunToken(ctx context.Context, run cw.RunID) (token cw.Token, found bool, err error) {
	err = db.query(ctx, "find a run's token", func(g *gorm.DB) error {
		found, err = one(g.Order("revoked_at IS NULL DESC, created_at DESC"), &token, "run_id = ? AND kind = ?", run, cw.ActorAgent)
		return err
	})
	return token, found, err
}

// AddDashboardToken stores a dashboard's token or session, with its event. An empty name
// becomes the default one, numbered when that is taken. CodeRefused when a
// living token has the name.
func (db *DB) AddDashboardToken(ctx context.Context, token cw.Token, by cw.Actor) (cw.Token, error) {
	token.Kind = cw.ActorDashboard
	err := db.change(ctx, "add dashboard token", func(t *tx) error {
		if err := t.nameToken(&token); err != nil {
			return err
		}
		token.CreatedAt = t.now
		if err := t.Create(&token).Error; err != nil {
			return err
		}
		return t.emit(cw.NewEvent(cw.EventTokenCreated, by, token.Changed()))
	})
	return token, err
}

// nameToken gives a token a name that no living token has.
func (t *tx) nameToken(token *cw.Token) (err error) {
	taken := func(name string) (bool, error) {
		var other cw.Token
		return one(t.DB, &other, "name = ? AND revoked_at IS NULL", name)
	}
	if token.Name == "" {
		token.Name, err = cw.FreeTokenName(token.DefaultName(), taken)
		return err
	}
	is, err := taken(token.Name)
	if err == nil && is {
		err = cw.TokenNameTaken(token.Name)
	}
	return err
}

// TokenPage gives one page of the tokens of dashboards, the revoked too.
// CodeInvalid as cw.List.Start.
func (db *DB) TokenPage(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Token], error) {
	start, err := cw.TokenList().Start(q)
	if err != nil {
		return cw.Page[cw.Token]{}, err
	}
	column := "created_at"
	if start.Field == "name" {
		column = "name"
	}
	var page cw.Page[cw.Token]
	err = db.query(ctx, "list tokens", func(g *gorm.DB) (err error) {
		page, err = pageOf[cw.Token](g.Where("kind = ?", cw.ActorDashboard), start, column)
		return err
	})
	return page, err
}

// RevokeDashboardToken ends a dashboard's token, found by id or name, with its
// event. One that is ended already stays as it is. CodeNotFound, for the
// tokens of runs too.
func (db *DB) RevokeDashboardToken(ctx context.Context, ref string, by cw.Actor) (cw.Token, error) {
	var token cw.Token
	err := db.change(ctx, "revoke token", func(t *tx) error {
		// No name looks like an id. Of those with the name it is the one that
		// lives, or else the last that did.
		found, err := one(t.Order("revoked_at IS NULL DESC, created_at DESC, rowid DESC"),
			&token, "kind = ? AND (id = ? OR name = ?)", cw.ActorDashboard, ref, ref)
		switch {
		case err != nil:
			return err
		case !found:
			return cw.NoSuchToken(ref)
		case token.RevokedAt != nil:
			return nil
		}
		return t.revokeToken(&token, by)
	})
	return token, err
}

// revokeToken ends a dashboard's token that lives, with its event.
func (t *tx) revokeToken(token *cw.Token, by cw.Actor) error {
	token.RevokedAt = &t.now
	if err := t.Model(token).Select("revoked_at").Updates(token).Error; err != nil {
		return err
	}
	return t.emit(cw.NewEvent(cw.EventTokenRevoked, by, token.Changed()))
}

// revokeTokens ends all tokens of a run.
func (t *tx) revokeTokens(run cw.RunID) error {
	return t.Model(&cw.Token{}).Where("run_id = ? AND revoked_at IS NULL", run).
		Updates(map[string]any{"revoked_at": t.now}).Error
}
