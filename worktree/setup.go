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

// linkMark begins what is noted of a link in place of a file's hash: what it
// leads to follows.
const linkMark = "link:"

// BeginSetUp notes that commands of the project are about to run in a new
// worktree: what is found in it from now on may be theirs.
func (m *Manager) BeginSetUp(ctx context.Context, req LookRequest) error {
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return err
	}
	defer x.close()
	r, err := x.ownRecord(req)
	if err != nil || r.SetUp {
		return err
	}
	r.SetUp = true
	return x.writeRecord(*r)
}

// EndSetUp notes what the project's commands made in a worktree in which no agent
// has worked since, and gives all that is known to be no work: files that git does
// not track, with their hash, as those that .worktreeinclude names. Known caches
// need not be noted. links are what ShareCaches gave. notes are for people.
func (m *Manager) EndSetUp(ctx context.Context, req LookRequest, links map[string]string) (included map[string]string, notes []string, err error) {
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return nil, nil, err
	}
	defer x.close()
	r, err := x.ownRecord(req)
	if err != nil {
		return nil, nil, err
	}
	_, s, err := m.look(ctx, req, x.refs().commit)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	entries, err := s.status(ctx, ignoredArgs)
	if err != nil {
		return nil, nil, fmt.Errorf("look at what the set-up of %s made: %w", req.Alias, err)
	}
	made, notes, err := madeBySetUp(ctx, req.Path, entries)
	if err != nil {
		return nil, nil, fmt.Errorf("look at what the set-up of %s made: %w", req.Alias, err)
	}
	included = maps.Clone(req.Included)
	if included == nil {
		included = map[string]string{}
	}
	maps.Copy(included, made)
	maps.Copy(included, links)
	r.Included = included
	return included, notes, x.writeRecord(*r)
}

// madeBySetUp hashes the files of a status that git does not track.
func madeBySetUp(ctx context.Context, dir string, entries []statusEntry) (made map[string]string, notes []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	made = map[string]string{}
	var changed []string
	more := false
	add := func(name string) {
		if more = more || len(made) == includeMaxFiles; more {
			return
		}
		if target, err := root.Readlink(name); err == nil {
			made[name] = linkMark + target
			return
		}
		if sum, err := hashFile(root, name); err == nil {
			made[name] = sum
		}
	}
	for _, e := range entries {
		folder, isFolder := strings.CutSuffix(e.Path, "/")
		switch {
		case reserved(e.Path) || e.Kind == statusIgnored && knownCache(e.Path):
		case e.Kind != statusIgnored && e.Kind != statusUntracked:
			changed = append(changed, e.Path)
		case !isFolder:
			add(e.Path)
		default:
			w := walker{
				root: root,
				skip: func(name string) bool {
					return more || reserved(name+"/") || e.Kind == statusIgnored && (knownCache(name+"/") || cacheFile(path.Base(name)))
				},
				file:    func(name string, _ fs.FileInfo) error { add(name); return nil },
				blocked: func(string, obstacle) {},
			}
			if err := w.folder(ctx, folder); err != nil {
				return nil, nil, err
			}
		}
	}
	if more {
		notes = append(notes, fmt.Sprintf("the set-up made more than %d files that git does not track: the worktree stays when its agent is done", includeMaxFiles))
	}
	if len(changed) > 0 {
		slices.Sort(changed)
		notes = append(notes, fmt.Sprintf("the set-up changed what git tracks: %s changed now, and the agent sees it as work", some(changed)))
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

// linkAsNoted tells whether a link of the worktree leads where it did.
func linkAsNoted(root *os.Root, name, noted string) bool {
	target, isLink := strings.CutPrefix(noted, linkMark)
	have, err := root.Readlink(name)
	return isLink && err == nil && have == target
}
