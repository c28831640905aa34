package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"cw/internal/cw"
)

// Limits of a group of calls that are committed together.
const (
	groupBytesMax = 4 << 20              // more is not waited for
	lingerMax     = 4 * time.Millisecond // waiting for other callers
	lingerGap     = 2 * time.Millisecond // nobody came for so long: go
	endsMax       = 4096                 // runs whose end is remembered
)

// The statements of the writer.
const (
	// lastEnd knows the end of a run whose output is kept no longer, too.
	lastEnd = `SELECT COALESCE((SELECT offset + length(bytes) FROM agent_log_chunks
			WHERE agent_id = ?1 AND session_number = ?2 ORDER BY offset DESC LIMIT 1),
		(SELECT end_offset FROM dropped_runs WHERE agent_id = ?1 AND session_number = ?2), 0)`
	// dataVersion changes when another connection has written.
	dataVersion = "PRAGMA data_version"
	// insertChunk is OR FAIL, which undoes nothing, so that SQLite need not note
	// how: the transaction is given up whole when a statement fails.
	insertChunk = `INSERT OR FAIL INTO agent_log_chunks (agent_id, agent_name, session_number, offset, bytes, created_at, sum)
		VALUES ` + chunkValues
	chunkValues = "(?, ?, ?, ?, ?, ?, ?)"
)

// insertSizes are how many chunks one statement inserts, from the most on.
func insertSizes() []int { return []int{16, 4, 1} }

// errStopped is what a writer of chunks gets after Run has ended.
var errStopped = errors.New("the log writer has stopped")

// appendCall is one call of AppendChunks on its way to the writer.
type appendCall struct {
	chunks []cw.Chunk
	size   int
	err    error
	done   chan struct{} // closed when chunks and err are final
}

// AppendChunks stores chunks, all of them or none, and gives them back with
// their ids. Each must begin where the last one of its agent and session ends,
// counting those before it in the same call: CodeRefused otherwise. It returns
// when they survive the death of this process (not yet a power loss). Calls at
// the same time are committed together; one that is refused hurts no other.
//
// It waits for Run. When ctx ends first the chunks may be stored or not: ask
// NextOffset.
func (db *DB) AppendChunks(ctx context.Context, chunks []cw.Chunk) ([]cw.Chunk, error) {
	call := &appendCall{chunks: append([]cw.Chunk(nil), chunks...), done: make(chan struct{})}
	for _, c := range chunks {
		if err := checkChunk(c); err != nil {
			return nil, err
		}
		call.size += len(c.Bytes)
	}
	if len(chunks) == 0 {
		return nil, nil
	}
	db.waiting.Add(1)
	defer db.waiting.Add(-1)
	select {
	case db.appends <- call:
	case <-db.stopped:
		return nil, errStopped
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-call.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if call.err != nil {
		return nil, inAct("append chunks", call.err)
	}
	return call.chunks, nil
}

func checkChunk(c cw.Chunk) error {
	switch {
	case c.AgentID == "" || c.SessionNumber < 1 || c.Offset < 0:
		return cw.Errorf(cw.CodeInvalid, "a chunk needs an agent, a session and an offset")
	case len(c.Bytes) == 0 || len(c.Bytes) > cw.ChunkMax:
		return cw.Errorf(cw.CodeInvalid, "a chunk holds 1 to %d bytes, not %d", cw.ChunkMax, len(c.Bytes))
	}
	return nil
}

// Run writes chunks until ctx ends. It is called once. A group that has begun
// is finished first. It ends with an error when a sync failed: only who opens the
// databases anew may write to them again.
func (db *DB) Run(ctx context.Context) error {
	defer close(db.stopped)
	w, err := newChunkWriter(ctx, db)
	if err != nil && ctx.Err() != nil {
		return nil // it ended before it began
	}
	if err != nil {
		return inAct("start the log writer", err)
	}
	defer w.close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-db.state.down:
			return db.state.usable()
		case <-db.log.down:
			return db.log.usable()
		case first := <-db.appends:
			// A caller that was let in gets its answer, whatever ends meanwhile.
			w.commit(context.WithoutCancel(ctx), w.gather(first))
		}
	}
}

// chunkWriter is the only writer of log.db. It works below gorm: a few
// prepared statements serve groups of any size.
type chunkWriter struct {
	db      *database
	reserve *reserve
	now     func() time.Time
	calls   chan *appendCall
	busy    bool // the last group held several calls
	version *sql.Stmt
	end     *sql.Stmt
	inserts []insert
	// ends are the ends of runs as of data version seen.
	ends map[runKey]int64
	seen int64
}

func newChunkWriter(ctx context.Context, db *DB) (*chunkWriter, error) {
	w := &chunkWriter{db: db.log, reserve: db.reserve, now: db.now, calls: db.appends}
	var err error
	prepare := func(query string) *sql.Stmt {
		if err != nil {
			return nil
		}
		var stmt *sql.Stmt
		stmt, err = w.db.writer.PrepareContext(ctx, query)
		return stmt
	}
	w.version, w.end = prepare(dataVersion), prepare(lastEnd)
	for _, n := range insertSizes() {
		w.inserts = append(w.inserts, insert{n, prepare(insertChunk + strings.Repeat(", "+chunkValues, n-1))})
	}
	if err != nil {
		w.close()
		return nil, w.db.note(err)
	}
	return w, nil
}

func (w *chunkWriter) close() {
	stmts := []*sql.Stmt{w.version, w.end}
	for _, in := range w.inserts {
		stmts = append(stmts, in.stmt)
	}
	for _, stmt := range stmts {
		if stmt != nil {
			_ = stmt.Close() // nothing is lost with a statement
		}
	}
}

// gather collects the calls that are committed together. It waits for others
// only when there were others last time.
func (w *chunkWriter) gather(first *appendCall) []*appendCall {
	group, size := []*appendCall{first}, first.size
	var until time.Time
	if w.busy {
		until = time.Now().Add(lingerMax)
	}
	for size < groupBytesMax {
		call := w.next(min(lingerGap, time.Until(until)))
		if call == nil {
			break
		}
		group, size = append(group, call), size+call.size
	}
	w.busy = len(group) > 1
	return group
}

// next takes a call that is there, or comes within wait; nil if none does.
func (w *chunkWriter) next(wait time.Duration) *appendCall {
	select {
	case call := <-w.calls:
		return call
	default:
	}
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case call := <-w.calls:
		return call
	case <-timer.C:
		return nil
	}
}

// commit stores a group and answers its callers. When the group fails as a
// whole each call is tried alone: a full disk may hold a small one.
func (w *chunkWriter) commit(ctx context.Context, group []*appendCall) {
	err := w.store(ctx, group)
	if err != nil && len(group) > 1 {
		for _, call := range group {
			w.commit(ctx, []*appendCall{call})
		}
		return
	}
	for _, call := range group {
		if err != nil {
			call.err = err
		}
		close(call.done)
	}
}

// store is one transaction. It sets err of the calls that are refused, and
// returns an error when nothing at all was stored.
func (w *chunkWriter) store(ctx context.Context, group []*appendCall) error {
	if err := w.db.usable(); err != nil {
		return err
	}
	if !w.reserve.keep() { // what is left is for the state
		return outputWaits(w.db.path)
	}
	sqlTx, err := w.db.writer.BeginTx(ctx, nil)
	if err != nil {
		return w.db.note(err)
	}
	t := chunkTx{
		end: sqlTx.StmtContext(ctx, w.end),
		now: w.now().UTC().Round(0),
	}
	for _, in := range w.inserts {
		t.inserts = append(t.inserts, insert{in.rows, sqlTx.StmtContext(ctx, in.stmt)})
	}
	if t.ends, err = w.known(ctx, sqlTx); err != nil {
		return w.db.note(errors.Join(err, sqlTx.Rollback()))
	}
	w.ends = nil // until this transaction is known to be stored
	if err := t.add(ctx, group); err != nil {
		return w.db.note(errors.Join(err, sqlTx.Rollback()))
	}
	if err := sqlTx.Commit(); err != nil {
		return w.db.note(err)
	}
	w.ends = t.ends
	return nil
}

// known gives the ends that the last transaction left, if nobody else wrote
// since: the transaction holds the write lock, so they stay true in it.
func (w *chunkWriter) known(ctx context.Context, sqlTx *sql.Tx) (map[runKey]int64, error) {
	var version int64
	if err := sqlTx.StmtContext(ctx, w.version).QueryRowContext(ctx).Scan(&version); err != nil {
		return nil, err
	}
	if w.ends == nil || version != w.seen || len(w.ends) > endsMax {
		w.ends, w.seen = map[runKey]int64{}, version
	}
	return w.ends, nil
}
