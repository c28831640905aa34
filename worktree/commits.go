package worktree

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// commitPair is two commits of the mirror with a shadow to read them in: our
// configuration, no references, no worktree. It needs no lock, and what an agent
// writes into the mirror's configuration meanwhile is not read.
type commitPair struct {
	*shadow
	baseTree, headTree string
}

// openCommits opens two commits by their full ids. The caller must close it.
// CodeNotFound when the mirror does not have one of them.
func (m *Manager) openCommits(ctx context.Context, p cw.Project, base, head string) (*commitPair, error) {
	for _, id := range []string{base, head} {
		if !fullID().MatchString(id) {
			return nil, fmt.Errorf("open commits of %s: %q is no full id", p.Name, id)
		}
	}
	dir, err := m.mirrorDir(p)
	if err != nil {
		return nil, err
	}
	if !isDir(dir) || !isDir(guardDir(dir)) {
		return nil, noMirror(p, dir)
	}
	c := &commitPair{shadow: &shadow{m: m, mirrorDir: dir, base: base, head: head, tip: head}}
	if err := c.make(ctx); err != nil {
		return nil, err
	}
	if err := c.read(ctx, p); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// read makes sure that both are there, and notes their trees.
func (c *commitPair) read(ctx context.Context, p cw.Project) error {
	if err := c.shallow(); err != nil {
		return err
	}
	stdin := fmt.Sprintf("%s^{commit}\n%s^{commit}\n%s^{tree}\n%s^{tree}\n", c.base, c.head, c.base, c.head)
	out, err := c.m.git.run(ctx, c.place(), []byte(stdin), "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return fmt.Errorf("read commits of %s: %w", p.Name, err)
	}
	rows := strings.Split(line(out), "\n")
	if len(rows) != 4 {
		return fmt.Errorf("read commits of %s: git said %.80q", p.Name, out)
	}
	for i, id := range []string{c.base, c.head} {
		if rows[i] != id || !fullID().MatchString(rows[i+2]) {
			return cw.Errorf(cw.CodeNotFound, "commit %s is not in cw's copy of %s", id, p.Name).
				WithHint("if you have it elsewhere, fetch it into your repository")
		}
	}
	c.baseTree, c.headTree = rows[2], rows[3]
	return nil
}

// shallow tells git where the mirror's history is cut off: it would look for
// the parents otherwise.
func (c *commitPair) shallow() error {
	path := filepath.Join(c.mirrorDir, "shallow")
	if !exists(path) {
		return nil
	}
	text, err := readSmall(path)
	if err != nil {
		return fmt.Errorf("read where history is cut off: %w", err)
	}
	var ids bytes.Buffer
	for _, id := range strings.Fields(string(text)) {
		if fullID().MatchString(id) {
			ids.WriteString(id + "\n")
		}
	}
	return os.WriteFile(filepath.Join(c.dir, "shallow"), ids.Bytes(), 0o600)
}

// mergeBase gives the best common ancestor, "" when there is none.
func (c *commitPair) mergeBase(ctx context.Context) (string, error) {
	return c.common(ctx, c.base, c.head)
}

// count gives how many commits the head has that the base does not.
func (c *commitPair) count(ctx context.Context) (int, error) {
	out, err := c.git(ctx, "rev-list", "--count", "--end-of-options", c.base+".."+c.tip)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(line(out))
}

// stat sums up what a comparison of base and tip says.
func (c *commitPair) stat(ctx context.Context) (cw.Stat, error) {
	var sum cw.Stat
	files, err := c.numstat(ctx)
	for _, f := range files {
		sum.Files++
		sum.Additions += f.additions
		sum.Deletions += f.deletions
	}
	return sum, err
}

// comings lists the paths that tip has and base has not, and those that only base
// has.
func (c *commitPair) comings(ctx context.Context) (added, gone []string, err error) {
	out, err := c.git(ctx, append(diffArgs("--name-status", "-z", "--no-renames", "--diff-filter=AD", "--end-of-options"), c.base, c.tip, "--")...)
	if err != nil {
		return nil, nil, err
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] == "D" {
			gone = append(gone, fields[i+1])
		} else {
			added = append(added, fields[i+1])
		}
	}
	return added, gone, nil
}

// attributesMax bounds the .gitattributes files that a merge reads.
const (
	attributesMax     = 1000
	attributesMaxSize = 1 << 20
)

// layAttributes writes the .gitattributes files of a tree into a folder: git
// merges by those that lie in its worktree. Nothing else is written there, so
// there is no link to follow.
func (c *commitPair) layAttributes(ctx context.Context, tree, folder string) error {
	out, err := c.git(ctx, "diff-tree", "-r", "-z", "--no-renames", "--diff-filter=A", "--end-of-options", emptyTree(tree), tree, "--", ":(top,glob)**/.gitattributes")
	if err != nil {
		return fmt.Errorf("list attributes: %w", err)
	}
	var paths []string
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields) && len(paths) < attributesMax; i += 2 {
		if f := strings.Fields(fields[i]); len(f) == 5 && (f[1] == modeFile || f[1] == modeExec) && filepath.IsLocal(fields[i+1]) {
			paths = append(paths, fields[i+1])
		}
	}
	files, err := c.files(ctx, tree, paths, attributesMaxSize)
	if err != nil || len(files) == 0 {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("write attributes: %w", err)
	}
	defer root.Close()
	for _, f := range files {
		if f.Data == nil {
			continue
		}
		if err := root.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			return fmt.Errorf("write attributes: %w", err)
		}
		if err := root.WriteFile(f.Path, f.Data, fs.FileMode(0o600)); err != nil {
			return fmt.Errorf("write attributes: %w", err)
		}
	}
	return nil
}

// files reads plain files of a tree; those that are larger come without text.
func (c *commitPair) files(ctx context.Context, tree string, paths []string, limit int64) ([]TreeFile, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	req := TreeRequest{FileMax: limit, FilesMax: len(paths)}
	list, err := c.git(ctx, append([]string{"ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", tree}, paths...)...)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	files, ids, err := plainFiles(list, req)
	if err != nil || len(ids) == 0 {
		return files, err
	}
	blobs, err := c.m.git.run(ctx, c.place(), []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch", "--buffer")
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	return files, fillFiles(files, blobs)
}
