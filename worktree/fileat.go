package worktree

import (
	"context"
	"fmt"
	"path"

	"cw/internal/cw"
)

// FileAt reads one plain file as it is in a commit, at most limit bytes of it:
// its bytes as they are stored, without filters, whatever a worktree shows in
// its place. The commit, a full id, may be one of the user's repository or of
// the mirror alone. found is false when the commit has no such file. CodeInvalid
// when it is no plain file (a link could lead anywhere), or larger; CodeNotFound
// when neither repository has the commit.
func (m *Manager) FileAt(ctx context.Context, p cw.Project, commit, name string, limit int64) (data []byte, found bool, err error) {
	if !fullID().MatchString(commit) {
		return nil, false, fmt.Errorf("read %s: %q is no full id", name, commit)
	}
	if name == "" || path.IsAbs(name) || path.Clean(name) != name {
		return nil, false, fmt.Errorf("read %q of %.12s: that is no path of a file", name, commit)
	}
	run, done, err := m.whereCommit(ctx, p, commit)
	if err != nil {
		return nil, false, err
	}
	defer done()
	list, err := run(ctx, nil, "ls-tree", "-l", "-z", "--full-tree", "--end-of-options", commit, name)
	if err != nil {
		return nil, false, fmt.Errorf("look for %s in %.12s: %w", name, commit, err)
	}
	if len(list) == 0 {
		return nil, false, nil
	}
	files, ids, err := plainFiles(list, TreeRequest{FileMax: limit, FilesMax: 1})
	switch {
	case err != nil:
		return nil, false, err
	case len(files) != 1 || files[0].Path != name:
		return nil, false, cw.Errorf(cw.CodeInvalid, "%s is no plain file in the commit %.12s", name, commit).
			WithHint("it must be a file: no link, no folder, no submodule")
	case len(ids) == 0:
		return nil, false, cw.Errorf(cw.CodeInvalid, "%s has %d bytes in the commit %.12s, and at most %d are read", name, files[0].Size, commit, limit)
	}
	blob, err := run(ctx, []byte(ids[0]+"\n"), "cat-file", "--batch", "--buffer")
	if err == nil {
		err = fillFiles(files, blob)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read %s of %.12s: %w", name, commit, err)
	}
	return files[0].Data, true, nil
}

// gitIn runs git in one repository.
type gitIn func(ctx context.Context, stdin []byte, args ...string) ([]byte, error)

// whereCommit finds a repository that has a commit: the user's, which needs no
// lock, or the mirror. What stands in for objects there does not count: it is
// not what a worktree gets.
func (m *Manager) whereCommit(ctx context.Context, p cw.Project, commit string) (run gitIn, done func(), err error) {
	at := inUserRepo(p.GitDir)
	at.env = append(at.env, "GIT_NO_REPLACE_OBJECTS=1")
	run = func(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
		return m.git.run(ctx, at, stdin, args...)
	}
	if isDir(p.GitDir) && hasCommit(ctx, run, commit) {
		return run, func() {}, nil
	}
	x, err := m.openMirror(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if !hasCommit(ctx, x.git, commit) {
		x.close()
		return nil, nil, cw.Errorf(cw.CodeNotFound, "the commit %.12s is not known in %s", commit, p.Where()).
			WithHint("it may have been removed; name another one")
	}
	return x.git, x.close, nil
}

// hasCommit tells whether a repository has a commit.
func hasCommit(ctx context.Context, run gitIn, commit string) bool {
	_, err := run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	return err == nil
}

// MirrorCommit gives the commit of a branch of the mirror alone, or of a full
// id; "" when there is none.
func (m *Manager) MirrorCommit(ctx context.Context, p cw.Project, name string) (string, error) {
	if fullID().MatchString(name) {
		_, done, err := m.whereCommit(ctx, p, name)
		if err != nil {
			return "", err
		}
		done()
		return name, nil
	}
	ref := "refs/heads/" + name
	if dir, err := m.mirrorDir(p); err != nil || !isDir(dir) || !safeRef(ref) {
		return "", err
	}
	return m.mirrorCommit(p)(ctx, ref)
}
