package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/store"
)

// ruin is a home with agents that are at rest, closed, with what was stored of
// them. Tests damage copies of it.
type ruin struct {
	dir    string
	titles map[string]string // by name
	raw    map[string][]byte // by name
}

func newRuin(t *testing.T) ruin {
	t.Helper()
	r := ruin{dir: filepath.Join(t.TempDir(), "home"), titles: map[string]string{}, raw: map[string][]byte{}}
	home := cw.Home(r.dir)
	must(t, PrepareHome(home))
	must(t, os.WriteFile(home.DaemonLock(), nil, 0o600)) // a daemon was here
	db, err := store.Open(t.Context(), store.Options{Dir: r.dir, Boot: bootID()})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	p := cw.Project{ID: cw.ProjectID(cw.NewID()), Name: "shop", Path: "/src/shop", GitDir: "/src/shop/.git", Mirror: "shop-abcd.git"}
	must(t, db.AddProject(t.Context(), p, cw.NewEvent(cw.EventProjectAdded, cw.Actor{}, nil)))
	for i, name := range []string{"able-ant", "bold-bee", "calm-cat", "deft-dog", "eager-eel"} {
		r.titles[name] = fmt.Sprintf("the task number %d of the shop", i)
		r.raw[name] = bytes.Repeat(fmt.Appendf(nil, "%s writes a line of output, and another one\n", name), 500+300*i)
		r.agent(t, db, p, name)
		if i == 2 {
			_, err := db.BackupDaily(t.Context())
			must(t, err)
		}
	}
	stop()
	must(t, <-ended)
	must(t, db.Close())
	return r
}

// agent stores one whose run is over, with its run directory.
func (r ruin) agent(t *testing.T, db *store.DB, p cw.Project, name string) {
	t.Helper()
	home := cw.Home(r.dir)
	dir, now := home.RunDir(name, 1), time.Now().UTC()
	id, run := cw.AgentID(cw.NewID()), cw.RunID(cw.NewID())
	a := cw.Agent{ID: id, Alias: name, Definition: "execute", Mode: cw.ModeExecute, Provider: "script", Title: r.titles[name], Status: cw.StatusPending, SessionNumber: 1, AgentCwd: home.Worktree(name)}
	tree := cw.AgentWorktree{AgentID: id, ProjectID: p.ID, Project: p.Name, Path: home.Worktree(name), Branch: "agent/" + name, BaseCommit: "b4se"}
	rn := cw.Run{ID: run, AgentID: id, Kind: cw.RunAgent, SessionNumber: 1, Reason: cw.RunSpawn, Dir: dir, OutputPath: filepath.Join(dir, "output.jsonl")}
	op := cw.Op{ID: cw.OpID(cw.NewID()), Kind: cw.OpSpawn, Status: cw.OpIntended, AgentID: id, RunID: run}
	must(t, db.IntendSpawn(t.Context(), cw.SpawnIntent{Agent: a, Worktrees: []cw.AgentWorktree{tree}, Run: rn, Op: op}))
	must(t, db.SaveStarting(t.Context(), cw.Starting{
		AgentID: id, RunID: run, OpID: op.ID, Message: cw.Message{ID: cw.MessageID(cw.NewID()), Role: cw.RoleUser, Body: "do " + name},
		Token: cw.Token{ID: cw.TokenID(cw.NewID()), Hash: cw.HashToken(cw.NewToken()), Kind: cw.ActorAgent}, Event: cw.NewEvent(cw.EventAgentStarting, cw.Actor{}, nil),
	}))
	must(t, db.SaveRunning(t.Context(), cw.Running{AgentID: id, RunID: run, OpID: op.ID, Handle: []byte(`{"shimPid":1}`), PID: 1, StartedAt: now}))
	facts, err := json.Marshal(cw.RunFacts{
		AgentID: id, Agent: name, Session: 1, Mode: cw.ModeExecute, Provider: "script", Title: r.titles[name], Cwd: a.AgentCwd, OutputPath: rn.OutputPath,
		Places: []cw.RunPlace{{ProjectID: p.ID, Project: p.Name, Repository: p.Path, GitDir: p.GitDir, Mirror: p.Mirror, Path: tree.Path, Branch: tree.Branch, BaseCommit: "b4se"}},
	})
	must(t, err)
	must(t, proc.Prepare(dir, proc.Spec{RunID: string(run), Argv: []string{"true"}, Dir: "/", Stdout: rn.OutputPath, Meta: facts}))
	must(t, os.WriteFile(filepath.Join(dir, "started.json"), []byte(`{"state":"running","handle":{"version":1,"bootId":"x","shimPid":1,"shimStart":1}}`), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "exit.json"), []byte(`{"version":1,"code":0,"endedAt":"2026-01-02T03:04:05Z"}`), 0o600))
	must(t, os.WriteFile(rn.OutputPath, r.raw[name], 0o600))
	var chunks []cw.Chunk
	pieces, _ := proc.Cut(r.raw[name], true)
	at := int64(0)
	for _, piece := range pieces {
		chunks = append(chunks, cw.Chunk{AgentID: id, AgentName: name, SessionNumber: 1, Offset: at, Bytes: piece})
		at += int64(len(piece))
	}
	_, err = db.AppendChunks(t.Context(), chunks)
	must(t, err)
	code := 0
	_, err = db.FinishRun(t.Context(), cw.Finish{AgentID: id, RunID: run, OpID: op.ID, From: []cw.AgentStatus{cw.StatusRunning}, Status: cw.StatusIdle, Result: "done by " + name, ExitCode: &code, EndedAt: now})
	must(t, err)
}

// copy gives the home anew below its own path, which run directories name.
func (r ruin) copy(t *testing.T, from string) {
	t.Helper()
	must(t, os.RemoveAll(r.dir))
	must(t, os.CopyFS(r.dir, os.DirFS(from)))
	for _, dir := range []string{"", "run", "damaged", "backups"} {
		if err := os.Chmod(filepath.Join(r.dir, dir), homeMode); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// check opens the store as a daemon does and compares everything with what was
// stored. damaged is its word that something is wrong; exact asks for rows that
// are as they were, not only there.
func (r ruin) check(ctx context.Context, exact bool) (damaged, err error) {
	db, err := store.Open(ctx, store.Options{Dir: r.dir, Boot: bootID()})
	if err != nil {
		return err, nil
	}
	defer func() {
		if closeErr := db.Close(); err == nil && damaged == nil {
			err = closeErr
		}
	}()
	for name, raw := range r.raw {
		view, err := db.AgentView(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%s is lost: %w", name, err)
		}
		lost := view.Status == cw.StatusCrashed && view.Reason == cw.ReasonLost && len(view.Warnings) > 0
		if view.Title != r.titles[name] || !lost && (view.Status != cw.StatusIdle || view.Result != "done by "+name) || exact && (lost || len(view.Warnings) > 0) {
			return nil, fmt.Errorf("%s: %q %s %s %q %q", name, view.Title, view.Status, view.Reason, view.Result, view.Warnings)
		}
		var got []byte
		for q := (cw.ChunkQuery{AgentID: view.ID}); ; {
			chunks, err := db.ChunksFrom(ctx, q)
			if err != nil {
				return err, nil
			}
			if len(chunks) == 0 {
				break
			}
			for _, c := range chunks {
				got, q.AfterID = append(got, c.Bytes...), c.ID
			}
		}
		if !bytes.Equal(got, raw) {
			return nil, fmt.Errorf("%s: %d bytes of output are stored, not %d", name, len(got), len(raw))
		}
	}
	return nil, nil
}

func (r ruin) recover(ctx context.Context) (RecoverReport, error) {
	return Recover(ctx, RecoverOptions{Home: cw.Home(r.dir), Version: "v0-test", Log: slog.New(slog.DiscardHandler)})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v (hint: %s)", err, cw.ErrorHint(err))
	}
}

// TestDamageIsTold damages databases in many ways, one bit or all of them: what
// is read is right, or the damage is told and nothing is overwritten; and after
// it is told a recovery brings back every agent and every byte of its output,
// without deleting anything.
func TestDamageIsTold(t *testing.T) {
	r := newRuin(t)
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, os.CopyFS(whole, os.DirFS(r.dir)))
	if damaged, err := r.check(t.Context(), true); damaged != nil || err != nil {
		t.Fatalf("whole: %v %v", damaged, err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	told := 0
	for i := range 60 {
		r.copy(t, whole)
		name := []string{store.StateName, store.LogName}[i%2]
		what := damage(t, filepath.Join(r.dir, name), i/2%5, random)
		before, err := os.ReadFile(filepath.Join(r.dir, name))
		must(t, err)
		damaged, err := r.check(t.Context(), true)
		switch {
		case err != nil:
			t.Fatalf("%s of %s: silent: %v", what, name, err)
		case damaged == nil:
			continue // it hit nothing
		case !store.IsDamaged(damaged) || !strings.Contains(cw.ErrorHint(damaged), "cw recover"):
			t.Errorf("%s of %s: told as %v", what, name, damaged)
		}
		told++
		report, err := r.recover(t.Context())
		if err != nil {
			t.Fatalf("%s of %s: recover: %v", what, name, err)
		}
		if damaged, err := r.check(t.Context(), false); damaged != nil || err != nil {
			t.Fatalf("%s of %s, recovered: %v %v\n%+v", what, name, damaged, err, report)
		}
		if !kept(report, before) {
			t.Errorf("%s of %s: the damaged file is gone: %+v", what, name, report)
		}
	}
	t.Logf("%d of 60 were told", told)
	if told < 40 {
		t.Errorf("only %d of 60 damages were told", told)
	}
}

// TestSpoiltSchemaIsTold: one bit in the schema renames a column, or takes its
// type, and every page is sound for SQLite.
func TestSpoiltSchemaIsTold(t *testing.T) {
	for _, c := range []struct{ was, is string }{
		{"sum INTEGER", "sul INTEGER"},
		{"created_at     DATETIME", "created_at     DATETIMD"},
		{"created_at     DATETIME", "creaved_at     DATETIME"},
	} {
		t.Run(c.is, func(t *testing.T) {
			r := newRuin(t)
			file := filepath.Join(r.dir, store.LogName)
			before, err := os.ReadFile(file)
			must(t, err)
			spoiled := bytes.Replace(before, []byte(c.was), []byte(c.is), 1)
			if bytes.Equal(spoiled, before) {
				t.Fatalf("the schema has no %q", c.was)
			}
			must(t, os.WriteFile(file, spoiled, 0o600))
			damaged, err := r.check(t.Context(), true)
			if !store.IsDamaged(damaged) || err != nil {
				t.Errorf("told as %v, %v", damaged, err)
			}
			report, err := r.recover(t.Context())
			must(t, err)
			if !kept(report, spoiled) {
				t.Errorf("the damaged file is gone: %+v", report)
			}
			if damaged, err := r.check(t.Context(), false); damaged != nil || err != nil {
				t.Errorf("recovered: %v %v\n%+v", damaged, err, report)
			}
		})
	}
}

// kept tells whether one of the moved files has these bytes.
func kept(report RecoverReport, data []byte) bool {
	for _, path := range report.Moved {
		if got, err := os.ReadFile(path); err == nil && bytes.Equal(got, data) {
			return true
		}
	}
	return false
}

// damage changes a file in one of five ways and says how.
func damage(t *testing.T, path string, how int, random *rand.Rand) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	var what string
	switch how {
	case 0, 1:
		at := random.IntN(len(data))
		data[at] ^= 1 << random.IntN(8)
		what = fmt.Sprintf("one bit at %d", at)
	case 2:
		at := random.IntN(len(data)/4096) * 4096
		for i := range 4096 {
			data[at+i] = byte(random.Uint32())
		}
		what = fmt.Sprintf("the page at %d", at)
	case 3:
		n := random.IntN(len(data))
		data = data[:n]
		what = fmt.Sprintf("all behind %d", n)
	case 4:
		for range 30 {
			data[random.IntN(len(data))] ^= 1 << random.IntN(8)
		}
		what = "30 bits"
	}
	must(t, os.WriteFile(path, data, 0o600))
	return what
}

// TestRecoverWithoutCopies has neither a backup nor a readable row: run
// directories alone tell of the agents. What they do not tell is said.
func TestRecoverWithoutCopies(t *testing.T) {
	r := newRuin(t)
	must(t, os.RemoveAll(cw.Home(r.dir).Backups()))
	for _, name := range []string{store.StateName, store.LogName} {
		must(t, os.WriteFile(filepath.Join(r.dir, name), []byte("this is a letter to my mother\n"), 0o600))
	}
	report, err := r.recover(t.Context())
	must(t, err)
	if len(report.Damaged) != 2 || len(report.Runs) != len(r.raw) || report.Backup != "" || len(report.Unknown) == 0 {
		t.Errorf("%+v", report)
	}
	if damaged, err := r.check(t.Context(), false); damaged != nil || err != nil {
		t.Fatal(damaged, err)
	}
	again, err := r.recover(t.Context())
	if err != nil || len(again.Damaged) != 0 || len(again.Moved) != 0 {
		t.Errorf("once more: %+v %v", again, err)
	}
}

// TestDeleted: databases that somebody deleted with all that belongs to them are
// not taken for those of a new home, and a recovery brings every agent back.
func TestDeleted(t *testing.T) {
	r := newRuin(t)
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, os.CopyFS(whole, os.DirFS(r.dir)))
	for what, patterns := range map[string][]string{
		"state":               {"cw.db*"},
		"both":                {"cw.db*", "log.db*"},
		"both and all copies": {"cw.db*", "log.db*", "backups/*"},
	} {
		r.copy(t, whole)
		for _, pattern := range patterns {
			files, err := filepath.Glob(filepath.Join(r.dir, pattern))
			must(t, err)
			for _, path := range files {
				must(t, os.Remove(path))
			}
		}
		damaged, err := r.check(t.Context(), false)
		if err != nil || !store.IsDamaged(damaged) || !strings.Contains(cw.ErrorHint(damaged), "cw recover") {
			t.Errorf("%s: told as %v, %v", what, damaged, err)
		}
		report, err := r.recover(t.Context())
		must(t, err)
		if damaged, err := r.check(t.Context(), false); damaged != nil || err != nil {
			t.Errorf("%s, recovered: %v %v\n%+v", what, damaged, err, report)
		}
	}
}

// TestRecoverDryRun changes nothing, and a daemon that runs makes it refuse.
func TestRecoverRefuses(t *testing.T) {
	r := newRuin(t)
	path := filepath.Join(r.dir, store.StateName)
	must(t, os.Truncate(path, 5000))
	before, err := os.ReadFile(path)
	must(t, err)
	report, err := Recover(t.Context(), RecoverOptions{Home: cw.Home(r.dir), DryRun: true})
	if err != nil || len(report.Damaged) != 1 || len(report.Moved) != 0 {
		t.Errorf("%+v %v", report, err)
	}
	lock, err := proc.Lock(cw.Home(r.dir).DaemonLock())
	must(t, err)
	if _, err := r.recover(t.Context()); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("beside a daemon: %v", err)
	}
	must(t, lock.Unlock())
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed: %v", err)
	}
}

// TestInterruptedRecovery: a daemon does not take half a home for a whole one,
// and the next recovery goes on.
func TestInterruptedRecovery(t *testing.T) {
	r := newRuin(t)
	must(t, os.WriteFile(filepath.Join(r.dir, store.StateName), []byte("x"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	o := RecoverOptions{Home: cw.Home(r.dir), Now: func() time.Time { cancel(); return time.Now() }}
	if _, err := Recover(ctx, o); err == nil {
		t.Fatal("it was not interrupted")
	}
	err := Serve(t.Context(), Config{Home: cw.Home(r.dir), Settings: DefaultSettings(), Stderr: io.Discard})
	if cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(cw.ErrorHint(err), "cw recover") {
		t.Errorf("serve: %v", err)
	}
	_, err = r.recover(t.Context())
	must(t, err)
	if damaged, err := r.check(t.Context(), false); damaged != nil || err != nil {
		t.Fatal(damaged, err)
	}
}
