package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/worktree"
)

// cloneAge is how old a clone is when nobody makes it any more: git's time for
// that is much shorter.
const cloneAge = 24 * time.Hour

// collectClones removes clones of remote repositories that a death left half
// done: of no project, and without anything that an agent handed over.
func (j *janitor) collectClones(ctx context.Context, dry bool) ([]cw.Garbage, error) {
	projects, err := j.store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, p := range projects {
		known[p.GitDir] = true
	}
	var paths []string
	for _, end := range []string{"", ".new", ".gone"} {
		some, err := filepath.Glob(filepath.Join(j.home.Repos(), "*"+worktree.CloneEnd+end))
		if err != nil {
			return nil, err
		}
		paths = append(paths, some...)
	}
	var found []cw.Garbage
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || j.now().Sub(info.ModTime()) < cloneAge {
			continue
		}
		// Under another name it is one that was never used, or is removed.
		if strings.HasSuffix(path, worktree.CloneEnd) && (known[path] || !worktree.HalfClone(path)) {
			continue
		}
		g := cw.Garbage{Kind: cw.GarbageDebris, Path: path, Bytes: sizeBelow(ctx, path), Goes: true, Reason: "the clone was never finished"}
		found = append(found, act(g, dry, func() error { return os.RemoveAll(path) }))
	}
	return found, nil
}
