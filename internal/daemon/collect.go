package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/internal/redact"
	"cw/internal/store"
)

// debrisAge is how old a half-done file is when nobody writes it any more.
const debrisAge = time.Hour

// collect frees what is kept no longer; with dry it only tells. pressure says
// that the disk is low. Only one at a time.
func (j *janitor) collect(ctx context.Context, dry, pressure bool) ([]cw.Garbage, error) {
	select {
	case j.sweeping <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-j.sweeping }()
	var all []cw.Garbage
	var errs []error
	steps := []func(context.Context, bool) ([]cw.Garbage, error){
		func(ctx context.Context, dry bool) ([]cw.Garbage, error) {
			return j.engine.CollectTrash(ctx, dry, pressure)
		},
		j.collectRaw, j.collectCommands, j.collectChunks, j.collectBackups, j.collectBinaries, j.collectDebris, j.collectClones,
	}
	for _, step := range steps {
		found, err := step(ctx, dry)
		all, errs = append(all, found...), append(errs, err)
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
	}
	return all, errors.Join(errs...)
}

// collectRaw removes raw output of runs that ended long ago, once every byte of
// it is stored.
func (j *janitor) collectRaw(ctx context.Context, dry bool) ([]cw.Garbage, error) {
	runs, err := j.store.EndedRuns(ctx)
	if err != nil {
		return nil, err
	}
	keep := j.settings.Runs.RawRetention
	var found []cw.Garbage
	for _, r := range runs {
		if j.now().Sub(r.EndedAt) < keep {
			break // they are in the order of their ends
		}
		info, err := os.Lstat(r.OutputPath)
		if err != nil || !info.Mode().IsRegular() || !within(r.OutputPath, j.home.Runs()) {
			continue
		}
		next, err := j.store.NextOffset(ctx, r.AgentID, r.SessionNumber)
		if err != nil {
			return found, err
		}
		g := cw.Garbage{Kind: cw.GarbageRaw, Agent: r.Alias, Path: r.OutputPath, Bytes: info.Size()}
		if g.Goes = next >= info.Size(); g.Goes {
			g.Reason = "the run ended more than " + formatSpan(keep) + " ago, and all of it is stored"
		} else {
			g.Reason = fmt.Sprintf("only %d of its %d bytes are stored", next, info.Size())
		}
		found = append(found, act(g, dry, func() error {
			_ = os.Remove(filepath.Join(filepath.Dir(r.OutputPath), redact.FileName)) // it is needed for that file alone
			return os.Remove(r.OutputPath)
		}))
	}
	return found, nil
}

// act does what is due about a piece of garbage.
func act(g cw.Garbage, dry bool, do func() error) cw.Garbage {
	if !g.Goes || dry {
		return g
	}
	if err := do(); err != nil {
		g.Goes, g.Error = false, err.Error()
	}
	return g
}

// collectChunks drops the stored output of whole runs: those that are too old,
// and then the oldest until the rest is small enough. What is younger than
// chunks.minAge does not go for its size, so that no agent drives out what
// another one has just said.
func (j *janitor) collectChunks(ctx context.Context, dry bool) ([]cw.Garbage, error) {
	runs, err := j.store.EndedRuns(ctx)
	if err != nil {
		return nil, err
	}
	size, err := j.store.LiveBytes(ctx)
	if err != nil {
		return nil, err
	}
	limits := j.settings.Chunks
	var found []cw.Garbage
	for _, r := range runs {
		var reason string
		age := j.now().Sub(r.EndedAt)
		switch {
		case age >= limits.MaxAge:
			reason = "the run ended more than " + formatSpan(limits.MaxAge) + " ago"
		case size > int64(limits.MaxSize) && age < limits.MinAge:
			j.log.WarnContext(ctx, "the stored output is larger than chunks.maxSize, and none of it is older than chunks.minAge", "bytes", size, "maxSize", limits.MaxSize, "minAge", limits.MinAge)
			return found, nil
		case size > int64(limits.MaxSize):
			reason = "the stored output is larger than " + limits.MaxSize.String() + ", and this is the oldest"
		default:
			return found, nil
		}
		bytes, err := j.store.Kept(ctx, r)
		if err != nil {
			return found, err
		}
		if bytes == 0 {
			continue
		}
		size -= bytes
		g := cw.Garbage{Kind: cw.GarbageChunks, Agent: r.Alias, Bytes: bytes, Goes: true, Reason: fmt.Sprintf("session %d: %s", r.SessionNumber, reason)}
		found = append(found, act(g, dry, func() error { return j.store.DropRun(ctx, r) }))
	}
	return found, nil
}

func (j *janitor) collectBackups(_ context.Context, dry bool) ([]cw.Garbage, error) {
	all, err := store.Backups(string(j.home))
	if err != nil {
		return nil, err
	}
	var found []cw.Garbage
	for _, b := range store.OldBackups(all) {
		g := cw.Garbage{Kind: cw.GarbageBackup, Path: b.Path, Bytes: b.Bytes, Goes: true, Reason: "there are enough newer ones"}
		found = append(found, act(g, dry, func() error { return os.Remove(b.Path) }))
	}
	return found, nil
}

func (j *janitor) collectBinaries(ctx context.Context, dry bool) ([]cw.Garbage, error) {
	runs, err := unfinishedRuns(ctx, j.store)
	if err != nil {
		return nil, err
	}
	old, err := oldBinaries(j.home, j.buildID, runs)
	if err != nil {
		return nil, err
	}
	var found []cw.Garbage
	for _, path := range old {
		g := cw.Garbage{Kind: cw.GarbageBinary, Path: path, Bytes: sizeBelow(ctx, path), Goes: true, Reason: "no run uses it"}
		found = append(found, act(g, dry, func() error { return os.RemoveAll(path) }))
	}
	return found, nil
}

// collectDebris removes half-done files of the daemon's own that a death left:
// they have names that only unfinished ones have.
func (j *janitor) collectDebris(_ context.Context, dry bool) ([]cw.Garbage, error) {
	var found []cw.Garbage
	for _, pattern := range []string{
		filepath.Join(j.home.RunState(), ".probe-*"), filepath.Join(j.home.RunState(), ".socket-*"),
		filepath.Join(j.home.Bin(), "*", ".cw-*"), filepath.Join(j.home.Backups(), "*.half"), filepath.Join(j.home.Backups(), ".cw-*.half"),
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return found, err
		}
		for _, path := range paths {
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() || j.now().Sub(info.ModTime()) < debrisAge {
				continue
			}
			g := cw.Garbage{Kind: cw.GarbageDebris, Path: path, Bytes: info.Size(), Goes: true, Reason: "it was never finished"}
			found = append(found, act(g, dry, func() error { return os.Remove(path) }))
		}
	}
	return found, nil
}

// within tells whether a path is below a folder.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// measureHome sums what the parts of a home take.
func measureHome(ctx context.Context, home cw.Home, at time.Time) cw.Sizes {
	return cw.Sizes{
		Runs:      sizeBelow(ctx, home.Runs()),
		Worktrees: sizeBelow(ctx, filepath.Dir(home.Worktree("x"))) + sizeBelow(ctx, filepath.Dir(home.Workdir("x"))),
		Trash:     sizeBelow(ctx, home.Trash()),
		Mirrors:   sizeBelow(ctx, home.Repos()),
		Backups:   sizeBelow(ctx, home.Backups()),
		At:        at.UTC(),
	}
}

// sizeBelow sums the sizes of files; what cannot be read counts nothing.
func sizeBelow(ctx context.Context, dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
