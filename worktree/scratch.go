package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cw/internal/cw"
)

// A scratch worktree is one in which nobody works: checks run there, at exactly
// one commit, and it is deleted with all that they left. For one path, calls must
// come one after the other.

// scratchReason stands in the lock of its admin folder.
const scratchReason = "cw scratch"

func scratchDir(mirrorDir string) string { return filepath.Join(guardDir(mirrorDir), "scratch") }

func scratchRecord(mirrorDir, path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(scratchDir(mirrorDir), hex.EncodeToString(sum[:16])+".json")
}

// AddScratch makes a worktree at exactly a commit of the mirror, on no branch, at
// a clean absolute path, locked against git's own clean-up, with submodules and
// git-lfs as agents have them, and with the files of the user's checkout that
// includeFile and the patterns of include name; warnings are about those. One that is there at that commit stays as it is;
// one at another commit, and one that a killed try left, is made anew. CodeNotFound
// when the mirror does not have the commit; CodeRefused when something else is at
// the path; CodeInvalid when it needs a submodule that the user does not have.
func (m *Manager) AddScratch(ctx context.Context, p cw.Project, commit, path string, include []string) (warnings []string, err error) {
	if !cleanPath(path) || !fullID().MatchString(commit) {
		return nil, fmt.Errorf("add scratch worktree: %q is no clean absolute path, or %q no full id", path, commit)
	}
	x, err := m.openMirror(ctx, p)
	if err != nil {
		return nil, err
	}
	defer x.close()
	r, err := readScratch(x.dir, path)
	if err != nil {
		return nil, err
	}
	if r != nil && r.Whole && r.Base.Commit == commit && isDir(path) && isDir(filepath.Join(x.dir, "worktrees", r.Admin)) {
		return nil, nil
	}
	if r != nil {
		if err := x.undoScratch(*r); err != nil {
			return nil, err
		}
	}
	made := record{Path: path, Base: Base{Commit: commit}}
	err = x.addScratch(ctx, &made, include)
	return made.Warnings, err
}

func (x *mirror) addScratch(ctx context.Context, r *record, include []string) (err error) {
	if exists(r.Path) && !isEmptyDir(r.Path) {
		return cw.Errorf(cw.CodeRefused, "%s already exists", r.Path).WithHint("move it away, and try again")
	}
	gone, err := x.notThere(ctx, []string{r.Base.Commit})
	if err != nil {
		return fmt.Errorf("add scratch worktree: %w", err)
	}
	if len(gone) > 0 {
		return cw.Errorf(cw.CodeNotFound, "commit %s is not in cw's copy of %s", r.Base.Commit, x.p.Name).WithHint("merge again")
	}
	if r.Before, err = x.adminNames(); err != nil {
		return err
	}
	if err := x.writeScratch(*r); err != nil {
		return err
	}
	x.m.fail.Hit("worktree/scratch-intent")
	defer func() {
		if err != nil {
			err = errors.Join(err, x.undoScratch(*r))
		}
	}()
	if err := x.scratchSteps(ctx, r, include); err != nil {
		return fmt.Errorf("add scratch worktree: %w", err)
	}
	return nil
}

func (x *mirror) scratchSteps(ctx context.Context, r *record, include []string) error {
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o700); err != nil {
		return err
	}
	if _, err := x.gitAt(ctx, x.transfer(), nil, "worktree", "add", "--quiet", "--lock", "--reason", scratchReason, "--detach",
		"--end-of-options", r.Path, r.Base.Commit); err != nil {
		return err
	}
	x.m.fail.Hit("worktree/scratch-added")
	if err := x.readLinks(r); err != nil {
		return err
	}
	if _, err := x.addSubmodules(ctx, r, r.Base.Commit); err != nil {
		return err
	}
	_, warnings, err := x.m.include(ctx, x.p.Path, r.Path, include)
	if err != nil {
		return err
	}
	r.Whole, r.Before, r.Warnings = true, nil, warnings
	if err := x.writeScratch(*r); err != nil {
		return err
	}
	x.m.fail.Hit("worktree/scratch-whole")
	return nil
}

// readScratch gives nil when cw made none at the path.
func readScratch(mirrorDir, path string) (*record, error) {
	data, err := readSmall(scratchRecord(mirrorDir, path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r record
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && r.Path != path {
		err = fmt.Errorf("it is of %s", r.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("read record of scratch worktree %s: %w", path, err)
	}
	return &r, nil
}

func (x *mirror) writeScratch(r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("record of scratch worktree: %w", err)
	}
	file := scratchRecord(x.dir, r.Path)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("record of scratch worktree: %w", err)
	}
	if err := writeFile(file, data); err != nil {
		return fmt.Errorf("record of scratch worktree: %w", err)
	}
	return nil
}

// undoScratch removes a scratch worktree in whatever state it is, and its record.
func (x *mirror) undoScratch(r record) error {
	if err := x.dropScratchAdmin(r); err != nil {
		return err
	}
	if err := removeStubborn(asidePath(r.Path)); err != nil {
		return notScratched(r.Path, err)
	}
	if err := removeStubborn(r.Path); err != nil {
		return notScratched(r.Path, err)
	}
	return x.m.dropScratch(x.dir, r.Path)
}

func notScratched(path string, err error) error {
	return cw.Errorf(cw.CodeFailed, "the scratch worktree %s cannot be deleted", path).WithHint("delete it by hand").Because(err)
}

// dropScratchAdmin removes its admin folder. One that a check unlinked, or whose
// name went to another worktree since, is not touched.
func (x *mirror) dropScratchAdmin(r record) error {
	ours, err := x.ownLinks()
	if err != nil {
		return err
	}
	names, err := x.adminNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		dir := filepath.Join(x.dir, "worktrees", name)
		if ours[name] != "" || !x.madeFor(r, name, dir) || r.Whole && name != r.Admin {
			continue
		}
		if err := removeTree(dir); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manager) dropScratch(mirrorDir, path string) error {
	if err := os.Remove(scratchRecord(mirrorDir, path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop record of scratch worktree: %w", err)
	}
	return nil
}

// RemoveScratch deletes a scratch worktree with all that is in it, read-only
// folders too. No link is followed. One that is gone is no error. CodeRefused when
// cw made none at the path and something is there.
func (m *Manager) RemoveScratch(ctx context.Context, p cw.Project, path string) error {
	if !cleanPath(path) {
		return fmt.Errorf("remove scratch worktree: %q is no clean absolute path", path)
	}
	x, err := m.openMirror(ctx, p)
	if cw.ErrorCode(err) == cw.CodeNotFound && !exists(path) {
		return nil
	}
	if err != nil {
		return err
	}
	defer x.close()
	r, err := readScratch(x.dir, path)
	if err != nil {
		return err
	}
	if r == nil {
		if exists(path) && !isEmptyDir(path) {
			return cw.Errorf(cw.CodeRefused, "%s is no scratch worktree that cw made", path).WithHint("remove it yourself if you do not need it")
		}
		return nil
	}
	if !r.Whole {
		return x.undoScratch(*r)
	}
	aside := asidePath(path)
	if exists(path) {
		if err := removeStubborn(aside); err != nil {
			return notScratched(path, err)
		}
		if err := os.Rename(path, aside); err != nil {
			return notScratched(path, err)
		}
		m.fail.Hit("worktree/scratch-aside")
	}
	if err := x.dropScratchAdmin(*r); err != nil {
		return err
	}
	x.close() // others need not wait until all files are deleted
	if err := removeStubborn(aside); err != nil {
		return notScratched(path, err)
	}
	m.fail.Hit("worktree/scratch-removed")
	return m.dropScratch(x.dir, path)
}

// ScratchChanged names what was changed in a scratch worktree since it was made at
// the commit: tracked files, as raw bytes, in order, and "HEAD" when that is not
// the commit any more. Untracked files do not count. Nothing in it is executed.
// CodeNotFound when cw made none at the path, or it is gone.
func (m *Manager) ScratchChanged(ctx context.Context, p cw.Project, path, commit string) ([]string, error) {
	if !fullID().MatchString(commit) {
		return nil, fmt.Errorf("look at scratch worktree: %q is no full id", commit)
	}
	dir, err := m.mirrorDir(p)
	if err != nil {
		return nil, err
	}
	r, err := readScratch(dir, path)
	if err != nil {
		return nil, err
	}
	if r == nil || !r.Whole || !isDir(path) {
		return nil, cw.Errorf(cw.CodeNotFound, "there is no scratch worktree at %s", path).WithHint("run the checks again")
	}
	s := &shadow{m: m, mirrorDir: dir, admin: filepath.Join(dir, "worktrees", r.Admin), worktree: path, base: commit, head: commit}
	if err := s.make(ctx); err != nil {
		return nil, fmt.Errorf("look at scratch worktree: %w", err)
	}
	defer s.close()
	entries, err := s.status(ctx, "--untracked-files=no")
	if err != nil {
		return nil, fmt.Errorf("look at scratch worktree: %w", err)
	}
	var changed []string
	for _, e := range entries {
		if !reserved(e.Path) {
			changed = append(changed, e.Path)
		}
	}
	slices.Sort(changed)
	if branch, id, err := adminHead(s.admin); err != nil || branch != "" || id != commit {
		changed = append([]string{"HEAD"}, changed...)
	}
	return changed, nil
}
