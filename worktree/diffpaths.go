package worktree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
)

// otherSidesMax is how many other sides of renames are looked at with the paths
// that were named: they are arguments of a command.
const otherSidesMax = 1000

// selection is what of a difference some paths name.
type selection struct {
	files  []fileStat
	dirty  []string
	specs  []string // for git; none: everything
	missed []string // paths that name nothing of it
}

// choose finds what of a difference some paths name: themselves, and what is
// below them. Of a file that was renamed both paths do, and both are told git, as
// it would not see the rename otherwise. No paths name everything.
func choose(files []fileStat, dirty, paths []string) selection {
	if len(paths) == 0 {
		return selection{files: files, dirty: dirty}
	}
	sel := selection{dirty: []string{}}
	hit := make([]bool, len(paths))
	named := func(path string) bool {
		found := false
		for i, p := range paths {
			if path != "" && isBelow(path, p) {
				hit[i], found = true, true
			}
		}
		return found
	}
	for _, p := range paths {
		sel.specs = append(sel.specs, literal(p))
	}
	others := 0
	for _, f := range files {
		byPath, byFrom := named(f.path), named(f.from)
		if !byPath && !byFrom {
			continue
		}
		sel.files = append(sel.files, f)
		if f.from != "" && byPath != byFrom && others < otherSidesMax {
			others++
			other := f.from
			if byFrom {
				other = f.path
			}
			sel.specs = append(sel.specs, literal(other))
		}
	}
	for _, d := range dirty {
		whole := named(strings.TrimSuffix(d, "/"))
		for i, p := range paths {
			if strings.HasSuffix(d, "/") && strings.HasPrefix(p, d) { // in a repository of its own, which is one entry
				hit[i], whole = true, true
			}
		}
		if whole {
			sel.dirty = append(sel.dirty, d)
		}
	}
	for i, p := range paths {
		if !hit[i] {
			sel.missed = append(sel.missed, p)
		}
	}
	return sel
}

// isBelow tells whether a path is another one or lies in it.
func isBelow(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder) && path[len(folder)] == '/'
}

// literal is a path for git, in which nothing is a pattern.
func literal(path string) string { return ":(top,literal)" + path }

// nameSomething refuses paths that name nothing in base, tip or worktree. What is
// there and did not change is no mistake. CodeNotFound.
func (s *shadow) nameSomething(ctx context.Context, paths []string, changed []fileStat) error {
	for _, p := range paths {
		there := false
		for _, commit := range []string{s.tip, s.base} {
			if commit == "" || there {
				continue
			}
			out, err := s.git(ctx, "ls-tree", "-z", "--full-tree", "--name-only", "--end-of-options", commit, literal(p))
			if err != nil {
				return fmt.Errorf("look for %q: %w", p, err)
			}
			there = len(out) > 0
		}
		if !there {
			return errNoPath(p, changed)
		}
	}
	return nil
}

func errNoPath(path string, changed []fileStat) error {
	var names []string
	for _, f := range changed {
		names = append(names, f.path)
		if f.from != "" {
			names = append(names, f.from)
		}
	}
	err := cw.Errorf(cw.CodeNotFound, "nothing is called %.200q in what is compared", path)
	near := nearest(path, names[:min(len(names), 5000)])
	if len(near) == 0 {
		return err.WithHint("a path is from the root of the repository; --stat lists the files that changed")
	}
	for i, n := range near {
		near[i] = fmt.Sprintf("%q", n)
	}
	slices.Sort(near)
	return err.WithHint("did you mean %s? A path is from the root of the repository", strings.Join(near, ", "))
}
