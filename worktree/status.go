package worktree

import (
	"fmt"
	"strings"
)

// statusArgs is the one form in which we ask for the state of files: every
// untracked file by name, nothing about what goes on inside submodules (their
// own configuration would be read there), renames as two paths.
func statusArgs() []string {
	return []string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=dirty", "--no-renames", "--no-ahead-behind"}
}

// statusKind is the first letter of a status entry.
type statusKind byte

const (
	statusChanged   statusKind = '1'
	statusRenamed   statusKind = '2'
	statusUnmerged  statusKind = 'u'
	statusUntracked statusKind = '?'
	statusIgnored   statusKind = '!'
)

// statusEntry is one file that differs.
type statusEntry struct {
	Kind statusKind
	XY   string // index and worktree against HEAD, as in git-status(1); "" for untracked and ignored
	Head string // blob of the path in HEAD, of changed files; "" when HEAD has none
	Path string // raw bytes, relative to the top level; a folder ends in a slash
	From string // of a rename
}

// parseStatus reads git status --porcelain=v2 -z. Paths are raw bytes.
func parseStatus(out []byte) ([]statusEntry, error) {
	var entries []statusEntry
	rest := string(out)
	for rest != "" {
		row, after, ok := strings.Cut(rest, "\x00")
		if !ok {
			return nil, fmt.Errorf("status is cut off after %d entries", len(entries))
		}
		rest = after
		if row != "" && row[0] == '#' {
			continue
		}
		e, err := parseStatusRow(row)
		if err != nil {
			return nil, err
		}
		if e.Kind == statusRenamed {
			if e.From, rest, ok = strings.Cut(rest, "\x00"); !ok || e.From == "" {
				return nil, fmt.Errorf("status of %q has no old name", e.Path)
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// parseStatusRow reads one row; the path is its last field and may hold
// anything.
func parseStatusRow(row string) (statusEntry, error) {
	if len(row) < 3 || row[1] != ' ' {
		return statusEntry{}, fmt.Errorf("status row %.80q is not understood", row)
	}
	e := statusEntry{Kind: statusKind(row[0])}
	var fields int // before the path, the first letter not counted
	switch e.Kind {
	case statusUntracked, statusIgnored:
		e.Path = row[2:]
		return e, nil
	case statusChanged:
		fields = 7 // XY sub mH mI mW hH hI
	case statusRenamed:
		fields = 8 // the same and the score
	case statusUnmerged:
		fields = 9 // XY sub m1 m2 m3 mW h1 h2 h3
	default:
		return statusEntry{}, fmt.Errorf("status row %.80q is of an unknown kind", row)
	}
	parts := strings.SplitN(row[2:], " ", fields+1)
	if len(parts) != fields+1 || len(parts[0]) != 2 || parts[fields] == "" {
		return statusEntry{}, fmt.Errorf("status row %.80q is not understood", row)
	}
	e.XY, e.Path = parts[0], parts[fields]
	if id := parts[5]; e.Kind == statusChanged && strings.Trim(id, "0") != "" {
		e.Head = id
	}
	return e, nil
}
