package store

import (
	"context"

	"cw/internal/cw"
)

// The statements walk an index: their cost does not depend on how much output
// there is. The second one is asked for each session that the first one finds.
const (
	sessionsOf = `WITH RECURSIVE s(n) AS (
			SELECT MAX(session_number) FROM agent_log_chunks WHERE agent_id = ?1
			UNION ALL
			SELECT (SELECT MAX(session_number) FROM agent_log_chunks WHERE agent_id = ?1 AND session_number < s.n) FROM s WHERE s.n IS NOT NULL)
		SELECT c.session_number, c.id, c.offset, c.offset + length(c.bytes) FROM s JOIN agent_log_chunks c ON c.agent_id = ?1
			AND c.session_number = s.n
			AND c.offset = (SELECT MAX(offset) FROM agent_log_chunks WHERE agent_id = ?1 AND session_number = s.n)
		ORDER BY s.n`
	lineStart = `SELECT COALESCE((SELECT offset + length(bytes) FROM agent_log_chunks
		WHERE agent_id = ?1 AND session_number = ?2 AND offset < ?3 AND offset + length(bytes) <= ?3 AND substr(bytes, -1) = x'0a'
		ORDER BY offset DESC LIMIT 1), 0)`
)

// OutputSessions gives the sessions of an agent of which output is stored, in
// order. CodeGone when all that there was is kept no longer.
func (db *DB) OutputSessions(ctx context.Context, agent cw.AgentID) ([]cw.OutputSession, error) {
	const act = "find the stored output of an agent"
	rows, err := db.log.ask(ctx, sessionsOf, agent)
	if err != nil {
		return nil, inAct(act, letGo(ctx, explain(db.log.path, err)))
	}
	defer func() { _ = rows.Close() }() // its error is rows.Err
	var out []cw.OutputSession
	for rows.Next() {
		var s cw.OutputSession
		if err := rows.Scan(&s.Number, &s.LastID, &s.LastOffset, &s.End); err != nil {
			return nil, inAct(act, err)
		}
		if !db.dropped.has(runKey{agent, s.Number}) { // else it is just going
			out = append(out, s)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, inAct(act, letGo(ctx, explain(db.log.path, err)))
	}
	return out, inAct(act, db.dropped.check(cw.ChunkQuery{AgentID: agent}, len(out) > 0))
}

// LineStart gives the end of the last chunk, at or before a byte of a session's
// output, after which a line begins; 0 without one.
func (db *DB) LineStart(ctx context.Context, agent cw.AgentID, session int, at int64) (int64, error) {
	const act = "find the beginning of a line of output"
	rows, err := db.log.ask(ctx, lineStart, agent, session, at)
	if err != nil {
		return 0, inAct(act, letGo(ctx, explain(db.log.path, err)))
	}
	defer func() { _ = rows.Close() }() // its error is rows.Err
	var start int64
	for rows.Next() {
		if err := rows.Scan(&start); err != nil {
			return 0, inAct(act, err)
		}
	}
	return start, inAct(act, letGo(ctx, explain(db.log.path, rows.Err())))
}
