package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// LandRequest asks for an initiative's branch to be brought onto a branch of the
// user's.
type LandRequest struct {
	Project     cw.Project
	Branch      string    // cw/<slug>
	Head        string    // the commit to land, full id, in the mirror
	Into        string    // short name of the user's branch
	Base        string    // a commit that Into must have, full id: one that was rewritten would get back what was taken out; "" for none
	Message     string    // of a merge commit; "" for one that names both branches
	Name, Email string    // of its author and committer
	At          time.Time // of both
	DryRun      bool      // tell what would be done
}

// How a branch was landed.
const (
	landUpToDate    = "up-to-date"
	landFastForward = "fast-forward"
	landCheckedOut  = "checked-out"
	landMerge       = "merge"
)

// Land brings a commit onto a branch of the user's repository: forward where it
// can be, else by a merge commit. A branch that is checked out nowhere is moved if
// it is still where it was. In a checkout without changes git merge --ff-only is
// run, the only command of cw's that changes files of the user's; the user's hooks
// do not run. In the clone of a remote project the branch moves there, nothing is
// pushed, and the next fetch of the remote takes it back: Note says so. Nothing else is touched, and on an error nothing at all. Asked again
// it is up to date.
//
// CodeNotFound when there is no such branch, with the nearest names. CodeRefused,
// with what to do, when it is checked out with changes or in the middle of
// something, when both sides conflict, and when it moved meanwhile.
func (m *Manager) Land(ctx context.Context, req LandRequest) (cw.Landing, error) {
	if err := req.valid(); err != nil {
		return cw.Landing{}, err
	}
	if err := m.checkProject(ctx, req.Project); err != nil {
		return cw.Landing{}, err
	}
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return cw.Landing{}, err
	}
	defer x.close()
	l := lander{mirror: x, req: req, ref: "refs/heads/" + req.Into}
	if err := l.prepare(ctx); err != nil {
		return cw.Landing{}, err
	}
	if l.out.How != landUpToDate && !req.DryRun {
		if err := l.act(ctx); err != nil {
			return cw.Landing{}, err
		}
		m.fail.Hit("worktree/landed")
	}
	return l.out, nil
}

func (r LandRequest) valid() error {
	if err := validIntegrationBranch(r.Branch); err != nil {
		return err
	}
	switch {
	case !fullID().MatchString(r.Head):
		return fmt.Errorf("land %s: %q is no full id", r.Branch, r.Head)
	case r.Into == "":
		return cw.Errorf(cw.CodeInvalid, "%s began from no branch, so it is not known where it belongs", r.Branch).WithHint("name the branch: --into BRANCH")
	case !safeRef("refs/heads/"+r.Into) || strings.HasPrefix(r.Into, "-"):
		return cw.Errorf(cw.CodeInvalid, "%q is no name of a branch", r.Into).WithHint("name a branch of your repository: --into BRANCH")
	}
	return nil
}

// lander lands one branch.
type lander struct {
	*mirror
	req LandRequest
	ref string // the branch to move
	out cw.Landing
	// Paths that come with it, and that go.
	added, gone []string
}

// prepare finds out what is to be done. It changes nothing at the user's.
func (l *lander) prepare(ctx context.Context) error {
	have, err := l.target(ctx)
	if err != nil {
		return err
	}
	l.out = cw.Landing{
		ProjectID: l.p.ID, Project: l.p.Name, Branch: l.req.Branch, Head: l.req.Head, Into: l.req.Into, Before: have, After: have, How: landUpToDate,
	}
	drop, err := l.bringTarget(ctx, have)
	if err != nil {
		return err
	}
	defer drop()
	if err := l.notRewritten(ctx, have); err != nil {
		return err
	}
	if err := l.plan(ctx, have); err != nil {
		return err
	}
	if l.p.Remote() && l.out.How != landUpToDate {
		l.out.Note = fmt.Sprintf("nothing was pushed: %[1]s is at its new commit in cw's clone alone, and goes back to the remote's when that is fetched; push it: git -C %[2]s push %[3]s %[1]s; or: cw pr create %[4]s",
			l.req.Into, l.p.GitDir, l.p.RemoteURL, strings.TrimPrefix(l.req.Branch, integrationRoot))
	}
	if l.out.How == landUpToDate {
		return nil
	}
	if l.out.Checkout, err = l.checkout(ctx); err != nil {
		return err
	}
	if l.out.Checkout != "" && l.out.How == landFastForward {
		l.out.How = landCheckedOut
	}
	return nil
}

// notRewritten refuses a branch that had the commit that work began from, and has
// it no more.
func (l *lander) notRewritten(ctx context.Context, have string) error {
	if l.req.Base == "" {
		return nil
	}
	gone, err := l.notThere(ctx, []string{l.req.Base})
	if err != nil || len(gone) > 0 {
		return err
	}
	has, err := l.isAncestor(ctx, l.req.Base, have)
	if err != nil || has {
		return err
	}
	return cw.Errorf(cw.CodeRefused, "%s was rewritten: it does not have the commit %.12s any more, from which %s began, and would get that back", l.req.Into, l.req.Base, l.req.Branch).
		WithHint("when that is wanted: --into %s; else bring over what was done by hand: git cherry-pick", l.req.Into)
}

// target finds the user's branch.
func (l *lander) target(ctx context.Context) (string, error) {
	all, err := l.m.userRefs(l.p.GitDir).list(ctx, "refs/heads/")
	if err != nil {
		return "", userError(l.p.Where(), err)
	}
	i := slices.IndexFunc(all, func(r reference) bool { return r.name == l.ref })
	if i < 0 {
		var names []string
		for _, r := range all {
			names = append(names, strings.TrimPrefix(r.name, "refs/heads/"))
		}
		unknown := cw.Errorf(cw.CodeNotFound, "%s has no branch %s", l.p.Where(), l.req.Into)
		if near := nearest(l.req.Into, names); len(near) > 0 {
			return "", unknown.WithHint("did you mean %s?", strings.Join(near, ", "))
		}
		return "", unknown.WithHint("make it first: git -C %s branch %s", cmp.Or(l.p.Path, l.p.GitDir), l.req.Into)
	}
	out, err := l.m.git.run(ctx, inUserRepo(l.p.GitDir), nil, "symbolic-ref", "--quiet", l.ref)
	if err == nil {
		return "", cw.Errorf(cw.CodeRefused, "branch %s is another name for %s", l.req.Into, strings.TrimPrefix(line(out), "refs/heads/")).
			WithHint("name the branch itself: --into %s", strings.TrimPrefix(line(out), "refs/heads/"))
	}
	if exitCode(err) != 1 {
		return "", userError(l.p.Where(), err)
	}
	return all[i].id, nil
}

// bringTarget fetches the user's commit into the mirror, where merging is done.
// drop forgets it again.
func (l *lander) bringTarget(ctx context.Context, have string) (drop func(), err error) {
	nothing := func() {}
	known, err := l.hasTip(ctx, Base{Branch: l.req.Into, Commit: have})
	if err == nil && known {
		gone, gerr := l.notThere(ctx, []string{have})
		known, err = len(gone) == 0, gerr
	}
	if err != nil || known {
		return nothing, err
	}
	ref := "refs/cw/landing/" + strings.TrimPrefix(l.req.Branch, integrationRoot)
	if err := l.fetch(ctx, "--no-prune", "+"+have+":"+ref); err != nil {
		return nothing, fmt.Errorf("fetch %s: %w", l.req.Into, err)
	}
	return func() {
		ctx, cancel := cleanup(ctx)
		defer cancel()
		if _, err := l.git(ctx, nil, "update-ref", "-d", "--end-of-options", ref); err != nil {
			l.m.log.Warn("reference stays", "ref", ref, "error", err)
		}
	}, nil
}

// plan finds the commit that the branch gets, and measures it.
func (l *lander) plan(ctx context.Context, have string) error {
	message := l.req.Message
	if message == "" {
		message = fmt.Sprintf("Merge branch '%s' into %s", l.req.Branch, l.req.Into)
	}
	r, err := l.m.TryMerge(ctx, MergeRequest{
		Project: l.p, Onto: have, Head: l.req.Head, Strategy: cw.MergeCommit, Message: message,
		Name: l.req.Name, Email: l.req.Email, At: l.req.At,
	})
	switch {
	case cw.ErrorCode(err) == cw.CodeRefused:
		return cw.Errorf(cw.CodeRefused, "%s has no commit in common with %s: it was rewritten since, or is of something else", l.req.Into, l.req.Branch).
			WithHint("land it on a branch that has the commits it began from: --into BRANCH").Because(err)
	case err != nil:
		return err
	case r.UpToDate:
		return nil
	case len(r.Conflicts) > 0:
		return l.conflicting(r.Conflicts)
	case r.FastForward:
		l.out.How, l.out.After = landFastForward, l.req.Head
	default:
		l.out.How, l.out.After = landMerge, r.Commit
	}
	c, err := l.m.openCommits(ctx, l.p, have, l.out.After)
	if err != nil {
		return err
	}
	defer c.close()
	if l.out.Commits, err = c.count(ctx); err == nil {
		l.out.Stat, err = c.stat(ctx)
	}
	if err == nil {
		l.added, l.gone, err = c.comings(ctx)
	}
	if err != nil {
		return fmt.Errorf("measure %s: %w", l.req.Branch, err)
	}
	return nil
}

func (l *lander) conflicting(all []cw.MergeConflict) error {
	var paths []string
	for _, c := range all[:min(len(all), 10)] {
		paths = append(paths, fmt.Sprintf("%q", c.Path))
	}
	if len(all) > len(paths) {
		paths = append(paths, fmt.Sprintf("and %d more", len(all)-len(paths)))
	}
	return cw.Errorf(cw.CodeRefused, "%s conflicts with %s in %s", l.req.Branch, l.req.Into, strings.Join(paths, ", ")).
		WithHint("merge it by hand, in a checkout of %s: git fetch %s %s && git merge FETCH_HEAD", l.req.Into, l.dir, l.req.Head)
}

// checkout gives the folder where the branch is checked out, "" for none. It must
// be one in which nothing is lost.
func (l *lander) checkout(ctx context.Context) (string, error) {
	if l.p.Remote() {
		return "", nil
	}
	if what := heldBy(l.p.GitDir, l.req.Into); what != "" {
		return "", cw.Errorf(cw.CodeRefused, "%s of branch %s is under way in %s", what, l.req.Into, l.p.Where()).WithHint("finish or abort it, and try again")
	}
	trees, err := l.m.checkouts(ctx, inUserRepo(l.p.GitDir))
	if err != nil {
		return "", userError(l.p.Where(), err)
	}
	var dirs []string
	for _, t := range trees {
		if t.branch == l.ref && !t.bare {
			dirs = append(dirs, t.path)
		}
	}
	switch {
	case len(dirs) == 0:
		return "", nil
	case len(dirs) > 1:
		return "", cw.Errorf(cw.CodeRefused, "branch %s is checked out in %s", l.req.Into, strings.Join(dirs, " and ")).
			WithHint("leave it checked out in one of them, and try again")
	}
	return dirs[0], l.unchanged(ctx, dirs[0])
}

// heldBy names the operation that has a branch without having it checked out, and
// sets it at its end.
func heldBy(gitDir, branch string) string {
	admins := []string{gitDir}
	if linked, err := os.ReadDir(filepath.Join(gitDir, "worktrees")); err == nil {
		for _, e := range linked {
			admins = append(admins, filepath.Join(gitDir, "worktrees", e.Name()))
		}
	}
	for _, admin := range admins {
		for _, file := range [][2]string{{"rebase-merge/head-name", "a rebase"}, {"rebase-apply/head-name", "a rebase"}, {"BISECT_START", "a bisect"}} {
			text, err := readSmall(filepath.Join(admin, filepath.FromSlash(file[0])))
			name := strings.TrimSpace(string(text))
			if err == nil && (name == branch || name == "refs/heads/"+branch) {
				return file[1]
			}
		}
	}
	return ""
}

// unchanged refuses a checkout that is gone, in the middle of something, or has
// changes of tracked files.
func (l *lander) unchanged(ctx context.Context, dir string) error {
	if l.m.guards.Off("land-unchanged") {
		return nil
	}
	if !isDir(dir) {
		return cw.Errorf(cw.CodeRefused, "branch %s is checked out in %s, which is not there", l.req.Into, dir).
			WithHint("bring that folder back; or, if it is gone for good: git -C %s worktree prune", cmp.Or(l.p.Path, l.p.GitDir))
	}
	out, err := l.m.git.run(ctx, inCheckout(dir), nil, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return userError(dir, err)
	}
	if what := underWay(line(out)); what != "" {
		return cw.Errorf(cw.CodeRefused, "%s is under way in %s, where branch %s is checked out", what, dir, l.req.Into).
			WithHint("finish or abort it, and try again")
	}
	if lock := filepath.Join(line(out), "index.lock"); exists(lock) {
		return cw.Errorf(cw.CodeRefused, "another git is at work in %s, where branch %s is checked out", dir, l.req.Into).
			WithHint("try again when it is done; if none runs, a killed one left %s", lock)
	}
	out, err = l.m.git.run(ctx, inCheckout(dir), nil, append(statusArgs(), "--untracked-files=no")...)
	if err != nil {
		return userError(dir, err)
	}
	entries, err := parseStatus(out)
	if err != nil {
		return fmt.Errorf("read status of %s: %w", dir, err)
	}
	if len(entries) == 0 {
		return l.roomFor(dir)
	}
	var paths []string
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	return cw.Errorf(cw.CodeRefused, "branch %s is checked out in %s with changes: %s changed", l.req.Into, dir, some(paths)).
		WithHint("commit or stash them there, and try again; or check out another branch")
}

// roomFor refuses a checkout in which untracked files lie where new ones belong.
// git would too, but other projects may have landed by then.
func (l *lander) roomFor(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("look at %s: %w", dir, err)
	}
	defer root.Close()
	gone := map[string]bool{} // with all folders above; in whatever case, which some file systems do not tell apart
	for _, path := range l.gone {
		for p := strings.ToLower(path); p != "."; p = pathpkg.Dir(p) {
			gone[p] = true
		}
	}
	var taken []string
	for _, path := range l.added {
		if there := inTheWay(root, path); there != "" && !gone[strings.ToLower(there)] {
			taken = append(taken, fmt.Sprintf("%q", there))
		}
	}
	taken = slices.Compact(taken)
	if len(taken) > 0 {
		return l.wouldOverwrite(strings.Join(taken[:min(len(taken), 10)], ", "))
	}
	return nil
}

// inTheWay gives what lies at a path where a file is to be made, or above it where
// a folder is, "" for nothing.
func inTheWay(root *os.Root, path string) string {
	for p := pathpkg.Dir(path); p != "."; p = pathpkg.Dir(p) {
		if info, err := root.Lstat(p); err == nil && !info.IsDir() {
			return p
		}
	}
	info, err := root.Lstat(path)
	if err != nil {
		return ""
	}
	if info.IsDir() {
		if inside, err := readFolder(root, path); err == nil && len(inside) == 0 {
			return ""
		}
	}
	return path
}

func (l *lander) wouldOverwrite(paths string) error {
	return cw.Errorf(cw.CodeRefused, "branch %s is checked out, and untracked files there would be overwritten: %s", l.req.Into, paths).
		WithHint("move them away or commit them, and try again")
}

// act brings the commits and moves the branch.
func (l *lander) act(ctx context.Context) error {
	if err := l.userFetch(ctx, l.out.After); err != nil {
		return cw.Errorf(cw.CodeFailed, "%s could not be brought into %s", l.req.Branch, l.p.Where()).
			WithHint("nothing was changed; by hand, in a checkout: git fetch %s %s", l.dir, l.req.Branch).Because(err)
	}
	l.m.fail.Hit("worktree/land-fetched")
	// Fetching may have taken a while, in which people work.
	now, err := l.checkout(ctx)
	if err != nil {
		return err
	}
	if now != l.out.Checkout {
		return l.moved(nil)
	}
	if l.out.Checkout != "" {
		return l.forwardCheckout(ctx)
	}
	at := inUserRepo(l.p.GitDir)
	at.lock = l.lock
	if _, err := l.m.git.run(ctx, at, nil, "update-ref", "-m", "cw: land "+l.req.Branch, "--end-of-options", l.ref, l.out.After, l.out.Before); err != nil {
		if have, rerr := l.m.userRefs(l.p.GitDir).commit(ctx, l.ref); rerr != nil || have == l.out.Before {
			return fmt.Errorf("move %s: %w", l.req.Into, err)
		}
		return l.moved(err)
	}
	return nil
}

func (l *lander) moved(err error) error {
	return cw.Errorf(cw.CodeRefused, "branch %s was moved or checked out meanwhile", l.req.Into).WithHint("try again").Because(err)
}

// forwardCheckout runs git merge in the user's checkout. It looks at all files
// before it changes one, and is not ended in the middle when the caller lets go.
func (l *lander) forwardCheckout(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	at := inCheckout(l.out.Checkout)
	at.lock, at.limit = l.lock, transferLimit
	_, err := l.m.git.run(ctx, at, nil, "merge", "--quiet", "--ff-only", "--no-squash", "--commit", "--no-stat", "--no-autostash",
		"--no-overwrite-ignore", "--end-of-options", l.out.After)
	have, rerr := l.m.userRefs(l.p.GitDir).commit(ctx, l.ref)
	if rerr == nil && have == l.out.After {
		return nil
	}
	said := stderrOf(err)
	switch {
	case strings.Contains(said, "would be overwritten"), strings.Contains(said, "would lose untracked files"):
		return l.wouldOverwrite(overwritten(said))
	case rerr == nil && have != l.out.Before:
		return l.moved(err)
	}
	return cw.Errorf(cw.CodeRefused, "git did not move branch %s in %s: %s", l.req.Into, l.out.Checkout, firstFatal(said)).
		WithHint("see what keeps it: git -C %s merge --ff-only %s", l.out.Checkout, l.out.After).Because(err)
}

// overwritten finds the paths in git's complaint, which are on lines of their own
// that begin with a tab.
func overwritten(said string) string {
	var paths []string
	for row := range strings.Lines(said) {
		if path, ok := strings.CutPrefix(row, "\t"); ok {
			paths = append(paths, fmt.Sprintf("%q", strings.TrimSuffix(path, "\n")))
		}
	}
	if len(paths) == 0 {
		return firstFatal(said)
	}
	return strings.Join(paths, ", ")
}
