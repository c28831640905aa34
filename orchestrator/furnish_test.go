package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/worktree"
)

// withFile gives the repository a cw.yaml that a person trusts.
func (e *engine) withFile(content string) {
	e.t.Helper()
	e.commitFile(content)
	e.trust(content)
}

// ignore adds to the repository's .gitignore.
func (e *engine) ignore(lines ...string) {
	e.t.Helper()
	must(e.t, os.WriteFile(filepath.Join(e.repo, ".gitignore"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	lab.Git(e.t, e.repo, "add", ".gitignore")
	lab.Git(e.t, e.repo, "commit", "-q", "-m", "What is made")
}

// TestSetUp: it runs before the agent, in the order of the file, with the file's
// variables and the worktree's ports, which the agent has too; what it made is no
// work of the agent's, so its worktree goes when it is done.
func TestSetUp(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.ignore("made*", "deep/")
	e.withFile(`setup:
  - echo one > made-1; test ! -e made-2
  - "{ cat made-1; echo $SHOP $CW_PORT_0 $CW_PORT_1 $CW_PORT_2; } > made-2; mkdir -p deep/er; echo x > deep/er/file; ln -s file deep/er/link"
  - echo not ignored > plain.txt
env: {SHOP: open}
ports: 2
`)
	gate, saw := filepath.Join(t.TempDir(), "gate"), filepath.Join(t.TempDir(), "saw")
	v := e.mustSpawn(e.request(fakecli.Script{
		File: "new.txt", Content: "x", Commit: "New", Shell: "echo $SHOP $CW_PORT_0 $CW_PORT_1 $CW_PORT_2 > " + saw,
		Signal: `{"status":"done"}`, Linger: gate,
	}))
	made, err := os.ReadFile(filepath.Join(v.AgentCwd, "made-2"))
	must(t, err)
	ports := v.Projects[0].Ports
	if len(ports) != 2 || ports[1] != ports[0]+1 {
		t.Fatalf("ports %v", ports)
	}
	want := fmt.Sprintf("open %d %d\n", ports[0], ports[1])
	if string(made) != "one\n"+want {
		t.Errorf("the set-up had %q, want %q", made, want)
	}
	for _, port := range ports {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		must(t, err)
		l.Close()
	}
	other := e.mustSpawn(e.request(fakecli.Script{Hang: true}))
	for _, p := range other.Projects[0].Ports {
		if p == ports[0] || p == ports[1] {
			t.Errorf("two worktrees have the port %d", p)
		}
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	v = e.rest(v.Alias)
	if got, _ := os.ReadFile(saw); string(got) != want {
		t.Errorf("the agent had %q, want %q", got, want)
	}
	if v.Projects[0].State != cw.WorktreeRemoved || v.Commits() != 1 {
		t.Errorf("the worktree is %s with %d commits, warnings %q", v.Projects[0].State, v.Commits(), v.Warnings)
	}
	if len(v.Projects[0].Ports) != 0 {
		t.Errorf("an agent without a worktree has the ports %v", v.Projects[0].Ports)
	}
}

// TestSetUpAgain: a worktree that is made again for another run is set up again,
// one that is still there is not.
func TestSetUpAgain(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	book := filepath.Join(t.TempDir(), "book")
	e.withFile("setup: [\"echo up >> " + book + "\"]\nports: 1\nenv: {SHOP: open}\n")
	const done = `{"status":"done","noChanges":"nothing to do"}`
	v := e.mustSpawn(e.request(fakecli.Script{Signal: done}))
	if v = e.rest(v.Alias); v.Projects[0].State != cw.WorktreeRemoved || lines(book) != 1 {
		t.Fatalf("the worktree is %s, set up %d times, %q", v.Projects[0].State, lines(book), v.Warnings)
	}
	saw := filepath.Join(t.TempDir(), "saw")
	_, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: fakecli.Script{
		Shell: "echo $SHOP $CW_PORT_0 > " + saw + "; echo x > dirty", Signal: done, Book: e.books,
	}.Text()})
	must(t, err)
	eventually(t, "it is done", func() bool { v = e.rest(v.Alias); return v.SessionNumber >= 2 && lines(saw) == 1 })
	if got, _ := os.ReadFile(saw); lines(book) != 2 || !regexp.MustCompile(`^open [1-9]\d{4}\n$`).Match(got) {
		t.Errorf("made again: set up %d times; the agent had %q", lines(book), got)
	}
	if v.Projects[0].State != cw.WorktreePresent {
		t.Fatalf("the worktree is %s", v.Projects[0].State)
	}
	before := v.SessionNumber
	_, err = e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: fakecli.Script{Shell: "true", Signal: done, Book: e.books}.Text()})
	must(t, err)
	eventually(t, "it is done", func() bool { v = e.rest(v.Alias); return v.SessionNumber > before })
	if lines(book) != 2 {
		t.Errorf("still there: set up %d times", lines(book))
	}
}

// TestFailedSetUp: the spawn fails with the command, the reason, what it printed
// and where the rest is; and nothing of the agent is left.
func TestFailedSetUp(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.withFile("setup:\n- touch left && sed -i s/Shop/Changed/ README.md\n- {name: install, run: \"echo no network; exit 7\"}\n- touch never\n")
	_, err := e.Spawn(t.Context(), e.request(fakecli.Script{Hang: true}))
	if cw.ErrorCode(err) != cw.CodeFailed {
		t.Fatal(err)
	}
	for _, want := range []string{"the set-up of shop failed", `"install": exit code 7`, "no network"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	_, log, _ := strings.Cut(cw.ErrorHint(err), "output is in ")
	log, _, _ = strings.Cut(log, ";")
	if data, err := os.ReadFile(log); err != nil || !strings.Contains(string(data), "no network") {
		t.Errorf("log %q: %v", log, err)
	}
	must(t, os.RemoveAll(filepath.Dir(log)))
	e.wantNothing("shop")
}

// TestUntrusted: nothing is made for a project whose commands nobody trusts, or
// whose file cannot be used; what counts is the commit that the agent begins from.
// Architects, who run nothing, may begin all the same.
func TestUntrusted(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	ran := filepath.Join(t.TempDir(), "ran")
	trusted := "setup: [\"echo trusted >> " + ran + "\"]\n"
	e.withFile(trusted)
	good := lab.Git(t, e.repo, "rev-parse", "HEAD")
	e.commitFile("setup: [\"echo evil >> " + ran + "\"]\n")
	refused := func(want string) {
		t.Helper()
		_, err := e.Spawn(t.Context(), e.request(fakecli.Script{Hang: true}))
		if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error()+cw.ErrorHint(err), want) {
			t.Errorf("got %v (%s), want %q", err, cw.ErrorHint(err), want)
		}
		e.wantNothing("shop")
	}
	refused("cw project trust shop")
	// In the checkout it may look as trusted as it likes.
	must(t, os.WriteFile(filepath.Join(e.repo, cw.ProjectFileName), []byte(trusted), 0o600))
	refused("cw project trust shop")
	lab.Git(t, e.repo, "checkout", "-q", "--", ".")

	req := e.request(fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`})
	req.Base = good
	v := e.mustSpawn(req)
	e.rest(v.Alias)
	if data, _ := os.ReadFile(ran); string(data) != "trusted\n" {
		t.Errorf("was run: %q", data)
	}
	if _, err := e.Remove(t.Context(), v.Alias); err != nil {
		t.Fatal(err)
	}

	e.commitFile("checs: []\n")
	_, err := e.Spawn(t.Context(), e.request(fakecli.Script{Hang: true}))
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "unknown key") {
		t.Errorf("a broken file: %v", err)
	}
	p, err := e.Project(t.Context(), "shop")
	must(t, err)
	at := []place{{project: p, base: worktree.Base{Commit: lab.Git(t, e.repo, "rev-parse", "HEAD")}}}
	for _, mode := range cw.Modes() {
		if err := e.refuseUntrustedPlaces(t.Context(), mode, at); (err != nil) != (mode == cw.ModeExecute) {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// TestUntrustedNewProject: the hint says how to register it first.
func TestUntrustedNewProject(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.commitFile("checks: [make]\n")
	_, err := e.Spawn(t.Context(), e.request(fakecli.Script{Hang: true}))
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "cw project add "+e.repo) {
		t.Errorf("%v (%s)", err, cw.ErrorHint(err))
	}
	e.wantNothing()
}

// TestSharedCaches: worktrees of a project share them, they are no work, and what
// git does not ignore is left alone.
func TestSharedCaches(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.ignore("shared", "folder-only/", "tracked")
	must(t, os.MkdirAll(filepath.Join(e.repo, "tracked"), 0o700))
	must(t, os.WriteFile(filepath.Join(e.repo, "tracked", "x"), nil, 0o600))
	lab.Git(t, e.repo, "add", "-f", "tracked")
	e.withFile("caches: [shared, folder-only, tracked, deep/in]\nsetup: [\"ls shared; echo $PWD >> shared/users\"]\n")
	var views []cw.AgentView
	for range 2 {
		v := e.mustSpawn(e.request(fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`}))
		views = append(views, e.rest(v.Alias))
	}
	for _, v := range views {
		if v.Projects[0].State != cw.WorktreeRemoved {
			t.Errorf("the worktree is %s: %q", v.Projects[0].State, v.Warnings)
		}
		said := strings.Join(v.Warnings, "\n")
		for _, name := range []string{"folder-only", "tracked", "deep/in"} {
			if !strings.Contains(said, "the cache "+name+" is not shared") {
				t.Errorf("nothing is said of %s: %q", name, said)
			}
		}
	}
	cache := e.home.Caches(views[0].Projects[0].ProjectID)
	if n := lines(filepath.Join(cache, "shared", "users")); n != 2 {
		t.Errorf("the cache was used %d times", n)
	}
}

// TestInclude: patterns of the file count beside those of .worktreeinclude.
func TestIncludeOfTheFile(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.ignore(".env", "local.conf", "other")
	for _, name := range []string{".env", "local.conf", "other"} {
		must(t, os.WriteFile(filepath.Join(e.repo, name), []byte(name), 0o600))
	}
	must(t, os.WriteFile(filepath.Join(e.repo, ".worktreeinclude"), []byte("local.conf\n"), 0o600))
	lab.Git(t, e.repo, "add", ".worktreeinclude")
	e.withFile("include: [.env]\n")
	saw := filepath.Join(t.TempDir(), "saw")
	v := e.mustSpawn(e.request(fakecli.Script{Shell: "ls -A > " + saw, Signal: `{"status":"done","noChanges":"none"}`}))
	e.rest(v.Alias)
	data, _ := os.ReadFile(saw)
	if got := string(data); !strings.Contains(got, ".env\n") || !strings.Contains(got, "local.conf\n") || strings.Contains(got, "other\n") {
		t.Errorf("the worktree had %q", got)
	}
}

// TestSetUpInterrupted: wherever the daemon dies in a set-up, the next one goes
// on there, and each command is run once.
func TestSetUpInterrupted(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"setup/begun", "commands/started", "setup/run", "setup/stored"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			reached := make(chan struct{})
			var once sync.Once
			e := newEngine(t, func(c *Config) {
				c.Fail = func(at string) {
					if at == step {
						once.Do(func() { close(reached); runtime.Goexit() })
					}
				}
			})
			book := filepath.Join(t.TempDir(), "book")
			e.withFile("setup: [\"echo one >> " + book + "\", \"echo two >> " + book + "; touch made\"]\n")
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-reached; cancel() }()
			_, err := e.Spawn(ctx, e.request(fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`}))
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("the daemon did not die: %v", err)
			}
			e.stopRun()
			e.boot()
			views, err := cw.AllAgents(t.Context(), e, cw.AgentFilter{})
			must(t, err)
			if len(views) != 1 {
				t.Fatalf("%d agents", len(views))
			}
			v := e.rest(views[0].Alias)
			if data, _ := os.ReadFile(book); string(data) != "one\ntwo\n" {
				t.Errorf("the set-up did %q", data)
			}
			if v.Status != cw.StatusIdle || v.Projects[0].State != cw.WorktreeRemoved {
				t.Errorf("%s %s; the worktree is %s: %q", v.Status, v.Error, v.Projects[0].State, v.Warnings)
			}
		})
	}
}

// TestTearDown: it runs before a worktree goes, cleaned up or removed, with the
// worktree's variables; one that fails is a warning and holds nothing up.
func TestTearDown(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	book := filepath.Join(t.TempDir(), "book")
	e.withFile("teardown: [\"pwd >> " + book + "; echo port $CW_PORT_0\", \"exit 5\"]\nports: 1\n")
	clean := e.mustSpawn(e.request(fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`}))
	if clean = e.rest(clean.Alias); clean.Projects[0].State != cw.WorktreeRemoved {
		t.Errorf("the worktree is %s: %q", clean.Projects[0].State, clean.Warnings)
	}
	dirty := e.mustSpawn(e.request(fakecli.Script{Shell: "echo x > dirty", Signal: `{"status":"done","noChanges":"none"}`}))
	dirty = e.rest(dirty.Alias)
	if lines(book) != 1 {
		t.Errorf("%d were taken down before the second was removed", lines(book))
	}
	_, err := e.Remove(t.Context(), dirty.Alias)
	must(t, err)
	data, _ := os.ReadFile(book)
	if want := clean.AgentCwd + "\n" + dirty.AgentCwd + "\n"; string(data) != want {
		t.Errorf("taken down: %q, want %q", data, want)
	}
	for _, ref := range []string{clean.Alias, string(dirty.ID)} {
		v, err := e.Agent(t.Context(), ref)
		must(t, err)
		if said := strings.Join(v.Warnings, "\n"); !strings.Contains(said, "exit code 5") {
			t.Errorf("%s: warnings %q", ref, said)
		}
	}
}

// TestWorkSurvivesCommands: work that nobody committed stays, whatever the teardown
// of a removal and the set-up of the run after the restoring do to it, and is no
// part of what the set-up made.
func TestWorkSurvivesCommands(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.withFile("setup: [\"rm -f work.txt; echo lock > README.md; echo made > made.txt\"]\nteardown: [\"rm -f work.txt made.txt\"]\n")
	const done = `{"status":"done","noChanges":"none"}`
	v := e.mustSpawn(e.request(fakecli.Script{Shell: "echo hours > work.txt", Signal: done}))
	v = e.rest(v.Alias)
	work := filepath.Join(v.AgentCwd, "work.txt")
	if v.Projects[0].State != cw.WorktreePresent || v.Projects[0].Dirty != 1 {
		t.Fatalf("%s with %d changes: %q", v.Projects[0].State, v.Projects[0].Dirty, v.Warnings)
	}
	if v = e.mustRemove(v.Alias); !strings.Contains(strings.Join(v.Warnings, "\n"), `the teardown of shop changed work that is not committed: "work.txt" is put back`) {
		t.Errorf("warnings %q", v.Warnings)
	}
	v = e.mustRestore(v.Alias)
	if data, _ := os.ReadFile(work); string(data) != "hours\n" || there(filepath.Join(v.AgentCwd, "made.txt")) {
		t.Errorf("restored: %q, %q", data, v.Warnings)
	}
	before := v.SessionNumber
	_, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: fakecli.Script{Shell: "true", Signal: done, Book: e.books}.Text()})
	must(t, err)
	eventually(t, "it is done", func() bool { v = e.rest(v.Alias); return v.SessionNumber > before })
	if data, _ := os.ReadFile(work); string(data) != "hours\n" || v.Projects[0].State != cw.WorktreePresent || v.Projects[0].Dirty != 1 {
		t.Errorf("after the set-up %q; %s with %d changes: %q", data, v.Projects[0].State, v.Projects[0].Dirty, v.Warnings)
	}
}

// TestStoppedSetUp: a set-up does not keep its agent from being stopped.
func TestStoppedSetUp(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	book := filepath.Join(t.TempDir(), "book")
	e.withFile("setup: [\"echo begun >> " + book + "; sleep 1000\", \"echo next >> " + book + "\"]\n")
	spawned := make(chan error, 1)
	go func() {
		_, err := e.Spawn(t.Context(), e.request(fakecli.Script{Hang: true}))
		spawned <- err
	}()
	eventually(t, "the set-up runs", func() bool { return lines(book) == 1 })
	views, err := cw.AllAgents(t.Context(), e, cw.AgentFilter{})
	must(t, err)
	if len(views) != 1 {
		t.Fatalf("%d agents", len(views))
	}
	_, err = e.Stop(t.Context(), views[0].Alias, cw.StopRequest{})
	if err != nil && cw.ErrorCode(err) != cw.CodeNotFound { // its spawn was taken back
		t.Error(err)
	}
	if err := <-spawned; cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(err.Error(), "stopped by somebody") {
		t.Errorf("the spawn: %v", err)
	}
	if lines(book) != 1 {
		t.Error("the next command was run")
	}
	e.wantNoProcesses()
}
