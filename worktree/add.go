package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

// AddRequest asks for a worktree.
type AddRequest struct {
	Project  cw.Project
	Checkout string // the user's checkout whose .worktreeinclude counts; "" for none
	AgentID  cw.AgentID
	Alias    string
	Path     string // where it will be; absolute, free, on any file system
	Base     Base   // from ResolveBase
	// InMirror tells that the base is a commit that the mirror has, such as the head
	// of an initiative's branch, and the user's repository need not.
	InMirror bool
	Include  []string // patterns beside those of .worktreeinclude
}

// Added is a worktree that is ready for its agent.
type Added struct {
	HeadCommit string            // the base
	Included   map[string]string // copied by .worktreeinclude: path → SHA-256
	Warnings   []string          // for people
}

// Add makes the worktree of an agent: branch agent/<alias> at the base, checked
// out at the path, locked against git's own clean-up. The mirror must be there
// (EnsureMirror). Asked again with the same alias it goes on after a killed try
// and gives the same answer; on an error nothing is left behind. CodeRefused
// when alias or path are taken by something else; CodeInvalid when the base
// needs a submodule that the user does not have.
func (m *Manager) Add(ctx context.Context, req AddRequest) (Added, error) {
	if err := req.valid(); err != nil {
		return Added{}, err
	}
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return Added{}, err
	}
	defer x.close()
	r, err := readRecord(x.dir, req.Alias)
	if err != nil {
		return Added{}, err
	}
	if r != nil {
		done, added, err := x.again(ctx, req, *r)
		if done || err != nil {
			return added, err
		}
	}
	return x.add(ctx, req)
}

func (r AddRequest) valid() error {
	if err := cw.ValidAlias(r.Alias); err != nil {
		return err
	}
	switch {
	case !cw.IsID(string(r.AgentID)):
		return fmt.Errorf("add worktree of %s: %q is no id", r.Alias, r.AgentID)
	case !filepath.IsAbs(r.Path), filepath.Clean(r.Path) != r.Path, strings.ContainsAny(r.Path, "\n\x00"):
		return fmt.Errorf("add worktree of %s: %q is no clean absolute path", r.Alias, r.Path)
	case !fullID().MatchString(r.Base.Commit):
		return fmt.Errorf("add worktree of %s: base %q is no full id", r.Alias, r.Base.Commit)
	}
	return nil
}

// again decides what an earlier record of the alias means: its worktree is
// whole, or half-made and to be undone first.
func (x *mirror) again(ctx context.Context, req AddRequest, r record) (done bool, added Added, err error) {
	if r.AgentID != req.AgentID || r.Path != req.Path || r.Base.Commit != req.Base.Commit {
		return false, Added{}, taken(req.Alias)
	}
	if !r.Whole {
		return false, Added{}, x.undo(ctx, r)
	}
	if !isDir(r.Path) || !isDir(filepath.Join(x.dir, "worktrees", r.Admin)) {
		return false, Added{}, cw.Errorf(cw.CodeRefused, "the worktree %s of %s is gone", r.Path, r.Alias).
			WithHint("start another agent")
	}
	return true, Added{HeadCommit: r.Base.Commit, Included: r.Included, Warnings: r.Warnings}, nil
}

func taken(alias string) error {
	return cw.Errorf(cw.CodeRefused, "the name %s is taken", alias).WithHint("choose another name")
}

// add makes a worktree where there is nothing of that name.
func (x *mirror) add(ctx context.Context, req AddRequest) (added Added, err error) {
	r := record{AgentID: req.AgentID, Alias: req.Alias, Path: req.Path, Base: req.Base}
	if err := x.free(ctx, r); err != nil {
		return Added{}, err
	}
	if r.Before, err = x.adminNames(); err != nil {
		return Added{}, err
	}
	if err := x.writeRecord(r); err != nil {
		return Added{}, err
	}
	x.m.fail.Hit("worktree/intent")
	defer func() {
		if err == nil {
			return
		}
		ctx, cancel := cleanup(ctx)
		defer cancel()
		if uerr := x.undo(ctx, r); uerr != nil {
			err = errors.Join(err, fmt.Errorf("undo: %w", uerr))
		}
	}()
	if err := x.addSteps(ctx, req, &r); err != nil {
		return Added{}, fmt.Errorf("add worktree of %s: %w", req.Alias, err)
	}
	return Added{HeadCommit: r.Base.Commit, Included: r.Included, Warnings: r.Warnings}, nil
}

// free makes sure that neither the path nor the branch holds anything.
func (x *mirror) free(ctx context.Context, r record) error {
	if exists(r.Path) && !isEmptyDir(r.Path) {
		return cw.Errorf(cw.CodeRefused, "%s already exists", r.Path).WithHint("move it away, or choose another name")
	}
	head, err := x.refs().commit(ctx, agentRef(r.Alias))
	if err != nil {
		return err
	}
	if head != "" {
		return taken(r.Alias)
	}
	return nil
}

func (x *mirror) addSteps(ctx context.Context, req AddRequest, r *record) error {
	if err := x.addBase(ctx, *r, req.InMirror); err != nil {
		return err
	}
	x.m.fail.Hit("worktree/base")
	if err := x.checkFilters(ctx, r.Base.Commit); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o700); err != nil {
		return err
	}
	// The branch exists already, made from a commit's id, so git sets up no
	// upstream (measured: doing so made 35 of 80 parallel adds fail on the lock
	// of the configuration). --lock from the start: git never prunes it.
	_, err := x.gitAt(ctx, x.transfer(), nil, "worktree", "add", "--quiet", "--lock", "--reason", "cw agent "+r.Alias,
		"--end-of-options", r.Path, agentBranch(r.Alias))
	if err != nil {
		return err
	}
	x.m.fail.Hit("worktree/added")
	if err := x.readLinks(r); err != nil {
		return err
	}
	if r.Warnings, err = x.addSubmodules(ctx, r, r.Base.Commit); err != nil {
		return err
	}
	x.m.fail.Hit("worktree/submodules")
	r.Warnings = append(r.Warnings, x.filterWarnings(r.Path)...)
	included, warnings, err := x.m.include(ctx, req.Checkout, r.Path, req.Include)
	if err != nil {
		return err
	}
	r.Included, r.Warnings = included, append(r.Warnings, warnings...)
	if err := x.noteCheckout(ctx, r, r.Base.Commit); err != nil {
		return err
	}
	x.m.fail.Hit("worktree/included")
	r.Whole, r.Before = true, nil
	if err := x.writeRecord(*r); err != nil {
		return err
	}
	x.m.fail.Hit("worktree/whole")
	return nil
}

// baseRef keeps the commit an agent started from, headRef the one it handed
// over, whatever becomes of the branches.
func baseRef(id cw.AgentID) string { return "refs/cw/base/" + string(id) }
func headRef(id cw.AgentID) string { return "refs/cw/head/" + string(id) }

// addBase brings the base into the mirror, keeps it, and makes the branch.
func (x *mirror) addBase(ctx context.Context, r record, inMirror bool) error {
	if err := x.bringOrFind(ctx, r, inMirror); err != nil {
		return err
	}
	stdin := fmt.Sprintf("update %s %s\ncreate %s %s\n", baseRef(r.AgentID), r.Base.Commit, agentRef(r.Alias), r.Base.Commit)
	makeBranch := func() error {
		_, err := x.git(ctx, []byte(stdin), "update-ref", "-m", "cw: start of "+r.Alias, "--create-reflog", "--stdin")
		return err
	}
	err := makeBranch()
	if err != nil && !isFinal(err) && x.reseed() == nil {
		// Somebody removed objects from the mirror; the user's repository has them.
		err = makeBranch()
	}
	if err != nil {
		return fmt.Errorf("make branch: %w", err)
	}
	return nil
}

// bringOrFind makes sure that the mirror has the base.
func (x *mirror) bringOrFind(ctx context.Context, r record, inMirror bool) error {
	if !inMirror {
		return x.bringBase(ctx, r.Base, baseRef(r.AgentID))
	}
	gone, err := x.notThere(ctx, []string{r.Base.Commit})
	if err == nil && len(gone) > 0 {
		err = cw.Errorf(cw.CodeNotFound, "commit %s is not in cw's copy of %s", r.Base.Commit, x.p.Name).
			WithHint("if you have it elsewhere, fetch it into your repository")
	}
	return err
}

// bringBase fetches a base from the user's repository to a reference, unless it
// is there.
func (x *mirror) bringBase(ctx context.Context, base Base, keep string) error {
	known, err := x.hasTip(ctx, base)
	if err != nil || known {
		return err
	}
	if err := x.fetch(ctx, "--no-prune", "+"+base.Commit+":"+keep); err != nil {
		return fmt.Errorf("fetch base: %w", err)
	}
	x.m.fail.Hit("worktree/fetched")
	return nil
}

// hasTip tells whether the base is the tip of the user's branch as the mirror
// has it: then the commit is there with all that belongs to it.
func (x *mirror) hasTip(ctx context.Context, base Base) (bool, error) {
	if base.Branch == "" || !safeRef("refs/heads/"+base.Branch) {
		return false, nil
	}
	tip, err := x.refs().commit(ctx, mirrorRef("refs/heads/"+base.Branch))
	return tip == base.Commit, err
}

// adminNames lists the admin folders of all linked worktrees.
func (x *mirror) adminNames() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(x.dir, "worktrees"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// readLinks notes how git linked a worktree that it just made and its admin
// folder.
func (x *mirror) readLinks(r *record) error {
	text, err := readSmall(filepath.Join(r.Path, ".git"))
	if err != nil {
		return fmt.Errorf("read link of the new worktree: %w", err)
	}
	dir := strings.TrimSuffix(strings.TrimPrefix(string(text), "gitdir: "), "\n")
	r.Admin, r.DotGit = filepath.Base(dir), string(text)
	admin := filepath.Join(x.dir, "worktrees", r.Admin)
	if !sameDir(admin, dir) {
		return fmt.Errorf("link of the new worktree points to %s", dir)
	}
	// git was told of the view, which is not for agents.
	if own := "gitdir: " + admin + "\n"; r.DotGit != own {
		if err := writeFile(filepath.Join(r.Path, ".git"), []byte(own)); err != nil {
			return fmt.Errorf("link the new worktree: %w", err)
		}
		r.DotGit = own
	}
	text, err = readSmall(filepath.Join(admin, "gitdir"))
	if err != nil {
		return fmt.Errorf("read link of the new worktree: %w", err)
	}
	r.Link = string(text)
	return x.disown(r)
}

// disown takes the name of an admin folder from the records of other worktrees,
// whose own folder of that name somebody removed.
func (x *mirror) disown(r *record) error {
	all, err := records(x.dir)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.Alias == r.Alias || other.Admin != r.Admin {
			continue
		}
		other.Admin, other.Link = "", ""
		if err := x.writeRecord(other); err != nil {
			return err
		}
	}
	return nil
}

func sameDir(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
