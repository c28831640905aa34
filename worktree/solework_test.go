package worktree

import (
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestSoleWork: what an agent committed beside its branch, stashed, or left in files is
// told as long as it is in cw's home alone, before and after its worktree was cleaned up;
// a commit that was only amended is not, nor what the user's repository has.
func TestSoleWork(t *testing.T) {
	t.Parallel()
	ways := map[string]func(*agent) ([]string, []string){}
	for _, name := range []string{"another branch, left", "a detached HEAD", "a reset", "an amended commit", "a detached worktree"} {
		ways[name] = elsewhere()[name]
	}
	ways["its branch"] = func(a *agent) ([]string, []string) {
		write(a.t, a.path, "own", "own")
		git(a.t, a.path, "add", "own")
		git(a.t, a.path, "commit", "-qm", "own")
		return nil, nil
	}
	ways["a stash"] = func(a *agent) ([]string, []string) {
		write(a.t, a.path, "stashed", "stashed")
		git(a.t, a.path, "stash", "-qu")
		return nil, nil
	}
	ways["an ignored file"] = func(a *agent) ([]string, []string) {
		write(a.t, a.path, ".gitignore", "out/\n")
		git(a.t, a.path, "add", ".gitignore")
		git(a.t, a.path, "commit", "-qm", "ignore")
		write(a.t, a.path, "out/result", "result")
		return nil, nil
	}
	for name, do := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLabFor(t, newRepo(t))
			a := l.add("one")
			do(a)
			req := a.lookRequest()
			tip := a.look().Tip
			if _, err := a.m.HandOver(ctx(t), req.Project, req.AgentID, req.Alias, tip); err != nil {
				t.Fatal(err)
			}
			told := func() string {
				t.Helper()
				d, err := a.m.Diff(ctx(t), req, "", cw.DiffRequest{Stat: true, OnlyHere: true})
				if err != nil {
					t.Fatal(err)
				}
				return strings.Join(d.OnlyHere, "; ")
			}
			want := "that your repository does not have"
			switch name {
			case "its branch", "an amended commit":
				want = ""
			case "a stash":
				want = "1 stash"
			case "an ignored file":
				want = `"out/" is made and ignored`
			}
			if got := told(); !strings.Contains(got, want) || want == "" && got != "" {
				t.Errorf("before the clean-up: %q, want %q", got, want)
			}
			if _, err := a.m.KeepEnds(ctx(t), req, tip); err != nil {
				t.Fatal(err)
			}
			removed, _, err := a.m.RemoveClean(ctx(t), req)
			if err != nil {
				t.Fatal(err)
			}
			if got := told(); removed && (!strings.Contains(got, want) || want == "" && got != "") {
				t.Errorf("after the clean-up: %q, want %q", got, want)
			}
		})
	}
	t.Run("a branch that the user's repository lost", func(t *testing.T) {
		t.Parallel()
		l := newLabFor(t, newRepo(t))
		a := l.add("one")
		ways["its branch"](a)
		req := a.lookRequest()
		if _, err := a.m.HandOver(ctx(t), req.Project, req.AgentID, req.Alias, a.look().Tip); err != nil {
			t.Fatal(err)
		}
		l.ensure() // the branch comes back into the mirror, as one of the user's
		git(t, l.repo, "branch", "-qD", "agent/one")
		git(t, l.repo, "gc", "--quiet", "--prune=now")
		d, err := a.m.Diff(ctx(t), req, "", cw.DiffRequest{OnlyHere: true})
		if want := []string{"1 commit that your repository does not have"}; err != nil || !slices.Equal(d.OnlyHere, want) {
			t.Errorf("%q, %v, want %q", d.OnlyHere, err, want)
		}
	})
}
