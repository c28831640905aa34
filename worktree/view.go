package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The view is the git directory by which our own git works on a mirror. What
// decides what git executes (configuration, attributes, hooks) is ours there and
// lies where agents have no business; objects, references and admin folders are
// links to the mirror. So nothing that an agent writes into the mirror between our
// look and git's own is read as configuration. It has no commondir file, so git
// takes it for the common directory itself.

func viewDir(mirrorDir string) string { return filepath.Join(guardDir(mirrorDir), "view") }

// viewFolders are the folders that a view shares with its mirror.
func viewFolders() []string { return []string{"objects", "refs", "logs", "worktrees"} }

// viewFiles are the files that it shares, which need not exist. git replaces the
// file behind a link, not the link.
func viewFiles() []string { return []string{filePackedRefs, fileShallow} }

const (
	filePackedRefs = "packed-refs"
	fileShallow    = "shallow"
)

// makeView makes the view or puts right what differs in it.
func (x *mirror) makeView() error {
	dir := viewDir(x.dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make view of mirror: %w", err)
	}
	links := map[string]string{
		"info":     guardCopy(x.dir, "info"),
		fileConfig: guardCopy(x.dir, fileConfig),
	}
	for _, name := range viewFolders() {
		links[name] = filepath.Join(x.dir, name)
		// git cannot make a folder behind a link.
		if err := os.MkdirAll(links[name], 0o700); err != nil {
			return fmt.Errorf("make view of mirror: %w", err)
		}
	}
	for _, name := range viewFiles() {
		links[name] = filepath.Join(x.dir, name)
	}
	for name, target := range links {
		if err := linkTo(target, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("make view of mirror: %w", err)
		}
	}
	head := filepath.Join(dir, fileHead) // git takes a link for another kind of reference
	if have, err := readSmall(head); err != nil || string(have) != mirrorHead {
		if err := writeFile(head, []byte(mirrorHead)); err != nil {
			return fmt.Errorf("make view of mirror: %w", err)
		}
	}
	for _, name := range forbidden() {
		if path := filepath.Join(dir, name); exists(path) && links[name] == "" {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("make view of mirror: %w", err)
			}
		}
	}
	return nil
}

// linkTo makes path a link to target, whatever is there.
func linkTo(target, path string) error {
	if have, err := os.Readlink(path); err == nil && have == target {
		return nil
	}
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

// settleView passes on to the mirror that git removed a file by removing the link:
// the list of commits without parents, when a shallow repository was deepened.
func (x *mirror) settleView() error {
	_, err := os.Lstat(filepath.Join(viewDir(x.dir), fileShallow))
	if !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.Remove(filepath.Join(x.dir, fileShallow)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deepen mirror: %w", err)
	}
	return nil
}

// gitDir is the git directory for calls that work on the mirror as a whole.
func (x *mirror) gitDir() string {
	if x.m.guards.Off("mirror-own") {
		return x.dir
	}
	return viewDir(x.dir)
}

// env is the environment for a call with a git directory of the mirror: gitDir
// itself, or an admin folder of it. The common directory is named, so that git does
// not read the commondir file, which an agent may have written.
func (x *mirror) env(gitDir string) []string {
	return append(cleanEnv(), "GIT_DIR="+gitDir, "GIT_COMMON_DIR="+x.gitDir())
}

// adminEnv is env for an admin folder by its name.
func (x *mirror) adminEnv(name string) []string {
	return x.env(filepath.Join(x.gitDir(), "worktrees", name))
}

// ownConfig names the user's global files where they are ours: the configuration
// names those in the mirror, for agents.
func (x *mirror) ownConfig() []string {
	return []string{
		"core.excludesFile=" + guardCopy(x.dir, fileGlobalExclude),
		"core.attributesFile=" + guardCopy(x.dir, fileGlobalAttributes),
	}
}

// fromView turns a path in the view into the same in the mirror.
func (x *mirror) fromView(path string) string {
	rel, err := filepath.Rel(viewDir(x.dir), path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	first, _, _ := strings.Cut(rel, string(filepath.Separator))
	if !slices.Contains(viewFolders(), strings.TrimSuffix(first, ".lock")) && !slices.Contains(viewFiles(), strings.TrimSuffix(first, ".lock")) {
		return path
	}
	return filepath.Join(x.dir, rel)
}
