package mergelab

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// TestLanding lands one branch in every state that a user's repository may be in.
// Each case has a branch of the user's, made at the commit that the initiative
// began from and checked out, before it does what is its own.
func TestLanding(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	h.open()
	base := lab.Git(t, h.Repo, "rev-parse", "HEAD")
	h.work(job{name: "first", does: shell("first", "echo changed > a.txt; echo new > new.txt")},
		job{name: "gate", kind: cw.TaskCheckpointAction, after: []string{"first"}})
	h.taskIs("first", cw.TaskDone)
	h.taskIs("gate", cw.TaskReady)
	if _, err := h.Client().Land(t.Context(), slug, cw.LandRequest{}); cw.ErrorCode(err) != cw.CodeRefused || !hasAll(err.Error(), []string{"not done"}) {
		t.Errorf("landed unfinished: %v", err)
	}
	_, err := h.Client().DecideTask(t.Context(), h.tasks["gate"], cw.TaskVerdict{Accept: true})
	h.need(err)
	h.taskIs("gate", cw.TaskDone)
	git := func(args ...string) string { t.Helper(); return lab.Git(t, h.Repo, args...) }
	write := func(dir, name, content string) {
		t.Helper()
		h.need(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	linked := filepath.Join(filepath.Dir(h.Repo), "linked")
	cases := []struct {
		name   string
		before func(into string)
		how    string   // "" when it is refused
		says   []string // of a refusal
		folder string   // whose files change; "" for none
		after  func()
	}{
		{"clean checkout", func(string) {}, "checked-out", nil, h.Repo, nil},
		{"not checked out", func(string) { git("checkout", "-q", "main") }, "fast-forward", nil, "", nil},
		{"merge in a clean checkout", func(string) { h.commit(h.Repo, "Mine", map[string]string{"b.txt": "mine\n"}) }, "merge", nil, h.Repo, nil},
		{"merge elsewhere", func(string) {
			h.commit(h.Repo, "Mine", map[string]string{"b.txt": "mine\n"})
			git("checkout", "-q", "main")
		}, "merge", nil, "", nil},
		{"changes", func(string) { write(h.Repo, "b.txt", "mine\n") }, "", []string{"with changes", "b.txt"}, "", func() { git("checkout", "-q", "b.txt") }},
		{"staged changes", func(string) { write(h.Repo, "b.txt", "mine\n"); git("add", "b.txt") }, "", []string{"with changes", "b.txt"}, "", func() { git("reset", "-q", "--hard") }},
		{"a file in the way", func(string) { write(h.Repo, "new.txt", "mine\n") }, "", []string{"new.txt"}, "", func() { h.need(os.Remove(filepath.Join(h.Repo, "new.txt"))) }},
		{"a file beside", func(string) { write(h.Repo, "note.txt", "mine\n") }, "checked-out", nil, h.Repo, func() { h.need(os.Remove(filepath.Join(h.Repo, "note.txt"))) }},
		{"conflicts", func(string) { h.commit(h.Repo, "Mine", map[string]string{"a.txt": "mine\n"}) }, "", []string{"conflicts", "a.txt"}, "", nil},
		{"rewritten", func(string) { git("commit", "-q", "--amend", "-m", "Rewritten") }, "", []string{"conflicts", "a.txt"}, "", nil},
		{"rewritten and changed", func(string) {
			git("checkout", "-q", "--orphan", "scratch-orphan")
			write(h.Repo, "a.txt", "other\n")
			git("add", "a.txt")
			git("commit", "-q", "-m", "Another beginning")
		}, "", []string{"commit in common"}, "", func() { git("branch", "-q", "-D", "scratch-orphan") }},
		{"a rebase", func(into string) {
			h.commit(h.Repo, "Mine", map[string]string{"b.txt": "mine\n"})
			git("branch", "-q", "-f", "upstream", base)
			git("checkout", "-q", "upstream")
			h.commit(h.Repo, "Theirs", map[string]string{"b.txt": "theirs\n"})
			git("checkout", "-q", into)
			git("-c", "alias.clash=!git rebase -q upstream >/dev/null 2>&1 || true", "clash")
		}, "", []string{"a rebase of", "is under way"}, "", func() { git("rebase", "--abort") }},
		{"a merge", func(into string) {
			h.commit(h.Repo, "Mine", map[string]string{"b.txt": "mine\n"})
			git("-c", "alias.clash=!git merge -q upstream >/dev/null 2>&1 || true", "clash")
		}, "", []string{"a merge is under way"}, "", func() { git("merge", "--abort") }},
		{"a bisect", func(into string) {
			git("bisect", "start")
		}, "", []string{"a bisect of", "is under way"}, "", func() { git("bisect", "reset") }},
		{"a linked worktree", func(into string) {
			git("checkout", "-q", "main")
			git("worktree", "add", "-q", linked, into)
		}, "checked-out", nil, linked, func() { git("worktree", "remove", "--force", linked) }},
		{"a linked worktree with changes", func(into string) {
			git("checkout", "-q", "main")
			git("worktree", "add", "-q", linked, into)
			write(linked, "b.txt", "mine\n")
		}, "", []string{"with changes", linked}, "", func() { git("worktree", "remove", "--force", linked) }},
		{"a linked worktree that is gone", func(into string) {
			git("checkout", "-q", "main")
			git("worktree", "add", "-q", linked, into)
			h.need(os.RemoveAll(linked))
		}, "", []string{"which is not there"}, "", func() { git("worktree", "prune") }},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			into := fmt.Sprintf("into-%d", i)
			git("checkout", "-q", "-B", into, base)
			defer func() {
				if c.after != nil {
					c.after()
				}
				git("checkout", "-q", "main")
			}()
			c.before(into)
			if c.name == "rewritten and changed" {
				git("branch", "-q", "-M", into)
				git("branch", "-q", "scratch-orphan")
			}
			mine := h.belongings()
			was := git("rev-parse", "refs/heads/"+into)
			done, err := h.Client().Land(t.Context(), slug, cw.LandRequest{Into: into})
			if c.how == "" {
				if cw.ErrorCode(err) != cw.CodeRefused || !hasAll(err.Error()+cw.ErrorHint(err), c.says) {
					t.Errorf("landed: %+v, %v; it was to be refused: %q", done, err, c.says)
				}
				h.same(mine)
				return
			}
			if err != nil {
				t.Fatalf("%v (%s)", err, cw.ErrorHint(err))
			}
			at := git("rev-parse", "refs/heads/"+into)
			if done[0].How != c.how || done[0].Before != was || done[0].After != at || done[0].Checkout != c.folder {
				t.Errorf("it said %+v; the branch went from %s to %s", done[0], was, at)
			}
			mine["refs/heads/"+into] = at
			mine["trees"] = git("worktree", "list")
			h.same(mine)
			if names := git("ls-tree", "--name-only", into); !hasAll(names, []string{"new.txt"}) {
				t.Errorf("on %s are\n%s", into, names)
			}
			if c.folder != "" {
				if got, err := os.ReadFile(filepath.Join(c.folder, "a.txt")); err != nil || string(got) != "changed\n" {
					t.Errorf("a.txt of the checkout holds %q, %v", got, err)
				}
			}
			again, err := h.Client().Land(t.Context(), slug, cw.LandRequest{Into: into})
			if err != nil || again[0].How != "up-to-date" {
				t.Errorf("landed again: %+v, %v", again, err)
			}
		})
	}
	if _, err := h.Client().Land(t.Context(), slug, cw.LandRequest{Into: "nowhere"}); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("landed on no branch: %v", err)
	}
	h.tidy()
}

// TestShownWhenLanded lands at once after the last of several merges: what was
// landed is shown, though merges that follow each other are shown a little later.
func TestShownWhenLanded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	gate := filepath.Join(h.Books, "gate")
	var jobs []job
	for _, name := range []string{"first", "second", "third", "fourth"} {
		does := writes(name, name+".txt", name)
		does.Wait = gate
		jobs = append(jobs, job{name: name, paths: []string{name + ".txt"}, does: does})
	}
	h.work(jobs...)
	for _, j := range jobs {
		h.agentOf(j.name)
	}
	h.need(os.WriteFile(gate, nil, 0o600))
	for _, j := range jobs {
		h.taskIs(j.name, cw.TaskDone)
	}
	landed, err := h.Client().Land(t.Context(), slug, cw.LandRequest{})
	h.need(err)
	if shown := lab.Git(t, h.Repo, "rev-parse", "refs/remotes/"+branch); shown != landed[0].Head {
		t.Errorf("landed is %s, shown %s", landed[0].Head, shown)
	}
}
