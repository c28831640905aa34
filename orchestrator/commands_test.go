package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/proc"
	"cw/internal/redact"
)

// check is a run of commands in a folder of its own.
func (e *engine) check(commands ...string) cw.CommandRun {
	e.t.Helper()
	r := cw.CommandRun{ID: cw.RunID(cw.NewID()), Kind: cw.RunCheck, Dir: e.t.TempDir()}
	for _, c := range commands {
		r.Commands = append(r.Commands, cw.ProjectCommand{Name: strings.Fields(c)[0], Run: c, Timeout: patience})
	}
	return r
}

func (e *engine) mustRun(r cw.CommandRun) cw.CommandResult {
	e.t.Helper()
	result, err := e.RunCommands(e.t.Context(), r)
	must(e.t, err)
	return result
}

// wantNoProcesses checks that no process of the home lives.
func (e *engine) wantNoProcesses() {
	e.t.Helper()
	eventually(e.t, "no process", func() bool { return len(lab.Processes(string(e.home))) == 0 })
}

// TestRunCommands: what commands come to, in the words that people read.
func TestRunCommands(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(c *Config) {
		c.Environ = append(c.Environ, "CW_TOKEN=t", "CLAUDECODE=1", "GIT_DIR=/nowhere", "ANTHROPIC_API_KEY=sk-of-the-user", "KEPT=yes")
	})
	noDir := e.check("true")
	noDir.Dir += "/not-there"
	hanging := e.check("trap '' TERM; echo begun; while :; do sleep 1; done")
	hanging.Commands[0].Timeout = 100 * time.Millisecond
	withEnv := e.check(`echo "CI=$CI KEPT=$KEPT PORT=$CW_PORT_0 [$CW_TOKEN$CLAUDECODE$GIT_DIR$ANTHROPIC_API_KEY]"`)
	withEnv.Env = map[string]string{"CW_PORT_0": "20000"}
	setUp := e.check(`echo "CI=[$CI]"; pwd`)
	setUp.Kind = cw.RunSetup
	tests := []struct {
		name   string
		run    cw.CommandRun
		want   cw.CommandResult // without Output, LogPath and Took
		output string           // is in the output
	}{
		{"nothing to run", e.check(), cw.CommandResult{OK: true}, ""},
		{"all end well", e.check("echo one", "echo two >&2"), cw.CommandResult{OK: true}, "$ echo\none\n$ echo\ntwo"},
		{"one fails, and the next is not run", e.check("echo one", "exit 3", "echo three"), cw.CommandResult{Failed: "exit", Reason: "exit code 3", ExitCode: 3}, "one\n$ exit"},
		{"an unknown program", e.check("no-such-program"), cw.CommandResult{Failed: "no-such-program", Reason: "exit code 127", ExitCode: 127}, "not found"},
		{"killed", e.check("kill -9 $$"), cw.CommandResult{Failed: "kill", Reason: "killed by SIGKILL", ExitCode: 137}, ""},
		{"hangs, and ignores that it is to end", hanging, cw.CommandResult{Failed: "trap", Reason: "stopped after 100ms"}, "begun"},
		{"no folder", noDir, cw.CommandResult{Failed: "true", Reason: "could not be started: working directory", Outside: true}, ""},
		{"too much output", e.check("yes | head -c 100000000"), cw.CommandResult{Failed: "yes", Reason: "wrote more than 64 MiB"}, "y\ny\ny"},
		{"what a process leaves is ended", e.check("sleep 1000 & setsid sleep 1000 & echo left"), cw.CommandResult{OK: true}, "left"},
		{"no UTF-8", e.check(`printf 'a\377b\n'`), cw.CommandResult{OK: true}, "a\uFFFDb"},
		{"its environment", withEnv, cw.CommandResult{OK: true}, "CI=true KEPT=yes PORT=20000 []"},
		{"set-up", setUp, cw.CommandResult{OK: true}, "CI=[" + os.Getenv("CI") + "]\n" + setUp.Dir}, // only a check says that nobody is there
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := e.RunCommands(t.Context(), tt.run)
			must(t, err)
			again, err := e.RunCommands(t.Context(), tt.run)
			must(t, err)
			if again != got {
				t.Errorf("asked again: %+v, at first %+v", again, got)
			}
			if !strings.Contains(got.Output, tt.output) || len(got.Output) > commandTail {
				t.Errorf("output %.200q (%d bytes), want %q", got.Output, len(got.Output), tt.output)
			}
			if size := logSize(got.LogPath); size > commandOutputMax {
				t.Errorf("the log has %d bytes", size)
			}
			if tt.want.Outside && strings.HasPrefix(got.Reason, tt.want.Reason) {
				got.Reason = tt.want.Reason
			}
			got.Output, got.LogPath, got.Took = "", "", 0
			if got != tt.want {
				t.Errorf("%+v\nwant %+v", got, tt.want)
			}
		})
	}
	e.wantNoProcesses()
	for _, bad := range []cw.CommandRun{
		{ID: "short", Kind: cw.RunCheck, Dir: "/"},
		{ID: tests[0].run.ID, Kind: cw.RunAgent, Dir: "/"},
		{ID: tests[0].run.ID, Kind: cw.RunCheck, Dir: "relative"},
		{ID: tests[0].run.ID, Kind: cw.RunCheck, Dir: "/", Commands: []cw.ProjectCommand{{Run: "true"}}},
	} {
		if _, err := e.RunCommands(t.Context(), bad); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestCommandsAreMasked: secrets that are known are in no output that is handed
// on, also where the end of it is cut in the middle of one.
func TestCommandsAreMasked(t *testing.T) {
	t.Parallel()
	const secret = "sk-1234567890abcdef"
	set := redact.NewSet()
	set.Put("somebody", secret)
	e := newEngine(t, func(c *Config) { c.Redact = set })
	for cut := range len(secret) {
		filler := commandTail + set.Reach() - cut // the rest of a secret, and blanks
		got := e.mustRun(e.check(fmt.Sprintf("printf %s; head -c %d /dev/zero | tr '\\0' ' '; echo", secret, filler)))
		for n := 6; n <= len(secret); n += 3 {
			if strings.Contains(got.Output, secret[len(secret)-n:]) {
				t.Fatalf("cut at %d: %.40q", cut, got.Output)
			}
		}
	}
}

// TestCommandsOutliveTheDaemon: a command that lives when its daemon ends is
// waited for by the next one, and is never run twice; one that ended meanwhile
// is read; its time limit holds across both.
func TestCommandsOutliveTheDaemon(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	gate, book := filepath.Join(t.TempDir(), "gate"), filepath.Join(t.TempDir(), "book")
	wait := "echo begun >> " + book + "; while ! test -e " + gate + "; do sleep 0.05; done; echo over"
	living, ended, late := e.check(wait, "echo next"), e.check(wait), e.check(wait)
	late.Commands[0].Timeout = 2 * time.Second
	for _, r := range []cw.CommandRun{living, ended, late} {
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		before := lines(book)
		go func() {
			_, err := e.RunCommands(ctx, r)
			over <- err
		}()
		eventually(t, "the command runs", func() bool { return lines(book) > before })
		eventually(t, "its start is stored", func() bool {
			runs, err := e.db.UnfinishedCommands(t.Context())
			return err == nil && len(runs) > 0 && len(runs[len(runs)-1].Handle) > 0
		})
		cancel()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Fatalf("let go: %v", err)
		}
	}
	e.stopRun()
	must(t, os.WriteFile(gate, nil, 0o600))
	endedDir := filepath.Join(e.home.CommandDir(ended.Kind, ended.ID), "1")
	eventually(t, "the command is over", func() bool {
		seen, err := proc.Observe(endedDir)
		return err == nil && seen.State == proc.StateExited
	})
	must(t, os.Remove(gate))
	e.boot()
	if got := e.mustRun(ended); !got.OK || !strings.HasSuffix(got.Output, "over") {
		t.Errorf("one that ended meanwhile: %+v", got)
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	if got := e.mustRun(living); !got.OK || !strings.HasSuffix(got.Output, "over\n$ echo\nnext") {
		t.Errorf("one that lived: %+v", got)
	}
	if got := e.mustRun(late); !got.OK && got.Reason != "stopped after 2s" {
		t.Errorf("one with a limit: %+v", got)
	}
	if n := lines(book); n != 3 {
		t.Errorf("commands were begun %d times, want 3", n)
	}
}

// TestLostCommand: of one whose shim was killed nobody knows the end: what is
// left of it is ended, it is not run again, and that is no word on the project.
func TestLostCommand(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	book := filepath.Join(t.TempDir(), "book")
	r := e.check("echo begun >> " + book + "; sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		_, err := e.RunCommands(ctx, r)
		over <- err
	}()
	dir := filepath.Join(e.home.CommandDir(r.Kind, r.ID), "1")
	eventually(t, "the command runs", func() bool { return lines(book) == 1 })
	cancel()
	<-over
	seen, err := proc.Observe(dir)
	must(t, err)
	must(t, seen.Handle.Shim().Signal(9))
	eventually(t, "it is lost", func() bool {
		seen, err := proc.Observe(dir)
		return err == nil && seen.State == proc.StateLost
	})
	got := e.mustRun(r)
	if got.OK || !got.Outside || !strings.Contains(got.Reason, "was lost") {
		t.Errorf("%+v", got)
	}
	if n := lines(book); n != 1 {
		t.Errorf("it was begun %d times", n)
	}
	e.wantNoProcesses()
}

// TestCommandsInterrupted: wherever the daemon dies, the same request goes on
// there, and every command is run once.
func TestCommandsInterrupted(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"commands/intended", "commands/prepared", "commands/started", "commands/ended"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			book := filepath.Join(t.TempDir(), "book")
			r := e.check("echo one >> "+book, "echo two >> "+book)
			ctx, cancel := context.WithCancel(t.Context())
			hit := 0
			e.Fail = func(at string) {
				if at != step {
					return
				}
				if hit++; hit == 1 {
					cancel()
				}
			}
			_, err := e.RunCommands(ctx, r)
			if step != "commands/ended" && !errors.Is(err, context.Canceled) {
				t.Fatalf("interrupted: %v", err)
			}
			if hit == 0 {
				t.Fatal("the step was never reached")
			}
			e.stopRun()
			e.boot()
			if got := e.mustRun(r); !got.OK {
				t.Errorf("%+v", got)
			}
			if data, _ := os.ReadFile(book); string(data) != "one\ntwo\n" {
				t.Errorf("commands did %q", data)
			}
		})
	}
}

// lines counts those of a file.
func lines(name string) int {
	data, _ := os.ReadFile(name)
	return strings.Count(string(data), "\n")
}

// TestCommandsUnwanted: commands whose end is wanted are ended whole at once, and
// none that follows is started; one that would begin then is not.
func TestCommandsUnwanted(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		e := newEngine(t)
		book := filepath.Join(t.TempDir(), "book")
		r := e.check("echo one >> "+book+"; sleep 1000 & wait", "echo two >> "+book)
		stop := make(chan struct{})
		r.Stop = stop
		want := 1
		if before {
			want = 0
			close(stop)
		} else {
			go func() {
				eventually(t, "it is begun", func() bool { return lines(book) == 1 })
				close(stop)
			}()
		}
		if got := e.mustRun(r); got.OK || !got.Outside || got.Reason != "stopped by somebody" {
			t.Errorf("wanted before it began: %v: %+v", before, got)
		}
		if n := lines(book); n != want {
			t.Errorf("wanted before it began: %v: %d commands were begun", before, n)
		}
		e.wantNoProcesses()
	}
}

// TestEndChecks: of the checks that a daemon left, those that nobody wants are
// ended whole, and stored so; what is wanted, and set-ups, go on.
func TestEndChecks(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	book := filepath.Join(t.TempDir(), "book")
	begins := "echo begun >> " + book + "; sleep 1000"
	orphan, wanted, setUp := e.check("true", begins), e.check(begins), e.check(begins)
	setUp.Kind = cw.RunSetup
	ctx, die := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for _, r := range []cw.CommandRun{orphan, wanted, setUp} {
		waiting.Go(func() { _, _ = e.RunCommands(ctx, r) }) // it is left
	}
	eventually(t, "all go on", func() bool { return lines(book) == 3 })
	die()
	waiting.Wait()
	e.stopRun()
	e.boot()
	want := func(context.Context) (map[cw.RunID]bool, error) { return map[cw.RunID]bool{wanted.ID: true}, nil }
	for range 2 {
		must(t, e.EndChecks(t.Context(), want))
	}
	left, err := e.db.UnfinishedCommands(t.Context())
	must(t, err)
	if len(left) != 2 || left[0].ID == orphan.ID || left[1].ID == orphan.ID {
		t.Errorf("%d go on", len(left))
	}
	if got := e.mustRun(orphan); got.OK || !got.Outside {
		t.Errorf("it came out as %+v", got)
	}
	for _, p := range lab.Processes(string(e.home)) {
		if strings.Contains(p.Command, string(orphan.ID)) {
			t.Errorf("%s lives", p.Command)
		}
	}
	for _, r := range []cw.CommandRun{wanted, setUp} {
		stop := make(chan struct{})
		close(stop)
		r.Stop = stop
		e.mustRun(r)
	}
	e.wantNoProcesses()
}
