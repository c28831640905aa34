package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

func (l *lab) landRequest(head string) LandRequest {
	return LandRequest{Project: l.p, Branch: "cw/goal", Head: head, Into: "main", Name: "Ada", Email: "ada@example.com", At: time.Unix(1700000000, 0)}
}

// landLab is a lab whose initiative changed README.md, added new.txt and deleted
// src/a.txt in two commits.
func landLab(t *testing.T) (l *lab, start, head string) {
	t.Helper()
	l = newLab(t)
	start = l.initiative("goal").begin()
	head = l.commitOn([]string{start}, map[string]string{"README.md": "landed\n"})
	head = l.commitOn([]string{head}, map[string]string{"new.txt": "new\n", "src/a.txt": ""})
	return l, start, head
}

// userCommit is a commit of the user's on a branch that need not be checked out.
func (l *lab) userCommit(branch, path, text string) string {
	l.t.Helper()
	dir := filepath.Join(l.t.TempDir(), "user")
	git(l.t, l.repo, "worktree", "add", "-q", "--detach", dir, branch)
	write(l.t, dir, path, text)
	git(l.t, dir, "add", "-A")
	git(l.t, dir, "commit", "-qm", "by the user")
	id := git(l.t, dir, "rev-parse", "HEAD")
	git(l.t, l.repo, "worktree", "remove", "--force", dir)
	git(l.t, l.repo, "update-ref", "refs/heads/"+branch, id)
	return id
}

func TestLand(t *testing.T) {
	t.Parallel()
	away := func(l *lab) { git(l.t, l.repo, "checkout", "-q", "-b", "elsewhere") }
	tests := []struct {
		name    string
		prepare func(l *lab, head string)
		how     string
		commits int
		inside  bool // of a checkout
	}{
		{"forward", func(l *lab, _ string) { away(l) }, landFastForward, 2, false},
		{"forward at a detached HEAD", func(l *lab, _ string) { git(l.t, l.repo, "checkout", "-q", "--detach") }, landFastForward, 2, false},
		{"merge", func(l *lab, _ string) { away(l); l.userCommit("main", "mine.txt", "mine\n") }, landMerge, 3, false},
		{"checked out", func(*lab, string) {}, landCheckedOut, 2, true},
		{"checked out and merge", func(l *lab, _ string) {
			write(l.t, l.repo, "mine.txt", "mine\n")
			git(l.t, l.repo, "add", ".")
			git(l.t, l.repo, "commit", "-qm", "mine")
		}, landMerge, 3, true},
		{"checked out with other untracked files", func(l *lab, _ string) {
			write(l.t, l.repo, "mine.txt", "mine\n")
			write(l.t, l.repo, "x.log", "ignored\n")
		}, landCheckedOut, 2, true},
		{"files for folders and folders for files", func(l *lab, _ string) {
			write(l.t, l.repo, "src/x.txt", "x\n")
			write(l.t, l.repo, "new.txt/deep/x", "x\n")
			git(l.t, l.repo, "add", ".")
			git(l.t, l.repo, "commit", "-qm", "mine")
			base := git(l.t, l.repo, "rev-parse", "HEAD")
			l.ensure()
			l.other = l.commitOn([]string{base}, map[string]string{"new.txt/deep/x": "", "new.txt": "new\n", "src/a.txt": "", "src/x.txt": "", "src": "file\n"})
		}, landCheckedOut, 1, true},
		{"with odd settings", func(l *lab, _ string) {
			for key, value := range map[string]string{
				"merge.ff": "false", "branch.main.mergeOptions": "--squash --no-ff", "merge.autoStash": "true", "merge.stat": "true", "submodule.recurse": "true", "core.logAllRefUpdates": "false",
			} {
				git(l.t, l.repo, "config", key, value)
			}
		}, landCheckedOut, 2, true},
		{"landed", func(l *lab, head string) {
			if _, err := l.m.Land(ctx(l.t), l.landRequest(head)); err != nil {
				l.t.Fatal(err)
			}
		}, landUpToDate, 0, false},
		{"the user has more", func(l *lab, head string) {
			git(l.t, l.repo, "fetch", "-q", l.mirror(), head)
			git(l.t, l.repo, "merge", "-q", "--no-ff", "-m", "mine", head)
		}, landUpToDate, 0, false},
		{"the user has a part", func(l *lab, head string) {
			away(l)
			git(l.t, l.repo, "fetch", "-q", l.mirror(), head)
			git(l.t, l.repo, "update-ref", "refs/heads/main", head+"~1")
		}, landFastForward, 1, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, _, head := landLab(t)
			test.prepare(l, head)
			if l.other != "" {
				head = l.other
			}
			mark := plantUserHooks(t, l)
			was := git(t, l.repo, "rev-parse", "main")
			before := snapshot(t, l.repo)
			req := l.landRequest(head)
			req.DryRun = true
			plan, err := l.m.Land(ctx(t), req)
			if err != nil {
				t.Fatal(err)
			}
			if got := changes(before, snapshot(t, l.repo)); got != nil {
				t.Errorf("a dry run touched %q", got)
			}
			out, err := l.m.Land(ctx(t), l.landRequest(head))
			if err != nil {
				t.Fatal(err)
			}
			if exists(mark) {
				t.Errorf("hooks ran: %s", read(t, mark))
			}
			if out != plan {
				t.Errorf("%+v, but %+v was said", out, plan)
			}
			now := git(t, l.repo, "rev-parse", "main")
			if out.How != test.how || out.Commits != test.commits || out.Before != was || out.After != now || out.Head != head || out.Into != "main" || (out.Checkout != "") != test.inside {
				t.Errorf("%+v; main was %s, is %s", out, was, now)
			}
			if out.How != landUpToDate && out.Stat.Files == 0 {
				t.Errorf("%+v", out)
			}
			git(t, l.repo, "merge-base", "--is-ancestor", head, "main")
			if test.inside {
				if read(t, filepath.Join(l.repo, "new.txt")) != "new\n" || exists(filepath.Join(l.repo, "src/a.txt")) || git(t, l.repo, "status", "--porcelain", "-uno") != "" {
					t.Error("the checkout does not follow")
				}
			}
			if test.name == "merge" && git(t, l.repo, "log", "-1", "--format=%P %s", "main") != was+" "+head+" Merge branch 'cw/goal' into main" {
				t.Error(git(t, l.repo, "log", "-1", "--format=%P %s", "main"))
			}
			for _, path := range changes(before, snapshot(t, l.repo)) {
				switch {
				case path == ".git/refs/heads/main", path == ".git/logs/refs/heads/main":
				case test.inside && (!strings.HasPrefix(path, ".git/") || path == ".git/index" || path == ".git/logs/HEAD" || path == ".git/ORIG_HEAD"):
				default:
					t.Errorf("%s was touched", path)
				}
			}
			if refs := git(t, l.mirror(), "for-each-ref", "refs/cw/landing"); refs != "" {
				t.Errorf("%s is left", refs)
			}
			if out, err := l.m.Land(ctx(t), l.landRequest(head)); err != nil || out.How != landUpToDate || out.Commits != 0 || out.Before != now {
				t.Errorf("again: %+v, %v", out, err)
			}
		})
	}
}

// plantUserHooks gives the user's repository hooks that leave a mark.
func plantUserHooks(t *testing.T, l *lab) (mark string) {
	t.Helper()
	mark = filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"post-merge", "pre-merge-commit", "post-checkout", "reference-transaction", "post-index-change", "post-commit", "commit-msg"} {
		write(t, l.repo, ".git/hooks/"+name, "#!/bin/sh\necho "+name+" >> '"+mark+"'\n")
		if err := os.Chmod(filepath.Join(l.repo, ".git/hooks", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return mark
}

func TestLandRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		prepare func(l *lab, r *LandRequest)
		code    cw.Code
		says    string
	}{
		{"no such branch", func(_ *lab, r *LandRequest) { r.Into = "mian" }, cw.CodeNotFound, "main"},
		{"no branch", func(_ *lab, r *LandRequest) { r.Into = "" }, cw.CodeInvalid, "--into"},
		{"like an option", func(_ *lab, r *LandRequest) { r.Into = "-x" }, cw.CodeInvalid, "--into"},
		{"no commit", func(_ *lab, r *LandRequest) { r.Head = strings.Repeat("ab", 20) }, cw.CodeNotFound, ""},
		{"another name", func(l *lab, r *LandRequest) {
			git(l.t, l.repo, "symbolic-ref", "refs/heads/trunk", "refs/heads/main")
			r.Into = "trunk"
		}, cw.CodeRefused, "--into main"},
		{"changed", func(l *lab, _ *LandRequest) { write(l.t, l.repo, "src/a.txt", "mine\n") }, cw.CodeRefused, "stash"},
		{"changed elsewhere", func(l *lab, _ *LandRequest) { write(l.t, l.repo, ".gitignore", "mine\n") }, cw.CodeRefused, "stash"},
		{"staged", func(l *lab, _ *LandRequest) {
			write(l.t, l.repo, "mine.txt", "mine\n")
			git(l.t, l.repo, "add", ".")
		}, cw.CodeRefused, "stash"},
		{"deleted", func(l *lab, _ *LandRequest) { _ = os.Remove(filepath.Join(l.repo, "README.md")) }, cw.CodeRefused, "stash"},
		{"untracked in the way", func(l *lab, _ *LandRequest) { write(l.t, l.repo, "new.txt", "mine\n") }, cw.CodeRefused, "move them away"},
		{"ignored in the way", func(l *lab, _ *LandRequest) {
			write(l.t, l.repo, ".git/info/exclude", "new.txt\n")
			write(l.t, l.repo, "new.txt", "mine\n")
		}, cw.CodeRefused, "move them away"},
		{"a folder in the way", func(l *lab, _ *LandRequest) { write(l.t, l.repo, "new.txt/mine", "mine\n") }, cw.CodeRefused, "move them away"},
		{"a file for a folder in the way", func(l *lab, r *LandRequest) {
			write(l.t, l.repo, "docs", "mine\n")
			r.Head = l.commitOn([]string{r.Head}, map[string]string{"docs/deep/x.md": "x\n"})
		}, cw.CodeRefused, "move them away"},
		{"a link for a folder in the way", func(l *lab, r *LandRequest) {
			_ = os.Symlink(l.t.TempDir(), filepath.Join(l.repo, "docs"))
			r.Head = l.commitOn([]string{r.Head}, map[string]string{"docs/deep/x.md": "x\n"})
		}, cw.CodeRefused, "move them away"},
		{"rewritten", func(l *lab, r *LandRequest) {
			r.Base = git(l.t, l.repo, "rev-parse", "main")
			git(l.t, l.repo, "commit", "-q", "--amend", "-m", "without the secret")
		}, cw.CodeRefused, "--into main"},
		{"nothing in common", func(l *lab, _ *LandRequest) {
			git(l.t, l.repo, "checkout", "-q", "--orphan", "other")
			git(l.t, l.repo, "commit", "-q", "-m", "anew")
			git(l.t, l.repo, "branch", "-q", "-M", "main")
		}, cw.CodeRefused, "--into BRANCH"},
		{"merging", func(l *lab, _ *LandRequest) {
			git(l.t, l.repo, "update-ref", "refs/heads/side", git(l.t, l.repo, "commit-tree", "-p", "HEAD", "-m", "side", "HEAD^{tree}"))
			git(l.t, l.repo, "merge", "-q", "--no-commit", "--no-ff", "side")
		}, cw.CodeRefused, "finish or abort"},
		{"picking", func(l *lab, _ *LandRequest) {
			write(l.t, l.repo, ".git/CHERRY_PICK_HEAD", git(l.t, l.repo, "rev-parse", "HEAD")+"\n")
		}, cw.CodeRefused, "finish or abort"},
		{"rebasing", func(l *lab, _ *LandRequest) {
			git(l.t, l.repo, "checkout", "-q", "--detach")
			write(l.t, l.repo, ".git/rebase-merge/head-name", "refs/heads/main\n")
		}, cw.CodeRefused, "finish or abort"},
		{"rebasing in a linked worktree", func(l *lab, _ *LandRequest) {
			git(l.t, l.repo, "checkout", "-q", "--detach")
			git(l.t, l.repo, "worktree", "add", "-q", "--detach", filepath.Join(l.t.TempDir(), "linked"))
			write(l.t, l.repo, ".git/worktrees/linked/rebase-apply/head-name", "refs/heads/main\n")
		}, cw.CodeRefused, "finish or abort"},
		{"a checkout that is gone", func(l *lab, _ *LandRequest) {
			git(l.t, l.repo, "checkout", "-q", "--detach")
			dir := filepath.Join(l.t.TempDir(), "linked")
			git(l.t, l.repo, "worktree", "add", "-q", dir, "main")
			_ = os.RemoveAll(dir)
		}, cw.CodeRefused, "worktree prune"},
		{"two checkouts", func(l *lab, _ *LandRequest) {
			git(l.t, l.repo, "worktree", "add", "-q", "--force", filepath.Join(l.t.TempDir(), "linked"), "main")
		}, cw.CodeRefused, "one of them"},
		{"index locked", func(l *lab, _ *LandRequest) { write(l.t, l.repo, ".git/index.lock", "") }, cw.CodeRefused, ""},
		{"conflict", func(l *lab, _ *LandRequest) {
			git(l.t, l.repo, "checkout", "-q", "--detach")
			l.userCommit("main", "README.md", "by the user\n")
		}, cw.CodeRefused, "git merge FETCH_HEAD"},
		{"conflict in a checkout", func(l *lab, _ *LandRequest) {
			write(l.t, l.repo, "README.md", "by the user\n")
			git(l.t, l.repo, "commit", "-qam", "mine")
		}, cw.CodeRefused, "git merge FETCH_HEAD"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, _, head := landLab(t)
			req := l.landRequest(head)
			test.prepare(l, &req)
			git(t, l.repo, "status")
			before := snapshot(t, l.repo)
			_, err := l.m.Land(ctx(t), req)
			wantCode(t, err, test.code)
			if !strings.Contains(cw.ErrorHint(err), test.says) {
				t.Errorf("hint %q, of %v", cw.ErrorHint(err), err)
			}
			if got := changes(before, snapshot(t, l.repo)); got != nil {
				t.Errorf("%q were touched", got)
			}
			if test.name == "conflict" && !strings.Contains(err.Error(), `"README.md"`) {
				t.Errorf("which path? %v", err)
			}
		})
	}
}

// TestLandGuard takes the look at the checkout away: a change of the user's must
// then come with the landing.
func TestLandGuard(t *testing.T) {
	t.Parallel()
	l, _, head := landLab(t)
	l.m.guards = func(name string) bool { return name == "land-unchanged" }
	write(t, l.repo, ".gitignore", "mine\n")
	if _, err := l.m.Land(ctx(t), l.landRequest(head)); err != nil {
		t.Errorf("something else keeps it: %v", err)
	}
}

// TestLandElsewhere lands in a linked worktree, in a bare repository, and in the
// clone of a remote one.
func TestLandElsewhere(t *testing.T) {
	t.Parallel()
	t.Run("linked worktree", func(t *testing.T) {
		t.Parallel()
		l, _, head := landLab(t)
		linked := filepath.Join(t.TempDir(), "linked")
		git(t, l.repo, "checkout", "-q", "-b", "mine")
		git(t, l.repo, "worktree", "add", "-q", linked, "main")
		write(t, l.repo, "README.md", "changed, but on another branch\n")
		out, err := l.m.Land(ctx(t), l.landRequest(head))
		if err != nil || !sameDir(out.Checkout, linked) || out.How != landCheckedOut || read(t, filepath.Join(linked, "new.txt")) != "new\n" {
			t.Errorf("%+v, %v", out, err)
		}
		if read(t, filepath.Join(l.repo, "README.md")) != "changed, but on another branch\n" {
			t.Error("another checkout was touched")
		}
	})
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		bare, linked := filepath.Join(t.TempDir(), "app.git"), filepath.Join(t.TempDir(), "linked")
		git(t, "/", "clone", "-q", "--bare", newRepo(t), bare)
		git(t, bare, "worktree", "add", "-q", "-b", "mine", linked)
		l := newLabFor(t, linked)
		head := l.commitOn([]string{l.initiative("goal").begin()}, map[string]string{"new.txt": "new\n"})
		out, err := l.m.Land(ctx(t), l.landRequest(head))
		if err != nil || out.How != landFastForward || git(t, bare, "rev-parse", "main") != head {
			t.Errorf("%+v, %v", out, err)
		}
	})
	t.Run("remote", func(t *testing.T) {
		t.Parallel()
		l, bare := newRemote(t)
		l.fetchRemote()
		l.ensure()
		base, err := l.m.ResolveBase(ctx(t), l.p.GitDir, "")
		if err != nil {
			t.Fatal(err)
		}
		head := l.commitOn([]string{base.Commit}, map[string]string{"new.txt": "new\n"})
		out, err := l.m.Land(ctx(t), l.landRequest(head))
		if err != nil || out.How != landFastForward || git(t, l.p.GitDir, "rev-parse", "main") != head || !strings.Contains(out.Note, "nothing was pushed") {
			t.Errorf("%+v, %v", out, err)
		}
		if git(t, bare, "rev-parse", "main") != base.Commit {
			t.Error("the remote was touched")
		}
	})
}

// TestLandMoved: what people do between the look and the act is not overwritten.
func TestLandMoved(t *testing.T) {
	t.Parallel()
	tests := map[string]func(l *lab) string{
		"moved": func(l *lab) string { return l.userCommit("main", "mine.txt", "mine\n") },
		"deleted": func(l *lab) string {
			git(l.t, l.repo, "branch", "-q", "-D", "main")
			return ""
		},
		"checked out": func(l *lab) string {
			git(l.t, l.repo, "checkout", "-q", "main")
			return git(l.t, l.repo, "rev-parse", "main")
		},
	}
	for name, meanwhile := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _, head := landLab(t)
			git(t, l.repo, "checkout", "-q", "-b", "elsewhere")
			want := ""
			l.m.fail = func(step string) {
				if step == "worktree/land-fetched" {
					want = meanwhile(l)
				}
			}
			_, err := l.m.Land(ctx(t), l.landRequest(head))
			wantCode(t, err, cw.CodeRefused)
			if got, _ := tryGit(l.repo, "rev-parse", "--verify", "--quiet", "main"); got != want {
				t.Errorf("main is %s, not %s", got, want)
			}
		})
	}
}
