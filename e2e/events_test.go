package e2e

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// TestEventsFollowed: `cw events --follow` goes on by itself when the daemon
// was killed and another one started: every event once, in order. Ctrl-C ends
// it with its own exit code.
func TestEventsFollowed(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	cmd := exec.Command(binary, "events", "--follow", "--json")
	cmd.Dir, cmd.Env = l.Repo, l.Environ()
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }() // it has ended, unless the test fails
	events := make(chan cw.Event)
	go func() {
		defer close(events)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var e cw.Event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Errorf("%v: %s", err, lines.Text())
			}
			events <- e
		}
	}()

	last := int64(0)
	for range 3 {
		agent := l.MustSpawn(fakecli.Script{Signal: `{"status":"done","noChanges":"only looked"}`})
		last = untilStopped(t, events, agent.ID, last)
		l.Kill()
		l.Start()
	}
	must(t, cmd.Process.Signal(syscall.SIGINT))
	for range events { // to its end, and then its exit
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("exit code %d", cmd.ProcessState.ExitCode())
	}
}

// untilStopped reads events until an agent has stopped. Their numbers must
// have no gap and no double.
func untilStopped(t *testing.T, events <-chan cw.Event, agent cw.AgentID, last int64) int64 {
	t.Helper()
	end := time.After(pagePatience)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatal("the command ended")
			}
			if e.Seq == 0 {
				continue // live
			}
			if e.Seq != last+1 {
				t.Fatalf("event %d comes after %d", e.Seq, last)
			}
			last = e.Seq
			if e.Type == cw.EventAgentStopped && e.AgentID == agent {
				return last
			}
		case <-end:
			t.Fatalf("after event %d nothing comes", last)
		}
	}
}
