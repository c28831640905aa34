package worktree

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"cw/internal/safefile"
)

// entry is a file as a tree of git holds it.
type entry struct {
	mode string // 100644, 100755, 120000; 160000 is a submodule, only in commits
	id   string // of the blob: the file's bytes as they are, no filter applied
}

const (
	modeFile    = "100644"
	modeExec    = "100755"
	modeLink    = "120000"
	modeGitlink = "160000"
)

// obstacle is why something in a worktree cannot be kept in a commit.
type obstacle int

const (
	nestedGit   obstacle = iota // a git directory, or what git takes for one
	specialFile                 // a socket, FIFO or device
	unreadable                  // permission, or gone in the same moment
	emptyFolder                 // git knows no folders
)

// walker goes through the folder of a worktree. It follows no symbolic link,
// opens nothing but folders, and leaves out the worktree's own .git.
type walker struct {
	root *os.Root
	// skip tells what to leave out; a folder with all in it. Paths are raw
	// bytes, relative, without a final slash.
	skip func(path string) bool
	file func(path string, info fs.FileInfo) error
	// blocked is told what is no file and no folder; folders end in a slash.
	blocked func(path string, why obstacle)
}

func (w *walker) walk(ctx context.Context) error { return w.folder(ctx, ".") }

func (w *walker) folder(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := readFolder(w.root, dir)
	if err != nil {
		w.blocked(dir+"/", unreadable)
		return nil
	}
	if len(entries) == 0 && dir != "." && dir != ".cw" {
		w.blocked(dir+"/", emptyFolder)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if name == ".git" || w.skip(name) {
			continue
		}
		if err := w.entry(ctx, name, e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(ctx context.Context, name string, e fs.DirEntry) error {
	slash := ""
	if e.IsDir() {
		slash = "/"
	}
	switch kind := e.Type(); {
	case neverHeld(e.Name(), kind):
		w.blocked(name+slash, nestedGit)
	case e.IsDir():
		return w.folder(ctx, name)
	case kind.IsRegular(), kind == fs.ModeSymlink:
		info, err := w.root.Lstat(name)
		if err != nil || info.Mode().Type() != kind {
			w.blocked(name, unreadable)
			return nil
		}
		return w.file(name, info)
	default:
		w.blocked(name, specialFile)
	}
	return nil
}

// neverHeld tells which names git takes into no tree: .git, in whatever case,
// and a link that it would read submodules from.
func neverHeld(name string, kind fs.FileMode) bool {
	return strings.EqualFold(name, ".git") || kind == fs.ModeSymlink && strings.EqualFold(name, ".gitmodules")
}

// readFolder reads a folder in byte order of the names.
func readFolder(root *os.Root, dir string) ([]fs.DirEntry, error) {
	f, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// errChanged says that a file did not hold still while it was read.
var errChanged = errors.New("it changed while it was read")

// openSame opens the regular file that info tells of, and no other.
func openSame(root *os.Root, name string, info fs.FileInfo) (*os.File, error) {
	f, err := safefile.OpenLinkedIn(root, name)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		_ = f.Close()
		return nil, errChanged
	}
	return f, nil
}

// fileMode is the mode by which git keeps a file.
func fileMode(info fs.FileInfo) string {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return modeLink
	case info.Mode()&0o100 != 0:
		return modeExec
	}
	return modeFile
}

// blobHash begins the id of a blob of so many bytes, in the hash of the id
// given.
func blobHash(like string, size int64) hash.Hash {
	h := sha1.New()
	if len(like) == 64 {
		h = sha256.New()
	}
	_, _ = h.Write([]byte("blob " + strconv.FormatInt(size, 10) + "\x00"))
	return h
}

func blobID(like string, data []byte) string {
	h := blobHash(like, int64(len(data)))
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// treeArgs lists all files of a commit.
func treeArgs(commit string) []string {
	return []string{"ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit}
}

// parseTree reads git ls-tree -r -z: "MODE TYPE ID\tPATH\0…".
func parseTree(out []byte) (map[string]entry, error) {
	tree := map[string]entry{}
	for row := range bytes.SplitSeq(out, []byte{0}) {
		if len(row) == 0 {
			continue
		}
		facts, name, ok := strings.Cut(string(row), "\t")
		f := strings.Fields(facts)
		if !ok || len(f) != 3 || !fullID().MatchString(f[2]) {
			return nil, fmt.Errorf("tree row %.80q is not understood", row)
		}
		tree[name] = entry{mode: f[0], id: f[2]}
	}
	return tree, nil
}
