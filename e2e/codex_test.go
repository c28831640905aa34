package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
)

// TestCodexInItsSandbox: in codex's own sandbox an agent commits in its
// worktree and reaches cw, and writes nowhere else.
func TestCodexInItsSandbox(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, codex, confined)
	// Not below /tmp or TMPDIR: there the sandbox lets everybody write.
	outside, err := os.MkdirTemp("/var/tmp", "cw-outside-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(outside) })
	a, stderr, code := codex.run(t, l, "--sandbox", "workspace", goal+" Leave `"+outside+"` alone.")
	if code != 0 || a.Agent.Status != cw.StatusIdle || a.Commits != 1 {
		t.Fatalf("exit %d, status %s (%s %s), %d commits\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, a.Commits, stderr)
	}
	if got := lab.Git(t, l.Repo, "show", a.Branch+":greeting.txt"); got != "Good morning." {
		t.Errorf("committed %q", got)
	}
}

// confined does its task, then tries to write where it must not.
func confined(t *model.Turn) model.Reply {
	switch t.Number() {
	case 5:
		t.Output()
		forbidden := t.Find(t.Block("task"), "Leave `([^`]+)` alone")
		return model.Say("One more thing.").Shell("touch " + forbidden + "/mine")
	case 6:
		results := t.Current().Results()
		last := results[len(results)-1]
		t.Require(last.Failed, "it wrote outside its worktree: %+v", last)
		t.Find(last.Text, `Read-only file system|Permission denied|Operation not permitted`)
		return model.Say("I am confined.")
	}
	return done(t)
}

// TestCodexWithoutANetwork: codex by itself would wait for the network for ever;
// cw waits as long as the preset says.
func TestCodexWithoutANetwork(t *testing.T) {
	t.Parallel()
	l, srv := newLab(t, codex, done)
	srv.Close() // nothing answers any more
	impatient := "name: codex\nextends: codex\npatience: {retrying: 1s}\n"
	if err := os.WriteFile(filepath.Join(l.Home.Providers(), "codex.yaml"), []byte(impatient), 0o600); err != nil {
		t.Fatal(err)
	}
	v := l.Rest(string(codex.spawn(t, l).ID))
	if v.Status != cw.StatusCrashed || !strings.Contains(v.Error, "Reconnecting...") || !strings.Contains(v.Error, "patience.retrying") {
		t.Errorf("status %s %s: %s", v.Status, v.Reason, v.Error)
	}
	nothingLeft(t, l)
}
