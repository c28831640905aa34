package worktree

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
)

// keptWork is the work that a snapshot holds, compared with a worktree.
type keptWork struct {
	names map[string]bool // of all of it
	back  []string        // what was changed or removed, and is put back
	stuck []string        // what could not be put back; the snapshot stays
	ref   string          // of the snapshot
}

// notes says for people what became of the work. who changed it.
func (w keptWork) notes(who string) (notes []string) {
	if len(w.back) > 0 {
		notes = append(notes, fmt.Sprintf("%s changed work that is not committed: %s put back as before", who, some(w.back)))
	}
	if len(w.stuck) > 0 {
		notes = append(notes, fmt.Sprintf("%s changed work that is not committed, and %s not put back, since something is in the way; it is kept in %s of cw's copy of the repository", who, some(w.stuck), w.ref))
	}
	return notes
}

// PutBackWork brings work back into a worktree as a snapshot of it holds it, after
// commands of the project ran there. What is not in the snapshot stays as it is.
// notes are for people; who says what ran. It may be repeated.
func (m *Manager) PutBackWork(ctx context.Context, req LookRequest, ref, who string) (notes []string, err error) {
	work, err := m.putBackWork(ctx, req, &baseline{Keep: ref})
	return work.notes(who), err
}

// putBackWork brings back what the snapshot of a baseline holds and HEAD does not:
// changed, untracked and ignored files.
func (m *Manager) putBackWork(ctx context.Context, req LookRequest, b *baseline) (keptWork, error) {
	work := keptWork{names: map[string]bool{}}
	if b == nil || b.Keep == "" {
		return work, nil
	}
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return work, err
	}
	defer x.close()
	commit, err := x.refs().commit(ctx, b.Keep)
	if err != nil || commit == "" {
		return work, err // it was all put back, and the snapshot dropped
	}
	work.ref = b.Keep
	root, err := os.OpenRoot(req.Path)
	if err != nil {
		return work, fmt.Errorf("put work of %s back: %w", req.Alias, err)
	}
	defer root.Close()
	held, err := x.workIn(ctx, commit, b.Changed)
	if err != nil {
		return work, fmt.Errorf("put work of %s back: %w", req.Alias, err)
	}
	r := reader{root: root, like: commit, files: map[string]entry{}}
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(held)) {
		work.names[name] = true
		if r.lies(name) != held[name] {
			differ = append(differ, name)
		}
	}
	if err := x.writeBlobs(ctx, root, differ, held); err == nil {
		work.back = differ
		return work, nil
	}
	for _, name := range differ { // each by itself, past what is in the way
		if err := x.writeBlobs(ctx, root, []string{name}, held); ctx.Err() != nil {
			return work, ctx.Err()
		} else if err != nil {
			m.log.Warn("work is not put back", "agent", req.Alias, "path", name, "error", err)
			work.stuck = append(work.stuck, name)
			continue
		}
		work.back = append(work.back, name)
	}
	return work, nil
}

// lies gives the file at a name as a tree would hold it; nothing when there is
// none.
func (r *reader) lies(name string) entry {
	info, err := r.root.Lstat(name)
	if err != nil || info.IsDir() || r.file(name, info) != nil {
		return entry{}
	}
	return r.files[name]
}

// workIn gives the files of a snapshot that the commit that HEAD was then does not
// have, and those of it that were changed: the named ones; nil for all that lay
// on the disk in another form.
func (x *mirror) workIn(ctx context.Context, commit string, changed []string) (map[string]entry, error) {
	note, err := x.snapshotNote(ctx, commit)
	if err != nil {
		return nil, err
	}
	trees := map[string]map[string]entry{commit: {}, note.head: {}}
	for id := range trees {
		if id == "" {
			continue
		}
		out, err := x.git(ctx, nil, treeArgs(id)...)
		if err != nil {
			return nil, err
		}
		if trees[id], err = parseTree(out); err != nil {
			return nil, err
		}
	}
	work := trees[commit]
	maps.DeleteFunc(work, func(name string, e entry) bool {
		was, inHead := trees[note.head][name]
		return e.mode == modeGitlink || reserved(name) || was == e || inHead && changed != nil && !slices.Contains(changed, name)
	})
	return work, nil
}
