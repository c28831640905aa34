package worktree

import (
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestSyncMakesRoom: a tag that became a folder of tags, and one that became a tag
// again, stop nothing; what an agent tagged in the way is kept.
func TestSyncMakesRoom(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	git(t, l.repo, "tag", "sdk")
	l.ensure()
	git(t, l.repo, "tag", "-d", "sdk")
	git(t, l.repo, "tag", "sdk/v1")
	l.ensure()
	head := git(t, l.repo, "rev-parse", "HEAD")
	if got := git(t, l.mirror(), "for-each-ref", "--format=%(refname)", "refs/tags", "refs/cw/moved"); got != "refs/cw/moved/"+head+"\nrefs/tags/sdk/v1" {
		t.Errorf("tags %q", got)
	}
	git(t, l.repo, "tag", "-d", "sdk/v1")
	git(t, l.repo, "tag", "sdk")
	l.ensure()
	if got := git(t, l.mirror(), "for-each-ref", "--format=%(refname)", "refs/tags"); got != "refs/tags/sdk" {
		t.Errorf("tags %q", got)
	}
}

// TestSyncDeepens: what the user fetched of the history later is there for agents.
func TestSyncDeepens(t *testing.T) {
	t.Parallel()
	up := newRepo(t)
	first := git(t, up, "rev-parse", "HEAD")
	git(t, up, "commit", "-q", "--allow-empty", "-m", "second")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, "/", "clone", "-q", "--depth", "1", "file://"+up, clone)
	l := newLabFor(t, clone)
	l.ensure()
	if _, err := tryGit(l.mirror(), "cat-file", "-e", first); err == nil {
		t.Fatal("the clone is not shallow")
	}
	git(t, clone, "fetch", "-q", "--unshallow")
	l.ensure()
	if got := git(t, l.mirror(), "rev-list", "--count", "refs/remotes/origin/main"); got != "2" {
		t.Errorf("%s commits, want 2", got)
	}
}

// TestFilters: nothing is checked out where a file needs a filter that agents do
// not have, unless the user says that it does no harm.
func TestFilters(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	write(t, repo, ".gitattributes", "# filter=other\nsecret* filter=crypt\n*.none filter=unused\n")
	write(t, repo, "secret.env", "x")
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-qm", "secret")
	git(t, repo, "config", "filter.crypt.clean", "tr a-z b-za")
	git(t, repo, "config", "filter.unused.clean", "cat")
	l := newLabFor(t, repo)
	l.ensure()
	req := l.request("brave-otter")
	_, err := l.m.Add(ctx(t), req)
	wantCode(t, err, cw.CodeFailed)
	if err == nil || !strings.Contains(err.Error(), `"secret.env"`) || !strings.Contains(err.Error(), `"crypt"`) || !strings.Contains(cw.ErrorHint(err), "cw.ignoreFilter crypt") {
		t.Errorf("%v (%s)", err, cw.ErrorHint(err))
	}
	l.nothingLeft(req)
	git(t, repo, "config", "cw.ignoreFilter", "crypt")
	a := l.add("brave-otter")
	if all := strings.Join(a.added.Warnings, "\n"); !strings.Contains(all, `"crypt"`) {
		t.Errorf("warnings %q", all)
	}
}

// TestCheckoutGone: a worktree of a bare repository may go; the repository is what
// counts.
func TestCheckoutGone(t *testing.T) {
	t.Parallel()
	top := filepath.Join(t.TempDir(), "shop")
	bare := filepath.Join(top, ".bare")
	git(t, "/", "clone", "-q", "--bare", newRepo(t), bare)
	write(t, top, ".git", "gitdir: ./.bare\n")
	git(t, top, "worktree", "add", "-q", "-b", "one", "one")
	git(t, top, "worktree", "add", "-q", "-b", "two", "two")
	l := newLabFor(t, filepath.Join(top, "one"))
	info, err := l.m.Inspect(ctx(t), filepath.Join(top, "one"))
	if err != nil || info.Name != "shop" {
		t.Errorf("called %q, %v", info.Name, err)
	}
	_, err = l.m.Inspect(ctx(t), top)
	wantCode(t, err, cw.CodeInvalid)
	if hint := cw.ErrorHint(err); !strings.Contains(hint, filepath.Join(top, "one")) {
		t.Errorf("the hint names no checkout: %s", hint)
	}
	git(t, top, "worktree", "remove", "one")
	l.ensure()
	if other, err := l.m.CheckoutOf(ctx(t), l.p.GitDir); err != nil || other != filepath.Join(top, "two") {
		t.Errorf("checkout %q, %v", other, err)
	}
}
