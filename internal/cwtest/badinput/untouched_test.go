package badinput

import (
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // to count rows without the program's help

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// settle is how long a process that is just ending may still be seen.
const settle = 3 * time.Second

// state is everything that a refused command must leave as it was.
type state map[string]string

// observe looks at rows, references of the user's repositories and of all
// mirrors, worktrees, processes and files.
func observe(t *testing.T, l *lab.Lab, repos ...string) state {
	t.Helper()
	s := state{
		"agents":   works(t, l, "agent", "list", "--json").stdout,
		"projects": works(t, l, "project", "list", "--json").stdout,
	}
	mirrors, err := filepath.Glob(filepath.Join(l.Home.Repos(), "*.git"))
	must(t, err)
	for _, repo := range append(slices.Clone(repos), mirrors...) {
		if _, err := os.Stat(repo); err != nil {
			s["refs of "+repo] = "not there"
			continue
		}
		s["refs of "+repo] = lab.Git(t, repo, "for-each-ref")
		s["worktrees of "+repo] = lab.Git(t, repo, "worktree", "list", "--porcelain")
	}
	for _, repo := range repos {
		if _, err := os.Stat(filepath.Join(repo, ".git")); err == nil {
			s["status of "+repo] = lab.Git(t, repo, "status", "--porcelain", "--branch", "--ignored")
		}
	}
	s.countRows(t, l)
	s.listFiles(t, l)
	s.listProcesses(l)
	return s
}

// countRows counts the rows of every table but the events, as a refusal may be one,
// and the measured memory of providers, which comes whenever a run is looked at.
func (s state) countRows(t *testing.T, l *lab.Lab) {
	t.Helper()
	for _, name := range []string{"cw.db", "log.db"} {
		db := openDatabase(t, filepath.Join(string(l.Home), name), "ro")
		for _, table := range column(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('events', 'provider_peaks') ORDER BY name") {
			s["rows of "+name+" "+table] = strings.Join(column(t, db, "SELECT COUNT(*) FROM "+table), "")
		}
		must(t, db.Close())
	}
}

func openDatabase(t *testing.T, path, mode string) *sql.DB {
	t.Helper()
	name := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"mode": {mode}, "_pragma": {"busy_timeout(10000)"}}.Encode()}
	db, err := sql.Open("sqlite", name.String())
	must(t, err)
	return db
}

// column gives the first column of a query's rows as text.
func column(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		must(t, rows.Scan(&text))
		all = append(all, text)
	}
	must(t, rows.Err())
	return all
}

// listFiles notes every file and folder of the home but databases, whose rows
// are counted, logs, and the copies that the daemon makes of the databases at a
// time of its own.
func (s state) listFiles(t *testing.T, l *lab.Lab) {
	t.Helper()
	home := string(l.Home)
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		if !strings.Contains(rel, "/") && (strings.Contains(rel, ".db") || strings.HasPrefix(rel, "daemon") && strings.Contains(rel, ".log")) {
			return nil
		}
		if rel == "backups" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		s["file "+rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			s["file "+rel] = fmt.Sprintf("%s %d bytes", info.Mode(), info.Size())
		}
		return nil
	})
	must(t, err)
}

// processes lists all processes of a home. A shim hides its environment from
// everybody but root, so shims are found by their command line as well.
func processes(l *lab.Lab) []lab.Process {
	all := lab.Processes(string(l.Home))
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well formed
	for _, name := range names {
		line, err := os.ReadFile(name)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name))) // digits only
		command := strings.ReplaceAll(string(line), "\x00", " ")
		if err != nil || !strings.Contains(command, " shim "+l.Home.Runs()+"/") {
			continue
		}
		if !slices.ContainsFunc(all, func(p lab.Process) bool { return p.PID == pid }) {
			all = append(all, lab.Process{PID: pid, Command: strings.TrimSpace(command), Shim: true})
		}
	}
	return all
}

func (s state) listProcesses(l *lab.Lab) {
	for _, p := range processes(l) {
		s[fmt.Sprintf("process %d", p.PID)] = p.Command
	}
}

// untouched fails when something was made, changed or removed in between.
func untouched(t *testing.T, before, after state) {
	t.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("something was left behind (-before +after):\n%s", diff)
	}
}

// TestObserveSees: an agent that ran is seen in every part of the state, so
// that nothing left behind goes unnoticed.
func TestObserveSees(t *testing.T) {
	t.Parallel()
	l := started(t)
	before := observe(t, l, l.Repo)
	name := detached(t, l, fakecli.Script{Hang: true})
	after := observe(t, l, l.Repo)
	parts := map[string]bool{}
	for what := range after {
		if after[what] != before[what] {
			parts[what] = true
		}
	}
	for _, what := range []string{
		"agents", "projects", "rows of cw.db agents", "rows of cw.db runs", "rows of cw.db ops", "rows of cw.db tokens",
		"file .cw-worktrees/agent/" + name + "/README.md", "file runs/" + name + "/1/run.json",
	} {
		if !parts[what] {
			t.Errorf("not seen: %s", what)
		}
	}
	for _, kind := range []string{"refs of " + l.Home.Repos(), "worktrees of " + l.Home.Repos(), "process "} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(parts)), func(what string) bool { return strings.HasPrefix(what, kind) }) {
			t.Errorf("not seen: %s", kind)
		}
	}
	lab.Git(t, l.Repo, "branch", "left-behind")
	must(t, os.WriteFile(filepath.Join(l.Repo, "left.txt"), nil, 0o644))
	last := observe(t, l, l.Repo)
	for _, what := range []string{"refs of " + l.Repo, "status of " + l.Repo} {
		if last[what] == after[what] {
			t.Errorf("not seen: %s", what)
		}
	}
	works(t, l, "agent", "stop", "--now", name)
}

// sameAs looks again until everything is as it was: a process that is just
// ending may be seen for a moment. It returns what it saw last.
func sameAs(t *testing.T, l *lab.Lab, before state, repos ...string) state {
	t.Helper()
	after := observe(t, l, repos...)
	for end := time.Now().Add(settle); !cmp.Equal(before, after) && time.Now().Before(end); time.Sleep(poll) {
		after = observe(t, l, repos...)
	}
	untouched(t, before, after)
	return after
}

// refusal is a command that must be refused.
type refusal struct {
	name  string
	call  call
	code  int
	says  []string // in the message: what is wrong
	hints []string // in the hint: what to do
}

// refused runs a command twice, with --json and without, and holds message,
// hint, exit code and what is left behind against what must be.
func refused(t *testing.T, l *lab.Lab, r refusal, repos ...string) {
	t.Helper()
	before := observe(t, l, repos...)
	refuses(t, l, r)
	sameAs(t, l, before, repos...)
}

// refusedAll is refused for one command after the other, each a subtest. What is seen
// after one of them is the state before the next.
func refusedAll(t *testing.T, l *lab.Lab, all []refusal, repos ...string) {
	t.Helper()
	before := observe(t, l, repos...)
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			refuses(t, l, r)
			before = sameAs(t, l, before, repos...)
		})
	}
}

// refuses is refused without a look at what is left behind.
func refuses(t *testing.T, l *lab.Lab, r refusal) {
	t.Helper()
	plain := do(t, l, r.call)
	message, hint, found := strings.Cut(plain.stderr, "\nhint: ")
	if plain.code != r.code || plain.stdout != "" || !strings.HasPrefix(message, "cw: ") || !found || strings.TrimSpace(hint) == "" {
		t.Errorf("want exit %d, nothing on stdout, and a message with a hint: %s", r.code, plain)
	}
	holds(t, "the message", message, r.says...)
	holds(t, "the hint", hint, r.hints...)
	c := r.call
	c.args = append([]string{"--json"}, c.args...)
	coded := do(t, l, c)
	f := decode[failure](t, coded.stderr)
	if coded.code != r.code || coded.stdout != "" || f.Error.Code == "" || f.Error.Message == "" || f.Error.Hint == "" {
		t.Errorf("want exit %d, nothing on stdout, and one error as JSON: %s", r.code, coded)
	}
	holds(t, "the message of the JSON", f.Error.Message, r.says...)
	holds(t, "the hint of the JSON", f.Error.Hint, r.hints...)
	for _, internal := range []string{"internal", "panic", "goroutine", "%!", "<nil>"} {
		if f.Error.Code == internal || strings.Contains(plain.stderr, internal) {
			t.Errorf("it is told as a fault of the program: %s", plain)
		}
	}
}
