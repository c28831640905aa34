package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"cw/internal/safefile"
)

// linkPasses is how often linking starts anew when the user's git packs its
// objects at the same moment.
const linkPasses = 3

// errMoving says that the objects did not hold still.
var errMoving = errors.New("objects are being repacked")

// linkObjects gives dst the objects of src by hard links, or by copies where
// the file system refuses (copied is true then). Objects never change in
// place, so sharing them is safe, and it costs no space.
//
// Loose objects go first and packs last: git repack writes the pack before it
// removes what the pack replaces. A file that is gone when its turn comes
// means that a pack seen here was replaced: start again.
func linkObjects(src, dst string) (copied bool, err error) {
	for range linkPasses {
		copied, err = linkPass(src, dst)
		if !errors.Is(err, errMoving) {
			return copied, err
		}
	}
	return copied, err
}

func linkPass(src, dst string) (copied bool, err error) {
	entries, err := os.ReadDir(src)
	if err != nil {
		return false, fmt.Errorf("read objects: %w", err)
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && (len(e.Name()) == 2 || e.Name() == "pack") {
			folders = append(folders, e.Name())
		}
	}
	slices.SortFunc(folders, func(a, b string) int { return len(a) - len(b) })
	for _, name := range folders {
		some, err := linkFolder(filepath.Join(src, name), filepath.Join(dst, name))
		copied = copied || some
		if err != nil {
			return copied, err
		}
	}
	return copied, nil
}

func linkFolder(src, dst string) (copied bool, err error) {
	entries, err := os.ReadDir(src)
	if errors.Is(err, fs.ErrNotExist) {
		return false, errMoving
	}
	if err != nil {
		return false, fmt.Errorf("read objects: %w", err)
	}
	if err := os.MkdirAll(dst, 0o700); err != nil {
		return false, fmt.Errorf("make folder of objects: %w", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !objectFile(e.Name()) {
			continue
		}
		some, err := linkFile(filepath.Join(src, e.Name()), filepath.Join(dst, e.Name()))
		if err != nil {
			return copied, err
		}
		copied = copied || some
	}
	return copied, nil
}

// objectFile leaves out what is half-written or belongs to a set that need not
// be whole: temporary files, and the index over several packs.
func objectFile(name string) bool {
	if strings.HasPrefix(name, "tmp_") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "multi-pack-index") {
		return false
	}
	switch filepath.Ext(name) {
	case ".lock", ".keep", ".bitmap", ".promisor", ".mtimes":
		return false
	}
	return true
}

func linkFile(src, dst string) (copied bool, err error) {
	err = os.Link(src, dst)
	switch {
	case err == nil, errors.Is(err, fs.ErrExist):
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, errMoving
	case errors.Is(err, syscall.EXDEV), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EMLINK), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.EACCES):
		return true, copyObject(src, dst)
	}
	return false, fmt.Errorf("link object: %w", err)
}

func copyObject(src, dst string) error {
	in, err := safefile.OpenLinked(src)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoving
	}
	if err != nil {
		return fmt.Errorf("copy object: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o400)
	if err != nil {
		return fmt.Errorf("copy object: %w", err)
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		_ = os.Remove(dst)
		return fmt.Errorf("copy object: %w", err)
	}
	return nil
}
