package store

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"cw/internal/cw"
)

// later gives the migrations of the state with more after them.
func later(t *testing.T, more ...string) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	state, err := stateMigrations()
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(state, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(state, name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = &fstest.MapFile{Data: data}
	}
	for i, sql := range more {
		out["900"+string(rune('1'+i))+"_later.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + sql)}
	}
	return out
}

// openWith opens a folder with other migrations of the state.
func openWith(t *testing.T, dir string, state fs.FS) (*DB, error) {
	t.Helper()
	chunks, err := logMigrations()
	if err != nil {
		t.Fatal(err)
	}
	return open(t.Context(), Options{
		Dir: dir, Version: "v0.1.0-test",
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}, state, chunks)
}

const goodMigration = "CREATE TABLE extra (id TEXT);\nALTER TABLE agents ADD COLUMN extra TEXT;\nINSERT INTO extra VALUES ('x');\n"

// TestMigrate brings an older database up to date: what was in it stays, and
// a verified copy of how it was is kept.
func TestMigrate(t *testing.T) {
	dir := filled(t)
	db, err := openWith(t, dir, later(t, goodMigration))
	if err != nil {
		t.Fatal(err)
	}
	if last, err := db.LastEventSeq(t.Context()); err != nil || last != 40 {
		t.Errorf("after migrating: %d events, %v", last, err)
	}
	if err := db.state.read.Exec("SELECT extra FROM agents").Error; err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}

	path := filepath.Join(backupDir(dir), "cw-13-20260102T030405.db")
	entries, err := os.ReadDir(backupDir(dir))
	if err != nil || len(entries) != 1 {
		t.Fatalf("backups: %v %v", entries, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("backup: %v %v", info, err)
	}
	again, err := openWith(t, dir, later(t, goodMigration)) // nothing to do
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
	if entries, _ := os.ReadDir(backupDir(dir)); len(entries) != 1 {
		t.Errorf("a start without a migration made a backup: %v", entries)
	}

	restored := t.TempDir() // as the hint of an error says
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(restored, stateName), data, 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := Open(t.Context(), Options{Dir: restored})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	if last, err := old.LastEventSeq(t.Context()); err != nil || last != 40 {
		t.Errorf("in the backup: %d events, %v", last, err)
	}
}

// only gives the first so many migrations of the state.
func only(t *testing.T, count int) fs.FS {
	t.Helper()
	all, out := later(t), fstest.MapFS{}
	names, err := fs.Glob(all, "*.sql")
	if err != nil || len(names) < count {
		t.Fatalf("migrations %v, %v", names, err)
	}
	for _, name := range names[:count] {
		data, err := fs.ReadFile(all, name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = &fstest.MapFile{Data: data}
	}
	return out
}

// firstRows are rows of the first schema, two of them tokens without a name, and
// a question that waits for its answer.
const firstRows = `
	INSERT INTO projects (id, name, mirror, created_at, updated_at) VALUES ('pppppppppppp', 'shop', 'shop-pppp.git', '2026-01-02 03:04:05+00:00', '2026-01-02 03:04:05+00:00');
	INSERT INTO agents (id, alias, mode, provider, status, session_number, created_at, updated_at) VALUES
		('aaaaaaaaaaaa', 'brave-otter', 'execute', 'claude', 'waiting_for_input', 1, '2026-01-02 03:04:05.5+00:00', '2026-01-02 03:04:06+00:00'),
		('bbbbbbbbbbbb', 'calm-bear', 'execute', 'claude', 'crashed', 0, '2026-01-02 03:04:05+00:00', '2026-01-02 03:04:07+00:00');
	INSERT INTO agent_worktrees (agent_id, project_id, project, path, state) VALUES ('aaaaaaaaaaaa', 'pppppppppppp', 'shop', '/w', 'present');
	INSERT INTO runs (id, agent_id, kind, session_number, ended_at, created_at) VALUES
		('rrrrrrrrrrrr', 'aaaaaaaaaaaa', 'agent', 1, '2026-01-02 03:04:06+00:00', '2026-01-02 03:04:05+00:00');
	INSERT INTO messages (id, agent_id, run_id, seq, role, body, delivered_at, created_at) VALUES
		('mmmmmmmmmmmm', 'aaaaaaaaaaaa', 'rrrrrrrrrrrr', 1, 'user', 'do it', '2026-01-02 03:04:05+00:00', '2026-01-02 03:04:05+00:00');
	INSERT INTO questions (id, agent_id, run_id, request_id, seq, source, text, status, created_at) VALUES
		('qqqqqqqqqqqq', 'aaaaaaaaaaaa', 'rrrrrrrrrrrr', 'gggggggggggg', 1, 'signal', 'Which?', 'open', '2026-01-02 03:04:06+00:00');
	INSERT INTO tokens (id, hash, kind, run_id, agent_id, scopes_json, created_at) VALUES
		('tttttttttttt', 'one', 'agent', 'rrrrrrrrrrrr', 'aaaaaaaaaaaa', '["self:read"]', '2026-01-02 03:04:05+00:00'),
		('uuuuuuuuuuuu', 'two', 'agent', 'rrrrrrrrrrrr', 'aaaaaaaaaaaa', '["self:read"]', '2026-01-02 03:04:05+00:00');
	INSERT INTO events (type, at, agent_id, data_json) VALUES ('agent:warning', '2026-01-02 03:04:05+00:00', 'aaaaaaaaaaaa', '{}');
`

// TestMigrateFromEverySchema: a home of each earlier schema is brought up to
// date with all its rows, and what came later works on them.
func TestMigrateFromEverySchema(t *testing.T) {
	t.Parallel()
	known, err := latest(later(t))
	if err != nil || known < 2 {
		t.Fatalf("schema %d, %v", known, err)
	}
	for version := 1; version < int(known); version++ {
		dir := t.TempDir()
		old, err := openWith(t, dir, only(t, version))
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{DB: old, t: t}
		b.exec(firstRows)
		before := b.dump()
		for _, table := range []string{"agents", "runs"} { // who has no account has the provider's default since schema 5
			for _, row := range before[table] {
				if version < 5 {
					row["account_id"] = "default-claude"
				}
			}
		}
		b.must(old.Close())
		db, err := openWith(t, dir, later(t))
		if err != nil {
			t.Fatalf("from schema %d: %v", version, err)
		}
		b.DB = db
		same(t, fmt.Sprintf("rows from schema %d", version), withColumns(b.dump(), before), before)
		agents, err := b.AgentViews(t.Context(), cw.AgentFilter{})
		b.must(err)
		if len(agents.Items) != 2 || agents.Items[0].Alias != "brave-otter" {
			t.Errorf("from schema %d: %+v", version, agents.Items)
		}
		for range 2 {
			_, err := b.AddDashboardToken(t.Context(), cw.Token{ID: cw.TokenID(cw.NewID()), Hash: cw.NewID()}, cw.Actor{Kind: cw.ActorPerson})
			b.must(err)
		}
		tokens, err := b.TokenPage(t.Context(), cw.PageQuery{})
		b.must(err)
		if len(tokens.Items) != 2 {
			t.Errorf("from schema %d: dashboards' tokens %+v", version, tokens.Items)
		}
		b.liveOn()
		same(t, "pages of a new initiative", len(b.stateOf(b.initiative("sale").ID).Pages), 1)
		b.must(db.Close())
	}
}

// withColumns leaves of rows only the tables and columns that were there before.
func withColumns(rows, before map[string][]map[string]any) map[string][]map[string]any {
	for table, list := range rows {
		if _, was := before[table]; !was {
			delete(rows, table)
		}
		for i, row := range list {
			if i < len(before[table]) {
				maps.DeleteFunc(row, func(column string, _ any) bool {
					_, was := before[table][i][column]
					return !was
				})
			}
		}
	}
	return rows
}

// liveOn answers the question of firstRows and lets its agent go on.
func (b *bench) liveOn() {
	b.t.Helper()
	ctx := b.t.Context()
	p, err := b.ProjectByRef(ctx, "shop")
	b.must(err)
	if p.Stall != cw.StallEvent || p.AutoResume {
		b.t.Errorf("policies of an old project: %+v", p)
	}
	_, err = b.AnswerQuestions(ctx, cw.Answering{Answers: []cw.GivenAnswer{{QuestionID: "qqqqqqqqqqqq", Answer: "this"}}})
	b.must(err)
	ready, err := b.ReadyAgents(ctx)
	b.must(err)
	same(b.t, "ready", ready, []cw.AgentID{"aaaaaaaaaaaa"})
	next := nextRun("aaaaaaaaaaaa", 2, "answers")
	next.From = []cw.AgentStatus{cw.StatusWaitingForInput}
	b.must(b.IntendRun(ctx, next))
	texts, err := b.RunMessages(ctx, next.Run.ID)
	b.must(err)
	if len(texts) != 1 || texts[0].Body != "answers" || texts[0].Seq != 2 {
		b.t.Errorf("texts of an old agent's next run: %+v", texts)
	}
}

// TestNewMakesNoBackup: there is nothing to keep.
func TestNewMakesNoBackup(t *testing.T) {
	b := newBench(t)
	if _, err := os.Stat(backupDir(b.dir)); err == nil {
		t.Error("a new store has backups")
	}
}

// TestNewer refuses a database of a later cw, names both, and leaves it.
func TestNewer(t *testing.T) {
	dir := filled(t)
	db, err := openWith(t, dir, later(t, goodMigration))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := sums(t, dir)
	_, err = Open(t.Context(), Options{Dir: dir, Version: "v0.1.0-test"})
	refuses(t, err, cw.CodeRefused, "it has schema 9001, this cw v0.1.0-test knows schema 13")
	refuses(t, err, cw.CodeRefused, "upgrade cw")
	same(t, "files", sums(t, dir), before)
}

// TestFailedMigration: one that fails in the middle leaves no part of itself,
// and those before it stay done.
func TestFailedMigration(t *testing.T) {
	dir := filled(t)
	bad := "CREATE TABLE half (id TEXT);\nINSERT INTO nothing VALUES (1);\n"
	if _, err := openWith(t, dir, later(t, goodMigration, bad)); err == nil || !strings.Contains(err.Error(), "from schema 13 to 9002") {
		t.Fatalf("a bad migration: %v", err)
	}
	db, err := openWith(t, dir, later(t, goodMigration))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var tables []string
	if err := db.state.read.Raw("SELECT name FROM sqlite_schema WHERE name IN ('half', 'extra')").Scan(&tables).Error; err != nil {
		t.Fatal(err)
	}
	same(t, "tables", tables, []string{"extra"})
}

// TestNoBackupNoMigration: without a copy the schema is not touched.
func TestNoBackupNoMigration(t *testing.T) {
	dir := filled(t)
	if err := os.WriteFile(backupDir(dir), nil, 0o600); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	before := sums(t, dir)[stateName]
	if _, err := openWith(t, dir, later(t, goodMigration)); err == nil || !strings.Contains(err.Error(), "back up") {
		t.Fatalf("without a backup: %v", err)
	}
	same(t, "file", sums(t, dir)[stateName], before)
}

// TestInterruptedBackup: a half copy of an earlier start is no hindrance, and
// never has the name of a whole one.
func TestInterruptedBackup(t *testing.T) {
	dir := filled(t)
	if err := os.Mkdir(backupDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(backupDir(dir), "cw-13-20260102T030405.db.half"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := openWith(t, dir, later(t, goodMigration))
	if err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	entries, err := os.ReadDir(backupDir(dir))
	if err != nil || len(entries) != 1 || strings.HasSuffix(entries[0].Name(), ".half") {
		t.Errorf("backups: %v %v", entries, err)
	}
}
