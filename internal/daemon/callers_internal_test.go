package daemon

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/store"
)

// TestCallersOutside: who is below no shim is a person, the first process of
// the system too, as which cw may run in a container. A process that took over
// the pid of the one that connected is nobody.
func TestCallersOutside(t *testing.T) {
	t.Parallel()
	home := cw.Home(t.TempDir())
	db, err := store.Open(t.Context(), store.Options{Dir: string(home)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	who := newCallers(home, db, slog.New(slog.DiscardHandler))
	child, orphan := exec.CommandContext(t.Context(), "sleep", "600"), exec.CommandContext(t.Context(), "sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!")
	orphan.Env = append(os.Environ(), cw.ChildVariable+"="+cw.ChildValue)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	said, err := orphan.Output()
	if err != nil {
		t.Fatal(err)
	}
	left, err := strconv.Atoi(strings.TrimSpace(string(said)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(left, syscall.SIGKILL) })
	for _, c := range []struct {
		name string
		peer api.Peer
		want cw.ActorKind
		code cw.Code
	}{
		{"this process", api.Peer{PID: os.Getpid(), StartTime: self.StartTime}, cw.ActorPerson, ""},
		{"the first process", api.Peer{PID: 1, StartTime: 1}, cw.ActorPerson, ""},
		{"with a token", api.Peer{PID: os.Getpid(), Token: "cw1.run.x"}, "", cw.CodeForbidden},
		{"another's pid", api.Peer{PID: os.Getpid(), StartTime: self.StartTime + 1}, "", cw.CodeForbidden},
		{"a child of the daemon", api.Peer{PID: child.Process.Pid}, "", cw.CodeForbidden},
		{"what a child of the daemon left behind", api.Peer{PID: left}, "", cw.CodeForbidden},
		{"nobody", api.Peer{PID: 1 << 30}, "", cw.CodeForbidden},
	} {
		actor, err := who.identify(t.Context(), c.peer)
		if actor.Kind != c.want || cw.ErrorCode(err) != c.code {
			t.Errorf("%s: %q, %v", c.name, actor.Kind, err)
		}
	}
}

// TestRefusalsAreFewEvents: an agent gone wild or a dashboard that tries again
// and again fills neither the store nor the streams of those who follow.
func TestRefusalsAreFewEvents(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	who := newCallers("", db, slog.New(slog.DiscardHandler))
	wild := cw.Actor{Kind: cw.ActorAgent, ID: "aaaaaaaaaaaa", AgentID: "aaaaaaaaaaaa", RunID: "rrrrrrrrrrrr"}
	for i := range 100 {
		who.report(t.Context(), wild, fmt.Sprint("this and that ", i), 0)
		_ = who.refuse(t.Context(), api.Peer{PID: i}, cw.Actor{}, "nobody knows it")
	}
	who.report(t.Context(), cw.Actor{Kind: cw.ActorDashboard, ID: "tttttttttttt"}, "once", 0)
	page, err := db.EventsAfter(t.Context(), 0, cw.EventFilter{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, e := range page.Events {
		got[e.ActorID]++
	}
	if want := map[string]int{"aaaaaaaaaaaa": 20, "": 20, "tttttttttttt": 1}; !maps.Equal(got, want) {
		t.Errorf("events by actor: %v, want %v", got, want)
	}
}
