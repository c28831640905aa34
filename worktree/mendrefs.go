package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// dropLost removes the references of commits that are not there any more, since
// git fetches nothing while there is one. What an agent's branch or HEAD was is
// noted: without that commit its worktree is not made again.
func (x *mirror) dropLost(ctx context.Context) error {
	out, err := x.git(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return err
	}
	var ids, names []string
	for row := range strings.Lines(string(out)) {
		if id, name, ok := strings.Cut(strings.TrimSuffix(row, "\n"), " "); ok && fullID().MatchString(id) {
			ids, names = append(ids, id), append(names, name)
		}
	}
	gone, err := x.notThere(ctx, ids)
	if err != nil {
		return err
	}
	var stdin strings.Builder
	for i, name := range names {
		if slices.Contains(gone, ids[i]) {
			fmt.Fprintf(&stdin, "delete %s\n", name)
			x.m.log.Warn("a reference of cw's copy points to nothing", "project", x.p.Name, "ref", name, "commit", ids[i])
		}
		if alias, ok := strings.CutPrefix(name, agentRef("")); ok && slices.Contains(gone, ids[i]) && cw.ValidAlias(alias) == nil {
			if err := x.noteKept(alias, ids[i]); err != nil {
				return err
			}
		}
	}
	if _, err := x.git(ctx, []byte(stdin.String()), "update-ref", "--stdin"); err != nil {
		return err
	}
	return x.dropLostHeads(ctx)
}

// dropLostHeads is dropLost for detached HEADs of our worktrees.
func (x *mirror) dropLostHeads(ctx context.Context) error {
	all, err := records(x.dir)
	if err != nil {
		return err
	}
	for _, r := range all {
		file := filepath.Join(x.dir, "worktrees", r.Admin, "HEAD")
		_, id, err := adminHead(filepath.Dir(file))
		if !r.linked() || r.Admin == "" || err != nil || id == "" {
			continue
		}
		gone, err := x.notThere(ctx, []string{id})
		if err != nil {
			return err
		}
		if len(gone) == 0 {
			continue
		}
		if err := errors.Join(x.noteKept(r.Alias, id), writeFile(file, []byte("ref: "+agentRef(r.Alias)+"\n"))); err != nil {
			return err
		}
	}
	return nil
}

// mendOwn mends the references of the mirror when one of the agent's cannot be
// read: git would neither read nor write it any more.
func (e *ensurer) mendOwn(ctx context.Context) error {
	own := []string{agentRef(e.r.Alias), headRef(e.r.AgentID), baseRef(e.r.AgentID)}
	if !slices.ContainsFunc(own, func(name string) bool { return brokenRef(e.dir, name) }) {
		return nil
	}
	_, err := e.mendBroken(ctx)
	return err
}

// mendBroken puts every reference of the mirror that git cannot read where its
// reflog says that it was, and removes it when nothing says that.
func (x *mirror) mendBroken(ctx context.Context) (mended bool, err error) {
	err = filepath.WalkDir(filepath.Join(x.dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(x.dir, path)
		if err != nil || strings.HasSuffix(name, ".lock") || !brokenRef(x.dir, name) {
			return err
		}
		mended = true
		was, err := x.lastLogged(ctx, filepath.ToSlash(name))
		if err != nil {
			return err
		}
		x.m.log.Warn("a reference of cw's copy cannot be read", "project", x.p.Name, "ref", name, "mendedAt", was)
		if was == "" {
			return os.Remove(path)
		}
		return writeFile(path, []byte(was+"\n"))
	})
	if mended {
		err = errors.Join(err, x.reseed())
	}
	return mended, err
}

// lastLogged is the commit that a reference was at last by its reflog, "" when
// there is none, or the commit is gone. A commit that was never handed over is
// known by it alone.
func (x *mirror) lastLogged(ctx context.Context, name string) (string, error) {
	text, err := readSmall(filepath.Join(x.dir, "logs", filepath.FromSlash(name)))
	if err != nil {
		return "", nil
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	f := strings.Fields(rows[len(rows)-1])
	if len(f) < 2 || !fullID().MatchString(f[1]) {
		return "", nil
	}
	gone, err := x.notThere(ctx, []string{f[1]})
	if err != nil || len(gone) > 0 {
		return "", err
	}
	return f[1], nil
}
