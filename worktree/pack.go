package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"cw/internal/cw"
)

// Bounds on the objects of a mirror and of a clone. The first two are those of
// git gc --auto. Objects that no reference, index or reflog names are deleted
// once they are older than pruneAge, which is git's own default.
const (
	looseMost  = 6700
	packsMost  = 50
	growthFree = 256 << 20
	pruneAge   = "2.weeks.ago"
)

// packedFile holds how many bytes of objects there were after the last prune.
const packedFile = "packed"

// objectCount is what lies in a folder of objects.
type objectCount struct {
	loose  int      // loose objects
	packs  int      // packs that no other repository shares
	bytes  int64    // of files that no other repository shares
	shared []string // names of packs that are hard links of the user's
}

// packing is what is to be done with a folder of objects.
type packing int

const (
	packNothing packing = iota
	packRoll            // loose objects and small packs become one pack; nothing is deleted
	packPrune           // everything is packed anew, without old objects that nothing names
)

// choosePacking decides by what is there and by how many bytes there were after
// the last prune.
func choosePacking(have objectCount, last int64) packing {
	switch {
	case have.bytes > 2*last+growthFree:
		return packPrune
	case have.loose > looseMost, have.packs > packsMost:
		return packRoll
	}
	return packNothing
}

// Pack keeps the number of files and the size of a project's mirror, and of the
// clone of a remote project, within bounds: at most looseMost loose objects and
// packsMost packs beside those that it shares with the user's repository, and at
// most twice the size after the last prune and growthFree bytes more. It is to be
// called now and then. Other calls may work on the mirror meanwhile; what an
// agent can still reach is never deleted. A mirror that is not there is no error.
func (m *Manager) Pack(ctx context.Context, p cw.Project) error {
	err := m.packMirror(ctx, p)
	if err == nil && p.RemoteURL != "" {
		err = m.packClone(ctx, p)
	}
	if err != nil {
		return fmt.Errorf("pack objects of %s: %w", p.Name, err)
	}
	return nil
}

func (m *Manager) packMirror(ctx context.Context, p cw.Project) error {
	x, err := m.openMirror(ctx, p)
	if cw.ErrorCode(err) == cw.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if err := x.guard(); err != nil {
		x.close()
		return err
	}
	at := x.transfer()
	at.lock = nil
	x.close() // packing may take minutes, and git is made for others to work meanwhile
	if err := m.pack(ctx, at, x.dir, filepath.Join(x.guardDir(), packedFile)); err != nil {
		if !isDir(x.dir) {
			return nil // the project was removed
		}
		return err
	}
	if x, err = m.openMirror(ctx, p); err != nil {
		return nil
	}
	defer x.close()
	return x.settleView()
}

func (m *Manager) packClone(ctx context.Context, p cw.Project) error {
	dir, err := m.CloneDir(p)
	if err != nil || !isDir(dir) {
		return err
	}
	at := place{name: "clone", dir: dir, env: append(cleanEnv(), "GIT_DIR="+dir), limit: transferLimit}
	if err := m.pack(ctx, at, dir, filepath.Join(dir, packedFile)); err != nil && isDir(dir) {
		return err
	}
	return nil
}

// pack looks at the objects of the git directory dir, decides, and packs. note is
// the path of its packedFile.
func (m *Manager) pack(ctx context.Context, at place, dir, note string) error {
	have, err := countObjects(dir)
	if err != nil {
		return err
	}
	last, err := readPacked(note)
	if err != nil { // never pruned: from here on it may grow
		return writeFile(note, strconv.AppendInt(nil, have.bytes, 10))
	}
	at.config = append(slices.Clone(at.config), "repack.writeBitmaps=false")
	args := []string{"repack", "-d", "-l", "-n", "-q"}
	for _, name := range have.shared {
		args = append(args, "--keep-pack="+name)
	}
	switch m.packing(have, last) {
	case packNothing:
		return nil
	case packRoll:
		_, err := m.git.run(ctx, at, nil, append(args, "--geometric=2")...)
		return err
	case packPrune:
	}
	if _, err := m.git.run(ctx, at, nil, append(args, "-a", "--cruft", "--cruft-expiration="+pruneAge)...); err != nil {
		return err
	}
	if _, err := m.git.run(ctx, at, nil, "prune", "--expire="+pruneAge); err != nil {
		return err
	}
	if have, err = countObjects(dir); err != nil {
		return err
	}
	return writeFile(note, strconv.AppendInt(nil, have.bytes, 10))
}

func readPacked(note string) (int64, error) {
	text, err := readSmall(note)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// countObjects counts what is in the folder of objects of a git directory. What
// goes away meanwhile is not counted.
func countObjects(gitDir string) (objectCount, error) {
	var have objectCount
	objects := filepath.Join(gitDir, "objects")
	folders, err := os.ReadDir(objects)
	if err != nil {
		return have, fmt.Errorf("count objects: %w", err)
	}
	for _, folder := range folders {
		if !folder.IsDir() || len(folder.Name()) != 2 && folder.Name() != "pack" {
			continue
		}
		files, err := os.ReadDir(filepath.Join(objects, folder.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return have, fmt.Errorf("count objects: %w", err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			stat, ok := info.Sys().(*syscall.Stat_t)
			own := !ok || stat.Nlink == 1
			if own {
				have.bytes += info.Size()
			}
			switch {
			case folder.Name() != "pack":
				have.loose++
			case filepath.Ext(f.Name()) != ".pack":
			case own:
				have.packs++
			default:
				have.shared = append(have.shared, f.Name())
			}
		}
	}
	return have, nil
}
