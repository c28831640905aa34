package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// baseline is what was in a worktree right before commands of the project ran.
type baseline struct {
	Name string `json:"name"` // of that run of commands
	// Keep is a snapshot of the work that was there, as long as it is not known to be
	// all back; "" for none.
	Keep string `json:"keep,omitempty"`
	// Changed are the files of HEAD that were changed. A snapshot holds files as they
	// are on the disk, where line ends may be others than in HEAD: that is no change.
	Changed []string `json:"changed,omitempty"`
	// Stuck tells that work could not be put back: its snapshot stays.
	Stuck bool `json:"stuck,omitempty"`
}

// BeginSetUp takes the baseline right before commands of the project run in a
// worktree: what is there and is work stays work, and a snapshot holds it until
// EndSetUp. name tells one run of commands from another; asked again with the
// same it does nothing.
func (m *Manager) BeginSetUp(ctx context.Context, req LookRequest, name string) error {
	r, err := m.recordOf(ctx, req)
	if err != nil || r.Baseline != nil && r.Baseline.Name == name {
		return err
	}
	killed, err := m.putBackWork(ctx, req, r.Baseline) // of commands that did not come to their end
	if err != nil {
		return err
	}
	look, err := m.Look(ctx, req)
	if err != nil {
		return err
	}
	b := baseline{Name: name}
	if look.Work() || len(look.Ignored) > 0 {
		snap, err := m.TakeSnapshot(ctx, req, setUpKeep(name))
		if err != nil {
			return err
		}
		b.Keep, b.Changed = snap.Ref, append([]string{}, look.Dirty...)
	}
	if err := m.noteBaseline(ctx, req, func(r *record) { r.SetUp, r.Baseline = true, &b }); err != nil {
		return err
	}
	if killed.ref == "" || len(killed.stuck) > 0 {
		return nil
	}
	return m.DropSnapshot(ctx, req.Project, killed.ref)
}

// setUpKeep names the snapshot that is taken before commands run.
func setUpKeep(name string) string { return "before-" + name }

// recordOf reads the record of a worktree that must be the one asked for.
func (m *Manager) recordOf(ctx context.Context, req LookRequest) (*record, error) {
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return nil, err
	}
	defer x.close()
	return x.ownRecord(req)
}

// noteBaseline changes the record of a worktree.
func (m *Manager) noteBaseline(ctx context.Context, req LookRequest, change func(r *record)) error {
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return err
	}
	defer x.close()
	r, err := x.ownRecord(req)
	if err != nil {
		return err
	}
	change(r)
	return x.writeRecord(*r)
}

// EndSetUp compares a worktree with the baseline that BeginSetUp took under that
// name. Work that the commands changed or removed is put back. What they made or
// changed beside it becomes part of the baseline, which is given: it is no work
// as long as it stays so. Known caches need not be noted. links are what
// ShareCaches gave. notes are for people. It may be repeated.
func (m *Manager) EndSetUp(ctx context.Context, req LookRequest, name string, links map[string]string) (noted map[string]string, notes []string, err error) {
	r, err := m.recordOf(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	if r.Baseline == nil || r.Baseline.Name != name {
		return nil, nil, fmt.Errorf("end the set-up of %s: nothing was begun as %q", req.Alias, name)
	}
	work, err := m.putBackWork(ctx, req, r.Baseline)
	if err != nil {
		return nil, nil, err
	}
	made, more, err := m.madeBySetUp(ctx, req, work.names)
	if err != nil {
		return nil, nil, fmt.Errorf("look at what the set-up of %s made: %w", req.Alias, err)
	}
	noted = maps.Clone(req.Included)
	if noted == nil {
		noted = map[string]string{}
	}
	maps.Copy(noted, made)
	maps.Copy(noted, links)
	err = m.noteBaseline(ctx, req, func(r *record) { r.Included, r.Baseline.Stuck = noted, len(work.stuck) > 0 })
	return noted, append(work.notes("the set-up"), more...), err
}

// SettleBaseline puts back the work that commands changed which were begun and
// came to no end, such as those of a run that was taken back. notes are for
// people.
func (m *Manager) SettleBaseline(ctx context.Context, req LookRequest) (notes []string, err error) {
	r, err := m.recordOf(ctx, req)
	if err != nil || r.Baseline == nil || r.Baseline.Keep == "" {
		return nil, err
	}
	work, err := m.putBackWork(ctx, req, r.Baseline)
	if err != nil {
		return nil, err
	}
	err = m.noteBaseline(ctx, req, func(r *record) { r.Baseline.Stuck = len(work.stuck) > 0 })
	return work.notes("a set-up that was not ended"), errors.Join(err, m.ForgetBaseline(ctx, req))
}

// ForgetBaseline drops the snapshot of EndSetUp, when what it gave is stored.
func (m *Manager) ForgetBaseline(ctx context.Context, req LookRequest) error {
	r, err := m.recordOf(ctx, req)
	if err != nil || r.Baseline == nil || r.Baseline.Keep == "" {
		return err
	}
	keep, stuck := r.Baseline.Keep, r.Baseline.Stuck
	err = m.noteBaseline(ctx, req, func(r *record) { r.Baseline.Keep, r.Baseline.Changed = "", nil })
	if err != nil || stuck {
		return err
	}
	return m.DropSnapshot(ctx, req.Project, keep)
}

// madeBySetUp gives the marks of what a status shows but work has not: what git
// does not track, and what it tracks and finds changed.
func (m *Manager) madeBySetUp(ctx context.Context, req LookRequest, work map[string]bool) (made map[string]string, notes []string, err error) {
	_, s, err := m.open(ctx, req, req.Path, m.mirrorCommit(req.Project))
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	entries, err := s.status(ctx, ignoredArgs)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(req.Path)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	made = map[string]string{}
	more := false
	add := func(name string, m mark) {
		if work[name] {
			return
		}
		if more = more || len(made) == includeMaxFiles; more {
			return
		}
		if state, err := stateOf(root, name, m.tracked); err == nil {
			m.state = state
			made[name] = m.String()
		}
	}
	for _, e := range entries {
		folder, isFolder := strings.CutSuffix(e.Path, "/")
		switch {
		case reserved(e.Path) || e.Kind == statusIgnored && knownCache(e.Path):
		case e.Kind == statusChanged:
			add(e.Path, mark{tracked: true, head: e.Head})
		case e.Kind != statusIgnored && e.Kind != statusUntracked:
			// A conflict is never made by a set-up alone.
		case !isFolder:
			add(e.Path, mark{})
		default:
			w := walker{
				root: root,
				skip: func(name string) bool {
					return more || reserved(name+"/") || e.Kind == statusIgnored && (knownCache(name+"/") || cacheFile(path.Base(name)))
				},
				file:    func(name string, _ fs.FileInfo) error { add(name, mark{}); return nil },
				blocked: func(string, obstacle) {},
			}
			if err := w.folder(ctx, folder); err != nil {
				return nil, nil, err
			}
		}
	}
	if more {
		notes = append(notes, fmt.Sprintf("the set-up made more than %d files that git does not know as they are: the worktree stays when its agent is done", includeMaxFiles))
	}
	return made, notes, nil
}

// ShareCaches puts links into a worktree in place of folders that all worktrees
// of the project share: caches holds the folder by its path in the worktree. It
// gives the links, for EndSetUp. A cache that git does not ignore, or in whose
// place something else is, is left alone and told in notes. It may be repeated.
func (m *Manager) ShareCaches(ctx context.Context, req LookRequest, caches map[string]string) (links map[string]string, notes []string, err error) {
	links = map[string]string{}
	if len(caches) == 0 {
		return links, nil, nil
	}
	root, err := os.OpenRoot(req.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("open worktree of %s: %w", req.Alias, err)
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(caches)) {
		if err := os.MkdirAll(caches[name], 0o700); err != nil {
			return nil, nil, fmt.Errorf("make the shared cache %s: %w", name, err)
		}
		if why := linkCache(root, name, caches[name]); why != "" {
			notes = append(notes, fmt.Sprintf("the cache %s is not shared: %s", name, why))
			continue
		}
		links[name] = linkMark + caches[name]
	}
	_, s, err := m.look(ctx, req, m.mirrorCommit(req.Project))
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	entries, err := s.status(ctx, ignoredArgs)
	if err != nil {
		return nil, nil, fmt.Errorf("look at the caches of %s: %w", req.Alias, err)
	}
	for _, e := range entries {
		if _, ours := links[e.Path]; ours && e.Kind == statusUntracked {
			if err := root.Remove(e.Path); err != nil {
				return nil, nil, fmt.Errorf("remove the link to a cache: %w", err)
			}
			delete(links, e.Path)
			notes = append(notes, fmt.Sprintf("the cache %s is not shared: git does not ignore it (a pattern that ends in / is for folders, and this is a link)", e.Path))
		}
	}
	return links, notes, nil
}

// linkCache makes a link where nothing is, and says why not otherwise.
func linkCache(root *os.Root, name, target string) (why string) {
	if have, err := root.Readlink(name); err == nil && have == target {
		return ""
	}
	if _, err := root.Lstat(name); err == nil {
		return "something else is in its place"
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err.Error()
	}
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err.Error()
		}
	}
	if err := root.Symlink(target, name); err != nil {
		return err.Error()
	}
	return ""
}
