package store

import (
	"context"
	"database/sql"
	"sync"
)

// prepared keeps the statements of a pool that are asked often: SQLite spends
// more time on parsing such a query than on answering it. The zero value is
// ready.
type prepared struct {
	mu    sync.Mutex
	known map[string]*sql.Stmt // guarded by mu; they end with the pool
}

// statement gives the prepared form of a query. There are as many as there are
// texts, so it is for constant ones only.
func (p *prepared) statement(ctx context.Context, pool *sql.DB, query string) (*sql.Stmt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stmt := p.known[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := pool.PrepareContext(ctx, query) //nolint:sqlclosecheck // it ends with the pool
	if err != nil {
		return nil, err
	}
	if p.known == nil {
		p.known = map[string]*sql.Stmt{}
	}
	p.known[query] = stmt
	return stmt, nil
}

// ask reads by a constant query, on any of the reading connections.
func (d *database) ask(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := d.asked.statement(ctx, d.reader, query) //nolint:sqlclosecheck // as above
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}
