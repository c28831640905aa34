package store

import (
	"context"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// ProviderRuns counts by provider the runs that were started, of removed agents
// too, and the lines of their output that cw does not know.
func (db *DB) ProviderRuns(ctx context.Context) (map[string]cw.ProviderRuns, error) {
	var rows []struct {
		Provider           string
		Runs, UnknownLines int
	}
	err := db.query(ctx, "count runs of providers", func(g *gorm.DB) error {
		return g.Raw(`SELECT provider, COUNT(*) AS runs, SUM(unknown_lines) AS unknown_lines
			FROM runs WHERE started_at IS NOT NULL GROUP BY provider`).Scan(&rows).Error
	})
	out := make(map[string]cw.ProviderRuns, len(rows))
	for _, r := range rows {
		out[r.Provider] = cw.ProviderRuns{Runs: r.Runs, UnknownLines: r.UnknownLines}
	}
	return out, err
}
