package badinput

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// TestRepositories: what cw cannot work on is refused by name.
func TestRepositories(t *testing.T) {
	t.Parallel()
	l := started(t)
	dir := func(name string) string { return filepath.Join(root(l), name) }
	goal := fakecli.Script{Book: l.Books, Signal: done}.Goal()
	must(t, os.Mkdir(dir("plain"), 0o755))
	must(t, os.Mkdir(dir("empty"), 0o755))
	lab.Git(t, dir("empty"), "init", "-q", "-b", "trunk")
	lab.NewRepo(t, dir("orphan"))
	lab.Git(t, dir("orphan"), "checkout", "-q", "--orphan", "fresh")
	lab.Git(t, root(l), "clone", "-q", "--bare", l.Repo, dir("bare.git"))
	lab.NewRepo(t, dir("broken"))
	must(t, os.WriteFile(filepath.Join(dir("broken"), ".git", "HEAD"), []byte("rubbish\n"), 0o644))
	lab.Git(t, l.Repo, "tag", "picture", lab.Git(t, l.Repo, "rev-parse", "HEAD:README.md"))

	run := func(where string, flags ...string) call {
		return call{dir: where, args: append(append([]string{"run", "--provider", "fake"}, flags...), goal)}
	}
	spawn := func(project string, flags ...string) call {
		return call{args: append(append([]string{"agent", "spawn", "--provider", "fake", "--project", project}, flags...), goal)}
	}
	add := func(path string) call { return call{args: []string{"project", "add", path}} }
	repos := []string{l.Repo, dir("orphan"), dir("bare.git")}
	refusedAll(t, l, []refusal{
		{"no repository", run(dir("plain")), exitUsage, []string{"plain", "not in a git repository"}, []string{"git init"}},
		{"no repository by -C", run(l.Repo, "-C", dir("plain")), exitUsage, []string{"plain", "not in a git repository"}, []string{"git init"}},
		{"no repository spawned", spawn(dir("plain")), exitUsage, []string{"plain", "not in a git repository"}, []string{"git init"}},
		{"no repository added", add(dir("plain")), exitUsage, []string{"plain", "not in a git repository"}, []string{"git init"}},
		{"no such folder", run(l.Repo, "-C", dir("nowhere")), exitNotFound, []string{"nowhere", "does not exist"}, []string{"path"}},
		{"no such folder added", add(dir("nowhere")), exitNotFound, []string{"nowhere", "does not exist"}, []string{"path"}},
		{"no such project", spawn("shopp"), exitNotFound, []string{"shopp"}, []string{"cw project"}},
		{"no commits", run(dir("empty")), exitUsage, []string{"no commits", "trunk"}, []string{"commit --allow-empty"}},
		{"no commits spawned", spawn(dir("empty")), exitUsage, []string{"no commits", "trunk"}, []string{"commit --allow-empty"}},
		{"no commits added", add(dir("empty")), exitUsage, []string{"no commits", "trunk"}, []string{"commit --allow-empty"}},
		{"unborn HEAD", run(dir("orphan")), exitUsage, []string{"no commits", "fresh"}, []string{"commit --allow-empty"}},
		{"unborn base", run(dir("orphan"), "--base", "fresh"), exitUsage, []string{"no commits", "fresh"}, []string{"commit --allow-empty"}},
		{"unborn base spawned", spawn(dir("empty"), "--base", "trunk"), exitUsage, []string{"no commits", "trunk"}, []string{"commit --allow-empty"}},
		{"unknown base", run(l.Repo, "--base", "mian"), exitNotFound, []string{"mian", "not known"}, []string{"main"}},
		{"unknown base spawned", spawn(l.Repo, "--base", "no-such-branch-anywhere"), exitNotFound, []string{"no-such-branch-anywhere", "not known"}, []string{"git branch -a"}},
		{"base that is no commit", run(l.Repo, "--base", "picture"), exitUsage, []string{"picture", "not a commit"}, []string{"branch, tag or commit"}},
		{"base that is a range", run(l.Repo, "--base", "main..main"), exitUsage, []string{"main..main"}, []string{"one branch"}},
		{"base like an option", run(l.Repo, "--base=--upload-pack=touch x"), exitUsage, []string{"hyphen"}, []string{"branch"}},
		{"bare", run(dir("bare.git")), exitUsage, []string{"bare.git", "bare repository"}, []string{"worktree add"}},
		{"bare spawned", spawn(dir("bare.git")), exitUsage, []string{"bare repository"}, []string{"worktree add"}},
		{"bare added", add(dir("bare.git")), exitUsage, []string{"bare repository"}, []string{"worktree add"}},
		{"inside .git", run(filepath.Join(l.Repo, ".git")), exitUsage, []string{"git directory"}, []string{"folder"}},
		{"damaged .git", run(dir("broken")), exitUsage, []string{"broken", "not in a git repository"}, []string{"git init"}},
		{"one project twice", spawn(l.Repo, "--project", l.Repo), exitUsage, []string{"twice"}, []string{"once"}},
	}, repos...)
}

// TestHalfWay: what is found only after the worktree was made is taken back
// whole, in a repository that cw knows and in one that it does not.
func TestHalfWay(t *testing.T) {
	t.Parallel()
	l := started(t)
	goal := fakecli.Script{Book: l.Books, Signal: done}.Goal()
	with := func(name string, make func(repo string)) string {
		repo := filepath.Join(root(l), name)
		lab.NewRepo(t, repo)
		make(repo)
		lab.Git(t, repo, "add", "-f", ".")
		lab.Git(t, repo, "commit", "-q", "-m", "Spoil it")
		return repo
	}
	file := with("file", func(repo string) { must(t, os.WriteFile(filepath.Join(repo, ".cw"), []byte("x"), 0o644)) })
	link := with("link", func(repo string) { must(t, os.Symlink(root(l), filepath.Join(repo, ".cw"))) })
	inside := with("inside", func(repo string) {
		must(t, os.Mkdir(filepath.Join(repo, ".cw"), 0o755))
		must(t, os.Symlink("/", filepath.Join(repo, ".cw", "output")))
	})
	run := func(repo string, flags ...string) call {
		return call{dir: repo, args: append(append([]string{"run", "--provider", "fake"}, flags...), goal)}
	}
	check := func(when string) {
		for _, r := range []refusal{
			{"a file", run(file), exitUsage, []string{"plain file", ".cw"}, []string{"rename", "--base"}},
			{"a link", run(link), exitUsage, []string{"symbolic link", ".cw"}, []string{"rename", "--base"}},
			{"a link inside", run(inside), exitUsage, []string{"symbolic link", ".cw/output"}, []string{"rename", "--base"}},
		} {
			t.Run(r.name+" "+when, func(t *testing.T) { refused(t, l, r, file, link, inside) })
		}
	}
	runs(t, l, fakecli.Script{Signal: done}) // makes the folders that stay
	check("of a new repository")
	for _, repo := range []string{file, link, inside} {
		if got, a := runs(t, l, commits("a.txt"), "-C", repo, "--base", "main~1"); a.code != exitOK || got.Commits != 1 {
			t.Errorf("as the hint says: %s", a)
		}
		// The mirror learns here of the branch that was handed over.
		runs(t, l, fakecli.Script{Signal: done}, "-C", repo, "--base", "main~1")
	}
	check("of a known repository")
}

// TestBranchTaken: a branch of the user's has the agent's name, or stands in
// its way. It is not moved, and the work is handed over beside it.
func TestBranchTaken(t *testing.T) {
	t.Parallel()
	l := started(t)
	lab.Git(t, l.Repo, "checkout", "-q", "-b", "agent/quick-fox")
	lab.Git(t, l.Repo, "commit", "-q", "--allow-empty", "-m", "By the user")
	lab.Git(t, l.Repo, "checkout", "-q", "main")
	blocked := filepath.Join(root(l), "blocked")
	lab.NewRepo(t, blocked)
	lab.Git(t, blocked, "branch", "agent")
	for _, tt := range []struct{ name, repo, alias string }{
		{"same name", l.Repo, "quick-fox"},
		{"in the way", blocked, "slow-fox"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := lab.Git(t, tt.repo, "for-each-ref", "refs/heads")
			got, a := runs(t, l, commits("a.txt"), "-C", tt.repo, "--name", tt.alias)
			where := "refs/remotes/cw/agent/" + tt.alias
			if a.code != exitOK || got.HandedOver != where || lab.Git(t, tt.repo, "rev-parse", where) != got.HeadCommit {
				t.Errorf("%s", a)
			}
			holds(t, "the warnings", strings.Join(got.Agent.Warnings, "\n"), "agent/"+tt.alias)
			if after := lab.Git(t, tt.repo, "for-each-ref", "refs/heads"); after != before {
				t.Errorf("the user's references were moved:\n%s\n%s", before, after)
			}
		})
	}
}

// TestMovedAway: the repository of a registered project is no longer where it
// was, before and during a run.
func TestMovedAway(t *testing.T) {
	t.Parallel()
	l := started(t)
	goal := fakecli.Script{Book: l.Books, Signal: done}.Goal()
	away := filepath.Join(root(l), "elsewhere")
	gate := filepath.Join(l.Books, "go")
	works(t, l, "project", "add", ".")
	busy := waiting(t, l, commits("while-away.txt"), gate)
	must(t, os.Rename(l.Repo, away))
	for _, r := range []refusal{
		{"spawned by name", call{args: []string{"agent", "spawn", "--provider", "fake", "--project", "shop", goal}}, exitNotFound, []string{"shop", "no longer at"}, []string{"cw project remove shop", "cw project add"}},
		{"run at the old path", call{args: []string{"run", "--provider", "fake", "-C", l.Repo, goal}}, exitNotFound, []string{l.Repo, "does not exist"}, []string{"path"}},
	} {
		r.call.dir = root(l)
		t.Run(r.name, func(t *testing.T) {
			before := observeAway(t, l, away)
			refuses(t, l, r)
			untouched(t, before, observeAway(t, l, away))
		})
	}
	t.Run("while it runs", func(t *testing.T) {
		must(t, os.WriteFile(gate, nil, 0o600))
		a := do(t, l, call{dir: root(l), args: []string{"agent", "attach", "--json", busy}})
		got := decode[report](t, a.stdout)
		// It is committed and safe in the mirror, but not where the user looks.
		if a.code != exitFailed || got.Agent.Status != "idle" || got.Commits != 1 || got.HandedOver != "" {
			t.Errorf("%s", a)
		}
		holds(t, "the warnings", strings.Join(got.Agent.Warnings, "\n"), "agent/"+busy, "could not be brought into", "mirror")
		diff := do(t, l, call{dir: root(l), args: []string{"agent", "diff", busy}})
		holds(t, "the diff", diff.stdout, "while-away.txt")
		if refs := lab.Git(t, away, "for-each-ref"); strings.Contains(refs, busy) {
			t.Errorf("the moved repository was found: %s", refs)
		}
	})
	t.Run("as the hint says", func(t *testing.T) {
		old, place := filepath.Join(root(l), "yard"), filepath.Join(root(l), "moved-yard")
		lab.NewRepo(t, old)
		works := func(args ...string) answer { return worksAs(t, l, call{dir: root(l), args: args}) }
		works("project", "add", old)
		must(t, os.Rename(old, place))
		works("project", "remove", "yard")
		works("project", "add", place)
		s := commits("yard.txt")
		s.Book = l.Books
		works("run", "--provider", "fake", "-C", place, s.Goal())
	})
	t.Run("moved back", func(t *testing.T) {
		must(t, os.Rename(away, l.Repo))
		if got, a := runs(t, l, commits("back.txt")); a.code != exitOK || got.HandedOver != "refs/heads/"+got.Branch {
			t.Errorf("%s", a)
		}
	})
	t.Run("another one at its place", func(t *testing.T) {
		must(t, os.RemoveAll(l.Repo))
		lab.NewRepo(t, l.Repo)
		lab.Git(t, l.Repo, "commit", "-q", "--allow-empty", "-m", "Begin anew")
		got, a := runs(t, l, commits("anew.txt"))
		if a.code != exitOK || got.Commits != 1 || got.BaseCommit != lab.Git(t, l.Repo, "rev-parse", "main") {
			t.Fatalf("%s", a)
		}
		if head := lab.Git(t, l.Repo, "rev-parse", got.Branch); head != got.HeadCommit {
			t.Errorf("the branch is at %s, the report says %s", head, got.HeadCommit)
		}
	})
}

// observeAway is observe for a lab whose repository is elsewhere, without what
// is told of an agent that runs: its activity changes.
func observeAway(t *testing.T, l *lab.Lab, repo string) state {
	t.Helper()
	s := state{"refs": lab.Git(t, repo, "for-each-ref")}
	s.countRows(t, l)
	s.listFiles(t, l)
	s.listProcesses(l)
	return s
}
