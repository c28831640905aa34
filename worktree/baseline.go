package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The baseline of a worktree is what is known to be no work of its agent's,
// although git shows it: path → mark. It has the files that .worktreeinclude
// copied, what a checkout leaves changed (line ends that the attributes would
// have otherwise), and what the commands of the project made. A file is no work
// as long as it is as its mark says.

// mark is what is noted of one file.
type mark struct {
	// tracked tells that git tracks it. Then it counts only as long as HEAD has the
	// same blob: head, "" for none.
	tracked bool
	head    string
	state   string // mode and content, as stateOf gives them; without the mode of what git does not track
}

const (
	// linkMark begins the state of a symbolic link: what it leads to follows.
	linkMark = "link:"
	// trackedMark begins the mark of a file that git tracks.
	trackedMark = "tracked:"
	// goneState is the state of a file that is not there.
	goneState = "gone"
)

func (m mark) String() string {
	if !m.tracked {
		return m.state
	}
	return trackedMark + m.head + ":" + m.state
}

// markOf reads a mark as it is stored.
func markOf(text string) mark {
	rest, tracked := strings.CutPrefix(text, trackedMark)
	if !tracked {
		return mark{state: text}
	}
	m := mark{tracked: true}
	m.head, m.state, _ = strings.Cut(rest, ":")
	return m
}

// holds tells whether a file is as its mark says. head is the file's blob in
// HEAD, "" for none.
func (m mark) holds(root *os.Root, name, head string) bool {
	if m.head != head || m.state == "" {
		return false
	}
	state, err := stateOf(root, name, m.tracked)
	return err == nil && state == m.state
}

// stateOf gives the state of a file: what a link leads to, or the SHA-256 of a
// regular file, with its mode in front when that is asked for. Whatever else
// stands there is an error.
func stateOf(root *os.Root, name string, mode bool) (string, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && mode {
		return goneState, nil
	}
	if err != nil {
		return "", err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := root.Readlink(name)
		return linkMark + target, err
	}
	sum, err := hashFile(root, name)
	if mode {
		sum = fileMode(info) + " " + sum
	}
	return sum, err
}

// asNoted tells whether what a status shows is as the baseline has it.
func (e statusEntry) asNoted(root *os.Root, noted map[string]string) bool {
	text, ok := noted[e.Path]
	if !ok {
		return false
	}
	m := markOf(text)
	switch e.Kind {
	case statusChanged:
		return m.tracked && m.holds(root, e.Path, e.Head)
	case statusUntracked, statusIgnored:
		return !m.tracked && m.holds(root, e.Path, "")
	}
	return false
}

// unchangedMarks gives the files that git does not track and that are as noted.
func unchangedMarks(root *os.Root, noted map[string]string) map[string]bool {
	same := map[string]bool{}
	for name, text := range noted {
		if m := markOf(text); !m.tracked && m.holds(root, name, "") {
			same[name] = true
		}
	}
	return same
}

// changedMarks gives the noted files that git does not track and that are no
// longer as noted. One that was removed is no work, and one that was committed
// is told by the status.
func changedMarks(root *os.Root, entries []statusEntry, noted map[string]string) []string {
	if len(noted) == 0 {
		return nil
	}
	listed, folders := map[string]bool{}, []string(nil)
	for _, e := range entries {
		switch {
		case e.Kind != statusIgnored && e.Kind != statusUntracked:
		case strings.HasSuffix(e.Path, "/"):
			folders = append(folders, e.Path)
		default:
			listed[e.Path] = true
		}
	}
	below := func(name string) bool {
		for _, folder := range folders {
			if strings.HasPrefix(name, folder) {
				return true
			}
		}
		return false
	}
	var changed []string
	for name, text := range noted {
		m := markOf(text)
		if m.tracked || m.holds(root, name, "") {
			continue
		}
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		isFile := err == nil && (info.Mode().IsRegular() || info.Mode().Type() == fs.ModeSymlink)
		if listed[name] || below(name) || !isFile { // a FIFO, say, is listed nowhere
			changed = append(changed, name)
		}
	}
	return changed
}

// noteCheckout notes what git shows as changed in a worktree that was just checked
// out at a commit.
func (x *mirror) noteCheckout(ctx context.Context, r *record, head string) error {
	s := &shadow{
		m: x.m, mirrorDir: x.dir, admin: filepath.Join(x.dir, "worktrees", r.Admin),
		worktree: r.Path, home: r.Path, base: r.Base.Commit, head: head,
	}
	if err := s.make(ctx); err != nil {
		return err
	}
	defer s.close()
	entries, err := s.status(ctx, "--untracked-files=no")
	if err != nil {
		return fmt.Errorf("look at the checkout of %s: %w", r.Alias, err)
	}
	root, err := os.OpenRoot(r.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, e := range entries {
		if e.Kind != statusChanged || len(r.Included) == includeMaxFiles {
			continue
		}
		m := mark{tracked: true, head: e.Head}
		if m.state, err = stateOf(root, e.Path, true); err != nil {
			continue // a submodule, say
		}
		if r.Included == nil {
			r.Included = map[string]string{}
		}
		r.Included[e.Path] = m.String()
	}
	return nil
}
