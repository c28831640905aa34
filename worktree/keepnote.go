package worktree

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// snapshotNote is the message of a snapshot's commit.
type snapshotNote struct {
	alias, head, branch string
	staged              string // commit of what was only staged
	under               string // merge, rebase …, that was under way
	missing             []string
	alone               string // the first of them that holds bytes
}

func (n snapshotNote) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cw: everything in the worktree of %s\n\n", n.alias)
	for _, line := range [][2]string{{"head", n.head}, {"branch", n.branch}, {"staged", n.staged}, {"under-way", n.under}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
		}
	}
	for _, name := range n.missing {
		fmt.Fprintf(&b, "missing: %s\n", strconv.Quote(name))
	}
	if n.alone != "" {
		fmt.Fprintf(&b, "alone: %s\n", strconv.Quote(n.alone))
	}
	return b.String()
}

// parseSnapshotNote reads a message; what it does not understand it leaves out.
func parseSnapshotNote(text string) snapshotNote {
	var n snapshotNote
	for row := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(row, "\n"), ": ")
		switch key {
		case "head":
			if fullID().MatchString(value) {
				n.head = value
			}
		case "branch":
			if safeRef(value) {
				n.branch = value
			}
		case "staged":
			if fullID().MatchString(value) {
				n.staged = value
			}
		case "under-way":
			n.under = value
		case "alone":
			if name, err := strconv.Unquote(value); err == nil {
				n.alone = name
			}
		case "missing":
			if name, err := strconv.Unquote(value); err == nil {
				n.missing = append(n.missing, name)
			}
		}
	}
	return n
}

// readSnapshot tells what a snapshot that was taken before holds.
func (m *Manager) readSnapshot(ctx context.Context, p cw.Project, ref, commit string) (Snapshot, error) {
	x, err := m.openMirror(ctx, p)
	if err != nil {
		return Snapshot{}, err
	}
	defer x.close()
	note, err := x.snapshotNote(ctx, commit)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read snapshot %s: %w", ref, err)
	}
	return Snapshot{Ref: ref, Commit: commit, Whole: len(note.missing) == 0, Missing: note.missing, Alone: note.alone}, nil
}

func (x *mirror) snapshotNote(ctx context.Context, commit string) (snapshotNote, error) {
	out, err := x.git(ctx, nil, "cat-file", "commit", commit)
	if err != nil {
		return snapshotNote{}, err
	}
	_, text, _ := strings.Cut(string(out), "\n\n")
	return parseSnapshotNote(text), nil
}
