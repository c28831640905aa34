package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// A mirror can be damaged or deleted by whoever works in the home of cw. What
// came from the user's repository comes from there again; agents' commits come
// back from where they were handed over to. Nothing that is still there is
// deleted.

// unsound names the part of a mirror's folder that is damaged, "" when none is
// seen. It reads folders only, so that it may run before everything.
func unsound(dir string) string {
	for _, name := range []string{"objects", "refs"} {
		if !isDir(filepath.Join(dir, name)) {
			return name
		}
	}
	if path := filepath.Join(dir, filePackedRefs); !smallFile(path, packedMax) && !isOdd(path) {
		return "packed-refs"
	}
	if noObjects(filepath.Join(dir, "objects")) {
		return "objects"
	}
	return ""
}

// noObjects tells whether a folder of objects holds none at all.
func noObjects(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return true
	}
	for _, e := range entries {
		if (len(e.Name()) == 2 || e.Name() == "pack") && !isEmptyDir(filepath.Join(dir, e.Name())) {
			return false
		}
	}
	return true
}

// soundMirror is openMirror for a mirror that is made or mended when needed.
func (m *Manager) soundMirror(ctx context.Context, p cw.Project) (*mirror, error) {
	dir, err := m.mirrorDir(p)
	if err != nil {
		return nil, err
	}
	if !isDir(dir) || unsound(dir) != "" || !exists(guardCopy(dir, fileConfig)) {
		if _, err := m.EnsureMirror(ctx, p); err != nil {
			return nil, err
		}
	}
	return m.openMirror(ctx, p)
}

// mend gives a damaged mirror its parts again. What stands in their place is
// moved aside.
func (x *mirror) mend(ctx context.Context) (note string, err error) {
	what := unsound(x.dir)
	if what == "" {
		return "", nil
	}
	for _, name := range []string{"objects", "refs"} {
		path := filepath.Join(x.dir, name)
		if exists(path) && !isDir(path) {
			if err := os.Rename(path, free(path+".damaged")); err != nil {
				return "", err
			}
		}
	}
	if path := filepath.Join(x.dir, filePackedRefs); !smallFile(path, packedMax) {
		if err := os.Rename(path, free(path+".damaged")); err != nil {
			return "", err
		}
	}
	for _, name := range mirrorFolders() {
		if err := os.MkdirAll(filepath.Join(x.dir, name), 0o700); err != nil {
			return "", err
		}
	}
	if err := x.reseed(); err != nil {
		return "", err
	}
	if exists(guardCopy(x.dir, fileConfig)) {
		if err := x.dropLost(ctx); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("cw's copy of %s was damaged (%s) and is mended from %s", x.p.Name, what, x.p.Where()), nil
}

// free gives a name that is not taken.
func free(path string) string {
	name := path
	for i := 2; exists(name); i++ {
		name = fmt.Sprintf("%s.%d", path, i)
	}
	return name
}

// reseed brings the user's objects once more and lets the next sync fetch all
// references. Objects that are there stay.
func (x *mirror) reseed() error {
	if _, err := linkObjects(filepath.Join(x.p.GitDir, "objects"), filepath.Join(x.dir, "objects")); err != nil && !errors.Is(err, errMoving) {
		return err
	}
	err := os.Remove(filepath.Join(x.guardDir(), syncedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// forgetMirror readies what we know for a mirror that is made anew: only the
// records of worktrees stay, without the admin folders that they had.
func (x *mirror) forgetMirror() error {
	entries, err := os.ReadDir(x.guardDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if path := filepath.Join(x.guardDir(), e.Name()); path != recordsDir(x.dir) && path != scratchDir(x.dir) {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	all, err := records(x.dir)
	if err != nil {
		return err
	}
	for _, r := range all {
		if !r.Whole {
			err = x.dropRecord(r.Alias) // half made in what is gone
		} else {
			r.Admin, r.Link = "", ""
			err = x.writeRecord(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lost tells that a commit is nowhere any more.
func lost(alias, commit string, err error) error {
	return cw.Errorf(cw.CodeFailed, "commit %s of %s is lost: it is neither in cw's copy nor in your repository", commit, alias).
		WithHint("if you have it elsewhere, fetch it into your repository and try again").Because(err)
}

// checkCommits makes sure that the commits are there on which the worktree
// stands, and brings from the user's repository what is missing.
func (e *ensurer) checkCommits(ctx context.Context) error {
	ids := []string{e.r.Base.Commit}
	if e.linked() {
		if _, id, err := adminHead(filepath.Join(e.dir, "worktrees", e.r.Admin)); err == nil && id != "" {
			ids = append(ids, id)
		}
	} else if e.r.Head != "" {
		ids = append(ids, e.r.Head)
	}
	branch, err := e.refs().commit(ctx, agentRef(e.r.Alias))
	if err != nil {
		return err
	}
	if branch != "" {
		ids = append(ids, branch)
	}
	gone, err := e.notThere(ctx, ids)
	if err != nil || len(gone) == 0 {
		return err
	}
	if err := e.reseed(); err != nil {
		return err
	}
	for _, id := range gone {
		// What is in no branch of the user's has to be asked for by its id.
		if ferr := e.fetch(ctx, "--no-prune", id); isFinal(ferr) {
			return ferr
		}
	}
	if gone, err = e.notThere(ctx, ids); err == nil && len(gone) > 0 {
		err = lost(e.r.Alias, gone[0], nil)
	}
	return err
}

// linked tells whether the worktree's admin folder is there.
func (e *ensurer) linked() bool {
	return e.r.linked() && e.r.Admin != "" && isDir(filepath.Join(e.dir, "worktrees", e.r.Admin))
}

// notThere gives the commits that the mirror does not have, or not with their
// files.
func (x *mirror) notThere(ctx context.Context, ids []string) (gone []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var stdin strings.Builder
	for _, id := range ids {
		stdin.WriteString(id + "^{tree}\n")
	}
	out, err := x.git(ctx, []byte(stdin.String()), "cat-file", "--batch-check=%(objecttype)")
	if err != nil {
		return nil, err
	}
	for i, row := range strings.Split(line(out), "\n") {
		if row != "tree" && i < len(ids) {
			gone = append(gone, ids[i])
		}
	}
	return gone, nil
}

// lastHead tells what HEAD of the worktree was: as its admin folder says, or as
// we noted when it went; else the agent's branch.
func (e *ensurer) lastHead(ctx context.Context) (head, error) {
	if e.linked() {
		branch, id, err := adminHead(filepath.Join(e.dir, "worktrees", e.r.Admin))
		if err == nil && branch != "" {
			id, err = e.refs().commit(ctx, branch)
		}
		if err == nil && id != "" {
			return head{branch: branch, commit: id}, nil
		}
	}
	if e.r.Head != "" && e.r.Branch != agentRef(e.r.Alias) {
		return head{branch: e.r.Branch, commit: e.r.Head}, nil
	}
	return head{branch: agentRef(e.r.Alias), commit: e.r.Head}, e.recoverBranch(ctx)
}

// recoverBranch makes the agent's branch again where the mirror has none: at the
// last commit that is known, else at its base.
func (e *ensurer) recoverBranch(ctx context.Context) error {
	ref := agentRef(e.r.Alias)
	now, err := e.refs().commit(ctx, ref)
	if err != nil || now != "" {
		return err
	}
	at, how, err := e.lastCommit(ctx)
	if err != nil {
		return err
	}
	e.warn("branch %s was gone; it is at %.12s again, %s", agentBranch(e.r.Alias), at, how)
	stdin := fmt.Sprintf("update %s %s\nupdate %s %s\n", baseRef(e.r.AgentID), e.r.Base.Commit, ref, at)
	if _, err := e.git(ctx, []byte(stdin), "update-ref", "-m", "cw: made again", "--create-reflog", "--stdin"); err != nil {
		return lost(e.r.Alias, at, err)
	}
	return nil
}

// lastCommit finds where the agent's branch was, and says by what it is known.
func (e *ensurer) lastCommit(ctx context.Context) (commit, how string, err error) {
	if commit, err = e.lastLogged(ctx, agentRef(e.r.Alias)); err != nil || commit != "" {
		return commit, "as its reflog says", err
	}
	if commit, err = e.handedOver(ctx); err != nil || commit != "" {
		return commit, "as it was handed over", err
	}
	return e.r.Base.Commit, "where it began", nil
}

// handedOver finds the last commit of the agent that is kept anywhere, and
// brings it into the mirror. "" when it never handed one over.
func (e *ensurer) handedOver(ctx context.Context) (string, error) {
	kept, err := e.refs().commit(ctx, headRef(e.r.AgentID))
	if err != nil {
		return "", err
	}
	candidates := []string{e.r.Kept, kept}
	users := e.m.userRefs(e.p.GitDir)
	for _, name := range []string{"refs/remotes/cw/" + agentBranch(e.r.Alias), agentRef(e.r.Alias)} {
		id, err := users.commit(ctx, name)
		if err != nil {
			return "", err
		}
		candidates = append(candidates, id)
	}
	candidates = slices.DeleteFunc(candidates, func(id string) bool { return id == "" })
	for _, id := range candidates {
		gone, err := e.notThere(ctx, []string{id})
		if err != nil {
			return "", err
		}
		if len(gone) == 0 {
			return id, nil
		}
		if err := e.fetch(ctx, "--no-prune", id); err == nil {
			return id, nil
		} else if isFinal(err) || id == e.r.Kept {
			return "", lost(e.r.Alias, id, err)
		}
	}
	return "", nil
}
