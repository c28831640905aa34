package realcli

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cw/internal/cwtest/model"
)

// TestCodexStops: a signal ends codex in the middle of a tool call without
// another word, and only one that it catches ends what the tool started as well;
// the thread can be resumed, and the model sees what was before.
func TestCodexStops(t *testing.T) {
	t.Parallel()
	tests := []struct {
		signal syscall.Signal
		ended  string
		leaves bool // what the tool started lives on
	}{
		{syscall.SIGTERM, "signal: terminated", true},
		{syscall.SIGKILL, "signal: killed", true},
		{syscall.SIGINT, "exit status 1", false}, // it is caught
	}
	for _, tt := range tests {
		t.Run(tt.signal.String(), func(t *testing.T) {
			t.Parallel()
			srv := model.New(t, interruptible)
			c := newCodex(t, srv.URL)
			cmd, out := c.start(prompt, c.begin...)
			c.await("started")
			if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			out.wait(cmd)
			if left := c.endTool(); left != tt.leaves {
				t.Errorf("what the tool started is left: %v, want %v", left, tt.leaves)
			}
			if e := out.turn(t); cmd.ProcessState.String() != tt.ended || !e.failed || strings.Contains(out.stdout, "turn.failed") {
				t.Errorf("%s\n%s", cmd.ProcessState, out)
			}
			again := c.resume("Go on.", out.turn(t).session)
			if e := again.turn(t); e.text != "Back again." {
				t.Errorf("told %+v\n%s", e, again)
			}
		})
	}
}

// TestCodexLongCommand: the model hears of a command when it has ended, though
// codex lets go of it after 10 s and of the script around it after 30 s.
func TestCodexLongCommand(t *testing.T) {
	t.Parallel()
	srv := model.New(t, func(t *model.Turn) model.Reply {
		if t.Number() == 1 {
			return model.Say("This will take a while.").Shell("echo before; sleep 31; echo after")
		}
		t.Find(t.Output(), `(?s)before.*after`)
		return model.Say("At last.")
	})
	c := newCodex(t, srv.URL)
	if out := c.run(prompt); out.turn(t).text != "At last." {
		t.Errorf("%s", out)
	}
}

// TestCodexSandbox: in its sandbox codex cannot commit in a linked worktree,
// unless four directories of the repository are opened for it.
func TestCodexSandbox(t *testing.T) {
	t.Parallel()
	for name, open := range map[string][]string{
		"closed": nil,
		"opened": {"worktrees/wt", "objects", "refs", "logs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := model.New(t, func(t *model.Turn) model.Reply {
				if t.Number() == 1 {
					return model.Say("A commit.").Write("a.txt", "A\n").Shell("git add a.txt && git commit -qm A")
				}
				results := t.Current().Results()
				t.Require(len(results) == 2, "results: %+v", results)
				if results[1].Failed {
					return model.Say("No commit: " + t.Find(results[1].Text, `Read-only file system`))
				}
				return model.Say("Committed.")
			})
			c := newCodex(t, srv.URL)
			common := filepath.Join(c.dir, ".git")
			c.git("worktree", "add", "-q", "-b", "agent/a", "wt")
			c.begin = []string{"exec", "--json", "-s", "workspace-write", "-C", filepath.Join(c.dir, "wt")}
			for _, dir := range open {
				c.begin = append(c.begin, "--add-dir", filepath.Join(common, dir))
			}
			out := c.run(prompt)
			want := "Committed."
			if open == nil {
				want = "No commit: Read-only file system"
			}
			if e := out.turn(t); e.text != want {
				t.Errorf("told %+v, want %q\n%s", e, want, out)
			}
		})
	}
}
