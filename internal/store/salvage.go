package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

// openSalvage opens a database that may be damaged, for reading.
func openSalvage(path string) (*sql.DB, error) {
	pool, err := sql.Open(driverName, dsn(path, url.Values{
		"mode":    {"ro"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "cell_size_check(1)"},
	}))
	if err == nil {
		pool.SetMaxOpenConns(1)
	}
	return pool, err
}

// salvaged are the tables whose rows are taken over. Events are not: their
// numbers go on from the copy, and rows are the truth.
func salvaged() []string {
	return append([]string{"projects", "agents", "agent_worktrees", "runs", "messages", "ops", "questions", "conversations", "plans", "project_trusts", "worktree_ports", "tokens", "accounts", "usage_samples", "budgets"},
		initiativeTables()...)
}

// Salvage takes over every row of the state that can be read from a damaged
// file, and gives their number by table. Rows that are there are replaced: the
// file is newer than any copy. What has lost the row that it belongs to is left
// out. Where the seal of the file is there, only pages that are as they were
// are read; without one every agent says where its row comes from, since SQLite
// does not notice a bit that was turned inside a value.
func (db *DB) Salvage(ctx context.Context, path string) (map[string]int, error) {
	readable, sure, err := readablePages(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(filepath.Dir(readable)) }()
	from, err := openSalvage(readable)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // it was only read
	taken := map[string]int{}
	conn, err := db.state.writer.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil {
		return nil, err
	}
	for _, table := range salvaged() {
		n, err := salvageTable(ctx, from, conn, table)
		if err != nil {
			return taken, fmt.Errorf("take over %s: %w", table, err)
		}
		taken[table] = n
	}
	for _, mend := range mends(sure) {
		if _, err := conn.ExecContext(ctx, mend); err != nil {
			return taken, fmt.Errorf("mend what was taken over: %w", err)
		}
	}
	return taken, nil
}

// readablePages copies a damaged file into a folder of its own, with blanks
// where its seal says that pages are not as they were: SQLite tells of these.
// sure is false without a seal.
func readablePages(path string) (readable string, sure bool, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), "reading-")
	if err != nil {
		return "", false, err
	}
	readable = filepath.Join(dir, filepath.Base(path))
	err = copyFile(path, readable)
	if plain(path + "-wal") {
		err = errors.Join(err, copyFile(path+"-wal", readable+"-wal"))
	}
	if err != nil {
		return "", false, errors.Join(err, os.RemoveAll(dir))
	}
	var s seal
	data, err := os.ReadFile(sealPath(path))
	if err != nil || json.Unmarshal(data, &s) != nil || s.Version != sealVersion {
		return readable, false, nil
	}
	pages, _, err := sumFile(readable)
	if err == nil {
		err = blank(readable, changedPages(pages, s.Pages))
	}
	if err != nil {
		return "", false, errors.Join(err, os.RemoveAll(dir))
	}
	return readable, true, nil
}

func plain(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// blank overwrites pages with zeros, which are no page of a table.
func blank(path string, pages []int) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	for _, n := range pages {
		_, writeErr := f.WriteAt(make([]byte, sealPage), int64(n)*sealPage)
		err = errors.Join(err, writeErr)
	}
	return errors.Join(err, f.Close())
}

// mends are the statements that make rows out of a damaged file ones that can
// be read and that keep the rules of the schema.
func mends(sure bool) []string {
	out := initiativeMends(sure)
	for _, table := range []string{"agent_worktrees", "messages", "questions", "plans", "worktree_ports"} {
		out = append(out, "DELETE FROM "+table+" WHERE agent_id NOT IN (SELECT id FROM agents)")
	}
	out = append(out, "DELETE FROM project_trusts WHERE project_id NOT IN (SELECT id FROM projects)")
	for table, columns := range map[string][]string{
		"agents": {"warnings"}, "agent_worktrees": {"stat", "included"}, "runs": {"usage", "handle"},
		"questions": {"options_json"}, "tokens": {"scopes_json", "tools_allow_json", "tools_deny_json"},
		"projects": {"fallback"}, "accounts": {"usage"}, "tasks": {"file_ownership", "checks", "questions", "outside"},
	} {
		for _, c := range columns {
			out = append(out, "UPDATE "+table+" SET "+c+" = NULL WHERE "+c+" IS NOT NULL AND NOT json_valid("+c+")")
		}
	}
	out = append(out, "DELETE FROM plans WHERE NOT json_valid(steps_json)") // nothing is left of them
	var known []string
	for _, s := range cw.AgentStatuses() {
		known = append(known, "'"+string(s)+"'")
	}
	out = append(out,
		"DELETE FROM plans WHERE NOT json_valid(steps_json)",
		// What is known of a question or an answer is kept; nobody waits for an agent that is lost.
		`UPDATE conversations SET status = 'cancelled', reason = 'an agent of it could not be read from a damaged database'
			WHERE status = 'pending' AND (from_agent_id NOT IN (SELECT id FROM agents)
				OR to_agent_id <> '' AND to_agent_id NOT IN (SELECT id FROM agents WHERE deleted_at IS NULL AND status NOT IN ('crashed', 'stopped')))`)
	out = append(out, // as the schema says it of rows that an earlier cw wrote
		"UPDATE agents SET account_id = 'default-' || provider WHERE account_id IN ('', 'default')",
		"UPDATE runs SET provider = COALESCE((SELECT provider FROM agents WHERE agents.id = runs.agent_id), '') WHERE provider = ''",
		"UPDATE runs SET account_id = 'default-' || provider WHERE account_id IN ('', 'default') AND provider <> ''",
		"PRAGMA foreign_keys = ON")
	if sure {
		return out
	}
	return append(out,
		unknownStatus("conversations", cw.ConversationCancelled, cw.ConversationStatuses()...),
		"UPDATE agents SET status = 'crashed', reason = 'lost', error = 'its status could not be read from a damaged database' WHERE status NOT IN ("+strings.Join(known, ", ")+")",
		"UPDATE agents SET warnings = json_insert(COALESCE(warnings, '[]'), '$[#]', 'its record was read from a damaged database: what it says may be wrong')")
}

// salvageTable takes over one table, as far as it can be read.
func salvageTable(ctx context.Context, from *sql.DB, to *sql.Conn, table string) (int, error) {
	columns, err := sharedColumns(ctx, from, to, table)
	if err != nil || len(columns) == 0 {
		return 0, err
	}
	names := strings.Join(columns, ", ")
	insert := "INSERT OR REPLACE INTO " + table + " (" + names + ") VALUES (?" + strings.Repeat(", ?", len(columns)-1) + ")"
	taken := 0
	err = eachRow(ctx, from, table, names, len(columns), func(values []any) error {
		if !timesAreTimes(columns, values) {
			return nil
		}
		if _, err := to.ExecContext(ctx, insert, values...); err == nil {
			taken++
		} else if diskFull(err) || ctx.Err() != nil {
			return err
		}
		return nil // a row that breaks a rule of the schema is damaged
	})
	return taken, err
}

// timesAreTimes tells whether every time of a row can be read as one.
func timesAreTimes(columns []string, values []any) bool {
	for i, c := range columns {
		if _, isText := values[i].(string); isText && (strings.HasSuffix(c, `_at"`) || strings.HasSuffix(c, `_until"`)) {
			return false
		}
	}
	return true
}

// sharedColumns are the columns that a table has in both databases; none when
// the damaged one has no such table that can be read.
func sharedColumns(ctx context.Context, from *sql.DB, to *sql.Conn, table string) ([]string, error) {
	const query = "SELECT name FROM pragma_table_info(?)"
	old := map[string]bool{}
	if err := eachName(from.QueryContext(ctx, query, table))(func(name string) { old[name] = true }); err != nil {
		return nil, nil // it cannot be read
	}
	var both []string
	err := eachName(to.QueryContext(ctx, query, table))(func(name string) {
		if old[name] {
			both = append(both, `"`+name+`"`)
		}
	})
	return both, err
}

func eachName(rows *sql.Rows, err error) func(func(string)) error {
	return func(do func(string)) error {
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			do(name)
		}
		return rows.Err()
	}
}

const (
	// salvagePage is how many rows are read at once. After a failure it is one,
	// and a row that cannot be read is stepped over.
	salvagePage = 256
	// salvageMisses is how many rows in a row may be unreadable before the rest
	// is given up.
	salvageMisses = 10_000
)

// eachRow gives every row of a table that can be read, in the order of the row
// numbers.
func eachRow(ctx context.Context, from *sql.DB, table, columns string, width int, do func([]any) error) error {
	query := "SELECT rowid, " + columns + " FROM " + table + " NOT INDEXED WHERE rowid > ? ORDER BY rowid LIMIT ?"
	page := salvagePage
	for at, misses := int64(0), 0; misses < salvageMisses; {
		last, n, err := somePage(ctx, from, query, at, page, width, do)
		var stop *stopError
		switch {
		case errors.As(err, &stop):
			return stop.err
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && n < page:
			return nil
		case err == nil:
			at, misses, page = last, 0, salvagePage
		case n > 0:
			at, misses, page = last, 0, 1
		case page > 1:
			page = 1
		default:
			at, misses = at+1, misses+1
		}
	}
	return nil
}

// stopError is an error of the one who takes the rows.
type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }

func somePage(ctx context.Context, from *sql.DB, query string, after int64, page, width int, do func([]any) error) (last int64, n int, err error) {
	rows, err := from.QueryContext(ctx, query, after, page)
	if err != nil {
		return after, 0, err
	}
	defer func() { _ = rows.Close() }() // its error is rows.Err
	last = after
	for rows.Next() {
		values := make([]any, width)
		into := []any{&last}
		for i := range values {
			into = append(into, &values[i])
		}
		if err := rows.Scan(into...); err != nil {
			return last, n, err
		}
		if err := do(values); err != nil {
			return last, n, &stopError{err}
		}
		n++
	}
	return last, n, rows.Err()
}

// SalvageChunks takes over every chunk of a damaged file that is as it was
// stored and goes on where its run ends, and the ends of the runs that were
// dropped. It gives the bytes. It waits for Run.
func (db *DB) SalvageChunks(ctx context.Context, path string) (int64, error) {
	from, err := openSalvage(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Close() }() // it was only read
	conn, err := db.log.writer.Conn(ctx)
	if err != nil {
		return 0, err
	}
	_, err = salvageTable(ctx, from, conn, "dropped_runs")
	if err = errors.Join(err, conn.Close(), db.readDropped(ctx)); err != nil {
		return 0, err
	}
	var taken int64
	const columns = "agent_id, agent_name, session_number, offset, bytes, sum"
	err = eachRow(ctx, from, chunkTable, columns, 6, func(v []any) error {
		c, whole := chunkOf(v)
		if !whole {
			return nil
		}
		_, err := db.AppendChunks(ctx, []cw.Chunk{c})
		if err == nil {
			taken += int64(len(c.Bytes))
		}
		if code := cw.ErrorCode(err); code == cw.CodeRefused || code == cw.CodeInvalid {
			return nil // it does not go on there: something before it is missing
		}
		return err
	})
	return taken, err
}

// chunkOf makes a chunk of its columns, if it is as it was stored.
func chunkOf(v []any) (cw.Chunk, bool) {
	agent, okAgent := v[0].(string)
	name, okName := v[1].(string)
	session, okSession := v[2].(int64)
	offset, okOffset := v[3].(int64)
	data, okData := v[4].([]byte)
	sum, okSum := v[5].(int64)
	c := cw.Chunk{AgentID: cw.AgentID(agent), AgentName: name, SessionNumber: int(session), Offset: offset, Bytes: data}
	return c, okAgent && okName && okSession && okOffset && okData && okSum && sum == chunkSum(c)
}
