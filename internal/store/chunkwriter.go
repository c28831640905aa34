package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
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
	lastEnd = `SELECT offset + length(bytes) FROM agent_log_chunks
		WHERE agent_id = ? AND session_number = ? ORDER BY offset DESC LIMIT 1`
	// dataVersion changes when another connection has written.
	dataVersion = "PRAGMA data_version"
	insertChunk = `INSERT INTO agent_log_chunks (agent_id, agent_name, session_number, offset, bytes, created_at)
		VALUES (?, ?, ?, ?, ?, ?)`
)

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
// is finished first.
func (db *DB) Run(ctx context.Context) error {
	defer close(db.stopped)
	w, err := newChunkWriter(ctx, db)
	if err != nil {
		return inAct("start the log writer", err)
	}
	defer w.close()
	for {
		select {
		case <-ctx.Done():
			return nil
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
	now     func() time.Time
	calls   chan *appendCall
	busy    bool // the last group held several calls
	version *sql.Stmt
	end     *sql.Stmt
	insert  *sql.Stmt
	// ends are the ends of runs as of data version seen.
	ends map[runKey]int64
	seen int64
}

func newChunkWriter(ctx context.Context, db *DB) (*chunkWriter, error) {
	w := &chunkWriter{db: db.log, now: db.now, calls: db.appends}
	for query, stmt := range map[string]**sql.Stmt{dataVersion: &w.version, lastEnd: &w.end, insertChunk: &w.insert} {
		var err error
		if *stmt, err = w.db.writer.PrepareContext(ctx, query); err != nil {
			w.close()
			return nil, w.db.note(err)
		}
	}
	return w, nil
}

func (w *chunkWriter) close() {
	for _, stmt := range []*sql.Stmt{w.version, w.end, w.insert} {
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
	sqlTx, err := w.db.writer.BeginTx(ctx, nil)
	if err != nil {
		return w.db.note(err)
	}
	t := chunkTx{
		end:    sqlTx.StmtContext(ctx, w.end),
		insert: sqlTx.StmtContext(ctx, w.insert),
		now:    w.now().UTC().Round(0),
	}
	if t.ends, err = w.known(ctx, sqlTx); err != nil {
		return w.db.note(errors.Join(err, sqlTx.Rollback()))
	}
	w.ends = nil // until this transaction is known to be stored
	for _, call := range group {
		if err := t.add(ctx, call); err != nil {
			return w.db.note(errors.Join(err, sqlTx.Rollback()))
		}
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

// runKey names the run whose output a chunk holds.
type runKey struct {
	agent   cw.AgentID
	session int
}

// chunkTx is one transaction of the chunk writer.
type chunkTx struct {
	end, insert *sql.Stmt
	now         time.Time
	ends        map[runKey]int64 // where runs go on, as this transaction sees it
}

// add stores one call, or refuses it whole by setting its err.
func (t *chunkTx) add(ctx context.Context, call *appendCall) error {
	ends, refusal, err := t.admit(ctx, call.chunks)
	call.err = refusal
	if err != nil || refusal != nil {
		return err
	}
	for i := range call.chunks {
		c := &call.chunks[i]
		if c.CreatedAt.IsZero() {
			c.CreatedAt = t.now
		}
		stored, err := t.insert.ExecContext(ctx, c.AgentID, c.AgentName, c.SessionNumber, c.Offset, c.Bytes, c.CreatedAt)
		if err != nil {
			return err
		}
		if c.ID, err = stored.LastInsertId(); err != nil {
			return err
		}
	}
	maps.Copy(t.ends, ends)
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
