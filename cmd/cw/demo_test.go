package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/proc"
)

// realEnv is an environment of one test: nothing of the user's.
func realEnv(t *testing.T) (env []string, temp string) {
	t.Helper()
	if _, err := proc.LookPath("git", os.Getenv("PATH")); err != nil {
		lab.Lacks(t, "git is not installed")
	}
	// Not t.TempDir: its path is too long for a socket.
	temp, err := os.MkdirTemp("", "cwd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	home := filepath.Join(temp, "user")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + temp}, temp
}

// TestDemo runs it as it is: a daemon, seven agents, git.
func TestDemo(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	out, errOut := &bytes.Buffer{}, &bytes.Buffer{}
	s := streams{in: strings.NewReader(""), out: out, err: errOut, width: func() int { return 80 }}
	if code := run(t.Context(), []string{"demo"}, s, env); code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, out, errOut)
	}
	if errOut.Len() > 0 {
		t.Errorf("stderr: %s", errOut)
	}
	for _, want := range []string{
		`step 1 of 5: discuss`, `create decision: Each name is an argument of its own`, `step 2 of 5: refine`, `update page: Greet everybody`,
		`step 3 of 5: plan`, `create phase: Everybody who is named is greeted`, `step 4 of 5: detail`, `accepted: 3 proposals`,
		`asks: How is the guide to be written`, `the check "check" fails: exit code 1`, `conflicts in README.md \(1 conflict\)`, `3 of 3`,
		`done +├─ Let greet.sh greet several people at once`, `done +└─ Document how to use greet.sh`,
		`cw/greet-everybody is on main: \d+ commits, 4 files`, `\(HEAD -> main, cw/greet-everybody\)`, `everything is removed`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	nothingLeft(t, temp)
}

// TestDemoKeep: everything stays, but no daemon runs.
func TestDemoKeep(t *testing.T) {
	t.Parallel()
	env, _ := realEnv(t)
	out, errOut := &bytes.Buffer{}, &lockedBuffer{}
	s := streams{in: strings.NewReader(""), out: out, err: errOut, width: func() int { return 80 }}
	if code := run(t.Context(), []string{"demo", "--keep", "--json"}, s, env); code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, out, errOut)
	}
	oneValue(t, out.Bytes())
	var kept struct {
		Home       cw.Home           `json:"home"`
		Repo       string            `json:"repo"`
		Initiative cw.InitiativeView `json:"initiative"`
		Agents     []report          `json:"agents"`
	}
	if err := json.Unmarshal(out.Bytes(), &kept); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{string(kept.Home), filepath.Join(kept.Repo, ".git")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		if !strings.Contains(errOut.String(), string(kept.Home)) {
			t.Errorf("%s is not told:\n%s", path, errOut)
		}
	}
	if len(kept.Agents) != 3 {
		t.Errorf("%d agents, want 3", len(kept.Agents))
	}
	for _, r := range kept.Agents {
		if r.ExitReason != exitCommitted || r.Commits == 0 {
			t.Errorf("%s: %s with %d commits", r.Agent.Alias, r.ExitReason, r.Commits)
		}
	}
	for _, task := range kept.Initiative.Tasks {
		if task.Status != cw.TaskDone {
			t.Errorf("%s is %s", task.Name, task.Status)
		}
	}
	if v := kept.Initiative; len(v.Phases) != 1 || len(v.Tasks) != 3 || v.OpenProposals != 0 {
		t.Errorf("%d phases, %d tasks, and %d proposals wait", len(v.Phases), len(v.Tasks), v.OpenProposals)
	}
	if pid := lockHolder(kept.Home); pid != 0 {
		t.Errorf("the daemon with pid %d still runs", pid)
	}
}

// TestDemoInterrupted: Ctrl-C in the middle leaves nothing behind, neither in a
// step nor among the tasks.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"one phase is enough", "waits to be merged"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			env, temp := realEnv(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var at time.Time
			out := &cancelAt{word: word, cancel: func() { at = time.Now(); cancel() }}
			s := streams{in: strings.NewReader(""), out: out, err: out, width: func() int { return 80 }}
			if code := run(ctx, []string{"demo"}, s, env); code != 130 {
				t.Errorf("exit code %d, want 130\n%s", code, out.String())
			}
			if took := time.Since(at); took > demoCleanMax {
				t.Errorf("took %s", took)
			}
			nothingLeft(t, temp)
		})
	}
}

// nothingLeft fails when the demo left a folder, or a process that works in it.
func nothingLeft(t *testing.T, temp string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(temp, "cw-demo-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, dir := range dirs {
		if target, err := os.Readlink(dir); err == nil && strings.HasPrefix(target, temp) {
			t.Errorf("a process is left: %s works in %s", dir, target)
		}
	}
}

// cancelAt calls cancel when a word was written.
type cancelAt struct {
	lockedBuffer
	word   string
	cancel func()
}

func (c *cancelAt) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(c.word)) {
		c.cancel()
	}
	return c.lockedBuffer.Write(b)
}
