package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
)

// odd is a repository that is damaged, or made in an unusual way.
type odd struct {
	name string
	// make changes a sound repository of two commits, with a branch side and a tag
	// v1 on the first, everything loose. It may give another folder to begin in.
	make func(t *testing.T, repo string) string
	// says is in the error; "" when an agent can begin there.
	says string
	// warns is in the note or a warning, when an agent can begin there.
	warns string
}

// TestOddRepositories: whatever a repository is like, an agent begins there, or
// cw says what is wrong with which repository and what to do. It is never taken
// for a bug of cw's.
func TestOddRepositories(t *testing.T) {
	t.Parallel()
	template := newRepo(t)
	git(t, template, "branch", "side")
	git(t, template, "tag", "v1")
	write(t, template, "src/b.txt", "more\n")
	git(t, template, "add", ".")
	git(t, template, "commit", "-qm", "second")
	for _, o := range oddRepositories() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			repo := filepath.Join(t.TempDir(), "app")
			if err := os.CopyFS(repo, os.DirFS(template)); err != nil {
				t.Fatal(err)
			}
			from := repo
			if other := o.make(t, repo); other != "" {
				from = other
			}
			notes, err := begin(t, from)
			if err == nil {
				if o.says != "" {
					t.Errorf("an agent begins there, want %q", o.says)
				}
				if !strings.Contains(strings.Join(notes, "\n"), o.warns) {
					t.Errorf("notes %q, want %q", notes, o.warns)
				}
				return
			}
			var known *cw.Error
			if !errors.As(err, &known) || known.Code == cw.CodeInternal {
				t.Fatalf("taken for a bug: %v", err)
			}
			if o.says == "" || !strings.Contains(known.Message, o.says) || known.Hint == "" {
				t.Errorf("%s: %s (%s), want %q", known.Code, known.Message, known.Hint, o.says)
			}
		})
	}
}

// begin does what the start of an agent does with git.
func begin(t *testing.T, from string) (notes []string, err error) {
	t.Helper()
	home := t.TempDir()
	m := New(Options{ReposDir: filepath.Join(home, "repos")})
	info, err := m.Inspect(ctx(t), from)
	if err != nil {
		return nil, err
	}
	p := cw.Project{ID: "aaaabbbbcccc", Name: "app", Path: info.Main, GitDir: info.CommonGitDir, Mirror: "app-abcd.git"}
	base, err := m.ResolveBase(ctx(t), info.TopLevel, "")
	if err != nil {
		return nil, err
	}
	if _, err := m.DirtyFiles(ctx(t), info.TopLevel); err != nil {
		return nil, err
	}
	note, err := m.EnsureMirror(ctx(t), p)
	if err != nil {
		return nil, err
	}
	added, err := m.Add(ctx(t), AddRequest{Project: p, AgentID: cw.AgentID(cw.NewID()), Alias: "bee", Path: filepath.Join(home, "bee"), Base: base})
	return append(added.Warnings, note), err
}

// looseObject gives the path of a loose object.
func looseObject(t *testing.T, repo, rev string) string {
	t.Helper()
	id := git(t, repo, "rev-parse", rev)
	path := filepath.Join(repo, ".git", "objects", id[:2], id[2:])
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func oddRepositories() []odd {
	nothing := func(*testing.T, string) string { return "" }
	gitFile := func(name, text string) func(*testing.T, string) string {
		return func(t *testing.T, repo string) string { write(t, filepath.Join(repo, ".git"), name, text); return "" }
	}
	remove := func(name string) func(*testing.T, string) string {
		return func(t *testing.T, repo string) string {
			if err := os.RemoveAll(filepath.Join(repo, ".git", name)); err != nil {
				t.Fatal(err)
			}
			return ""
		}
	}
	config := func(text string) func(*testing.T, string) string {
		return func(t *testing.T, repo string) string {
			f, err := os.OpenFile(filepath.Join(repo, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString(text)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			return ""
		}
	}
	run := func(args ...string) func(*testing.T, string) string {
		return func(t *testing.T, repo string) string { git(t, repo, args...); return "" }
	}
	object := func(rev, text string) func(*testing.T, string) string {
		return func(t *testing.T, repo string) string {
			path := looseObject(t, repo, rev)
			var err error
			if text == "gone" {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, []byte(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			return ""
		}
	}
	id := strings.Repeat("ab", 20)
	return []odd{
		{"sound", nothing, "", ""},
		{"a branch names nothing", gitFile("refs/heads/lost", id+"\n"), "", "heads/lost"},
		{"a tag names nothing", gitFile("refs/tags/lost", id+"\n"), "", "tags/lost"},
		{"a branch holds zeros", gitFile("refs/heads/zero", strings.Repeat("0", 40)+"\n"), "", "heads/zero"},
		{"a branch holds junk", gitFile("refs/heads/junk", "\x00\x01\x02"), "", "heads/junk"},
		{"a branch is empty", gitFile("refs/heads/empty", ""), "", "heads/empty"},
		{"a branch is cut short", gitFile("refs/heads/short", "abcdef"), "", "heads/short"},
		{"a tag of a tree", run("tag", "tree", "HEAD^{tree}"), "", ""},
		{"a tag of a file", run("tag", "file", "HEAD:README.md"), "", ""},
		{"a branch that points to another", run("symbolic-ref", "refs/heads/alias", "refs/heads/main"), "", ""},
		{"a branch that points nowhere", gitFile("refs/heads/nowhere", "ref: refs/heads/none\n"), "", ""},
		{"a branch called HEAD", run("update-ref", "refs/heads/HEAD", "HEAD"), "", ""},
		{"a branch called as the tag", run("branch", "v1"), "", ""},
		{"a branch called origin", run("branch", "origin/main"), "", ""},
		{"a branch called agent", run("branch", "agent"), "", ""},
		{"a tag with the name of cw's", run("tag", "agent/bee"), "", ""},
		{"a lock of a branch was left", gitFile("refs/heads/main.lock", ""), "", ""},
		{"the first commit of a side branch is gone", func(t *testing.T, repo string) string {
			git(t, repo, "checkout", "-q", "--orphan", "apart")
			git(t, repo, "commit", "-qm", "apart", "--allow-empty")
			git(t, repo, "commit", "-qm", "apart 2", "--allow-empty")
			path := looseObject(t, repo, "HEAD~1")
			git(t, repo, "checkout", "-q", "main")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			return ""
		}, "", ""},
		{"the commit of HEAD is gone", object("HEAD", "gone"), "damaged", ""},
		{"the commit of HEAD is empty", object("HEAD", ""), "damaged", ""},
		{"the commit of HEAD is junk", object("HEAD", "junk"), "damaged", ""},
		{"the tree of HEAD is gone", object("HEAD^{tree}", "gone"), "damaged", ""},
		{"the tree of HEAD is empty", object("HEAD^{tree}", ""), "damaged", ""},
		{"a file of HEAD is gone", object("HEAD:README.md", "gone"), "damaged", ""},
		{"a file of HEAD is junk", object("HEAD:src/b.txt", "junk"), "damaged", ""},
		{"all objects are gone", func(t *testing.T, repo string) string {
			dir := filepath.Join(repo, ".git", "objects")
			if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
				t.Fatal(err)
			}
			return ""
		}, "damaged", ""},
		{"HEAD is gone", remove("HEAD"), "not in a git repository", ""},
		{"HEAD is empty", gitFile("HEAD", ""), "not in a git repository", ""},
		{"HEAD is junk", gitFile("HEAD", "junk\n"), "not in a git repository", ""},
		{"HEAD names no branch", gitFile("HEAD", "ref: refs/heads/none\n"), "no commits yet on none", ""},
		{"HEAD is detached", run("checkout", "-q", "--detach"), "", ""},
		{"objects are gone", remove("objects"), "not in a git repository", ""},
		{"refs are gone", remove("refs"), "not in a git repository", ""},
		{"config is junk", config("[core\n\x00"), "configuration", ""},
		{"config holds a bad value", config("[core]\n\tbare = maybe\n"), "configuration", ""},
		{"config is gone", remove("config"), "", ""},
		{"a later format", config("[core]\n\trepositoryformatversion = 99\n"), "too old", ""},
		{"an unknown extension", config("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfuture = true\n"), "too old", ""},
		{"config includes what is gone", config("[include]\n\tpath = nowhere\n"), "", ""},
		{"config per worktree", config("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n"), "", ""},
		{"a partial clone", config("[remote \"origin\"]\n\tpromisor = true\n"), "partial clone", ""},
		{"the index is junk", gitFile("index", "junk"), "index", ""},
		{"the index is empty", gitFile("index", ""), "index", ""},
		{"the index is gone", remove("index"), "", ""},
		{"the index is locked", gitFile("index.lock", ""), "", ""},
		{"packed-refs is junk", gitFile("packed-refs", "junk\n"), "packed-refs", ""},
		{"packed-refs is empty", gitFile("packed-refs", ""), "", ""},
		{"alternates are gone", gitFile("objects/info/alternates", "/nowhere/objects\n"), "", ""},
		{"a pack is cut short", func(t *testing.T, repo string) string {
			git(t, repo, "gc", "-q", "--prune=now")
			packs, _ := filepath.Glob(filepath.Join(repo, ".git", "objects", "pack", "*.pack"))
			for _, pack := range packs {
				if err := errors.Join(os.Chmod(pack, 0o600), os.Truncate(pack, 20)); err != nil {
					t.Fatal(err)
				}
			}
			return ""
		}, "damaged", ""},
		{"everything is packed", run("gc", "-q"), "", ""},
		{"shallow is junk", gitFile("shallow", "junk\n"), "shallow", ""},
		{"shallow", func(t *testing.T, repo string) string {
			dir := filepath.Join(t.TempDir(), "shallow")
			git(t, "/", "clone", "-q", "--depth", "1", "file://"+repo, dir)
			return dir
		}, "", ""},
		{"of sha256", func(t *testing.T, _ string) string { return newRepo(t, "--object-format=sha256") }, "", ""},
		{"a merge is under way", gitFile("MERGE_HEAD", id+"\n"), "", ""},
		{"grafts", gitFile("info/grafts", id+"\n"), "", ""},
		{"a bare repository", func(t *testing.T, repo string) string {
			dir := filepath.Join(t.TempDir(), "bare")
			git(t, "/", "clone", "-q", "--bare", repo, dir)
			return dir
		}, "bare repository", ""},
		{"a linked worktree of a repository that moved", func(t *testing.T, repo string) string {
			linked := filepath.Join(t.TempDir(), "linked")
			git(t, repo, "worktree", "add", "-q", linked, "side")
			if err := os.Rename(repo, repo+".moved"); err != nil {
				t.Fatal(err)
			}
			return linked
		}, "not in a git repository", ""},
		{"an embedded repository", func(t *testing.T, repo string) string {
			git(t, repo, "clone", "-q", repo, "inner")
			git(t, repo, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
			git(t, repo, "commit", "-qm", "inner")
			return ""
		}, "", "inner"},
		{"no folder", func(t *testing.T, _ string) string { return filepath.Join(t.TempDir(), "none") }, "does not exist", ""},
	}
}
