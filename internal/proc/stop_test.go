package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
)

func TestStop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, verb string
		grace      time.Duration
		least      time.Duration
		want       Exit
	}{
		{"polite", "polite", 10 * time.Second, 0, Exit{Code: 7, Stopped: StoppedTerm}},
		{"deaf", "deaf", 300 * time.Millisecond, 300 * time.Millisecond, Exit{Code: 137, Signal: 9, Stopped: StoppedTerm}},
		{"now", "polite", 0, 0, Exit{Code: 137, Signal: 9, Stopped: StoppedKill}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, tt.verb, "cli")
			h := r.start().Handle
			r.pid("cli")
			began := time.Now()
			if err := Stop(t.Context(), r.dir, h, tt.grace); err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			if took < tt.least || took > tt.least+5*time.Second {
				t.Errorf("took %v, want %v or a little more", took, tt.least)
			}
			tt.want.Version = ExitVersion
			if diff := cmp.Diff(tt.want, r.end(), cmpopts.IgnoreFields(Exit{}, "EndedAt")); diff != "" {
				t.Errorf("end (-want +got):\n%s", diff)
			}
			r.wantNothingLeft(h.Command())
			if err := Stop(t.Context(), r.dir, h, tt.grace); err != nil {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

// Children in other sessions, without CW_RUN, deaf to SIGTERM: all gone when
// Stop returns.
func TestStopReachesTheWholeTree(t *testing.T) {
	t.Parallel()
	for name, grace := range map[string]time.Duration{"term": 500 * time.Millisecond, "now": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, "family", "hang")
			h := r.start().Handle
			r.pid("family")
			all := append(familyOf(r), h.Command())
			if len(all) != len(familyNames)+1 {
				t.Fatalf("%d members live, want %d", len(all), len(familyNames)+1)
			}
			if err := Stop(t.Context(), r.dir, h, grace); err != nil {
				t.Fatal(err)
			}
			r.wantNothingLeft(all...)
			r.wantState(StateExited)
		})
	}
}

func TestStopCanBeShortened(t *testing.T) {
	t.Parallel()
	r := newRun(t, "deaf", "cli")
	h := r.start().Handle
	r.pid("cli")
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := Stop(t.Context(), r.dir, h, time.Minute); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the first request", func() bool {
		_, err := os.Stat(filepath.Join(r.dir, stopName))
		return err == nil
	})
	if err := Stop(t.Context(), r.dir, h, 100*time.Millisecond); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if e := r.end(); e.Signal != 9 || e.Stopped != StoppedTerm {
		t.Errorf("end %+v", e)
	}
}

func TestStopLetsGo(t *testing.T) {
	t.Parallel()
	r := newRun(t, "deaf", "cli")
	h := r.start().Handle
	r.pid("cli")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := Stop(ctx, r.dir, h, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stop: %v", err)
	}
	if _, err := Wait(ctx, r.dir, h); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait: %v", err)
	}
	r.wantState(StateRunning)
}

// A run that was stopped before it began cannot begin any more.
func TestStopOfAFreshRun(t *testing.T) {
	t.Parallel()
	ledger := filepath.Join(t.TempDir(), "ledger")
	r := newRun(t, "ledger", ledger)
	if err := Stop(t.Context(), r.dir, Handle{}, time.Second); err != nil {
		t.Fatal(err)
	}
	if obs := r.start(); obs.State != StateExited || obs.Exit.Code != -1 || obs.Exit.Stopped != StoppedTerm {
		t.Errorf("%s %+v", obs.State, obs.Exit)
	}
	if _, err := r.launch().startShim(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ledger); err == nil {
		t.Error("it was started")
	}
}

// Stop and start at the same moment: started and ended, or never started.
func TestStopRacesStart(t *testing.T) {
	t.Parallel()
	for range 20 {
		r := newRun(t, "hang", "cli")
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = Start(t.Context(), r.launch()) })
		wg.Go(func() {
			if err := Stop(t.Context(), r.dir, Handle{}, 0); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		r.wantState(StateExited)
		r.wantNothingLeft()
	}
}

// A shim that stands still is no way out.
func TestStopWithoutTheShimsHelp(t *testing.T) {
	t.Parallel()
	r := newRun(t, "family", "hang")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, _ = Start(ctx, r.launch(hangVariable+"=shim/started"))
	r.pid("family")
	h := r.wantState(StateRunning).Handle
	all := append(familyOf(r), h.Command(), h.Shim())
	if err := Stop(t.Context(), r.dir, h, 0); err != nil {
		t.Fatal(err)
	}
	r.wantNothingLeft(all...)
	r.wantState(StateLost)
}

func TestStopOfASuspendedRun(t *testing.T) {
	t.Parallel()
	r := newRun(t, "polite", "cli")
	h := r.start().Handle
	r.pid("cli")
	if err := h.Shim().Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := Stop(t.Context(), r.dir, h, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if e := r.end(); e.Code != 7 {
		t.Errorf("end %+v", e)
	}
}

func TestStopOfALostRun(t *testing.T) {
	t.Parallel()
	r := newRun(t, "family", "hang")
	h := r.start().Handle
	r.pid("family")
	all := append(familyOf(r), h.Command())
	if err := h.Shim().Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if obs, err := Wait(t.Context(), r.dir, h); err != nil || obs.State != StateLost {
		t.Fatalf("%s, %v", obs.State, err)
	}
	if !h.Command().Alive() {
		t.Fatal("the command died with its shim: the test proves nothing")
	}
	if err := Stop(t.Context(), r.dir, h, time.Second); err != nil {
		t.Fatal(err)
	}
	r.wantNothingLeft(all...)
}

// Without its directory a run is still found by its handle.
func TestStopWithoutTheDirectory(t *testing.T) {
	t.Parallel()
	r := newRun(t, "family", "hang")
	h := r.start().Handle
	r.pid("family")
	all := append(familyOf(r), h.Command(), h.Shim())
	if err := os.RemoveAll(r.dir); err != nil {
		t.Fatal(err)
	}
	if err := Stop(t.Context(), r.dir, h, time.Second); err != nil {
		t.Fatal(err)
	}
	r.wantNothingLeft(all...)
}

// A pid that was used again, or is of another boot, is never hit.
func TestStrangersAreSpared(t *testing.T) {
	t.Parallel()
	id := stranger(t)
	other := Identity{PID: id.PID, StartTime: id.StartTime - 1}
	if err := other.Signal(unix.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal: %v", err)
	}
	boot, err := BootID()
	if err != nil {
		t.Fatal(err)
	}
	reused := Handle{BootID: boot, ShimPID: id.PID, ShimStart: id.StartTime - 1, PID: id.PID, StartTime: id.StartTime - 1}
	rebooted := Handle{BootID: "another", ShimPID: id.PID, ShimStart: id.StartTime, PID: id.PID, StartTime: id.StartTime}
	for _, h := range []Handle{reused, rebooted, {}} {
		if killed, err := KillTree(t.Context(), "nobody", h); killed != 0 || err != nil {
			t.Errorf("%+v: killed %d, %v", h, killed, err)
		}
		// The same as a lost run, and as one without its directory.
		r := newRun(t, "exit", "0")
		if err := writeJSON(r.dir, startedName, started{State: StateRunning, Handle: h}); err != nil {
			t.Fatal(err)
		}
		if err := Stop(t.Context(), r.dir, h, time.Second); err != nil {
			t.Error(err)
		}
		if err := Stop(t.Context(), filepath.Join(r.dir, "gone"), h, time.Second); err != nil {
			t.Error(err)
		}
	}
	if !id.Alive() {
		t.Error("a stranger was killed")
	}
}

// Who is a member, on process tables made by hand. The run: shim 10, command
// 20 in session 20.
func TestMembers(t *testing.T) {
	t.Parallel()
	row := func(pid, parent, session int, start uint64) process {
		return process{Identity: Identity{PID: pid, StartTime: start}, Parent: parent, Session: session}
	}
	dead := func(p process) process { p.Dead = true; return p }
	shim, command := row(10, 1, 10, 100), row(20, 10, 20, 101)
	tests := []struct {
		name   string
		table  []process
		tagged []int
		want   []int
	}{
		{"command", []process{shim, command}, nil, []int{20}},
		{"its children, in other sessions too", []process{shim, command, row(30, 20, 30, 102), row(31, 30, 31, 103)}, nil, []int{20, 30, 31}},
		{"orphans of a live shim", []process{shim, row(30, 10, 30, 102)}, nil, []int{30}},
		{"orphans in the session of the command", []process{command, row(30, 1, 20, 102)}, nil, []int{20, 30}},
		{"orphans in a session proved by a member", []process{row(30, 1, 20, 102), row(31, 1, 20, 102)}, []int{31}, []int{30, 31}},
		{"a session that nobody proves", []process{row(30, 1, 20, 102)}, nil, nil},
		{"the pid of the command used again", []process{row(20, 1, 20, 900), row(30, 20, 20, 901)}, nil, nil},
		{"the pid of the shim used again", []process{row(10, 1, 10, 900), row(30, 10, 30, 901)}, nil, nil},
		{"by CW_RUN, with children", []process{row(30, 1, 30, 102), row(31, 30, 31, 103)}, []int{30}, []int{30, 31}},
		{"the session of one by CW_RUN is not ours", []process{row(30, 1, 5, 102), row(5, 1, 5, 3)}, []int{30}, []int{30}},
		{"CW_RUN in a process older than the run", []process{row(30, 1, 30, 99)}, []int{30}, nil},
		{"a child older than its parent", []process{command, row(30, 20, 30, 50)}, nil, []int{20}},
		{"zombies", []process{shim, dead(command), dead(row(30, 1, 20, 102))}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := newTree("run", Handle{ShimPID: 10, ShimStart: 100, PID: 20, StartTime: 101})
			for _, p := range tt.table {
				tree.tagged[p.Identity] = false
				for _, pid := range tt.tagged {
					tree.tagged[p.Identity] = tree.tagged[p.Identity] || pid == p.PID
				}
			}
			var got []int
			for _, id := range tree.members(tt.table) {
				got = append(got, id.PID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}

// A member stays one when the ancestor that proved it is gone.
func TestMembersStayMembers(t *testing.T) {
	t.Parallel()
	tree := newTree("", Handle{ShimPID: 10, ShimStart: 100, PID: 20, StartTime: 101})
	child := process{Identity: Identity{PID: 30, StartTime: 102}, Parent: 20, Session: 30}
	command := process{Identity: Identity{PID: 20, StartTime: 101}, Parent: 10, Session: 20}
	tree.members([]process{command, child})
	child.Parent = 1
	if got := tree.members([]process{child}); len(got) != 1 {
		t.Errorf("members %v, want the child", got)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	t0 := time.Unix(1000, 0)
	at := func(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }
	tests := []struct {
		name  string
		steps func(p *plan)
		want  plan
	}{
		{"nothing", func(p *plan) { p.tick(at(100)) }, plan{}},
		{"command ended", func(p *plan) { p.commandGone(t0) }, plan{phase: terminating, deadline: at(2)}},
		{"grace runs", func(p *plan) { p.term(t0, 10*time.Second); p.tick(at(9.9)) }, plan{phase: terminating, deadline: at(10), stopped: "term"}},
		{"grace is over", func(p *plan) { p.term(t0, 10*time.Second); p.tick(at(10)) }, plan{phase: killing, deadline: at(10), stopped: "term"}},
		{"command obeys, the rest gets less", func(p *plan) { p.term(t0, 10*time.Second); p.commandGone(at(1)) }, plan{phase: terminating, deadline: at(3), stopped: "term"}},
		{"command obeys late", func(p *plan) { p.term(t0, 10*time.Second); p.commandGone(at(9)) }, plan{phase: terminating, deadline: at(10), stopped: "term"}},
		{"a longer second grace", func(p *plan) { p.term(t0, time.Second); p.term(t0, time.Hour) }, plan{phase: terminating, deadline: at(1), stopped: "term"}},
		{"a shorter second grace", func(p *plan) { p.term(t0, time.Hour); p.term(t0, time.Second) }, plan{phase: terminating, deadline: at(1), stopped: "term"}},
		{"now, after term", func(p *plan) { p.term(t0, time.Hour); p.stopNow() }, plan{phase: killing, deadline: at(3600), stopped: "kill"}},
		{"term, after now", func(p *plan) { p.stopNow(); p.term(t0, time.Hour) }, plan{phase: killing, stopped: "kill"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p plan
			tt.steps(&p)
			if diff := cmp.Diff(tt.want, p, cmp.AllowUnexported(plan{})); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}
