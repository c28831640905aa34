package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"time"

	"cw/internal/cw"
)

// runKey names the run whose output a chunk holds.
type runKey struct {
	agent   cw.AgentID
	session int
}

// insert is a statement that inserts so many chunks.
type insert struct {
	rows int
	stmt *sql.Stmt
}

// chunkTx is one transaction of the chunk writer.
type chunkTx struct {
	end     *sql.Stmt
	inserts []insert // from the most chunks on, at last one
	now     time.Time
	ends    map[runKey]int64 // where runs go on, as this transaction sees it
}

// add stores the calls of a group, or refuses some of them whole by setting
// their err.
func (t *chunkTx) add(ctx context.Context, group []*appendCall) error {
	var rows []*cw.Chunk
	for _, call := range group {
		ends, refusal, err := t.admit(ctx, call.chunks)
		call.err = refusal
		if err != nil {
			return err
		}
		if refusal != nil {
			continue
		}
		maps.Copy(t.ends, ends)
		for i := range call.chunks {
			rows = append(rows, &call.chunks[i])
		}
	}
	for _, in := range t.inserts {
		for ; len(rows) >= in.rows; rows = rows[in.rows:] {
			if err := t.put(ctx, in.stmt, rows[:in.rows]); err != nil {
				return err
			}
		}
	}
	return nil
}

// put inserts chunks by one statement and gives them their ids. These follow
// each other: the id is AUTOINCREMENT, and nobody else writes meanwhile.
func (t *chunkTx) put(ctx context.Context, stmt *sql.Stmt, rows []*cw.Chunk) error {
	args := make([]any, 0, 7*len(rows))
	for _, c := range rows {
		if c.CreatedAt.IsZero() {
			c.CreatedAt = t.now
		}
		args = append(args, c.AgentID, c.AgentName, c.SessionNumber, c.Offset, c.Bytes, c.CreatedAt, chunkSum(*c))
	}
	stored, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return err
	}
	last, err := stored.LastInsertId()
	if err != nil {
		return err
	}
	for i, c := range rows {
		c.ID = last - int64(len(rows)-1-i)
	}
	return nil
}

// admit checks that chunks go on where their runs end, and gives the new ends.
func (t *chunkTx) admit(ctx context.Context, chunks []cw.Chunk) (ends map[runKey]int64, refusal, err error) {
	ends = map[runKey]int64{}
	for _, c := range chunks {
		key := runKey{c.AgentID, c.SessionNumber}
		end, ok := ends[key]
		if !ok {
			if end, err = t.endOf(ctx, key); err != nil {
				return nil, nil, err
			}
		}
		if c.Offset != end {
			return nil, cw.Errorf(cw.CodeRefused, "output of %s in session %d goes on at %d, not at %d",
				c.AgentID, c.SessionNumber, end, c.Offset), nil
		}
		ends[key] = c.End()
	}
	return ends, nil, nil
}

func (t *chunkTx) endOf(ctx context.Context, key runKey) (int64, error) {
	if end, ok := t.ends[key]; ok {
		return end, nil
	}
	var end int64
	err := t.end.QueryRowContext(ctx, key.agent, key.session).Scan(&end)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return end, err
}
