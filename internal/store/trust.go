package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cw/internal/cw"
)

// TrustOf tells whether a person trusts a content of a project's cw.yaml, and
// who since when.
func (db *DB) TrustOf(ctx context.Context, project cw.ProjectID, digest string) (trust cw.ProjectTrust, found bool, err error) {
	err = db.query(ctx, "look for trust", func(g *gorm.DB) error {
		found, err = one(g, &trust, "project_id = ? AND digest = ?", project, digest)
		return err
	})
	return trust, found, err
}

// SaveTrust stores that a person trusts a content, with its event. One that is
// trusted already stays as it is. CodeNotFound without the project.
func (db *DB) SaveTrust(ctx context.Context, trust cw.ProjectTrust, e cw.Event) error {
	return db.change(ctx, "trust a project file", func(t *tx) error {
		known, err := one(t.DB, &cw.Project{}, "id = ?", trust.ProjectID)
		if err != nil {
			return err
		}
		if !known {
			return cw.Errorf(cw.CodeNotFound, "there is no project %s", trust.ProjectID).WithHint("see: cw project list")
		}
		trust.TrustedAt = t.now
		stored := t.Clauses(clause.OnConflict{DoNothing: true}).Create(&trust)
		if stored.Error != nil || stored.RowsAffected == 0 {
			return stored.Error
		}
		return t.emit(e)
	})
}

// RevokeTrust stores that a content is trusted no longer, with its event. It
// tells whether it was.
func (db *DB) RevokeTrust(ctx context.Context, project cw.ProjectID, digest string, e cw.Event) (was bool, err error) {
	err = db.change(ctx, "trust a project file no longer", func(t *tx) error {
		gone := t.Where("project_id = ? AND digest = ?", project, digest).Delete(&cw.ProjectTrust{})
		if was = gone.RowsAffected > 0; gone.Error != nil || !was {
			return gone.Error
		}
		return t.emit(e)
	})
	return was && err == nil, err
}
