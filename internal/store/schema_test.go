package store

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"cw/internal/cw"
)

// TestColumns holds the tables against the types: a field without a column
// would fail at run time only, a column without a field is for later work and
// must be named here.
func TestColumns(t *testing.T) {
	b := newBench(t)
	for _, table := range []struct {
		name  string
		model any
		db    *gorm.DB
		later []string
	}{
		{"projects", &cw.Project{}, b.state.read, nil},
		{"agents", &cw.Agent{}, b.state.read, nil},
		{"agent_worktrees", &cw.AgentWorktree{}, b.state.read, nil},
		{"runs", &cw.Run{}, b.state.read, []string{"offset"}},
		{"messages", &cw.Message{}, b.state.read, nil},
		{"ops", &cw.Op{}, b.state.read, nil},
		{"questions", &cw.Question{}, b.state.read, nil},
		{"tokens", &cw.Token{}, b.state.read, nil},
		{"events", &cw.Event{}, b.state.read, nil},
		{"accounts", &cw.Account{}, b.state.read, nil},
		{"budgets", &cw.Budget{}, b.state.read, nil},
		{"initiatives", &cw.Initiative{}, b.state.read, nil},
		{"initiative_projects", &initiativeProject{}, b.state.read, nil},
		{"pages", &cw.Document{}, b.state.read, nil},
		{"phases", &cw.Phase{}, b.state.read, nil},
		{"tasks", &cw.Task{}, b.state.read, nil},
		{"proposals", &cw.Proposal{}, b.state.read, nil},
		{"conversations", &cw.Conversation{}, b.state.read, nil},
		{"plans", &cw.Plan{}, b.state.read, nil},
		{"project_trusts", &cw.ProjectTrust{}, b.state.read, nil},
		{"worktree_ports", &cw.WorktreePorts{}, b.state.read, nil},
		{chunkTable, &cw.Chunk{}, b.log.read, []string{"sum"}},
	} {
		parsed, err := schema.Parse(table.model, &sync.Map{}, table.db.NamingStrategy)
		b.must(err)
		if table.name != chunkTable && parsed.Table != table.name {
			t.Errorf("%T is stored in %s, not in %s", table.model, parsed.Table, table.name)
		}
		var have []string
		b.must(table.db.Raw("SELECT name FROM pragma_table_info(?)", table.name).Scan(&have).Error)
		want := append(slices.Clone(parsed.DBNames), table.later...)
		slices.Sort(have)
		slices.Sort(want)
		same(t, "columns of "+table.name, have, want)
	}
}

func TestPragmas(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		db           *database
		pragma, want string
	}{
		{b.state, "journal_mode", "wal"},
		{b.state, "synchronous", "2"},
		{b.state, "foreign_keys", "1"},
		{b.state, "busy_timeout", "10000"},
		{b.log, "journal_mode", "wal"},
		{b.log, "synchronous", "1"},
		{b.log, "wal_autocheckpoint", "4000"},
	} {
		var got string
		b.must(c.db.write.Raw("PRAGMA " + c.pragma).Scan(&got).Error)
		if got != c.want {
			t.Errorf("%s of %s is %s, want %s", c.pragma, c.db.path, got, c.want)
		}
	}
	if err := b.state.read.Exec("DELETE FROM agents").Error; err == nil {
		t.Error("a reader could write")
	}
}

func TestFileModes(t *testing.T) {
	b := newBench(t)
	b.addProject("one") // so that the write-ahead log is there
	for _, name := range []string{stateName, stateName + "-wal", stateName + "-shm", logName} {
		info, err := os.Stat(filepath.Join(b.dir, name))
		b.must(err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, info.Mode().Perm())
		}
	}
}

// TestOddFolder opens a store where the path means something in a URI.
func TestOddFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?mode=memory#c%20d")
	db, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, stateName)); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestOldLibrary(t *testing.T) {
	for _, c := range []struct {
		have string
		want bool
	}{
		{"3.51.3", false}, {"3.51.2", true}, {"3.53.0", false}, {"3.51", true}, {"4.0.0", false}, {"3.9.9", true}, {"", true},
	} {
		if older(c.have, sqliteMin) != c.want {
			t.Errorf("older(%q, %q) is %v", c.have, sqliteMin, !c.want)
		}
	}
}
