package worktree

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"cw/internal/safefile"
)

// refs reads the references of one git directory. go-git does it inside the
// process, 25 times faster than a git call; where it cannot open a repository
// (sha256, reftable, worktreeConfig) the git binary answers.
type refs struct {
	repo   *gogit.Repository // nil: ask the binary
	dir    string
	binary askBinary
	mirror bool // read loose and packed references ourselves
}

// askBinary runs a git call that answers in place of go-git.
type askBinary func(ctx context.Context, args ...string) ([]byte, error)

// userRefs reads the user's repository.
func (m *Manager) userRefs(gitDir string) refs {
	r := refs{dir: gitDir, binary: func(ctx context.Context, args ...string) ([]byte, error) {
		return m.git.run(ctx, inUserRepo(gitDir), nil, args...)
	}}
	if repo, err := gogit.PlainOpenWithOptions(gitDir, &gogit.PlainOpenOptions{EnableDotGitCommonDir: true}); err == nil {
		r.repo = repo
	}
	return r
}

// mirrorRefs reads a mirror. An agent may put a FIFO in the place of any file in it
// at any time, at which go-git would wait for ever, so it is not used there.
func mirrorRefs(dir string, binary askBinary) refs {
	return refs{dir: dir, binary: binary, mirror: true}
}

// refs reads the mirror.
func (x *mirror) refs() refs {
	return mirrorRefs(x.dir, func(ctx context.Context, args ...string) ([]byte, error) {
		return x.git(ctx, nil, args...)
	})
}

// smallFile tells whether path is a regular file of at most limit bytes, or
// nothing.
func smallFile(path string, limit int64) bool {
	info, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() <= limit
}

// commit gives the id that a full reference name points to, "" when there is
// no such reference, or one that git cannot read.
func (r refs) commit(ctx context.Context, name string) (string, error) {
	if r.mirror {
		if id, known := plainRef(r.dir, name); known {
			return id, nil
		}
	}
	if r.repo != nil && r.readable(name) && !brokenRef(r.dir, name) {
		ref, err := r.repo.Storer.Reference(plumbing.ReferenceName(name))
		if errors.Is(err, plumbing.ErrReferenceNotFound) {
			return "", nil
		}
		if err == nil && ref.Type() == plumbing.HashReference {
			return ref.Hash().String(), nil
		}
	}
	out, err := r.binary(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
	if err != nil {
		if exitCode(err) == 1 {
			return "", nil
		}
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return line(out), nil
}

// plainRef reads a reference of a mirror without git, "" when there is none. known
// is false for what only git can tell, such as a reference to another.
func plainRef(dir, name string) (id string, known bool) {
	if !safeRef(name) {
		return "", false
	}
	text, err := safefile.Read(filepath.Join(dir, filepath.FromSlash(name)), looseMax)
	if err == nil {
		id := string(bytes.TrimSpace(text))
		return id, fullID().MatchString(id)
	}
	if none := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || isDir(filepath.Join(dir, filepath.FromSlash(name))); !none {
		return "", false
	}
	f, err := safefile.Open(filepath.Join(dir, filePackedRefs))
	if errors.Is(err, fs.ErrNotExist) {
		return "", true
	}
	if err != nil {
		return "", false
	}
	defer f.Close()
	rows := bufio.NewScanner(io.LimitReader(f, packedMax))
	for rows.Scan() {
		if id, packed, ok := strings.Cut(rows.Text(), " "); ok && packed == name {
			return id, fullID().MatchString(id)
		}
	}
	return "", rows.Err() == nil
}

// readable tells whether reading a reference inside the process cannot hang or
// fill the memory: an agent may have put a FIFO or a huge file in its place,
// and only another process can be ended.
func (r refs) readable(name string) bool {
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	return (isDir(path) || smallFile(path, looseMax)) && smallFile(filepath.Join(r.dir, "packed-refs"), packedMax)
}

// brokenRef tells a loose reference in which no reference stands, as a damaged
// disk leaves it. go-git takes the beginning of an id for one.
func brokenRef(dir, name string) bool {
	text, err := readSmall(filepath.Join(dir, filepath.FromSlash(name)))
	return err == nil && !fullID().Match(bytes.TrimSpace(text)) && !bytes.HasPrefix(text, []byte("ref:"))
}

// Sizes up to which files of references are read inside the process. A loose
// one is 41 bytes.
const (
	looseMax  = 4 << 10
	packedMax = 256 << 20
)

// reference is one name and its id. A tag's id is that of the tag object.
type reference struct{ name, id string }

// list gives the references below the prefixes, in order. It is for the user's
// repository only.
func (r refs) list(ctx context.Context, prefixes ...string) ([]reference, error) {
	var all []reference
	var err error
	if r.repo != nil {
		all, err = r.listInside(prefixes)
	}
	if r.repo == nil || err != nil {
		all, err = r.listBinary(ctx, prefixes)
	}
	slices.SortFunc(all, func(a, b reference) int { return strings.Compare(a.name, b.name) })
	return all, err
}

func (r refs) listInside(prefixes []string) ([]reference, error) {
	iter, err := r.repo.Storer.IterReferences()
	if err != nil {
		return nil, err
	}
	var all []reference
	err = iter.ForEach(func(ref *plumbing.Reference) error {
		name := ref.Name().String()
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return nil
		}
		if ref.Type() != plumbing.HashReference {
			resolved, err := storer.ResolveReference(r.repo.Storer, ref.Name())
			if err != nil {
				return nil // points nowhere: git leaves it out too
			}
			ref = resolved
		}
		all = append(all, reference{name, ref.Hash().String()})
		return nil
	})
	return all, err
}

func (r refs) listBinary(ctx context.Context, prefixes []string) ([]reference, error) {
	out, err := r.binary(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname)", "--"}, prefixes...)...)
	if err != nil {
		return nil, fmt.Errorf("list references: %w", err)
	}
	var all []reference
	for row := range strings.Lines(string(out)) {
		if id, name, ok := strings.Cut(strings.TrimSuffix(row, "\n"), " "); ok {
			all = append(all, reference{name, id})
		}
	}
	return all, nil
}

// fingerprint sums up a list of references.
func fingerprint(all []reference) string {
	h := sha256.New()
	for _, r := range all {
		fmt.Fprintf(h, "%s %s\n", r.id, r.name)
	}
	return hex.EncodeToString(h.Sum(nil))
}
