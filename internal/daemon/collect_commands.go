package daemon

import (
	"context"
	"os"
	"path/filepath"

	"cw/internal/cw"
)

// collectCommands removes the directories of runs of commands that ended long
// ago: what came of them is in their rows. Those of a set-up whose agent was
// never made have no row any more, so that age decides.
func (j *janitor) collectCommands(ctx context.Context, dry bool) ([]cw.Garbage, error) {
	unfinished, err := j.store.UnfinishedCommands(ctx)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, run := range unfinished {
		used[run.Dir] = true
	}
	var found []cw.Garbage
	for _, kind := range []cw.RunKind{cw.RunCheck, cw.RunSetup} {
		dirs, err := filepath.Glob(j.home.CommandDir(kind, "????????????"))
		if err != nil {
			return found, err
		}
		for _, dir := range dirs {
			// The run directory of a command is made when it begins.
			info, err := os.Lstat(dir)
			if err != nil || !info.IsDir() || used[dir] || !cw.IsID(filepath.Base(dir)[len(kind)+1:]) || j.now().Sub(info.ModTime()) < j.settings.Runs.RawRetention {
				continue
			}
			g := cw.Garbage{Kind: cw.GarbageRaw, Path: dir, Bytes: sizeBelow(ctx, dir), Goes: true,
				Reason: "its commands were run more than " + formatSpan(j.settings.Runs.RawRetention) + " ago"}
			found = append(found, act(g, dry, func() error { return os.RemoveAll(dir) }))
		}
	}
	return found, nil
}
