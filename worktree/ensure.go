package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cw/internal/cw"
)

// EnsureRequest asks for the worktree of an agent to be where it was.
type EnsureRequest struct {
	LookRequest
	Base     Base     // it began from
	Checkout string   // the user's checkout whose .worktreeinclude counts; "" for none
	Trash    string   // where it was moved to, "" for nowhere
	KeepRef  string   // snapshot to make it from when its folder is gone, "" for the bare branch
	Include  []string // patterns beside those of .worktreeinclude
	// Known is the agent's last commit, for when cw's copy of the repository is gone
	// with all it knew: without that commit nothing is made. "": the branch begins
	// anew at its base then, with a warning.
	Known string
	// DeadBefore tells that whatever the agent ran before that time is dead. Locks
	// of git that are older, in places that only this agent writes, go: they would
	// keep it from committing. Zero: none is touched.
	DeadBefore time.Time
}

// Ensured is a worktree that is there.
type Ensured struct {
	From     string            // present, trash, snapshot or branch
	Included map[string]string // by .worktreeinclude: path → SHA-256
	Warnings []string          // for people
}

// Where an Ensured worktree came from.
const (
	fromPresent  = "present"
	fromTrash    = "trash"
	fromSnapshot = "snapshot"
	fromBranch   = "branch"
)

// Ensure brings a worktree back to its path: it is there, or it is renamed back
// from the trash, or it is made again from its branch, with what a snapshot
// holds as changes that are not committed (nothing is staged then). A mirror
// that is damaged or gone is made again first; the agent's commits come back
// from where they were handed over to. Asked again it goes on after a killed
// try. CodeRefused when something else is at the path; CodeFailed, naming the
// commit, when commits are lost.
func (m *Manager) Ensure(ctx context.Context, req EnsureRequest) (Ensured, error) {
	add := req.add()
	if err := add.valid(); err != nil {
		return Ensured{}, err
	}
	x, err := m.soundMirror(ctx, req.Project)
	if err != nil {
		return Ensured{}, err
	}
	defer x.close()
	r, err := readRecord(x.dir, req.Alias)
	if err != nil {
		return Ensured{}, err
	}
	if r != nil && (r.AgentID != req.AgentID || r.Path != req.Path) {
		return Ensured{}, taken(req.Alias)
	}
	if r == nil {
		// Its mirror was deleted with all we knew.
		r = &record{AgentID: req.AgentID, Alias: req.Alias, Path: req.Path, Base: req.Base, Removed: true, Trash: req.Trash, Included: req.Included}
		if req.Known != "" {
			r.Head, r.Branch = req.Known, agentRef(req.Alias)
		}
	}
	e := ensurer{mirror: x, req: req, r: r}
	if err := e.run(ctx); err != nil {
		return Ensured{}, err
	}
	return e.out, nil
}

func (r EnsureRequest) add() AddRequest {
	return AddRequest{Project: r.Project, Checkout: r.Checkout, AgentID: r.AgentID, Alias: r.Alias, Path: r.Path, Base: r.Base}
}

// ensurer brings one worktree back.
type ensurer struct {
	*mirror
	req EnsureRequest
	r   *record
	out Ensured
}

func (e *ensurer) warn(format string, args ...any) {
	e.out.Warnings = append(e.out.Warnings, fmt.Sprintf(format, args...))
}

func (e *ensurer) run(ctx context.Context) error {
	if e.r.Again && !e.r.Whole {
		if err := e.undoAgain(e.r); err != nil {
			return err
		}
	}
	if err := e.mendOwn(ctx); err != nil {
		return err
	}
	if err := e.takeBranchesBack(ctx); err != nil {
		return err
	}
	if err := e.checkCommits(ctx); err != nil {
		return err
	}
	trash := e.trash()
	here := isDir(e.req.Path) && !isEmptyDir(e.req.Path)
	switch {
	case here && e.isOurs():
		e.out.From = fromPresent
	case here || exists(e.req.Path) && !isEmptyDir(e.req.Path):
		return cw.Errorf(cw.CodeRefused, "something else is at %s, where the worktree of %s belongs", e.req.Path, e.req.Alias).
			WithHint("look at it and move it away")
	case trash != "":
		if err := moveDir(trash, e.req.Path); err != nil {
			return cw.Errorf(cw.CodeFailed, "the worktree of %s cannot be moved back from %s", e.req.Alias, trash).
				WithHint("check the permissions of both folders").Because(err)
		}
		e.m.fail.Hit("worktree/untrashed")
		e.out.From = fromTrash
	default:
		return e.again(ctx)
	}
	if !e.req.DeadBefore.IsZero() {
		if err := e.m.dropLocks(e.dir, *e.r, e.req.DeadBefore); err != nil {
			return err
		}
	}
	return e.settle(ctx)
}

// trash gives where the worktree lies in the trash, "" for nowhere.
func (e *ensurer) trash() string {
	for _, path := range []string{e.r.Trash, e.req.Trash} {
		if path != "" && path != e.req.Path && isDir(path) {
			return path
		}
	}
	return ""
}

// isOurs tells whether the folder at the path is the worktree. Of one that was
// removed or moved away, only its .git proves it.
func (e *ensurer) isOurs() bool {
	if e.r.Whole && !e.r.Removed && (e.r.Trash == "" || !isDir(e.r.Trash)) {
		return true
	}
	text, err := readSmall(filepath.Join(e.req.Path, ".git"))
	return err == nil && (string(text) == e.r.DotGit || e.linksHere(string(text)))
}

// settle makes sure that a folder that is there hangs on the mirror, and notes
// it.
func (e *ensurer) settle(ctx context.Context) error {
	r, relinked := e.r, false
	admin := filepath.Join(e.dir, "worktrees", r.Admin)
	branch, _, err := adminHead(admin)
	switch {
	case !e.linked() || err != nil || isJunkIndex(filepath.Join(admin, "index")):
		if err := e.relink(ctx); err != nil {
			return fmt.Errorf("link worktree of %s: %w", r.Alias, err)
		}
		relinked = true
	case branch == agentRef(r.Alias):
		if err := e.recoverBranch(ctx); err != nil {
			return err
		}
	}
	if err := e.giveGitFile(); err != nil {
		return err
	}
	if relinked || r.Trash != "" {
		r.Whole, r.Removed, r.Again, r.Trash, r.Before = true, false, false, "", nil
		if err := e.writeRecord(*r); err != nil {
			return err
		}
	}
	e.out.Included = r.Included
	return nil
}

// giveGitFile writes the worktree's .git where somebody deleted it: git would
// look for a repository in the folders above, and find another one or none.
func (e *ensurer) giveGitFile() error {
	path := filepath.Join(e.r.Path, ".git")
	if exists(path) || e.r.DotGit == "" {
		return nil
	}
	if err := writeFile(path, []byte(e.r.DotGit)); err != nil {
		return fmt.Errorf("link worktree of %s: %w", e.r.Alias, err)
	}
	e.warn("the file .git of the worktree was gone; it is there again")
	return nil
}

// again makes the worktree once more where its folder is gone.
func (e *ensurer) again(ctx context.Context) (err error) {
	e.out.From = fromBranch
	if e.r.Removed {
		// What a killed RemoveClean left to delete must not be taken, at the next
		// one, for the worktree on its way out.
		if err := removeStubborn(asidePath(e.r.Path)); err != nil {
			return fmt.Errorf("remove what is left of the worktree of %s: %w", e.r.Alias, err)
		}
	}
	want, err := e.lastHead(ctx)
	if err != nil {
		return err
	}
	var snap snapshotNote
	commit := ""
	if e.req.KeepRef == "" && !e.r.Removed {
		e.warn("the worktree was not at %s any more; it is made again from branch %s, and what was not committed is not in it", e.r.Path, agentBranch(e.r.Alias))
	}
	if e.req.KeepRef != "" {
		if snap, commit, err = e.keptIn(ctx); err != nil {
			return err
		}
		e.out.From = fromSnapshot
		want = head{branch: snap.branch, commit: snap.head}
	}
	if e.r.Admin != "" {
		if err := e.dropAdmin(e.r); err != nil {
			return err
		}
		e.m.fail.Hit("worktree/unlocked")
	}
	r := &record{AgentID: e.r.AgentID, Alias: e.r.Alias, Path: e.r.Path, Base: e.r.Base, Again: true, Branch: e.r.Branch, Head: e.r.Head, Kept: e.r.Kept}
	if r.Before, err = e.adminNames(); err != nil {
		return err
	}
	if err := e.writeRecord(*r); err != nil {
		return err
	}
	e.m.fail.Hit("worktree/intent")
	e.r = r
	if err := e.againSteps(ctx, want, commit); err != nil {
		return errors.Join(fmt.Errorf("make worktree of %s again: %w", r.Alias, err), e.undoAgain(r))
	}
	e.tellLost(snap)
	r.Whole, r.Again, r.Before = true, false, nil
	r.Warnings = e.out.Warnings
	e.out.Included = r.Included
	return e.writeRecord(*r)
}

// tellLost names what a snapshot does not bring back.
func (e *ensurer) tellLost(snap snapshotNote) {
	if len(snap.missing) > 0 {
		e.warn("the snapshot did not hold %d things, the first is %q", len(snap.missing), snap.missing[0])
	}
	if snap.under != "" {
		e.warn("%s was under way; only its files are back", snap.under)
	}
	if snap.staged != "" {
		e.warn("what was staged and in no file is in commit %.12s", snap.staged)
	}
}

// keptIn finds the snapshot.
func (e *ensurer) keptIn(ctx context.Context) (snapshotNote, string, error) {
	commit, err := e.refs().commit(ctx, e.req.KeepRef)
	if err != nil {
		return snapshotNote{}, "", err
	}
	if commit == "" {
		return snapshotNote{}, "", cw.Errorf(cw.CodeFailed, "the snapshot %s of %s is not in cw's copy any more", e.req.KeepRef, e.req.Alias).
			WithHint("what was committed is on branch %s", agentBranch(e.req.Alias))
	}
	note, err := e.snapshotNote(ctx, commit)
	if err != nil {
		return note, "", lost(e.req.Alias, commit, err)
	}
	return note, commit, nil
}

// head is what a worktree stands on: a branch by its full name, or a commit.
type head struct{ branch, commit string }

func (e *ensurer) againSteps(ctx context.Context, want head, snapshot string) error {
	if err := os.MkdirAll(filepath.Dir(e.r.Path), 0o700); err != nil {
		return err
	}
	if want.commit != "" {
		if err := e.checkFilters(ctx, want.commit); err != nil {
			return err
		}
	}
	if err := e.checkOut(ctx, want); err != nil {
		return err
	}
	e.m.fail.Hit("worktree/added")
	if err := e.readLinks(e.r); err != nil {
		return err
	}
	at, err := e.headCommit(ctx, e.r.Admin)
	if err != nil {
		return err
	}
	warnings, err := e.addSubmodules(ctx, e.r, at)
	if cw.ErrorCode(err) == cw.CodeInvalid {
		warnings, err = append(warnings, err.Error()), nil
	}
	if err != nil {
		return err
	}
	included, more, err := e.m.include(ctx, e.req.Checkout, e.r.Path, e.req.Include)
	if err != nil {
		return err
	}
	e.r.Included = included
	if err := e.noteCheckout(ctx, e.r, at); err != nil {
		return err
	}
	included = e.r.Included
	e.out.Warnings = append(append(e.out.Warnings, warnings...), more...)
	if snapshot != "" {
		if err := e.putBack(ctx, e.r.Path, snapshot, included); err != nil {
			return fmt.Errorf("put back what was not committed: %w", err)
		}
	}
	e.m.fail.Hit("worktree/checked-out")
	return nil
}

// checkOut runs git worktree add for what HEAD was. A branch that moved
// meanwhile, is gone, or is checked out in another worktree leaves HEAD
// detached on the commit.
func (e *ensurer) checkOut(ctx context.Context, want head) error {
	args := []string{"worktree", "add", "--quiet", "--lock", "--reason", "cw agent " + e.r.Alias}
	if name, ok := strings.CutPrefix(want.branch, "refs/heads/"); ok {
		now, err := e.refs().commit(ctx, want.branch)
		if err != nil {
			return err
		}
		attach := now != "" && (want.commit == "" || want.commit == now)
		if now != "" && !attach {
			if attach, err = e.isAncestor(ctx, want.commit, now); err != nil {
				return err
			}
		}
		if attach {
			_, err := e.gitAt(ctx, e.transfer(), nil, append(args, "--end-of-options", e.r.Path, name)...)
			if err == nil || want.commit == "" || isFinal(err) {
				return err
			}
		}
	}
	if want.commit == "" {
		return lost(e.r.Alias, e.r.Base.Commit, errors.New("it has no branch any more"))
	}
	if want.branch != "" {
		e.warn("HEAD is detached at %.12s, where branch %s was", want.commit, strings.TrimPrefix(want.branch, "refs/heads/"))
	}
	_, err := e.gitAt(ctx, e.transfer(), nil, append(args, "--detach", "--end-of-options", e.r.Path, want.commit)...)
	return err
}

// headCommit reads the commit that a worktree of ours, just made, stands on.
func (x *mirror) headCommit(ctx context.Context, admin string) (string, error) {
	ref, id, err := adminHead(filepath.Join(x.dir, "worktrees", admin))
	if err != nil || ref == "" {
		return id, err
	}
	return x.refs().commit(ctx, ref)
}

// linksHere tells whether the .git file of a worktree leads to an admin folder of
// the mirror, by way of the view too, as git writes it.
func (x *mirror) linksHere(dotGit string) bool {
	return strings.HasPrefix(dotGit, "gitdir: "+filepath.Join(x.dir, "worktrees")+"/") ||
		strings.HasPrefix(dotGit, "gitdir: "+filepath.Join(viewDir(x.dir), "worktrees")+"/")
}

// undoAgain removes what a try to make a worktree again left: its folder, which
// nobody has had in hands, and its admin folder. The branch stays.
func (x *mirror) undoAgain(r *record) error {
	link, err := readSmall(filepath.Join(r.Path, ".git"))
	if err == nil && !x.linksHere(string(link)) || errors.Is(err, os.ErrNotExist) && !isEmptyDir(r.Path) && exists(r.Path) {
		return cw.Errorf(cw.CodeRefused, "something else is at %s, where the worktree of %s belongs", r.Path, r.Alias).
			WithHint("look at it and move it away")
	}
	if err := removeStubborn(r.Path); err != nil {
		return fmt.Errorf("undo: %w", err)
	}
	names, err := x.adminNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		dir := filepath.Join(x.dir, "worktrees", name)
		if r.Admin == name || x.madeFor(*r, name, dir) {
			if err := removeTree(dir); err != nil {
				return err
			}
		}
	}
	r.Whole, r.Again, r.Removed, r.Admin, r.DotGit, r.Link, r.Before = true, false, true, "", "", "", nil
	return x.writeRecord(*r)
}
