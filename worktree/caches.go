package worktree

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A known cache is what a tool makes again by itself: it is no work, and it is
// not kept. The rule holds for ignored files only; tracked or plainly untracked
// ones are work wherever they lie.
//
// build, dist, out and bin are left out on purpose: results lie there that
// somebody may have waited hours for, and no name tells them from leftovers.

// cacheFolders are names of folders, anywhere in a path.
func cacheFolders() []string {
	return []string{
		"node_modules", ".pnpm-store", ".parcel-cache", ".next", ".nuxt", ".svelte-kit", ".turbo", ".angular", // JavaScript
		".venv", "venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".ipynb_checkpoints", // Python
		"target", ".gradle", ".kotlin", // Rust, Java
		"Pods", "DerivedData", ".build", // Apple
		"zig-cache", ".zig-cache", ".elixir_ls", ".stack-work", "dist-newstyle", // Zig, Elixir, Haskell
		".terraform", ".cache", ".ccache", ".eslintcache", ".nyc_output", "coverage", "htmlcov", // tools
	}
}

// cachePaths are folders that are caches only below another.
func cachePaths() []string { return []string{"vendor/bundle", ".yarn/cache", ".bundle/cache"} }

// cacheFile tells a file that is a cache by its own name.
func cacheFile(name string) bool {
	switch name {
	case ".DS_Store", "Thumbs.db", ".eslintcache", ".coverage":
		return true
	}
	return strings.HasSuffix(name, ".pyc") || strings.HasSuffix(name, ".tsbuildinfo")
}

// knownCache tells whether an ignored path is a cache or lies in one. A folder
// ends in a slash.
func knownCache(name string) bool {
	parts := strings.Split(name, "/")
	folders := parts[:len(parts)-1]
	if slices.ContainsFunc(folders, func(part string) bool { return slices.Contains(cacheFolders(), part) }) {
		return true
	}
	in := "/" + strings.Join(folders, "/") + "/"
	return slices.ContainsFunc(cachePaths(), func(p string) bool { return strings.Contains(in, "/"+p+"/") }) ||
		cacheFile(parts[len(parts)-1])
}

// ignoredArgs asks for ignored files too: a folder that is ignored as a whole
// is one entry, so that a cache costs nothing.
const ignoredArgs = "--ignored=matching"

// ignoredWork picks from a status the ignored files that are work: not in
// known caches, not cw's own, not included ones that are as they were. An
// ignored folder with any is one entry ending in a slash.
func ignoredWork(ctx context.Context, root *os.Root, entries []statusEntry, unchanged map[string]bool) ([]string, error) {
	var work []string
	for _, e := range entries {
		if e.Kind != statusIgnored || reserved(e.Path) || knownCache(e.Path) || unchanged[e.Path] {
			continue
		}
		if dir, ok := strings.CutSuffix(e.Path, "/"); ok {
			found, err := holdsWork(ctx, root, dir, unchanged)
			if err != nil {
				return nil, err
			}
			if !found {
				continue
			}
		}
		work = append(work, e.Path)
	}
	slices.Sort(work)
	return work, nil
}

// holdsWork looks for one file below an ignored folder that is none of those.
func holdsWork(ctx context.Context, root *os.Root, dir string, unchanged map[string]bool) (bool, error) {
	found := false
	w := walker{
		root: root,
		skip: func(name string) bool {
			return found || unchanged[name] || reserved(name+"/") || knownCache(name+"/") || cacheFile(path.Base(name))
		},
		file:    func(string, fs.FileInfo) error { found = true; return nil },
		blocked: func(_ string, why obstacle) { found = found || why != emptyFolder && why != specialFile },
	}
	err := w.folder(ctx, dir)
	return found, err
}
