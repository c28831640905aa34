package worktree

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// TreeFile is one plain file of a commit.
type TreeFile struct {
	Path string // in the repository, with slashes
	Size int64  // bytes that it has
	Data []byte // nil when it has more than were asked for
}

// TreeRequest asks for files of a commit.
type TreeRequest struct {
	Project cw.Project
	// Checkout is the user's repository to read from, or the clone of a remote one;
	// "": the mirror, which has the commits that agents begin from.
	Checkout string
	Commit   string   // its full id
	Paths    []string // files and folders, with slashes; none gives nothing
	FileMax  int64    // bytes of one file
	FilesMax int      // files with their text; the others come without
	TotalMax int64    // bytes of all texts; 0: what FileMax and FilesMax allow
}

// TreeFiles reads files as they are in a commit, sorted by path: plain files,
// whatever a worktree shows in their place. Paths that are not there give
// nothing.
func (m *Manager) TreeFiles(ctx context.Context, req TreeRequest) ([]TreeFile, error) {
	if len(req.Paths) == 0 {
		return nil, nil
	}
	run := func(stdin []byte, args ...string) ([]byte, error) {
		return m.git.run(ctx, m.at(req.Checkout), stdin, args...)
	}
	if req.Checkout == "" {
		x, err := m.openMirror(ctx, req.Project)
		if err != nil {
			return nil, err
		}
		defer x.close()
		run = func(stdin []byte, args ...string) ([]byte, error) { return x.git(ctx, stdin, args...) }
	}
	list, err := run(nil, append([]string{"ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", req.Commit}, req.Paths...)...)
	if err != nil {
		return nil, fmt.Errorf("list the files of %.12s: %w", req.Commit, err)
	}
	files, ids, err := plainFiles(list, req)
	if err != nil || len(ids) == 0 {
		return files, err
	}
	blobs, err := run([]byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch", "--buffer")
	if err != nil {
		return nil, fmt.Errorf("read the files of %.12s: %w", req.Commit, err)
	}
	return files, fillFiles(files, blobs)
}

// plainFiles reads git ls-tree -r -l -z: "MODE TYPE ID SIZE\tPATH\0…". It gives the
// ids of those whose texts are wanted; these have a Data that is not nil.
func plainFiles(list []byte, req TreeRequest) (files []TreeFile, ids []string, err error) {
	var total int64
	for row := range bytes.SplitSeq(list, []byte{0}) {
		if len(row) == 0 {
			continue
		}
		facts, name, ok := strings.Cut(string(row), "\t")
		f := strings.Fields(facts)
		if !ok || len(f) != 4 || !fullID().MatchString(f[2]) {
			return nil, nil, fmt.Errorf("tree row %.80q is not understood", row)
		}
		if f[0] != "100644" && f[0] != "100755" {
			continue // a link, or a submodule
		}
		file := TreeFile{Path: name}
		if file.Size, err = strconv.ParseInt(f[3], 10, 64); err != nil {
			return nil, nil, fmt.Errorf("size of %.80q: %w", name, err)
		}
		fits := req.TotalMax == 0 || total+file.Size <= req.TotalMax
		if file.Size <= req.FileMax && len(ids) < req.FilesMax && fits {
			file.Data, total = []byte{}, total+file.Size
			ids = append(ids, f[2])
		}
		files = append(files, file)
	}
	return files, ids, nil
}

// fillFiles reads git cat-file --batch: "ID TYPE SIZE\nDATA\n…", in the order of
// the files that have a Data.
func fillFiles(files []TreeFile, blobs []byte) error {
	r := bytes.NewBuffer(blobs)
	for i := range files {
		if files[i].Data == nil {
			continue
		}
		head, err := r.ReadString('\n')
		if err != nil || !strings.HasSuffix(head, fmt.Sprintf(" blob %d\n", files[i].Size)) {
			return fmt.Errorf("read %.80q of a commit: git said %.80q", files[i].Path, head)
		}
		files[i].Data = make([]byte, files[i].Size)
		if _, err := io.ReadFull(r, files[i].Data); err != nil {
			return fmt.Errorf("read %.80q of a commit: %w", files[i].Path, err)
		}
		if _, err := r.ReadByte(); err != nil {
			return fmt.Errorf("read %.80q of a commit: %w", files[i].Path, err)
		}
	}
	return nil
}
