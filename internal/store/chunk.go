package store

import (
	"context"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// Limits of one read of chunks.
const (
	chunkRowsMax  = 512     // when the caller names no limit
	chunkBytesMax = 4 << 20 // in any case, but always one chunk
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
// 512) chunks and about 4 MiB; nothing is left only when it gives none.
func (db *DB) ChunksFrom(ctx context.Context, q cw.ChunkQuery) ([]cw.Chunk, error) {
	var chunks []cw.Chunk
	err := db.log.snapshot(ctx, func(g *gorm.DB) error {
		session, offset, err := position(g, q)
		if err != nil {
			return err
		}
		chunks, err = readChunks(g, q, session, offset)
		return err
	})
	return chunks, inAct("read chunks", err)
}

// position turns a query into the place from which chunks are wanted.
func position(g *gorm.DB, q cw.ChunkQuery) (session int, offset int64, err error) {
	if q.AfterID == 0 {
		if q.Session == 0 {
			return 0, 0, nil
		}
		return q.Session, q.Offset, nil
	}
	var at struct {
		SessionNumber int
		Ending        int64
	}
	const place = "SELECT session_number, offset + length(bytes) AS ending FROM " + chunkTable
	found := g.Raw(place+" WHERE id = ? AND agent_id = ?", q.AfterID, q.AgentID).Scan(&at)
	if found.Error == nil && found.RowsAffected == 0 {
		// Retention took it. Ids of one agent rise with session and offset, so
		// its place is after the last that is older.
		found = g.Raw(place+" WHERE agent_id = ? AND id < ? ORDER BY session_number DESC, offset DESC LIMIT 1",
			q.AgentID, q.AfterID).Scan(&at)
	}
	return at.SessionNumber, at.Ending, found.Error
}

func readChunks(g *gorm.DB, q cw.ChunkQuery, session int, offset int64) ([]cw.Chunk, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = chunkRowsMax
	}
	// The row value is answered from the unique index: it starts at the chunk
	// that holds the offset.
	g = g.Table(chunkTable).
		Where(`agent_id = ? AND (session_number, offset) >= (?, COALESCE((SELECT MAX(offset) FROM agent_log_chunks
			WHERE agent_id = ? AND session_number = ? AND offset <= ?), 0))`, q.AgentID, session, q.AgentID, session, offset).
		Where("(session_number > ? OR offset + length(bytes) > ?)", session, offset)
	if q.Only && q.Session > 0 {
		g = g.Where("session_number = ?", q.Session)
	}
	rows, err := g.Order("session_number, offset").Limit(limit).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its error is rows.Err
	var chunks []cw.Chunk
	for size := 0; size < chunkBytesMax && rows.Next(); {
		var c cw.Chunk
		if err := g.ScanRows(rows, &c); err != nil {
			return nil, err
		}
		size += len(c.Bytes)
		chunks = append(chunks, c)
	}
	return chunks, rows.Err()
}
