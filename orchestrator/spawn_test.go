package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/proc"
)

// does is a script that commits and says so.
func does() fakecli.Script {
	return fakecli.Script{Pieces: 5, File: "a.txt", Content: "a\n", Commit: "Add a", Signal: `{"status":"done","result":"added a"}`}
}

// hangs is a script that works until it is ended.
func hangs() fakecli.Script { return fakecli.Script{Pieces: 3, Tame: true, Hang: true} }

// TestSpawn: from a sentence to a branch, with everything that is to be found
// on the way.
func TestSpawn(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	must(t, os.WriteFile(filepath.Join(e.repo, "untracked"), nil, 0o644))
	req := e.request(does())
	req.Title = "\n Add the file a\x1b[31m \nand more"
	v := e.rest(e.mustSpawn(req).Alias)
	if v.Status != cw.StatusIdle || v.Commits() != 1 || v.Result != "added a" || v.Title != "Add the file a [31m" {
		t.Errorf("%s %s %q: %s, %d commits", v.Status, v.Reason, v.Title, v.Error, v.Commits())
	}
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "1 changed file") {
		t.Errorf("warnings %q", v.Warnings)
	}
	if got := lab.Git(t, e.repo, "rev-parse", v.Branch); got != v.HeadCommit || got == v.BaseCommit {
		t.Errorf("branch at %s, head %s, base %s", got, v.HeadCommit, v.BaseCommit)
	}
	for _, name := range []string{"prompt.md", "output.jsonl", "exit.json", "signal.json", "output/signal.json"} {
		if _, err := os.Stat(filepath.Join(v.Runs[0].Dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// hook is a failpoint that does something at one step, once.
func hook(step string, do func()) setup {
	return func(c *Config) {
		once := sync.OnceFunc(do)
		c.Fail = func(at string) {
			if at == step {
				once()
			}
		}
	}
}

// TestSpawnFails: whatever goes wrong on the way to a running CLI, the caller
// is told and nothing is left: no row, branch, worktree, directory, process.
func TestSpawnFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		req  func(e *engine, req *cw.SpawnRequest)
		step string // at which act spoils something
		act  func(e *engine)
		code cw.Code
		says string
	}{
		{"an unknown project", func(_ *engine, req *cw.SpawnRequest) { req.Projects = []string{"nowhere"} }, "", nil, cw.CodeNotFound, "nowhere"},
		{"no repository", func(e *engine, req *cw.SpawnRequest) { req.Projects = []string{e.books} }, "", nil, cw.CodeInvalid, "git"},
		{"an unknown base", func(_ *engine, req *cw.SpawnRequest) { req.Base = "nowhere" }, "", nil, "", "nowhere"},
		{"an unknown provider", func(_ *engine, req *cw.SpawnRequest) { req.Provider = "nobody" }, "", nil, cw.CodeNotFound, "nobody"},
		{"named twice", func(e *engine, req *cw.SpawnRequest) { req.Projects = append(req.Projects, e.repo) }, "", nil, cw.CodeInvalid, "twice"},
		{"a second project that is none", func(e *engine, req *cw.SpawnRequest) { req.Projects = append(req.Projects, e.books) }, "", nil, cw.CodeInvalid, "git"},
		{"the repository moved away", nil, "spawn/" + stepIntended, func(e *engine) { must(e.t, os.Rename(e.repo, e.repo+".moved")) }, "", ""},
		{"the worktree's place taken", nil, "spawn/" + stepIntended, func(e *engine) {
			must(e.t, os.MkdirAll(e.home.Worktree("brave-otter"), 0o700))
			must(e.t, os.WriteFile(filepath.Join(e.home.Worktree("brave-otter"), "theirs"), nil, 0o600))
		}, cw.CodeRefused, "already exists"},
		{".cw is a file", func(e *engine, _ *cw.SpawnRequest) { e.commit(".cw", "theirs") }, "", nil, cw.CodeInvalid, ".cw"},
		{"runs cannot be made", nil, "spawn/" + stepWorktrees, func(e *engine) {
			must(e.t, os.WriteFile(e.home.Runs(), nil, 0o600))
		}, "", ""},
		{"a model that reads as an option", func(_ *engine, req *cw.SpawnRequest) { req.Model = "--evil" }, "", nil, cw.CodeInvalid, "model"},
		{"cw's binary is gone", nil, "spawn/" + stepStarting, func(e *engine) { e.Binary = filepath.Join(e.books, "gone") }, "", ""},
		{"a value that no environment takes", func(_ *engine, req *cw.SpawnRequest) { req.Env["LANG"] = "a\x00b" }, "", nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var e *engine
			e = newEngine(t, hook(tt.step, func() { tt.act(e) }))
			req := e.request(hangs())
			req.Name = "brave-otter"
			if tt.name == "a model that reads as an option" {
				req.Provider = "claude"
				req.Env["PATH"] = e.fakeClaude() + ":" + req.Env["PATH"]
			}
			if tt.req != nil {
				tt.req(e, &req)
			}
			v, err := e.Spawn(t.Context(), req)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("%s %s: %v", v.Alias, v.Status, err)
			}
			if tt.code != "" && cw.ErrorCode(err) != tt.code {
				t.Errorf("%s: %v, hint %q", cw.ErrorCode(err), err, cw.ErrorHint(err))
			}
			theirs := filepath.Join(e.home.Worktree("brave-otter"), "theirs")
			if strings.HasPrefix(tt.name, "the worktree's place") { // not cw's: it stays
				must(t, os.Remove(theirs))
				must(t, os.Remove(filepath.Dir(theirs)))
			}
			e.wantNothing()
			if _, err := os.Stat(e.repo); err != nil {
				return
			}
			if got := lab.Git(t, e.repo, "branch", "--list", "agent/*"); got != "" {
				t.Errorf("branches %s", got)
			}
		})
	}
}

// commit commits a file in the user's repository.
func (e *engine) commit(name, text string) {
	e.t.Helper()
	must(e.t, os.MkdirAll(filepath.Dir(filepath.Join(e.repo, name)), 0o755))
	must(e.t, os.WriteFile(filepath.Join(e.repo, name), []byte(text), 0o644))
	lab.Git(e.t, e.repo, "add", "-f", "--", name)
	lab.Git(e.t, e.repo, "commit", "-q", "-m", "Add "+name)
}

// fakeClaude makes a claude that tells a version and does nothing else.
func (e *engine) fakeClaude() string {
	dir := e.t.TempDir()
	must(e.t, os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\necho '2.1.197 (Claude Code)'\n"), 0o755))
	return dir
}

// TestSpawnFailsOnKnownProject: a project that was there before stays.
func TestSpawnFailsOnKnownProject(t *testing.T) {
	t.Parallel()
	var e *engine
	e = newEngine(t, hook("spawn/"+stepWorktrees, func() { must(t, os.WriteFile(e.home.Runs(), nil, 0o600)) }))
	_, err := e.AddProject(t.Context(), cw.ProjectRequest{Path: e.repo})
	must(t, err)
	req := e.request(hangs())
	req.Projects = []string{"shop"}
	if v, err := e.Spawn(t.Context(), req); err == nil {
		t.Fatal(v.Alias)
	}
	e.wantNothing("shop")
}

// TestSpawnOnMovedProject: a registered repository that is no longer there is
// refused before anything is done.
func TestSpawnOnMovedProject(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	_, err := e.AddProject(t.Context(), cw.ProjectRequest{Path: e.repo})
	must(t, err)
	must(t, os.Rename(e.repo, e.repo+".moved"))
	req := e.request(hangs())
	req.Projects = []string{"shop"}
	_, err = e.Spawn(t.Context(), req)
	if cw.ErrorCode(err) != cw.CodeNotFound || !strings.Contains(cw.ErrorHint(err), "cw project remove shop") {
		t.Errorf("%v, hint %q", err, cw.ErrorHint(err))
	}
	e.wantNothing("shop")
}

// TestSpawnNotTakenBack: what cannot be taken back (somebody works in the
// worktree already) is kept and told, and not left pending.
func TestSpawnNotTakenBack(t *testing.T) {
	t.Parallel()
	var e *engine
	work := func() string { return filepath.Join(e.home.Worktree("brave-otter"), "work.txt") }
	e = newEngine(t, hook("spawn/"+stepInputs, func() {
		must(t, os.WriteFile(e.home.Runs(), nil, 0o600))
		must(t, os.WriteFile(work(), nil, 0o600))
	}))
	req := e.request(hangs())
	req.Name = "brave-otter"
	_, err := e.Spawn(t.Context(), req)
	if err == nil {
		t.Fatal("it runs")
	}
	views, err := cw.AllAgents(t.Context(), e, cw.AgentFilter{})
	must(t, err)
	if len(views) != 1 || views[0].Status != cw.StatusCrashed || views[0].Reason != cw.ReasonStartFailed || views[0].Error == "" {
		t.Fatalf("%+v", views)
	}
	if left, err := e.db.UnfinishedRuns(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("%d unfinished runs, %v", len(left), err)
	}
	if _, err := os.Stat(work()); err != nil {
		t.Error(err)
	}
}

// TestTakenBackInPart: a spawn whose taking back the last daemon could not store
// is taken back by the next one, and the same request then makes the agent. A
// process of it that runs all the same is ended.
func TestTakenBackInPart(t *testing.T) {
	t.Parallel()
	reached, die := dies("spawn/" + stepStarting)
	e := newEngine(t, die)
	req := e.request(does())
	req.Name, req.RequestKey = "brave-otter", "once"
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	if _, err := e.Spawn(ctx, req); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	<-reached
	left, err := e.db.UnfinishedRuns(t.Context())
	must(t, err)
	if len(left) != 1 {
		t.Fatalf("%d unfinished runs", len(left))
	}
	e.stopRun()
	must(t, os.RemoveAll(filepath.Dir(left[0].Run.Dir)))
	unseen := exec.Command("sleep", "1000")
	unseen.Env = []string{proc.RunVariable + "=" + string(left[0].Run.ID)}
	must(t, unseen.Start())
	e.boot()
	if err := unseen.Wait(); err == nil || unseen.ProcessState.ExitCode() != -1 {
		t.Errorf("the process of the run: %v", err)
	}
	eventually(t, "no such agent", func() bool {
		_, err := e.db.AgentByRef(t.Context(), "brave-otter")
		return cw.ErrorCode(err) == cw.CodeNotFound
	})
	v := e.idleAfter(e.mustSpawn(req).Alias, 1)
	if v.Alias != "brave-otter" || v.Commits() != 1 {
		t.Errorf("%s with %d commits", v.Alias, v.Commits())
	}
}

// TestTrackedSignal: a base that holds a signal does not speak for its agent.
func TestTrackedSignal(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.commit(cw.SignalPath, goodSignal)
	s := does()
	s.Signal = ""
	v := e.rest(e.mustSpawn(e.request(s)).Alias)
	if v.Status != cw.StatusCrashed || v.Reason != cw.ReasonNoSignal {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	if kept, err := os.ReadFile(filepath.Join(v.Runs[0].Dir, "stale-signal.json")); string(kept) != goodSignal {
		t.Errorf("kept %q, %v", kept, err)
	}
}

// TestSameRequest: however often and however fast a request comes, it makes
// one agent, and all get it.
func TestSameRequest(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "brave-otter"} {
		e := newEngine(t)
		req := e.request(hangs())
		req.RequestKey, req.Name = "key-1", name
		const many = 16
		var all sync.WaitGroup
		views, errs := make([]cw.AgentView, many), make([]error, many)
		for i := range many {
			all.Go(func() { views[i], errs[i] = e.Spawn(t.Context(), req) })
		}
		all.Wait()
		for i := range many {
			if errs[i] != nil || views[i].ID != views[0].ID || views[i].Status != cw.StatusRunning {
				t.Fatalf("request %d: agent %s (not %s) is %s: %v", i, views[i].ID, views[0].ID, views[i].Status, errs[i])
			}
		}
		if found, err := cw.AllAgents(t.Context(), e, cw.AgentFilter{}); err != nil || len(found) != 1 {
			t.Errorf("%d agents, %v", len(found), err)
		}
		books, err := fakecli.ReadBooks(e.books)
		must(t, err)
		eventually(t, "one start in the books", func() bool {
			books, err = fakecli.ReadBooks(e.books)
			return err == nil && len(books) == 1 && books[string(views[0].Runs[0].ID)].Starts() == 1
		})
		if again := e.mustSpawn(req); again.ID != views[0].ID {
			t.Errorf("much later: %s", again.ID)
		}
		_, err = e.Stop(t.Context(), views[0].Alias, cw.StopRequest{Now: true})
		must(t, err)
	}
}

// TestSameRequestFails: all who made the same request are told why it failed.
func TestSameRequestFails(t *testing.T) {
	t.Parallel()
	var e *engine
	others := make(chan error, 3)
	e = newEngine(t, hook("spawn/"+stepWorktrees, func() {
		must(t, os.WriteFile(e.home.Runs(), nil, 0o600))
		req := e.request(hangs())
		req.RequestKey = "key-1"
		for range cap(others) {
			go func() { _, err := e.Spawn(t.Context(), req); others <- err }()
		}
		<-time.After(100 * time.Millisecond) // they should wait by now; when not, they see less
	}))
	req := e.request(hangs())
	req.RequestKey = "key-1"
	_, err := e.Spawn(t.Context(), req)
	if err == nil {
		t.Fatal("it runs")
	}
	for range cap(others) {
		if other := <-others; other == nil || other.Error() != err.Error() {
			t.Errorf("%v, want %v", other, err)
		}
	}
	e.wantNothing()
}

// TestSameRequestOfAnEarlierDaemon: a spawn that the next daemon cannot start leaves an
// agent that says so, and the same request gets that agent, also while the daemon is
// still at it.
func TestSameRequestOfAnEarlierDaemon(t *testing.T) {
	t.Parallel()
	reached, die := dies("spawn/" + stepPrepared)
	e := newEngine(t, die)
	req := e.request(does())
	req.RequestKey = "key-1"
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	if _, err := e.Spawn(ctx, req); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	e.stopRun()
	held, release := make(chan struct{}), make(chan struct{})
	e.boot(hook("spawn/"+stepStarting, func() { close(held); <-release }), func(c *Config) { c.Binary = "/bin/false" })
	<-held
	type answer struct {
		view cw.AgentView
		err  error
	}
	answers := make(chan answer, 3)
	for range cap(answers) {
		go func() {
			v, err := e.Spawn(t.Context(), req)
			answers <- answer{v, err}
		}()
	}
	<-time.After(100 * time.Millisecond) // they should wait by now; when not, they see less
	close(release)
	for range cap(answers) {
		a := <-answers
		if a.err != nil || a.view.Status != cw.StatusCrashed || a.view.Reason != cw.ReasonStartFailed || !strings.Contains(a.view.Error, "supervisor") {
			t.Errorf("%s %s: %q, %v", a.view.Status, a.view.Reason, a.view.Error, a.err)
		}
	}
	if again := e.mustSpawn(req); again.Status != cw.StatusCrashed {
		t.Errorf("much later: %s", again.Status)
	}
}

// spoiltStore is a real store in which single calls go wrong.
type spoiltStore struct {
	Store
	intend  func(ctx context.Context, in cw.SpawnIntent) error // before IntendSpawn
	running func() error                                       // in place of SaveRunning, when it gives an error
	finish  func() error                                       // in place of FinishRun, likewise
}

func (s *spoiltStore) IntendSpawn(ctx context.Context, in cw.SpawnIntent) error {
	if s.intend != nil {
		if err := s.intend(ctx, in); err != nil {
			return err
		}
	}
	return s.Store.IntendSpawn(ctx, in)
}

func (s *spoiltStore) SaveRunning(ctx context.Context, r cw.Running) error {
	if s.running != nil {
		if err := s.running(); err != nil {
			return err
		}
	}
	return s.Store.SaveRunning(ctx, r)
}

func (s *spoiltStore) FinishRun(ctx context.Context, f cw.Finish) (bool, error) {
	if s.finish != nil {
		if err := s.finish(); err != nil {
			return false, err
		}
	}
	return s.Store.FinishRun(ctx, f)
}

func spoil(s *spoiltStore) setup {
	return func(c *Config) { s.Store, c.Store = c.Store, s }
}

// failing gives an error so many times, and counts.
func failing(times int) func() error {
	var mu sync.Mutex
	return func() error {
		mu.Lock()
		defer mu.Unlock()
		if times--; times >= 0 {
			return fmt.Errorf("write: %w", syscall.ENOSPC)
		}
		return nil
	}
}

// TestAliasTakenMeanwhile: who did not ask for a name gets another one; who
// did is refused.
func TestAliasTakenMeanwhile(t *testing.T) {
	t.Parallel()
	s := &spoiltStore{}
	// Somebody else is quicker, once.
	quicker := func() {
		var once sync.Once
		s.intend = func(ctx context.Context, in cw.SpawnIntent) (err error) {
			once.Do(func() {
				in.Agent.ID, in.Run.ID, in.Op.ID = cw.AgentID(cw.NewID()), cw.RunID(cw.NewID()), cw.OpID(cw.NewID())
				in.Run.AgentID, in.Op.AgentID, in.Op.RunID, in.Worktrees, in.Op.RequestKey = in.Agent.ID, in.Agent.ID, in.Run.ID, nil, nil
				err = s.Store.IntendSpawn(ctx, in)
			})
			return err
		}
	}
	e := newEngine(t, spoil(s))
	quicker()
	if v := e.rest(e.mustSpawn(e.request(does())).Alias); v.Status != cw.StatusIdle {
		t.Errorf("%s: %s", v.Status, v.Error)
	}
	quicker()
	req := e.request(does())
	req.Name = "brave-otter"
	if _, err := e.Spawn(t.Context(), req); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "brave-otter is taken") {
		t.Errorf("%v", err)
	}
}

// TestRunningIsStored: once the CLI runs there is no way back, so a store that
// fails for a while is tried until it works, and the CLI runs once.
func TestRunningIsStored(t *testing.T) {
	t.Parallel()
	e := newEngine(t, spoil(&spoiltStore{running: failing(2)}))
	v := e.rest(e.mustSpawn(e.request(does())).Alias)
	if v.Status != cw.StatusIdle || v.Commits() != 1 {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	books, err := fakecli.ReadBooks(e.books)
	must(t, err)
	if n := books[string(v.Runs[0].ID)].Starts(); n != 1 || len(books) != 1 {
		t.Errorf("%d starts, %d books", n, len(books))
	}
}

// TestSpawnLetGo: a caller that goes away before its spawn has begun leaves no
// project behind.
func TestSpawnLetGo(t *testing.T) {
	t.Parallel()
	e := &engine{t: t, home: cw.Home(t.TempDir()), repo: filepath.Join(t.TempDir(), "shop"), books: t.TempDir()}
	lab.NewRepo(t, e.repo)
	script := filepath.Join(e.books, "work.sh")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755))
	e.open()
	t.Cleanup(func() { must(t, e.db.Close()) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { // nobody runs the engine, so this waits
		_, err := e.Spawn(ctx, cw.SpawnRequest{Goal: "x", Projects: []string{e.repo}, Script: script})
		done <- err
	}()
	eventually(t, "the project", func() bool {
		known, err := cw.AllPages(t.Context(), e.Projects)
		return err == nil && len(known) == 1
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	e.wantNothing()
}

// TestWhoSpawned: an agent's row keeps who asked for it.
func TestWhoSpawned(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, who := range []cw.Actor{{Kind: cw.ActorPerson}, {Kind: cw.ActorDashboard, ID: "tttttttttttt"}} {
		v, err := e.Spawn(cw.WithActor(t.Context(), who), e.request(fakecli.Script{}))
		must(t, err)
		if v.Origin != string(who.Kind) || v.CreatedBy != who.ID {
			t.Errorf("%+v: %q %q", who, v.Origin, v.CreatedBy)
		}
		e.rest(v.Alias)
	}
}
