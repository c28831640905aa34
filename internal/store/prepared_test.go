package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
)

// TestPrepared: a query is prepared once, whoever asks at the same time, and
// one that cannot be prepared does not stand in the way of the next.
func TestPrepared(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var p prepared
	const query = "SELECT ?"
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.statement(gone, b.state.reader, query); !errors.Is(err, context.Canceled) {
		t.Errorf("prepared for nobody: %v", err)
	}
	stmts := make([]*sql.Stmt, 8)
	var asking sync.WaitGroup
	for i := range stmts {
		asking.Go(func() {
			stmt, err := p.statement(t.Context(), b.state.reader, query)
			if err != nil {
				t.Error(err)
			}
			stmts[i] = stmt
		})
	}
	asking.Wait()
	for _, stmt := range stmts {
		if stmt == nil || stmt != stmts[0] {
			t.Fatalf("prepared more than once: %v", stmts)
		}
	}
}
