package worktree

import (
	"context"
	"os"
	"path/filepath"

	"cw/internal/cw"
)

// adminOf gives the admin folder that says it belongs to a worktree, as a killed
// try left it, or a name for a new one.
func (x *mirror) adminOf(r *record) (string, error) {
	names, err := x.adminNames()
	if err != nil {
		return "", err
	}
	for _, name := range names {
		dir := filepath.Join(x.dir, "worktrees", name)
		if text, err := readSmall(filepath.Join(dir, "gitdir")); err == nil && sameLink(string(text), r.gitFile()) {
			return dir, nil
		}
	}
	return free(filepath.Join(x.dir, "worktrees", filepath.Base(r.Path))), nil
}

// relink gives a folder that is there an admin folder again, on the agent's
// branch, or mends the one it has. Its files stay as they are; what was staged is
// not any more.
func (e *ensurer) relink(ctx context.Context) error {
	want, err := e.lastHead(ctx)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(e.r.Path, ".git")); err == nil && !info.Mode().IsRegular() {
		return cw.Errorf(cw.CodeRefused, "%s of the worktree of %s is not the file that git made", filepath.Join(e.r.Path, ".git"), e.r.Alias).
			WithHint("look at it and move it away")
	}
	text := "ref: " + want.branch + "\n"
	if want.branch == "" {
		text = want.commit + "\n"
	}
	admin, err := e.adminOf(e.r)
	if err != nil {
		return err
	}
	e.r.Admin = filepath.Base(admin)
	e.r.DotGit, e.r.Link = "gitdir: "+admin+"\n", e.r.gitFile()
	// gitdir first: by it the folder is known again when we are killed here.
	files := [][2]string{{"gitdir", e.r.Link}, {"commondir", commonDir}, {"HEAD", text}, {"locked", "cw agent " + e.r.Alias + "\n"}}
	if err := os.MkdirAll(admin, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(admin, f[0]), []byte(f[1])); err != nil {
			return err
		}
	}
	if err := e.disown(e.r); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(admin, "index")); err != nil { // it may be no index
		return err
	}
	at := e.place()
	at.env = e.adminEnv(e.r.Admin)
	if _, err := e.gitAt(ctx, at, nil, "read-tree", "HEAD"); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(e.r.Path, ".git"), []byte(e.r.DotGit)); err != nil {
		return err
	}
	e.m.fail.Hit("worktree/linked")
	e.warn("cw's copy of the repository had lost the worktree; it hangs on it again, with nothing staged")
	return nil
}
