package realcli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cw/internal/cwtest/model"
)

// TestPresets runs each CLI as its preset says. A CLI takes up to 1.2 GB, so
// that only two run at once, in lanes: a test that waited for its turn would keep
// one beside from running.
func TestPresets(t *testing.T) {
	t.Parallel()
	for _, lane := range lanes() {
		t.Run(lane[0].name+" and others", func(t *testing.T) {
			t.Parallel()
			for _, c := range lane {
				t.Run(c.name, c.life)
			}
		})
	}
}

// lanes deals the CLIs out to two lanes.
func lanes() [2][]presetCLI {
	var out [2][]presetCLI
	for i, c := range presetCLIs {
		out[i%2] = append(out[i%2], c)
	}
	return out
}

// life is all that is asked of a CLI.
func (c presetCLI) life(t *testing.T) {
	c.env(t, t.TempDir(), "") // skips
	cwBinary := c.driver(t)
	for _, test := range []struct {
		name string
		run  func(t *testing.T, c presetCLI, cwBinary string)
	}{
		{"does its tasks", presetDoes}, {"is stopped", presetStops},
		{"is refused", presetRefused}, {"is at its limit", presetLimit},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c, cwBinary) })
	}
}

// driver builds cw for a CLI that it drives itself; for others it is "".
func (c presetCLI) driver(t *testing.T) string {
	t.Helper()
	if !c.driven {
		return ""
	}
	binary := filepath.Join(t.TempDir(), "cw")
	build := exec.Command("go", "build", "-o", binary, "cw/cmd/cw")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build cw: %v\n%s", err, out)
	}
	return binary
}

// presetDoes: the prompt arrives whole, the tools run, and the parser tells the
// last words and the session. A resumed session is the same one, and the model
// sees what was before; what cannot be resumed begins anew.
func presetDoes(t *testing.T, c presetCLI, cwBinary string) {
	srv := model.New(t, c.twoTasks)
	s := c.install(t, srv, cwBinary)
	if s.preset.CanResume() == c.forgets {
		t.Fatalf("it can resume: %v", s.preset.CanResume())
	}
	first := s.do(prompt, "")
	words := first.summary.LastText.String()
	if first.state.ExitCode() != 0 || !strings.Contains(words, "Wrote greeting.txt.") || first.summary.SessionID == "" || first.limit != nil || first.refused {
		t.Errorf("last words %q, session %q, limit %v, refused %v\n%s", words, first.summary.SessionID, first.limit, first.refused, first)
	}
	head := s.git("rev-parse", "HEAD")
	if got, want := s.worker.read(".cw/output/signal.json"), `{"status":"done","result":"`+head+`"}`; got != want {
		t.Errorf("signal = %s, want %s", got, want)
	}
	if got := s.git("show", "HEAD:greeting.txt"); got != "Good morning." {
		t.Errorf("committed %q", got)
	}
	for _, to := range srv.Outbound() {
		if !slices.Contains(c.outbound, to) {
			t.Errorf("it tried to reach %s", to)
		}
	}
	s.awaitNobody()
	s.goesOn(first)
}

// goesOn runs the second task, in the session of the first where that can be.
func (s *started) goesOn(first finished) {
	s.t.Helper()
	session := first.summary.SessionID
	if s.cli.forgets {
		session = ""
	}
	f := s.do("<answers>\n8080\n</answers>\n", session)
	words := f.summary.LastText.String()
	if same := f.summary.SessionID == first.summary.SessionID; !strings.Contains(words, "Port 8080 it is.") || same == s.cli.forgets {
		s.t.Errorf("last words %q, session %q, had been %q\n%s", words, f.summary.SessionID, first.summary.SessionID, f)
	}
}

// twoTasks does the first one as its prompt says. In the second a command fails,
// which is told to the model by those that tell it.
func (c presetCLI) twoTasks(t *model.Turn) model.Reply {
	if _, second := t.Prompt().Block("answers"); !second {
		return done(t)
	}
	if !c.forgets {
		answers := t.Earlier().Answers()
		t.Require(slices.Contains(answers, "Wrote greeting.txt."), "earlier answers: %q", answers)
		_, asked := t.Earlier().Prompts()[0].Block("task")
		t.Require(asked, "the first prompt has gone")
	}
	if t.Number() == 1 {
		return model.Say("Let me see.").Shell("echo before; echo after; exit 3")
	}
	results := t.Current().Results()
	t.Require(len(results) == 1 && results[0].Failed != c.blind, "results: %+v", results)
	t.Find(results[0].Text, `(?s)before.*after`)
	if !c.blind {
		t.Find(results[0].Text, `Exit code 3`)
	}
	return model.Say("Port " + t.Find(t.Block("answers"), `\d+`) + " it is.")
}

// presetStops: in the middle of a tool call SIGTERM to the whole tree, which is
// how a run is stopped, ends all of it; but some go on, and need the SIGKILL
// that comes after the preset's grace.
func presetStops(t *testing.T, c presetCLI, cwBinary string) {
	srv := model.New(t, interruptible)
	s := c.install(t, srv, cwBinary)
	cmd, out, _ := s.begin(prompt, "")
	s.await("started")
	s.awaitCommand("sleep 60 ") // a child between fork and exec loses the signal to its shell's handler
	s.signal(syscall.SIGTERM)
	if c.stubborn {
		s.signal(syscall.SIGKILL)
	}
	out.wait(cmd)
	s.awaitNobody()
	if strings.Contains(out.stdout, "Interrupted.") {
		t.Errorf("it went on\n%s", out)
	}
}

// awaitCommand returns when the tree has a process with this command line.
func (s *started) awaitCommand(line string) {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 3600 {
		if slices.Contains(strings.Split(commands(s.tree()), "\n"), line) {
			return
		}
		<-tick.C
	}
	s.t.Fatalf("no %q among\n%s", line, commands(s.tree()))
}

// awaitNobody returns when nothing of the tree is left.
func (s *started) awaitNobody() {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 3600 {
		if len(s.tree()) == 0 {
			return
		}
		<-tick.C
	}
	s.t.Fatalf("it left behind\n%s", commands(s.tree()))
}

// commands gives the command lines of processes.
func commands(pids []int) string {
	var all []string
	for _, pid := range pids {
		line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")) // gone: empty
		all = append(all, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	return strings.Join(all, "\n")
}

// presetRefused: credentials that do not hold are told as such.
func presetRefused(t *testing.T, c presetCLI, cwBinary string) {
	srv := model.New(t, func(*model.Turn) model.Reply { return model.Fail(c.refused) })
	s := c.install(t, srv, cwBinary)
	f := s.do(prompt, "")
	if !f.refused || f.limit != nil || f.state.ExitCode() == 0 {
		t.Errorf("refused %v, limit %v\n%s", f.refused, f.limit, f)
	}
}

// presetLimit: an account without quota is told as one at its limit.
func presetLimit(t *testing.T, c presetCLI, cwBinary string) {
	if c.lasting || c.tireless {
		t.Skip("it tries for minutes: make e2e-long")
	}
	srv := model.New(t, func(*model.Turn) model.Reply { return model.Fail(c.quota) })
	s := c.install(t, srv, cwBinary)
	f := s.do(prompt, "")
	if f.limit == nil || f.refused || f.state.ExitCode() == 0 {
		t.Errorf("limit %v, refused %v\n%s", f.limit, f.refused, f)
	}
}
