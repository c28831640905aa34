package worktree

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// store reads every file of the worktree that is work and gives git those that
// it does not know. known are the files of HEAD.
//
// The bytes go through git fast-import, which asks no attribute and runs no
// filter, from files that we opened: git itself would follow a link or wait
// for a FIFO that was put in a file's place meanwhile.
func (k *keeper) store(ctx context.Context, known map[string]entry) (files map[string]entry, missing []string, alone string, err error) {
	pr, pw := io.Pipe()
	type result struct {
		reader
		err error
	}
	done := make(chan result, 1)
	go func() {
		r := reader{like: k.live.base, out: bufio.NewWriterSize(pw, 64<<10), known: known}
		err := k.read(ctx, &r)
		if err == nil {
			_, err = r.out.WriteString("done\n")
		}
		err = errors.Join(err, r.out.Flush())
		_ = pw.CloseWithError(err)
		done <- result{r, err}
	}()
	at := k.own.withIndex("index")
	gitErr := k.m.git.stream(ctx, at, pr, io.Discard, "fast-import", "--quiet", "--done")
	_ = pr.CloseWithError(errImportEnded)
	r := <-done
	if gitErr != nil && (r.err == nil || errors.Is(r.err, errImportEnded)) {
		return nil, nil, "", gitErr
	}
	return r.files, r.missing, r.alone, r.err
}

var errImportEnded = errors.New("git fast-import ended")

// compare reads the same files and gives nothing to git.
func (k *keeper) compare(ctx context.Context) (files map[string]entry, missing []string, err error) {
	r := reader{like: k.live.base}
	err = k.read(ctx, &r)
	return r.files, r.missing, err
}

// read goes through the worktree. What is left out is decided here, once for
// taking and comparing.
func (k *keeper) read(ctx context.Context, r *reader) error {
	root, err := os.OpenRoot(k.live.worktree)
	if err != nil {
		return err
	}
	defer root.Close()
	head, err := k.live.tree(ctx, k.live.from())
	if err != nil {
		return err
	}
	skipped, err := k.skipped(ctx, root, head)
	if err != nil {
		return err
	}
	r.root, r.files = root, map[string]entry{}
	for name, e := range head {
		if skipped[name] {
			r.files[name] = e // nobody touched it since the baseline
		}
	}
	w := walker{
		root: root,
		skip: func(name string) bool { return skipped[name] || reserved(name+"/") },
		file: r.file,
		blocked: func(name string, why obstacle) {
			dir := strings.TrimSuffix(name, "/")
			if why == emptyFolder && head[dir].mode == modeGitlink {
				r.files[dir] = head[dir] // a submodule that was never filled
				return
			}
			r.missing = append(r.missing, name)
			if why == unreadable || why == nestedGit && !strings.HasSuffix(name, "/.git") {
				r.alone = cmp.Or(r.alone, name) // a file .git only says where a git directory is
			}
		},
	}
	if err := k.ownLink(root); err != nil {
		r.missing = append(r.missing, ".git")
		r.alone = cmp.Or(r.alone, ".git")
	}
	if err := w.walk(ctx); err != nil {
		return err
	}
	slices.Sort(r.missing)
	r.missing = r.missing[:min(len(r.missing), missingMax)]
	return nil
}

// ownLink tells an error when the worktree's .git is not the one that git made:
// there may be a whole repository in its place.
func (k *keeper) ownLink(root *os.Root) error {
	info, err := root.Lstat(".git")
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
		return nil // a changed link holds nothing
	}
	return errors.Join(err, errors.New("not a file"))
}

// skipped gives what is no work: known caches, files that are as the baseline
// has them, and submodules that nobody touched. When git cannot tell what is ignored (a FIFO
// for a .gitignore, say), nothing counts as a cache.
func (k *keeper) skipped(ctx context.Context, root *os.Root, head map[string]entry) (map[string]bool, error) {
	skipped := map[string]bool{}
	for name, noted := range k.req.Included {
		if markOf(noted).holds(root, name, head[name].id) {
			skipped[name] = true
		}
	}
	entries, err := k.live.status(ctx, ignoredArgs)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		k.m.log.Warn("git cannot tell what is ignored; all files are kept", "agent", k.req.Alias, "error", err)
	}
	for _, e := range entries {
		if e.Kind == statusIgnored && knownCache(e.Path) {
			skipped[strings.TrimSuffix(e.Path, "/")] = true
		}
	}
	for name, e := range head {
		if e.mode == modeGitlink && exists(filepath.Join(k.live.worktree, name, ".git")) {
			why, err := k.m.submoduleWork(ctx, k.req.Project, k.live, name, e.id)
			if err != nil {
				return nil, err
			}
			skipped[name] = why == ""
		}
	}
	return skipped, nil
}

// wholeMax is the size up to which a file is read at once.
const wholeMax = 1 << 20

// reader turns files into entries and, with out, gives git their content.
type reader struct {
	root    *os.Root
	like    string        // an id in the repository's hash
	out     *bufio.Writer // to git fast-import; nil: only hash
	known   map[string]entry
	files   map[string]entry
	missing []string
	alone   string // the first of these that holds bytes
}

func (r *reader) file(name string, info fs.FileInfo) error {
	mode := fileMode(info)
	if mode == modeLink {
		target, err := r.root.Readlink(name)
		if err != nil {
			r.missing = append(r.missing, name)
			return nil
		}
		return r.blob(name, mode, []byte(target))
	}
	f, err := openSame(r.root, name, info)
	if errors.Is(err, fs.ErrPermission) {
		r.missing = append(r.missing, name)
		r.alone = cmp.Or(r.alone, name)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%q: %w: %w", name, errChanged, err)
	}
	defer f.Close()
	if info.Size() > wholeMax {
		return r.large(name, mode, f, info.Size())
	}
	data, err := io.ReadAll(io.LimitReader(f, wholeMax+1))
	if err != nil {
		return fmt.Errorf("read %q: %w", name, err)
	}
	if len(data) > wholeMax {
		return fmt.Errorf("%q: %w", name, errChanged)
	}
	return r.blob(name, mode, data)
}

func (r *reader) blob(name, mode string, data []byte) error {
	id := blobID(r.like, data)
	r.files[name] = entry{mode: mode, id: id}
	if r.out == nil || r.known[name].id == id {
		return nil
	}
	_, err := fmt.Fprintf(r.out, "blob\ndata %d\n%s\n", len(data), data)
	return err
}

// large reads a file twice, so that it need not be held in memory: for its id,
// and once more when git does not know it.
func (r *reader) large(name, mode string, f *os.File, size int64) error {
	id, err := copyBlob(io.Discard, r.like, f, size)
	if err != nil {
		return fmt.Errorf("read %q: %w", name, err)
	}
	r.files[name] = entry{mode: mode, id: id}
	if r.out == nil || r.known[name].id == id {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read %q: %w", name, err)
	}
	if _, err := fmt.Fprintf(r.out, "blob\ndata %d\n", size); err != nil {
		return err
	}
	again, err := copyBlob(r.out, r.like, f, size)
	if err == nil && again != id {
		err = errChanged
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", name, err)
	}
	return r.out.WriteByte('\n')
}

// copyBlob copies so many bytes and gives their id as a blob.
func copyBlob(to io.Writer, like string, from io.Reader, size int64) (string, error) {
	h := blobHash(like, size)
	n, err := io.CopyN(io.MultiWriter(h, to), from, size)
	if errors.Is(err, io.EOF) && n < size {
		return "", errChanged
	}
	return hex.EncodeToString(h.Sum(nil)), err
}
