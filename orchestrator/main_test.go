package orchestrator

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/proc"
	"cw/internal/store"
	"cw/providers"
	"cw/worktree"
)

// patience bounds every wait; on a loaded machine things are slow.
const patience = 4 * time.Minute

// TestMain makes three programs of the test binary: the tests, the shim of a
// run, and a provider CLI that does what its prompt says.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "shim" {
		os.Exit(proc.RunShim(os.Args[2], nil))
	}
	fakecli.Main()
	os.Exit(runTests(m))
}

// runTests gives the tests a HOME of their own, in which git has no identity.
func runTests(m *testing.M) int {
	home, err := os.MkdirTemp("", "cw-orchestrator-home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "CW_") || name == "XDG_CONFIG_HOME" {
			os.Unsetenv(name)
		}
	}
	os.Setenv("HOME", home)
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	// With -race a program sleeps a second before it ends, unless told not to.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	code := m.Run()
	if code != 0 {
		return code
	}
	// gorm's cache of prepared statements has one goroutine per database that
	// nothing can end.
	if err := goleak.Find(goleak.IgnoreTopFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// engine is an Orchestrator with a real store, real git and real processes, in
// a home of its own.
type engine struct {
	*Orchestrator
	t       *testing.T
	db      *store.DB
	home    cw.Home
	repo    string
	books   string
	stopRun func() // ends the loops, as the end of a daemon does; may be called twice
	mu      sync.Mutex
	live    []cw.Event // guarded by mu
}

// setup changes an engine before it runs.
type setup func(*Config)

func newEngine(t *testing.T, change ...setup) *engine {
	t.Helper()
	dir := t.TempDir()
	e := &engine{t: t, home: cw.Home(filepath.Join(dir, "home")), repo: filepath.Join(dir, "shop"), books: filepath.Join(dir, "books")}
	for _, d := range []string{e.home.Providers(), e.books} {
		must(t, os.MkdirAll(d, 0o700))
	}
	self, err := os.Executable()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(e.home.Providers(), "fake.yaml"), []byte(fakecli.Preset("fake", self)), 0o600))
	lab.NewRepo(t, e.repo)
	e.boot(change...)
	t.Cleanup(e.sweep)
	return e
}

// boot starts the engine, again after stopRun: as another daemon would.
func (e *engine) boot(change ...setup) {
	e.t.Helper()
	e.open(change...)
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	ready := make(chan struct{})
	loop := func(run func() error) {
		loops.Go(func() {
			if err := run(); err != nil && ctx.Err() == nil {
				e.t.Error(err)
			}
		})
	}
	loop(func() error { return e.db.Run(ctx) })
	loop(func() error { return e.Watcher.Run(ctx) })
	loop(func() error { return e.Run(ctx, func() { close(ready) }) })
	<-ready
	e.stopRun = sync.OnceFunc(func() {
		cancel()
		loops.Wait()
		if err := e.db.Close(); err != nil {
			e.t.Error(err)
		}
	})
}

// open makes the parts of an engine and starts nothing.
func (e *engine) open(change ...setup) {
	e.t.Helper()
	var engine atomic.Pointer[Orchestrator]
	db, err := store.Open(e.t.Context(), store.Options{Dir: string(e.home), Version: "v0-test", OnCommit: func(events []cw.Event) {
		if o := engine.Load(); o != nil {
			o.Heard(events...)
		}
	}})
	must(e.t, err)
	presets, problems := providers.Load(e.home.Providers())
	if len(problems) > 0 {
		e.t.Fatal(problems)
	}
	self, err := os.Executable()
	must(e.t, err)
	log := slog.New(slog.NewTextHandler(e.t.Output(), nil))
	c := Config{
		Home: e.home, Store: db, Repos: worktree.New(worktree.Options{ReposDir: e.home.Repos(), Log: log}),
		Presets: presets, Watcher: proc.NewWatcher(log), Binary: self, Socket: e.home.Socket(),
		Environ: os.Environ(), Log: log,
		Publish: func(ev cw.Event) { e.mu.Lock(); e.live = append(e.live, ev); e.mu.Unlock() },
	}
	for _, f := range change {
		f(&c)
	}
	e.db, e.Orchestrator = db, New(c)
	engine.Store(e.Orchestrator)
}

// sweep ends the engine and every process of its home.
func (e *engine) sweep() {
	e.stopRun()
	for _, p := range lab.Processes(string(e.home)) {
		lab.KillProcess(p)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// request asks for an agent that does what the script says.
func (e *engine) request(s fakecli.Script) cw.SpawnRequest {
	s.Book = e.books
	return cw.SpawnRequest{
		Goal: s.Goal(), Projects: []string{e.repo}, Provider: "fake",
		Env: map[string]string{"PATH": os.Getenv("PATH")},
	}
}

func (e *engine) mustSpawn(req cw.SpawnRequest) cw.AgentView {
	e.t.Helper()
	v, err := e.Spawn(e.t.Context(), req)
	must(e.t, err)
	return v
}

// rest waits until an agent is at rest and nothing is cleared up any more.
func (e *engine) rest(ref string) cw.AgentView {
	e.t.Helper()
	return e.until(ref, func(v cw.AgentView) bool { return v.Status.AtRest() && !v.Settling })
}

func (e *engine) until(ref string, want func(cw.AgentView) bool) cw.AgentView {
	e.t.Helper()
	var v cw.AgentView
	eventually(e.t, "agent "+ref+" as wanted", func() bool {
		var err error
		v, err = e.Agent(e.t.Context(), ref)
		return err == nil && want(v)
	})
	return v
}

// eventually polls until ok.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// wantNothing checks that a spawn left nothing: no row, worktree, branch, run
// directory or process. Projects are those that may be registered.
func (e *engine) wantNothing(projects ...string) {
	e.t.Helper()
	views, err := cw.AllAgents(e.t.Context(), e, cw.AgentFilter{})
	must(e.t, err)
	if len(views) > 0 {
		e.t.Errorf("agent %s is %s: %s", views[0].Alias, views[0].Status, views[0].Error)
	}
	known, err := cw.AllPages(e.t.Context(), e.Projects)
	must(e.t, err)
	var names []string
	for _, p := range known {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, projects) {
		e.t.Errorf("projects %q, want %q", names, projects)
	}
	for _, pattern := range []string{"runs/*", ".cw-worktrees/agent/*", "agent-workdirs/*", "repos/*.git/worktrees/*", "repos/*.git/refs/heads/agent/*", "repos/*.git/refs/cw/*/*"} {
		found, err := filepath.Glob(filepath.Join(string(e.home), pattern))
		must(e.t, err)
		if len(found) > 0 {
			e.t.Errorf("left behind: %q", found)
		}
	}
	if left := lab.Processes(string(e.home)); len(left) > 0 {
		e.t.Errorf("processes left: %+v", left)
	}
}
