package store

import (
	"context"
	"database/sql"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// Limits of one read of chunks.
const (
	chunkRowsMax  = 512                         // when the caller names no limit
	chunkBytesMax = cw.ChunksSure * cw.ChunkMax // in any case, but always one chunk
)

// chunkTable is where chunks are.
const chunkTable = "agent_log_chunks"

// NextOffset gives the end of the last stored chunk of a run: where reading
// its output goes on.
func (db *DB) NextOffset(ctx context.Context, agent cw.AgentID, session int) (int64, error) {
	var next int64
	err := db.log.snapshot(ctx, func(g *gorm.DB) error {
		return g.Raw(lastEnd, agent, session).Scan(&next).Error
	})
	return next, inAct("read the next offset", err)
}

// ChunksFrom gives chunks of one agent in order of session and offset: those
// after the chunk AfterID, or else those of Session (0: the first) that end
// after Offset, and of later sessions unless Only. It gives at most Limit (0:
// 512) chunks and about 4 MiB; nothing is left when it gives none, or
// fewer than a Limit of at most cw.ChunksSure. CodeGone when what is asked for
// is kept no longer.
//
// It works below gorm: every stream asks again after every chunk.
func (db *DB) ChunksFrom(ctx context.Context, q cw.ChunkQuery) ([]cw.Chunk, error) {
	var chunks []cw.Chunk
	session, offset, err := db.log.position(ctx, q)
	if err == nil {
		// Not in one snapshot with the place: that stays a place, whatever
		// becomes of its row.
		chunks, err = db.log.readChunks(ctx, q, session, offset)
	}
	if err == nil {
		// After reading: what is dropped meanwhile is known before it goes.
		err = db.dropped.check(q, len(chunks) > 0)
	}
	return chunks, inAct("read chunks", letGo(ctx, explain(db.log.path, err)))
}

// The statements that find a place and read from it.
const (
	placeOf     = "SELECT session_number, offset + length(bytes) FROM " + chunkTable + " WHERE id = ? AND agent_id = ?"
	placeBefore = "SELECT session_number, offset + length(bytes) FROM " + chunkTable +
		" WHERE agent_id = ? AND id < ? ORDER BY session_number DESC, offset DESC LIMIT 1"
	// The row value is answered from the unique index: it starts at the chunk
	// that holds the offset. The session ?4 is the only one, unless it is 0.
	// There is no LIMIT: SQLite plans a query with a bound one anew each time
	// (half of the time was that), and whoever reads may stop at any row.
	chunksAfter = `SELECT id, agent_id, agent_name, session_number, offset, bytes, created_at, sum FROM agent_log_chunks
		WHERE agent_id = ?1 AND (session_number, offset) >= (?2, COALESCE((SELECT MAX(offset) FROM agent_log_chunks
			WHERE agent_id = ?1 AND session_number = ?2 AND offset <= ?3), 0))
		AND (session_number > ?2 OR offset + length(bytes) > ?3)
		AND (?4 = 0 OR session_number = ?4)
		ORDER BY session_number, offset`
)

// position turns a query into the place from which chunks are wanted.
func (d *database) position(ctx context.Context, q cw.ChunkQuery) (session int, offset int64, err error) {
	if q.AfterID == 0 {
		if q.Session == 0 {
			return 0, 0, nil
		}
		return q.Session, q.Offset, nil
	}
	found, session, offset, err := d.place(ctx, placeOf, q.AfterID, q.AgentID)
	if err == nil && !found {
		// Retention took it. Ids of one agent rise with session and offset, so
		// its place is after the last that is older.
		_, session, offset, err = d.place(ctx, placeBefore, q.AgentID, q.AfterID)
	}
	return session, offset, err
}

// place gives the session and the end of the chunk that a statement finds.
func (d *database) place(ctx context.Context, query string, args ...any) (found bool, session int, end int64, err error) {
	rows, err := d.ask(ctx, query, args...)
	if err != nil {
		return false, 0, 0, err
	}
	defer func() { _ = rows.Close() }() // its error is rows.Err
	for rows.Next() {
		if err := rows.Scan(&session, &end); err != nil {
			return false, 0, 0, err
		}
		found = true
	}
	return found, session, end, rows.Err()
}

func (d *database) readChunks(ctx context.Context, q cw.ChunkQuery, session int, offset int64) ([]cw.Chunk, error) {
	limit, only := q.Limit, 0
	if limit <= 0 {
		limit = chunkRowsMax
	}
	if q.Only {
		only = q.Session
	}
	rows, err := d.ask(ctx, chunksAfter, q.AgentID, session, offset, only)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its error is rows.Err
	var chunks []cw.Chunk
	for size := 0; len(chunks) < limit && size < chunkBytesMax && rows.Next(); {
		var c cw.Chunk
		var sum sql.NullInt64
		if err := rows.Scan(&c.ID, &c.AgentID, &c.AgentName, &c.SessionNumber, &c.Offset, &c.Bytes, &c.CreatedAt, &sum); err != nil {
			return nil, err
		}
		if err := checkStored(c, sum, chunks); err != nil {
			return nil, damaged(d.path).Because(err)
		}
		size += len(c.Bytes)
		chunks = append(chunks, c)
	}
	return chunks, rows.Err()
}
