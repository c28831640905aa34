package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cw/internal/safefile"
)

// linkAll brings the links that were left for the end.
func (c *copier) linkAll() error {
	for _, name := range c.links {
		if err := c.link(name); err != nil {
			return fmt.Errorf("include %q: %w", name, err)
		}
	}
	// A link may lead to another one, so they are looked at when all are made.
	for _, name := range c.links {
		if err := c.checkLink(name); err != nil {
			return fmt.Errorf("include %q: %w", name, err)
		}
	}
	return nil
}

// link makes a link that stays in the checkout again, with the same target. Of
// one that leads out of it, a file arrives as a copy, which the agent may change
// without changing the user's, and a folder as a link: it is shared on purpose,
// and nobody knows how large it is.
func (c *copier) link(name string) error {
	target, err := c.from.Readlink(name)
	if err != nil {
		c.warn("%s names %q, which was not copied: %v", includeFile, name, err)
		return nil
	}
	if inside, ok := c.targetInside(name, target); ok {
		return c.makeLink(name, inside)
	}
	return c.follow(name)
}

// targetInside gives the target of a link as it is in the worktree, when it stays
// there. One that names a path of the checkout in full is made relative, as it
// would lead back into the user's checkout.
func (c *copier) targetInside(name, target string) (string, bool) {
	if filepath.IsAbs(target) {
		rel, err := filepath.Rel(c.checkout, target)
		if err != nil || !filepath.IsLocal(rel) {
			return "", false
		}
		rel, err = filepath.Rel(path.Dir(name), rel)
		return rel, err == nil
	}
	return target, filepath.IsLocal(filepath.Join(path.Dir(name), target))
}

func (c *copier) makeLink(name, target string) error {
	if err := c.makeFolder(name); err != nil {
		return err
	}
	err := c.to.Symlink(target, name)
	if errors.Is(err, fs.ErrExist) {
		c.alreadyThere(name)
		return nil
	}
	if err == nil {
		c.included[name] = linkMark + target
	}
	return err
}

// follow brings what a link leads to outside of the worktree.
func (c *copier) follow(name string) error {
	full := filepath.Join(c.checkout, filepath.FromSlash(name))
	info, err := os.Stat(full)
	switch {
	case err != nil:
		c.warn("%s names %q, a link that leads nowhere", includeFile, name)
		return nil
	case info.IsDir():
		return c.followFolder(name, full)
	case !info.Mode().IsRegular():
		c.warn("%s names %q, which was not copied: not a regular file", includeFile, name)
		return nil
	}
	in, err := safefile.OpenLinked(full) // it may be a FIFO by now
	if err != nil {
		c.warn("%s names %q, which was not copied: %v", includeFile, name, err)
		return nil
	}
	defer in.Close()
	return c.write(name, in)
}

// followFolder makes a link to a folder outside of the checkout. One that ends in
// the checkout is not made: the agent would work in the user's files.
func (c *copier) followFolder(name, full string) error {
	target, err := filepath.EvalSymlinks(full)
	if err != nil {
		c.warn("%s names %q, which was not copied: %v", includeFile, name, err)
		return nil
	}
	top, err := filepath.EvalSymlinks(c.checkout)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(top, target); err == nil && filepath.IsLocal(rel) || strings.HasPrefix(top, target+string(filepath.Separator)) {
		c.warn("%s names %q, a link to the folder %q of the checkout, which the worktree does not have: name it as well", includeFile, name, target)
		return nil
	}
	return c.makeLink(name, target)
}

// checkLink looks whether a link that stays in the worktree leads there to
// something, as it does in the checkout. Where it does not, it is brought as one
// that leads out: a copy, or nothing.
func (c *copier) checkLink(name string) error {
	noted, ours := c.included[name]
	target, isLink := strings.CutPrefix(noted, linkMark)
	if !ours || !isLink || filepath.IsAbs(target) {
		return nil
	}
	if _, err := c.to.Stat(name); err == nil {
		return nil
	}
	if _, err := os.Stat(filepath.Join(c.checkout, filepath.FromSlash(name))); err != nil {
		return nil // it leads nowhere there, too
	}
	if err := c.to.Remove(name); err != nil {
		return err
	}
	delete(c.included, name)
	return c.follow(name)
}
