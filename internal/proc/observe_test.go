package proc

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPrepare(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "runs", "1")
	good := Spec{RunID: "r", Argv: []string{"true"}, Dir: "/", StopGrace: time.Second, Meta: json.RawMessage(`{"a":1}`)}
	if err := Prepare(dir, good); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSpec(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := good
	want.Version = SpecVersion
	got.Meta = json.RawMessage(strings.Join(strings.Fields(string(got.Meta)), ""))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	for name, spoil := range map[string]func(*Spec){
		"no id":              func(s *Spec) { s.RunID = "" },
		"no command":         func(s *Spec) { s.Argv = nil },
		"empty command":      func(s *Spec) { s.Argv = []string{""} },
		"relative directory": func(s *Spec) { s.Dir = "." },
	} {
		bad := good
		spoil(&bad)
		if err := Prepare(filepath.Join(t.TempDir(), "bad"), bad); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := writeJSON(dir, startedName, started{}); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(dir, good); err == nil {
		t.Error("a run that was started was prepared again")
	}
	if _, err := ReadSpec(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no run: %v", err)
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	h := Handle{Version: 1, BootID: "b", ShimPID: 10, ShimStart: 1, PID: 20, StartTime: 2}
	tests := []struct {
		name          string
		held          bool
		started, exit string
		want          State
	}{
		{"nothing", false, "", "", StateFresh},
		{"only locked", true, "", "", StateStarting},
		{"announced", true, mustJSON(t, started{State: StateStarting}), "", StateStarting},
		{"running", true, mustJSON(t, started{State: StateRunning, Handle: h}), "", StateRunning},
		{"shim gone", false, mustJSON(t, started{State: StateRunning, Handle: h}), "", StateLost},
		{"shim gone before the start", false, mustJSON(t, started{State: StateStarting}), "", StateLost},
		{"empty record", false, " ", "", StateLost},
		{"torn record", false, `{"state":"run`, "", StateLost},
		{"ended", false, mustJSON(t, started{State: StateRunning, Handle: h}), `{"code":3}`, StateExited},
		{"an end while the shim lives", true, mustJSON(t, started{State: StateRunning, Handle: h}), `{"code":3}`, StateRunning},
		{"an end before the command", true, mustJSON(t, started{State: StateStarting}), `{"code":3}`, StateStarting},
		{"torn end", false, mustJSON(t, started{State: StateRunning, Handle: h}), `{"co`, StateLost},
		{"end that a power cut blanked", false, mustJSON(t, started{State: StateRunning, Handle: h}), strings.Repeat("\n", maxRecord), StateLost},
		{"end of a wrong kind", false, mustJSON(t, started{State: StateRunning, Handle: h}), `{"endedAt":"never"}`, StateLost},
		{"torn end of an unknown start", false, "", `{`, StateLost},
		{"ended before it began", false, "", `{"code":-1}`, StateExited},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{startedName: tt.started, exitName: tt.exit} {
				if text != "" {
					appendFile(t, filepath.Join(dir, name), text)
				}
			}
			if tt.held {
				l, err := Lock(filepath.Join(dir, lockName))
				if err != nil {
					t.Fatal(err)
				}
				defer l.Unlock()
			}
			obs, err := Observe(dir)
			if err != nil || obs.State != tt.want || (obs.Exit != nil) != (tt.want == StateExited) {
				t.Errorf("got %+v, %v; want %s", obs, err, tt.want)
			}
			if strings.Contains(tt.started, `"pid":20`) && obs.Handle != h {
				t.Errorf("handle %+v", obs.Handle)
			}
		})
	}
	if _, err := Observe(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// An observer at work all the time never calls a run lost that is not.
func TestObserveNeverCallsALiveRunLost(t *testing.T) {
	t.Parallel()
	for range 10 {
		r := newRun(t, "exit", "0")
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				obs, err := Observe(r.dir)
				if err != nil || obs.State == StateLost {
					t.Errorf("observed %s, %v", obs.State, err)
					return
				}
				if obs.State == StateExited {
					return
				}
			}
		}()
		r.start()
		<-done
	}
}

func TestExitString(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]Exit{
		"exit code 3":       {Code: 3},
		"killed by SIGKILL": {Code: 137, Signal: 9},
		"no such file":      {Code: 127, StartError: "no such file"},
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	me, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	again, err := IdentityOf(os.Getpid())
	if err != nil || again != me || !me.Alive() {
		t.Errorf("%+v, %+v, %v", me, again, err)
	}
	for _, id := range []Identity{{}, {PID: -1}, {PID: me.PID, StartTime: me.StartTime + 1}, {PID: 1 << 30, StartTime: 1}} {
		if id.Alive() {
			t.Errorf("%+v lives", id)
		}
		if err := id.Signal(0); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("%+v: signal: %v", id, err)
		}
	}
	if id, err := BootID(); err != nil || id == "" {
		t.Errorf("boot id %q, %v", id, err)
	}
}
