package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// putBack makes the files of a new worktree those of a snapshot, byte for byte:
// what differs is written, what the snapshot does not have is removed. Included
// files, cw's own folders and submodules stay as they are, unless the snapshot
// has something in their place.
func (x *mirror) putBack(ctx context.Context, worktree, snapshot string, included map[string]string) error {
	out, err := x.git(ctx, nil, treeArgs(snapshot)...)
	if err != nil {
		return err
	}
	want, err := parseTree(out)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(worktree)
	if err != nil {
		return err
	}
	defer root.Close()
	have, err := filesOf(ctx, root, snapshot, want)
	if err != nil {
		return err
	}
	if err := removeOthers(root, have, want, included); err != nil {
		return err
	}
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if e := want[name]; e.mode != modeGitlink && have[name] != e && !reserved(name) {
			differ = append(differ, name)
		}
	}
	return x.writeBlobs(ctx, root, differ, want)
}

// filesOf reads a worktree that was just checked out, but for submodules that
// stay.
func filesOf(ctx context.Context, root *os.Root, like string, want map[string]entry) (map[string]entry, error) {
	r := reader{root: root, like: like, files: map[string]entry{}}
	w := walker{
		root:    root,
		skip:    func(name string) bool { return reserved(name+"/") || want[name].mode == modeGitlink },
		file:    r.file,
		blocked: func(string, obstacle) {},
	}
	err := w.walk(ctx)
	return r.files, err
}

// removeOthers removes the files that the snapshot does not have, and folders
// that are empty then.
func removeOthers(root *os.Root, have, want map[string]entry, included map[string]string) error {
	for name := range have {
		if _, kept := want[name]; kept {
			continue
		}
		if _, ours := included[name]; ours && !isFolder(want, name) {
			continue
		}
		if err := root.Remove(name); err != nil {
			return err
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if root.Remove(dir) != nil {
				break
			}
		}
	}
	return nil
}

// isFolder tells whether a snapshot has files below a name.
func isFolder(want map[string]entry, name string) bool {
	for other := range want {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

// writeBlobs writes files with the content of their blobs, which git gives one
// after the other.
func (x *mirror) writeBlobs(ctx context.Context, root *os.Root, names []string, want map[string]entry) error {
	if len(names) == 0 {
		return nil
	}
	var ids strings.Builder
	for _, name := range names {
		ids.WriteString(want[name].id + "\n")
	}
	if err := x.guard(); err != nil {
		return err
	}
	pr, pw := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := x.m.git.stream(ctx, x.transfer(), strings.NewReader(ids.String()), pw, "cat-file", "--batch", "--buffer")
		_ = pw.CloseWithError(err)
		done <- err
	}()
	in := bufio.NewReaderSize(pr, 64<<10)
	var err error
	for _, name := range names {
		if err = writeBlob(root, name, want[name], in); err != nil {
			err = fmt.Errorf("write %q: %w", name, err)
			break
		}
	}
	_ = pr.CloseWithError(io.ErrClosedPipe)
	if gitErr := <-done; err == nil {
		err = gitErr
	}
	return err
}

// writeBlob reads "ID blob SIZE\n<bytes>\n" and writes the file anew.
func writeBlob(root *os.Root, name string, e entry, in *bufio.Reader) error {
	row, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	f := strings.Fields(row)
	if len(f) != 3 || f[0] != e.id || f[1] != "blob" {
		return fmt.Errorf("git gives %.80q for %s", row, e.id)
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return fmt.Errorf("git gives %.80q for %s", row, e.id)
	}
	if err := makeRoom(root, name); err != nil {
		return err
	}
	if err := writeContent(root, name, e.mode, io.LimitReader(in, size), size); err != nil {
		return err
	}
	_, err = in.Discard(1)
	return err
}

// makeRoom removes what is at a name and makes the folders above it.
func makeRoom(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if dir := path.Dir(name); dir != "." {
		return root.MkdirAll(dir, 0o777)
	}
	return nil
}

func writeContent(root *os.Root, name, mode string, from io.Reader, size int64) error {
	if mode == modeLink {
		target, err := io.ReadAll(from)
		if err != nil || int64(len(target)) != size {
			return errors.Join(err, io.ErrUnexpectedEOF)
		}
		return root.Symlink(string(target), name)
	}
	perm := os.FileMode(0o666)
	if mode == modeExec {
		perm = 0o777
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, from)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, out.Close())
}
