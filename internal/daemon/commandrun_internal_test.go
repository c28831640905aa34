package daemon

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/store"
)

// TestCommandsCallNobody: a process below the shim of a command is neither a
// person nor an agent, whatever lies in the command's directory, and may nothing.
func TestCommandsCallNobody(t *testing.T) {
	t.Parallel()
	home := cw.Home(t.TempDir())
	db, err := store.Open(t.Context(), store.Options{Dir: string(home)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	self, err := proc.Self() // stands in for the shim
	if err != nil {
		t.Fatal(err)
	}
	boot, err := proc.BootID()
	if err != nil {
		t.Fatal(err)
	}
	handle, err := json.Marshal(proc.Handle{Version: proc.HandleVersion, BootID: boot, ShimPID: self.PID, ShimStart: self.StartTime})
	if err != nil {
		t.Fatal(err)
	}
	run := cw.Run{ID: cw.RunID(cw.NewID()), Kind: cw.RunCheck}
	if _, err = db.IntendCommands(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := db.SaveCommandStart(t.Context(), run.ID, handle, 1, time.Now()); err != nil {
		t.Fatal(err)
	}
	who := newCallers(home, db, slog.New(slog.DiscardHandler))
	actor, err := who.identify(t.Context(), api.Peer{PID: os.Getpid(), StartTime: self.StartTime})
	if cw.ErrorCode(err) != cw.CodeForbidden || actor.Kind != "" {
		t.Errorf("it counts as %q: %v", actor.Kind, err)
	}
	if err := db.EndCommands(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if actor, err = who.identify(t.Context(), api.Peer{PID: os.Getpid(), StartTime: self.StartTime}); err != nil || actor.Kind != cw.ActorPerson {
		t.Errorf("when the command is over it counts as %q: %v", actor.Kind, err)
	}
}

// TestCommandsKeepTheirBinary: the copy of the program that watches over a
// command stays as long as the run goes on.
func TestCommandsKeepTheirBinary(t *testing.T) {
	t.Parallel()
	home := cw.Home(t.TempDir())
	db, err := store.Open(t.Context(), store.Options{Dir: string(home)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, build := range []string{"own", "used", "old"} {
		if err := os.MkdirAll(filepath.Dir(home.Binary(build)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := cw.Run{ID: cw.RunID(cw.NewID()), Kind: cw.RunCheck}
	run.Dir = home.CommandDir(run.Kind, run.ID)
	if _, err := db.IntendCommands(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	meta, err := json.Marshal(cw.RunFacts{Kind: run.Kind, Binary: home.Binary("used")})
	if err != nil {
		t.Fatal(err)
	}
	if err := proc.Prepare(filepath.Join(run.Dir, "1"), proc.Spec{RunID: "x-1", Argv: []string{"true"}, Dir: "/", Meta: meta}); err != nil {
		t.Fatal(err)
	}
	runs, err := unfinishedRuns(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	old, err := oldBinaries(home, "own", runs)
	if err != nil || len(old) != 1 || filepath.Base(old[0]) != "old" {
		t.Errorf("would be removed: %q, %v", old, err)
	}
}
