package worktree

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/draw"
)

// trap is one way by which an agent's files can make git execute something.
type trap struct {
	name string
	// plant sets it, in a worktree and the mirror behind it. evil is a command.
	plant func(a *agent, evil string)
	// springs: plain git falls for it (in springTraps). The others are known
	// not to work there and are tried on us all the same.
	springs bool
}

// inConfig sets keys in the configuration that all worktrees share. It writes the file
// itself: a process for each key would be most of what these tests cost.
func inConfig(pairs ...string) func(*agent, string) {
	return func(a *agent, evil string) {
		a.t.Helper()
		var text strings.Builder
		for i := 0; i < len(pairs); i += 2 {
			dot, end := strings.Index(pairs[i], "."), strings.LastIndex(pairs[i], ".")
			section := pairs[i][:dot]
			if dot < end {
				section += fmt.Sprintf(" %q", strings.ReplaceAll(pairs[i][dot+1:end], "EVIL", evil))
			}
			fmt.Fprintf(&text, "[%s]\n\t%s = %q\n", section, pairs[i][end+1:], strings.ReplaceAll(pairs[i+1], "EVIL", evil))
		}
		config := filepath.Join(a.mirror(), "config")
		now, err := os.ReadFile(config)
		if err == nil && !strings.HasSuffix(string(now), text.String()) {
			err = os.WriteFile(config, append(now, text.String()...), 0o600)
		}
		if err != nil {
			a.t.Fatal(err)
		}
	}
}

// withAttributes makes every file subject to a driver named evil.
func withAttributes(then func(*agent, string)) func(*agent, string) {
	return func(a *agent, evil string) {
		write(a.t, a.path, ".gitattributes", "* filter=evil diff=evil merge=evil text\n")
		write(a.t, a.mirror(), "info/attributes", "* filter=evil diff=evil merge=evil\n")
		then(a, evil)
	}
}

func plantHooks(a *agent, dir, evil string) {
	for _, name := range strings.Fields("applypatch-msg pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit post-merge post-checkout " +
		"post-index-change reference-transaction pre-auto-gc post-rewrite pre-rebase fsmonitor-watchman update post-update pre-receive post-receive proc-receive pre-push") {
		write(a.t, dir, name, "#!/bin/sh\n"+evil+"\n")
		_ = os.Chmod(filepath.Join(dir, name), 0o755)
	}
}

// evilRepo makes a repository whose own configuration and hooks are traps.
func evilRepo(a *agent, evil string) string {
	dir := filepath.Join(a.home, "evil")
	if !exists(dir) {
		git(a.t, "/", "init", "-q", dir)
		git(a.t, dir, "commit", "-q", "--allow-empty", "-m", "x")
		git(a.t, dir, "config", "core.fsmonitor", evil)
		plantHooks(a, filepath.Join(dir, ".git/hooks"), evil)
	}
	return dir
}

func traps() []trap {
	return []trap{
		{"core.fsmonitor", inConfig("core.fsmonitor", "EVIL"), true},
		{"core.hooksPath", func(a *agent, evil string) {
			plantHooks(a, filepath.Join(a.home, "hooks"), evil)
			inConfig("core.hooksPath", filepath.Join(a.home, "hooks"))(a, evil)
		}, true},
		{"hooks", func(a *agent, evil string) { plantHooks(a, filepath.Join(a.mirror(), "hooks"), evil) }, true},
		{"diff.external", inConfig("diff.external", "EVIL"), true},
		{"diff driver textconv", withAttributes(inConfig("diff.evil.textconv", "EVIL")), true},
		{"diff driver command", withAttributes(inConfig("diff.evil.command", "EVIL")), true},
		{"filter.clean", withAttributes(inConfig("filter.evil.clean", "EVIL; cat")), true},
		{"filter.smudge", withAttributes(inConfig("filter.evil.smudge", "EVIL; cat")), true},
		{"filter.process", withAttributes(inConfig("filter.evil.process", "EVIL", "filter.evil.required", "true")), true},
		{"filter.lfs", func(a *agent, evil string) {
			write(a.t, a.path, ".gitattributes", "* filter=lfs\n")
			inConfig("filter.lfs.clean", "EVIL; cat", "filter.lfs.smudge", "EVIL; cat")(a, evil)
		}, true},
		{"merge driver", withAttributes(inConfig("merge.evil.driver", "EVIL")), true},
		{"gpg.program", inConfig("gpg.program", "EVIL", "commit.gpgSign", "true", "log.showSignature", "true", "tag.gpgSign", "true"), true},
		{"core.sshCommand", inConfig("core.sshCommand", "EVIL", "remote.origin.url", "ssh://example.invalid/x"), true},
		{"ext remote", inConfig("protocol.ext.allow", "always", "remote.origin.url", "ext::EVIL"), true},
		{"url rewritten to ext", func(a *agent, evil string) {
			inConfig("protocol.ext.allow", "always", "url.ext::"+evil+" .insteadOf", "/", "remote.origin.url", "/x")(a, evil)
		}, true},
		{"config.worktree", func(a *agent, evil string) {
			inConfig("extensions.worktreeConfig", "true")(a, evil)
			text := "[core]\n\tfsmonitor = \"" + evil + "\"\n"
			write(a.t, a.mirror(), "config.worktree", text)
			write(a.t, filepath.Join(a.mirror(), "worktrees/brave-otter"), "config.worktree", text)
		}, true},
		{"replaced .git file", func(a *agent, evil string) {
			write(a.t, a.path, ".git", "gitdir: "+filepath.Join(evilRepo(a, evil), ".git")+"\n")
		}, true},
		{"replaced .git folder", func(a *agent, evil string) {
			_ = os.RemoveAll(filepath.Join(a.path, ".git"))
			_ = os.CopyFS(filepath.Join(a.path, ".git"), os.DirFS(filepath.Join(evilRepo(a, evil), ".git")))
		}, true},
		{"replaced commondir", func(a *agent, evil string) {
			write(a.t, filepath.Join(a.mirror(), "worktrees/brave-otter"), "commondir", filepath.Join(evilRepo(a, evil), ".git")+"\n")
		}, true},
		{"commondir of the mirror", func(a *agent, evil string) {
			write(a.t, a.mirror(), "commondir", filepath.Join(evilRepo(a, evil), ".git")+"\n")
		}, false},
		{"gitdir of the worktree", func(a *agent, evil string) {
			write(a.t, filepath.Join(a.mirror(), "worktrees/brave-otter"), "gitdir", filepath.Join(evilRepo(a, evil), ".git")+"\n")
		}, false},
		{"include.path", func(a *agent, evil string) {
			write(a.t, a.home, "included", "[core]\n\tfsmonitor = \""+evil+"\"\n")
			inConfig("include.path", filepath.Join(a.home, "included"))(a, evil)
		}, true},
		{"includeIf", func(a *agent, evil string) {
			write(a.t, a.home, "included", "[core]\n\tfsmonitor = \""+evil+"\"\n")
			inConfig("includeIf.gitdir:/**.path", filepath.Join(a.home, "included"))(a, evil)
		}, true},
		{"config is a link", func(a *agent, evil string) {
			write(a.t, a.home, "linked", read(a.t, filepath.Join(a.mirror(), "config"))+"[core]\n\tfsmonitor = \""+evil+"\"\n")
			_ = os.Remove(filepath.Join(a.mirror(), "config"))
			_ = os.Symlink(filepath.Join(a.home, "linked"), filepath.Join(a.mirror(), "config"))
		}, true},
		{"alias", inConfig("alias.status", "!EVIL", "alias.diff", "!EVIL", "alias.fetch", "!EVIL", "alias.worktree", "!EVIL"), false},
		{"pager", inConfig("core.pager", "EVIL", "pager.status", "EVIL", "pager.diff", "EVIL", "pager.log", "EVIL"), false},
		{"editor", inConfig("core.editor", "EVIL", "sequence.editor", "EVIL"), false},
		{"credential.helper", inConfig("credential.helper", "!EVIL", "core.askPass", "EVIL"), false},
		{"uploadpack.packObjectsHook", inConfig("uploadpack.packObjectsHook", "EVIL"), false},
		{"alternateRefsCommand", func(a *agent, evil string) {
			write(a.t, a.mirror(), "objects/info/alternates", filepath.Join(evilRepo(a, evil), ".git/objects")+"\n")
			inConfig("core.alternateRefsCommand", "EVIL")(a, evil)
		}, false},
		{"gc and maintenance", inConfig("gc.auto", "1", "gc.recentObjectsHook", "EVIL", "maintenance.auto", "true"), false},
		{"nested repository", func(a *agent, evil string) {
			dir := filepath.Join(a.path, "nested")
			if !exists(dir) {
				_ = os.CopyFS(dir, os.DirFS(evilRepo(a, evil)))
			}
		}, false},
		{"gitlink with an evil repository", func(a *agent, evil string) {
			dir := filepath.Join(a.path, "nested")
			if !exists(dir) {
				_ = os.CopyFS(dir, os.DirFS(evilRepo(a, evil)))
				write(a.t, dir, "inside", "x")
				_, _ = tryGit(a.path, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "update-index", "--add", "--cacheinfo",
					"160000,"+git(a.t, evilRepo(a, evil), "-c", "core.fsmonitor=false", "rev-parse", "HEAD")+",nested")
			}
			inConfig("submodule.recurse", "true", "diff.submodule", "log", "status.submoduleSummary", "true")(a, evil)
		}, true},
	}
}

// trapLab is a lab with an agent that has committed and uncommitted work, and a
// command that leaves a mark when it runs.
func trapLab(t *testing.T) (a *agent, evil string, ran func() string) {
	t.Helper()
	l := newLab(t)
	a = l.add("brave-otter")
	a.commit("x.txt", "x\n")
	write(t, a.path, "README.md", "changed\n")
	mark := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >> "+mark+"\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return a, script, func() string {
		data, _ := os.ReadFile(mark)
		_ = os.Remove(mark)
		return string(data)
	}
}

// springTraps does what a person or a careless tool would do, until something ran.
func springTraps(a *agent, ran func() string) bool {
	for _, args := range [][]string{
		{"status"}, {"diff"}, {"log", "-p", "--ext-diff"}, {"add", "-A"}, {"commit", "-qm", "x"}, {"log", "-1"},
		{"fetch", "origin"}, {"checkout", "-q", "-b", "side", "HEAD~1"}, {"commit", "-q", "--allow-empty", "-m", "y"},
		{"checkout", "-q", "HEAD", "--", "."},
	} {
		_, _ = tryGit(a.path, args...)
		if ran() != "" {
			return true
		}
	}
	write(a.t, a.path, "README.md", "one way\n")
	_, _ = tryGit(a.path, "commit", "-qam", "one way")
	_, _ = tryGit(a.path, "checkout", "-q", "-b", "other", "HEAD~1")
	write(a.t, a.path, "README.md", "another way\n")
	_, _ = tryGit(a.path, "commit", "-qam", "another way")
	_, _ = tryGit(a.path, "merge", "-q", "side")
	_, _ = tryGit(a.mirror(), "worktree", "add", "-q", "--detach", filepath.Join(a.home, "plain"), "refs/remotes/origin/main")
	_, _ = tryGit(a.mirror(), "fsmonitor--daemon", "status")
	_, _ = tryGit(a.mirror(), "log", "-1")
	return ran() != ""
}

// TestTrapsSpringOnPlainGit is the control: it proves that the traps work.
func TestTrapsSpringOnPlainGit(t *testing.T) {
	t.Parallel()
	for _, trap := range draw.Third(traps()) {
		t.Run(trap.name, func(t *testing.T) {
			t.Parallel()
			a, evil, ran := trapLab(t)
			trap.plant(a, evil)
			ran()
			if hit := springTraps(a, ran); hit != trap.springs {
				t.Errorf("executed by plain git: %v, want %v", hit, trap.springs)
			}
		})
	}
}

// operation is one of the package's.
type operation struct {
	name string
	do   func() error
}

// mergeOperations are those by which the agent's work is merged and landed.
func mergeOperations(a *agent) []operation {
	t, i := a.t, a.initiative("goal")
	base, head := a.req.Base.Commit, git(a.t, a.path, "rev-parse", "HEAD")
	known, scratch := "", filepath.Join(a.home, "scratch")
	other := a.commitOn([]string{base}, map[string]string{"x.txt": "another way\n", ".gitattributes": "* merge=evil filter=evil diff=evil\n"})
	return []operation{
		{"EnsureIntegration", func() (err error) {
			req := IntegrationRequest{Project: a.p, InitiativeID: i.id, Branch: i.branch, Base: a.req.Base}
			known, _, err = a.m.EnsureIntegration(ctx(t), req)
			return err
		}},
		{"TryMerge", func() error {
			r, err := a.m.TryMerge(ctx(t), a.mergeRequest(base, head))
			if err == nil {
				known = r.Commit
			}
			return err
		}},
		{"TryMerge of what conflicts", func() error {
			r, err := a.m.TryMerge(ctx(t), a.mergeRequest(other, head))
			if err == nil && len(r.Conflicts) != 1 {
				err = fmt.Errorf("%+v", r)
			}
			return err
		}},
		{"CheckReserved", func() error { _, err := a.m.CheckReserved(ctx(t), a.p, base, head); return err }},
		{"DiffCommits", func() error { _, err := a.m.DiffCommits(ctx(t), a.p, base, head, cw.DiffRequest{}); return err }},
		{"AddScratch", func() error { _, err := a.m.AddScratch(ctx(t), a.p, known, scratch, nil); return err }},
		{"ScratchChanged", func() error { _, err := a.m.ScratchChanged(ctx(t), a.p, scratch, known); return err }},
		{"RemoveScratch", func() error { return a.m.RemoveScratch(ctx(t), a.p, scratch) }},
		{"MoveIntegration", func() error { return a.m.MoveIntegration(ctx(t), a.p, i.id, i.branch, base, known) }},
		{"PublishIntegration", func() error { _, err := a.m.PublishIntegration(ctx(t), a.p, i.branch, known); return err }},
		{"Land, dry", func() error {
			req := a.landRequest(known)
			req.DryRun = true
			_, err := a.m.Land(ctx(t), req)
			return err
		}},
	}
}

// TestHostile plants every trap anew before every operation of the package:
// nothing is ever executed.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, trap := range draw.Third(traps()) {
		t.Run(trap.name, func(t *testing.T) {
			t.Parallel()
			a, evil, ran := trapLab(t)
			user := snapshot(t, a.repo)
			merging := mergeOperations(a)
			trap.plant(a, evil) // twice: what plain git executes meanwhile does not count
			ran()
			other := a.request("calm-fox")
			third := a.request("keen-lynx")
			third.Base = Base{Commit: a.req.Base.Commit} // fetched, not known as a tip
			operations := []operation{
				{"Inspect", func() error { _, err := a.m.Inspect(ctx(t), a.repo); return err }},
				{"ResolveBase", func() error { _, err := a.m.ResolveBase(ctx(t), a.repo, "main"); return err }},
				{"DirtyFiles", func() error { _, err := a.m.DirtyFiles(ctx(t), a.repo); return err }},
				{"Identity", func() error { _, _, _, err := a.m.Identity(ctx(t), a.p); return err }},
				{"Look", func() error {
					look, err := a.m.Look(ctx(t), a.lookRequest())
					if err == nil && !slices.Contains(look.Dirty, "README.md") && look.Head != "" {
						return fmt.Errorf("README.md is not seen: %+v", look)
					}
					return err
				}},
				{"Diff", func() error { _, err := a.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{}); return err }},
				{"Add", func() error { _, err := a.m.Add(ctx(t), other); return err }},
				{"Add fetched", func() error { _, err := a.m.Add(ctx(t), third); return err }},
				{"HandOver", func() error { _, err := a.m.HandOver(ctx(t), a.p, a.req.AgentID, a.req.Alias, ""); return err }},
				{"Discard", func() error { return a.m.Discard(ctx(t), a.p, other.Alias, other.Path) }},
				{"EnsureMirror", func() error {
					git(t, a.repo, "branch", "-f", "moved", git(t, a.repo, "commit-tree", "-m", time.Now().String(), "HEAD^{tree}"))
					_, err := a.m.EnsureMirror(ctx(t), a.p)
					return err
				}},
			}
			operations = append(operations, merging...)
			var snap Snapshot
			trash := a.trashPath()
			thirdLook := LookRequest{Project: a.p, AgentID: third.AgentID, Alias: third.Alias, Path: third.Path, BaseCommit: third.Base.Commit}
			ensure := func(req EnsureRequest, from string) error {
				out, err := a.m.Ensure(ctx(t), req)
				if err == nil && out.From != from {
					return fmt.Errorf("from %s, want %s", out.From, from)
				}
				return err
			}
			operations = append(operations, []operation{
				{"RemoveClean of a dirty one", func() error {
					removed, _, err := a.m.RemoveClean(ctx(t), a.lookRequest())
					if removed {
						return errors.New("it is gone")
					}
					return err
				}},
				{"RemoveClean", func() error {
					removed, why, err := a.m.RemoveClean(ctx(t), thirdLook)
					if !removed && err == nil {
						return errors.New(why)
					}
					return err
				}},
				{"Ensure from the branch", func() error {
					return ensure(EnsureRequest{LookRequest: thirdLook, Base: third.Base, Checkout: a.repo}, fromBranch)
				}},
				{"TakeSnapshot", func() (err error) { snap, err = a.m.TakeSnapshot(ctx(t), a.lookRequest(), "one"); return err }},
				{"TakeSnapshot again", func() error { _, err := a.m.TakeSnapshot(ctx(t), a.lookRequest(), "one"); return err }},
				{"Ensure what is there", func() error { return ensure(a.ensureRequest(), fromPresent) }},
				{"MoveToTrash", func() error { _, err := a.m.MoveToTrash(ctx(t), a.lookRequest(), trash); return err }},
				{"SnapshotHolds", func() error { _, _, err := a.m.SnapshotHolds(ctx(t), a.lookRequest(), trash, snap.Ref); return err }},
				{"Ensure from the trash", func() error { return ensure(a.ensureRequest(), fromTrash) }},
				{"MoveToTrash again", func() error { _, err := a.m.MoveToTrash(ctx(t), a.lookRequest(), trash); return err }},
				{"Purge", func() error {
					return a.m.Purge(ctx(t), PurgeRequest{Project: a.p, AgentID: a.req.AgentID, Alias: a.req.Alias, Path: a.path, Trash: trash})
				}},
				{"Ensure from the snapshot", func() error {
					req := a.ensureRequest()
					req.KeepRef = snap.Ref
					return ensure(req, fromSnapshot)
				}},
				{"DropSnapshot", func() error { return a.m.DropSnapshot(ctx(t), a.p, snap.Ref) }},
				{"Ensure with another mirror", func() error {
					_ = os.RemoveAll(filepath.Join(a.mirror(), "objects"))
					_ = os.RemoveAll(filepath.Join(a.mirror(), "refs"))
					_, err := a.m.Ensure(ctx(t), EnsureRequest{LookRequest: thirdLook, Base: third.Base})
					return err
				}},
			}...)
			for _, op := range operations {
				at := *a // what was taken away is planted where it lies now
				if !exists(a.path) {
					at.path = trash
				}
				if !exists(at.path) {
					at.path = filepath.Join(t.TempDir(), "nowhere")
				}
				trap.plant(&at, evil)
				ran()
				if err := op.do(); err != nil {
					t.Errorf("%s: %v", op.name, err)
				}
				if hit := ran(); hit != "" {
					t.Errorf("%s executed %s", op.name, hit)
				}
			}
			for _, path := range changes(user, snapshot(t, a.repo)) {
				if strings.HasPrefix(path, ".git/refs/heads/agent") || strings.HasPrefix(path, ".git/logs/refs/heads/agent") || strings.HasSuffix(path, "refs/heads/moved") ||
					strings.HasPrefix(path, ".git/refs/remotes") || strings.HasPrefix(path, ".git/logs/refs/remotes") {
					continue
				}
				t.Errorf("%s of the user's repository changed", path)
			}
			wantRestored(t, trap.name, a.takeRestored())
		})
	}
}

// wantRestored checks that tampering with shared files was told.
func wantRestored(t *testing.T, name string, restored []string) {
	t.Helper()
	onlyWorktree := []string{"replaced .git file", "replaced .git folder", "nested repository"}
	if told := len(restored) > 0; told == slices.Contains(onlyWorktree, name) {
		t.Errorf("restored %v", restored)
	}
}

// TestForms lists every form of git call of the package and where it runs: a
// new one must be looked at here, since each can execute something else.
func TestForms(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	git(t, repo, "submodule", "--quiet", "add", newRepo(t), "lib")
	git(t, repo, "commit", "-qm", "lib")
	l := newLabFor(t, repo)
	l.calls = nil
	write(t, repo, includeFile, ".env\n")
	write(t, repo, ".env", "x")
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, repo, "worktree", "add", "-q", "--detach", linked)
	m := l.m
	_, _ = m.Inspect(ctx(t), linked)
	_, _ = m.Inspect(ctx(t), filepath.Join(repo, ".git"))
	for _, base := range []string{"", "main", "maim", "HEAD:README.md"} {
		_, _ = m.ResolveBase(ctx(t), repo, base)
	}
	_, _ = m.DirtyFiles(ctx(t), repo)
	_, _, _, _ = m.Identity(ctx(t), l.p)
	a := l.add("brave-otter")
	a.commit("x", "x")
	a.handOver()
	a.commit("y", "y")
	a.handOver()
	detached := l.request("calm-fox")
	detached.Base.Branch = ""
	l.addRequest(detached)
	_ = m.Discard(ctx(t), l.p, detached.Alias, detached.Path)
	_ = os.Remove(filepath.Join(l.mirror(), "worktrees/brave-otter/index"))
	_, _ = m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{})
	git(t, a.path, "reset", "-q")
	write(t, a.path, "untracked", "x")
	write(t, a.path, "lib/untracked", "x")
	snap := a.keep("one")
	a.keep("one")
	m.packing = packingIs(packPrune)
	_ = m.Pack(ctx(t), l.p)
	_ = m.Pack(ctx(t), l.p)
	trash := a.toTrash()
	_, _, _ = m.SnapshotHolds(ctx(t), a.lookRequest(), trash, snap.Ref)
	a.purge(trash)
	a.ensureFrom("", snap.Ref, fromSnapshot)
	_ = m.DropSnapshot(ctx(t), l.p, snap.Ref)
	_, _, _ = m.RemoveClean(ctx(t), a.lookRequest())
	_ = os.RemoveAll(filepath.Join(l.mirror(), "worktrees"))
	a.ensureFrom("", "", fromPresent)
	_ = os.RemoveAll(filepath.Join(l.mirror(), "objects"))
	_, _ = m.Ensure(ctx(t), a.ensureRequest())
	// The binary in place of go-git.
	fallback := newLabFor(t, newRepo(t, "--object-format=sha256"))
	fallback.calls = nil
	fb := fallback.add("brave-otter")
	fb.commit("x", "x")
	fb.look()
	fb.handOver()

	seen := map[string]bool{}
	for _, c := range append(l.calls, fallback.calls...) {
		seen[c.place+" "+c.args[0]] = true
		for i, arg := range c.args {
			if strings.HasPrefix(arg, "-") && i > 0 && slices.Contains(c.args[:i], "--end-of-options") && arg != "--" {
				t.Errorf("an option after --end-of-options: %q", c.args)
			}
		}
	}
	want := []string{
		"mirror cat-file", "mirror checkout", "mirror clone", "mirror config", "mirror fetch", "mirror for-each-ref", "mirror ls-tree", "mirror merge-base",
		"mirror prune", "mirror read-tree", "mirror repack", "mirror rev-list", "mirror update-ref", "mirror worktree",
		"shadow commit-tree", "shadow diff", "shadow fast-import", "shadow log", "shadow ls-files", "shadow ls-tree", "shadow read-tree",
		"shadow rev-list", "shadow status", "shadow update-index", "shadow write-tree",
		"user cat-file", "user check-ignore", "user config", "user fetch", "user for-each-ref", "user ls-files", "user rev-parse", "user status",
		"user symbolic-ref", "user worktree",
	}
	var got []string
	for form := range seen {
		got = append(got, form)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("git is called as\n%q, listed are\n%q", got, want)
	}
}

// TestEnvironmentIsClean: variables of the daemon's environment that steer git
// have no effect.
func TestEnvironmentIsClean(t *testing.T) {
	a, evil, ran := trapLab(t)
	for name, value := range map[string]string{
		"GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere", "GIT_INDEX_FILE": "/nowhere", "GIT_EXTERNAL_DIFF": evil, "GIT_SSH_COMMAND": evil,
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": evil, "GIT_PAGER": evil, "GIT_EDITOR": evil,
		"GIT_CONFIG_PARAMETERS": "'diff.external=" + evil + "'", "GIT_OBJECT_DIRECTORY": "/nowhere", "GIT_NAMESPACE": "x", "GIT_TRACE": "1",
		"GIT_EXEC_PATH": "/nowhere", "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8",
	} {
		t.Setenv(name, value)
	}
	if _, err := a.m.Inspect(ctx(t), a.repo); err != nil {
		t.Error(err)
	}
	if look := a.look(); look.Commits != 1 || !slices.Equal(look.Dirty, []string{"README.md"}) {
		t.Errorf("%+v", look)
	}
	if _, err := a.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{}); err != nil {
		t.Error(err)
	}
	a.handOver()
	a.add("calm-fox")
	if hit := ran(); hit != "" {
		t.Errorf("executed %s", hit)
	}
}

// TestGuardTells checks the names of what is restored, and that it is restored.
func TestGuardTells(t *testing.T) {
	t.Parallel()
	tests := map[string]func(a *agent){
		"config":                          func(a *agent) { git(a.t, a.mirror(), "config", "x.y", "z") },
		"HEAD":                            func(a *agent) { write(a.t, a.mirror(), "HEAD", "ref: refs/heads/main\n") },
		"hooks":                           func(a *agent) { write(a.t, a.mirror(), "hooks/pre-commit", "x") },
		"info/exclude":                    func(a *agent) { write(a.t, a.mirror(), "info/exclude", "*\n") },
		"info/attributes":                 func(a *agent) { write(a.t, a.mirror(), "info/attributes", "* -text\n") },
		"info/global-exclude":             func(a *agent) { _ = os.Remove(filepath.Join(a.mirror(), "info/global-exclude")) },
		"info/grafts":                     func(a *agent) { write(a.t, a.mirror(), "info/grafts", "x\n") },
		"config.worktree":                 func(a *agent) { write(a.t, a.mirror(), "config.worktree", "") },
		"commondir":                       func(a *agent) { write(a.t, a.mirror(), "commondir", "/x\n") },
		"worktrees/brave-otter/commondir": func(a *agent) { write(a.t, a.mirror(), "worktrees/brave-otter/commondir", "/x\n") },
		"worktrees/brave-otter/gitdir":    func(a *agent) { write(a.t, a.mirror(), "worktrees/brave-otter/gitdir", "/x\n") },
		"worktrees/brave-otter/config.worktree": func(a *agent) {
			write(a.t, a.mirror(), "worktrees/brave-otter/config.worktree", "")
		},
	}
	for name, tamper := range tests {
		t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			a := l.add("brave-otter")
			tamper(a)
			a.handOver()
			if got := l.takeRestored(); !slices.Equal(got, []string{name}) {
				t.Errorf("restored %v", got)
			}
			a.handOver()
			l.ensure()
			if got := l.takeRestored(); got != nil {
				t.Errorf("restored again: %v", got)
			}
			git(t, a.path, "status")
		})
	}
}

// TestGuardAgainstWorse replaces whole parts of the mirror by something else.
func TestGuardAgainstWorse(t *testing.T) {
	t.Parallel()
	tests := map[string]func(dir string) error{
		"info is a link":     func(dir string) error { _ = os.RemoveAll(dir + "/info"); return os.Symlink("/tmp", dir+"/info") },
		"info is a file":     func(dir string) error { _ = os.RemoveAll(dir + "/info"); return os.WriteFile(dir+"/info", nil, 0o600) },
		"config is a folder": func(dir string) error { _ = os.Remove(dir + "/config"); return os.MkdirAll(dir+"/config/x", 0o700) },
		"HEAD is gone":       func(dir string) error { return os.Remove(dir + "/HEAD") },
		"hooks is a link":    func(dir string) error { return os.Symlink("/tmp", dir+"/hooks") },
		"config is huge":     func(dir string) error { return os.Truncate(dir+"/config", 1<<40) },
	}
	for name, tamper := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			a := l.add("brave-otter")
			if err := tamper(l.mirror()); err != nil {
				t.Fatal(err)
			}
			a.look()
			l.add("calm-fox")
			if got := l.takeRestored(); len(got) == 0 {
				t.Error("nothing was told")
			}
		})
	}
}

// TestLockOutlivesUs: when cw is killed, its git goes on; nobody may clean up
// under it.
func TestLockOutlivesUs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.ensure()
	x, err := l.m.openMirror(ctx(t), l.p)
	if err != nil {
		t.Fatal(err)
	}
	lock := l.mirror() + ".lock"
	l.m.git.started = func(*exec.Cmd) {
		x.close() // as the system does for a process that was killed
		if f, err := tryLock(lock); f != nil || err != nil {
			t.Errorf("the lock is free while git runs: %v", err)
		}
	}
	if _, err := x.git(ctx(t), nil, "-c", "alias.wait=!sleep 0.3", "wait"); err != nil {
		t.Fatal(err)
	}
	f, err := tryLock(lock)
	if f == nil || err != nil {
		t.Fatalf("the lock is not free afterwards: %v", err)
	}
	_ = f.Close()
}

func TestLock(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.ensure()
	x, err := l.m.openMirror(ctx(t), l.p)
	if err != nil {
		t.Fatal(err)
	}
	lock := l.mirror() + ".lock"
	if f, err := tryLock(lock); f != nil || err != nil {
		t.Errorf("a second lock: %v, %v", f, err)
	}
	x.close()
	f, err := tryLock(lock)
	if f == nil || err != nil {
		t.Fatalf("after closing: %v", err)
	}
	// Removed and made anew while somebody held it: the old one counts no more.
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	g, err := tryLock(lock)
	if g == nil || err != nil {
		t.Fatalf("a new lock: %v", err)
	}
	if sameFile(f, lock) {
		t.Error("the removed lock passes for the new one")
	}
	_, _ = f.Close(), g.Close()
	_, err = l.m.openMirror(ctx(t), cw.Project{Name: "x", Mirror: "none-abcd.git"})
	wantCode(t, err, cw.CodeNotFound)
}
