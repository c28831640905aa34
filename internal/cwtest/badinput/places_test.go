package badinput

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// TestParallelRuns: many at once in a repository that cw does not know yet,
// with no daemon there.
func TestParallelRuns(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	const many = 16
	answers := make([]answer, many)
	var all sync.WaitGroup
	for i := range many {
		s := commits(fmt.Sprintf("file-%d.txt", i))
		s.Book = l.Books
		all.Go(func() {
			answers[i] = do(t, l, call{args: []string{"run", "--detach", "--json", "--provider", "fake", s.Goal()}})
		})
	}
	all.Wait()
	names := map[string]bool{}
	for i, a := range answers {
		if a.code != exitOK {
			t.Fatalf("%s\n%s", a, l.DaemonLog())
		}
		name := decode[report](t, a.stdout).Agent.Name
		names[name] = true
		worksAs(t, l, call{args: []string{"agent", "attach", name}})
		v := show(t, l, name)
		if v.Status != "idle" || lab.Git(t, l.Repo, "rev-parse", v.Branch) != v.HeadCommit {
			t.Errorf("%+v", v)
		}
		if files := lab.Git(t, l.Repo, "diff", "--name-only", "main", v.Branch); files != fmt.Sprintf("file-%d.txt", i) {
			t.Errorf("agent %d changed %q", i, files)
		}
	}
	if len(names) != many {
		t.Errorf("%d names for %d agents", len(names), many)
	}
	if projects := decode[[]any](t, works(t, l, "project", "list", "--json").stdout); len(projects) != 1 {
		t.Errorf("%d projects", len(projects))
	}
	if mirrors, err := filepath.Glob(filepath.Join(l.Home.Repos(), "*.git")); err != nil || len(mirrors) != 1 {
		t.Errorf("mirrors: %v %v", mirrors, err)
	}
	works(t, l, "stop")
}

// TestCheckouts: linked worktrees and detached heads are as good as any.
func TestCheckouts(t *testing.T) {
	t.Parallel()
	l := started(t)
	lab.Git(t, l.Repo, "commit", "-q", "--allow-empty", "-m", "Second")
	side := filepath.Join(root(l), "side")
	lab.Git(t, l.Repo, "worktree", "add", "-q", "-b", "side", side, "HEAD~1")
	must(t, os.WriteFile(filepath.Join(side, "side.txt"), []byte("side\n"), 0o644))
	lab.Git(t, side, "add", "side.txt")
	lab.Git(t, side, "commit", "-q", "-m", "On the side")
	bare := filepath.Join(root(l), "loose")
	lab.Git(t, l.Repo, "worktree", "add", "-q", "--detach", bare, "HEAD~1")
	sub := filepath.Join(side, "deep", "er")
	must(t, os.MkdirAll(sub, 0o755))
	for _, tt := range []struct{ name, dir, branch string }{
		{"main checkout", l.Repo, "main"},
		{"linked worktree", side, "side"},
		{"folder in a linked worktree", sub, "side"},
		{"detached head", bare, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, a := runs(t, l, commits("work.txt"), "-C", tt.dir)
			if want := lab.Git(t, tt.dir, "rev-parse", "HEAD"); a.code != exitOK || got.BaseBranch != tt.branch || got.BaseCommit != want || got.Commits != 1 {
				t.Errorf("want base %s at %s: %s", tt.branch, want, a)
			}
			if head := lab.Git(t, l.Repo, "rev-parse", got.Branch); head != got.HeadCommit {
				t.Errorf("the branch is at %s, not at %s", head, got.HeadCommit)
			}
			if len(got.Agent.Warnings) > 0 {
				t.Errorf("warnings: %q", got.Agent.Warnings)
			}
		})
	}
	if projects := decode[[]struct{ Path string }](t, works(t, l, "project", "list", "--json").stdout); len(projects) != 1 || projects[0].Path != l.Repo {
		t.Errorf("projects: %v", projects)
	}
}

// TestInsideAWorktree: cw run in the worktree of an agent works on the project that
// the agent has, and not on cw's copy of it.
func TestInsideAWorktree(t *testing.T) {
	t.Parallel()
	l := started(t)
	first, a := runs(t, l, fakecli.Script{ // what it leaves keeps its worktree
		Pieces: 1, Tame: true, File: "not-committed.txt", Content: "work\n", Signal: `{"status":"done","result":"ok"}`})
	if a.code != exitFailed {
		t.Fatalf("%s", a)
	}
	worktree := strings.TrimSpace(works(t, l, "agent", "open", "--print", first.Agent.Name).stdout)
	got, a := runs(t, l, commits("work.txt"), "-C", worktree)
	if a.code != exitOK || got.Commits != 1 || got.HandedOver != "refs/heads/"+got.Branch {
		t.Fatalf("%s", a)
	}
	if head := lab.Git(t, l.Repo, "rev-parse", got.Branch); head != got.HeadCommit {
		t.Errorf("the branch is at %s in the user's repository, not at %s", head, got.HeadCommit)
	}
	if projects := decode[[]struct{ Path string }](t, works(t, l, "project", "list", "--json").stdout); len(projects) != 1 || projects[0].Path != l.Repo {
		t.Errorf("projects: %v", projects)
	}
}

// TestDirtyCheckout: what is not committed is named, not taken, not touched.
func TestDirtyCheckout(t *testing.T) {
	t.Parallel()
	l := started(t)
	must(t, os.WriteFile(filepath.Join(l.Repo, "README.md"), []byte("# Changed\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(l.Repo, "new.txt"), []byte("new\n"), 0o644))
	before := lab.Git(t, l.Repo, "status", "--porcelain")
	s := commits("work.txt")
	s.Shell = "test ! -e new.txt && grep -q Shop README.md"
	got, a := runs(t, l, s)
	if a.code != exitOK || got.Commits != 1 {
		t.Fatalf("%s", a)
	}
	holds(t, "the warnings", strings.Join(got.Agent.Warnings, "\n"), "2 changed files", l.Repo, "not committed")
	holds(t, "standard error", a.stderr, "warning: the agent does not see")
	if after := lab.Git(t, l.Repo, "status", "--porcelain"); after != before {
		t.Errorf("the checkout is %q, was %q", after, before)
	}
	s.Book = l.Books
	spawned := works(t, l, "agent", "spawn", "--provider", "fake", "--project", ".", s.Goal())
	holds(t, "agent spawn", spawned.stderr, "warning: the agent does not see", "2 changed files")
}

// TestWorktreeInclude: ignored files that are asked for come along, also through a
// link that leads out of the repository; others do
// not, and they are nobody's work.
func TestWorktreeInclude(t *testing.T) {
	t.Parallel()
	l := started(t)
	for name, text := range map[string]string{
		".gitignore": ".env\n*.pem\nbuild/\n", ".worktreeinclude": ".env\nconfig/*.pem\nnotes.txt\n/../escape\n",
		".env": "KEY=1\n", "config/dev.pem": "pem\n", "other.pem": "not asked for\n", "build/out": "not asked for\n", "notes.txt": "asked for, but not ignored\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(l.Repo, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(l.Repo, name), []byte(text), 0o640))
	}
	must(t, os.Symlink("/etc/passwd", filepath.Join(l.Repo, "config", "link.pem")))
	lab.Git(t, l.Repo, "add", ".gitignore", ".worktreeinclude")
	lab.Git(t, l.Repo, "commit", "-q", "-m", "Include")
	s := commits("work.txt")
	s.Shell = "grep -q KEY=1 .env && grep -q pem config/dev.pem && test ! -e other.pem && test ! -e build && test ! -e notes.txt && test -f config/link.pem && test ! -L config/link.pem"
	got, a := runs(t, l, s)
	if a.code != exitOK || got.Commits != 1 || got.DirtyFiles != 0 || got.FilesChanged != 1 {
		t.Errorf("%s", a)
	}
	if files := lab.Git(t, l.Repo, "ls-tree", "-r", "--name-only", got.Branch); strings.Contains(files, ".env") || strings.Contains(files, "pem") {
		t.Errorf("committed: %s", files)
	}
}

// TestNoIdentity: nobody told git who commits.
func TestNoIdentity(t *testing.T) {
	t.Parallel()
	l := started(t)
	lab.Git(t, l.Repo, "config", "--unset", "user.name")
	lab.Git(t, l.Repo, "config", "--unset", "user.email")
	got, a := runs(t, l, commits("work.txt"))
	if a.code != exitOK || got.Commits != 1 {
		t.Fatalf("%s", a)
	}
	want := "cw agent " + got.Agent.Name
	if who := lab.Git(t, l.Repo, "log", "-1", "--format=%an|%cn", got.Branch); who != want+"|"+want {
		t.Errorf("by %q, want %q", who, want)
	}
	if config := lab.Git(t, l.Repo, "config", "--local", "--list"); strings.Contains(config, "user.") {
		t.Errorf("the user's configuration was changed: %s", config)
	}
	lab.Git(t, l.Repo, "config", "user.name", "Only A Name")
	if got, a := runs(t, l, commits("more.txt")); a.code != exitOK || got.Commits != 1 {
		t.Errorf("with a name and no address: %s", a)
	}
}

// TestTwoHomes: two daemons, two homes, one repository; neither sees or hurts
// the other.
func TestTwoHomes(t *testing.T) {
	t.Parallel()
	one, two := started(t), started(t)
	two.Repo = one.Repo
	gate := filepath.Join(one.Books, "go")
	s := commits("one.txt")
	s.Wait = gate
	name := detached(t, one, s, "--name", "same-name")
	other := detached(t, two, fakecli.Script{Hang: true})
	if a := works(t, two, "agent", "list", "-q"); strings.Fields(a.stdout)[0] != other || strings.Contains(a.stdout, name) {
		t.Errorf("%s", a)
	}
	refuses(t, two, refusal{"", call{args: []string{"agent", "show", name}}, exitNotFound, []string{name}, []string{"cw agent list"}})
	works(t, two, "agent", "stop", "--all", "--now")
	works(t, two, "stop")
	if v := show(t, one, name); v.Status != "running" {
		t.Errorf("it is %s", v.Status)
	}
	two.Kill()
	two.Start()
	got, a := runs(t, two, commits("two.txt"), "--name", name)
	if a.code != exitOK || got.HandedOver != "refs/heads/agent/"+name {
		t.Errorf("%s", a)
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	a = ask(t, one, "agent", "attach", "--json", name)
	first := decode[report](t, a.stdout)
	// The branch of that name is the other's by now: it must not be moved.
	if a.code != exitOK || first.HandedOver != "refs/remotes/cw/agent/"+name {
		t.Errorf("%s", a)
	}
	if len(first.Agent.Warnings) == 0 {
		t.Errorf("nothing is said about it: %s", a)
	}
	refs := strings.Fields(lab.Git(t, one.Repo, "for-each-ref", "--format=%(refname)=%(objectname)"))
	for _, want := range []string{"refs/heads/agent/" + name + "=" + got.HeadCommit, "refs/remotes/cw/agent/" + name + "=" + first.HeadCommit} {
		if !slices.Contains(refs, want) {
			t.Errorf("%s is not among %s", want, refs)
		}
	}
}

// TestStopDeaf: an agent that hears no SIGTERM, with a child in a session of
// its own that hears none either, leaves nothing behind.
func TestStopDeaf(t *testing.T) {
	t.Parallel()
	l := started(t)
	for name, args := range map[string][]string{"grace": nil, "now": {"--now"}} {
		t.Run(name, func(t *testing.T) {
			alias := detached(t, l, fakecli.Script{Pieces: 1, Tame: true, Deaf: true, Child: true, Hang: true})
			run := show(t, l, alias).Runs[0].ID
			tree := func() (all []lab.Process) {
				for _, p := range processes(l) {
					if p.Run == run || strings.Contains(p.Command, filepath.Join(l.Home.Runs(), alias)+"/") {
						all = append(all, p)
					}
				}
				return all
			}
			until(t, "shim, agent and child", func() bool { return len(tree()) == 3 })
			works(t, l, append([]string{"agent", "stop", alias}, args...)...)
			if left := tree(); len(left) > 0 {
				t.Errorf("left behind: %+v", left)
			}
			if v := show(t, l, alias); v.Status != "stopped" || v.Reason != "user" {
				t.Errorf("%s %s", v.Status, v.Reason)
			}
			if a := ask(t, l, "agent", "attach", alias); a.code != exitFailed || !strings.Contains(a.stderr, "stopped") {
				t.Errorf("%s", a)
			}
			works(t, l, "agent", "stop", alias) // nothing to stop is no error
		})
	}
	refuses(t, l, refusal{"", call{args: []string{"agent", "stop", "no-such-agent"}}, exitNotFound, []string{"no-such-agent"}, []string{"cw agent list"}})
	refuses(t, l, refusal{"", call{args: []string{"agent", "stop"}}, exitUsage, []string{"agent stop"}, []string{"--all"}})
}
