package fakecli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// runCLI runs the CLI as one run of the agent "a" and gives its exit code and
// what it said on standard error.
func runCLI(t *testing.T, books, run, prompt string, args ...string) (code int, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{Command}, args...)...)
	cmd.Dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(cmd.Dir, ".cw", "output"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "CW_RUN="+run, "CW_AGENT_ID=a", booksVariable+"="+books)
	cmd.Stdin = strings.NewReader(prompt)
	var said strings.Builder
	cmd.Stderr = &said
	_ = cmd.Run() // its exit code is looked at
	return cmd.ProcessState.ExitCode(), said.String()
}

// TestSessions: a resumed run does what comes next, what its prompt says wins,
// and what an earlier run did is not done again.
func TestSessions(t *testing.T) {
	books := t.TempDir()
	goal := Script{Exit: 11, Next: &Script{Exit: 12}}.Goal() + "Also " + Say("one") + ".\n"
	told := "<follow_up>Now " + Say("two") + " &lt;b> " + Script{Exit: 14, Expect: []string{"<b>", Say("two")}}.Text() + "</follow_up>"
	wants := []struct {
		run, prompt string
		args        []string
		code        int
		says        []string
	}{
		{"r1", goal, []string{newSession, "s1"}, 11, []string{"SAY-one"}},
		{"r2", "Go on.", []string{oldSession, "s1"}, 12, nil},
		{"r3", "Go on.", []string{oldSession, "s1"}, 12, nil}, // nobody says anything: as before
		{"r4", told, []string{oldSession, "s1"}, 14, []string{"SAY-two"}},
		{"r5", "What happened: " + goal + told, []string{newSession, "s2"}, 14, []string{"SAY-one", "SAY-two"}}, // all of it was done
		{"r6", "Write it. " + Script{Expect: []string{"what is not there"}}.Text(), []string{oldSession, "s2"}, ExitUnexpected, nil},
	}
	for _, w := range wants {
		if code, stderr := runCLI(t, books, w.run, w.prompt, w.args...); code != w.code {
			t.Errorf("%s: exit code %d, want %d: %s", w.run, code, w.code, stderr)
		}
		all, err := ReadBooks(books)
		if err != nil {
			t.Fatal(err)
		}
		start := all[w.run].Start()
		if start.Session != w.args[1] || start.Resumed != (w.args[0] == oldSession) || !slices.Equal(start.Says, w.says) || start.Prompt != hash(w.prompt) {
			t.Errorf("%s: %+v", w.run, start)
		}
	}
}

// TestSessionGone: a session that is not there, was forgotten, or is there
// already, is refused before anything is done.
func TestSessionGone(t *testing.T) {
	books := t.TempDir()
	if code, stderr := runCLI(t, books, "r1", "Go on.", oldSession, "s0"); code != 3 {
		t.Errorf("a resume without a memory: exit code %d: %s", code, stderr)
	}
	if code, stderr := runCLI(t, books, "r2", Script{Forget: true}.Goal(), newSession, "s1"); code != 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	code, stderr := runCLI(t, books, "r3", "Go on.", oldSession, "s1")
	if code != 1 || !strings.Contains(stderr, "No conversation found with session ID s1") {
		t.Errorf("a forgotten session: exit code %d: %s", code, stderr)
	}
	all, err := ReadBooks(books)
	if err != nil {
		t.Fatal(err)
	}
	if !all["r3"].Gone() || all["r3"].Ended() || all["r2"].Gone() {
		t.Errorf("%+v", all)
	}
	runCLI(t, books, "r4", "Go on.", newSession, "s2")
	if code, stderr := runCLI(t, books, "r5", "Go on.", newSession, "s2"); code != 1 || !strings.Contains(stderr, "in use") {
		t.Errorf("a session that is there: exit code %d: %s", code, stderr)
	}
}
