package worktree

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cw/internal/cw"
)

// commitsMax is how many commits a Diff lists at most.
const commitsMax = 1000

// Diff tells what an agent changed since its base: its commits, newest first,
// and what is not committed. With stat the patches are left out.
func (m *Manager) Diff(ctx context.Context, req LookRequest, stat bool) (cw.Diff, error) {
	look, s, err := m.look(ctx, req, m.mirrorCommit(req.Project))
	if err != nil {
		return cw.Diff{}, err
	}
	defer s.close()
	d := cw.Diff{
		Project: req.Project.Name, Branch: look.Branch, BaseCommit: req.BaseCommit, HeadCommit: look.Tip,
		Stat: look.Stat, Uncommitted: append([]string{}, look.Dirty...), Commits: []cw.Commit{},
	}
	if look.Commits > 0 {
		if d.Commits, err = s.log(ctx); err != nil {
			return cw.Diff{}, fmt.Errorf("list commits of %s: %w", req.Alias, err)
		}
	}
	if stat {
		return d, nil
	}
	if err := s.patches(ctx, &d); err != nil {
		return cw.Diff{}, fmt.Errorf("diff of %s: %w", req.Alias, tooLarge(req.Alias, err))
	}
	return d, nil
}

// patches fills the patch of the commits and that of what is not committed.
func (s *shadow) patches(ctx context.Context, d *cw.Diff) (err error) {
	if s.tip != "" && s.tip != s.base {
		if d.Patch, err = s.patch(ctx, s.base, s.tip); err != nil {
			return err
		}
	}
	if s.worktree == "" {
		return nil
	}
	if d.WorkPatch, err = s.patch(ctx, s.from()); err != nil && !isFinal(err) {
		// Such as a FIFO where a file was. Uncommitted names it all the same.
		d.WorkPatch, err = "# git cannot compare the files: "+strings.ReplaceAll(stderrOf(err), "\n", "; ")+"\n", nil
	}
	return err
}

func tooLarge(alias string, err error) error {
	if errors.Is(err, errTooMuch) {
		return cw.Errorf(cw.CodeFailed, "the changes of %s are more than %d MiB of text", alias, maxOutput>>20).
			WithHint("cw agent diff %s --stat", alias).Because(err)
	}
	return err
}

// diffArgs is the one form in which we compare: no command that attributes or
// configuration name is run.
func diffArgs(more ...string) []string {
	return append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty",
		"--src-prefix=a/", "--dst-prefix=b/", "--find-renames"}, more...)
}

// patch compares two commits, or one with the worktree.
func (s *shadow) patch(ctx context.Context, ids ...string) (string, error) {
	out, err := s.git(ctx, append(append(diffArgs("--patch", "--end-of-options"), ids...), "--")...)
	return string(out), err
}

func (s *shadow) numstat(ctx context.Context) ([]fileStat, error) {
	out, err := s.git(ctx, append(diffArgs("--numstat", "-z", "--end-of-options"), s.base, s.tip, "--")...)
	if err != nil {
		return nil, err
	}
	return parseNumstat(out)
}

// fileStat is the size of the change of one file.
type fileStat struct {
	path, from           string // raw bytes; from only of a rename
	additions, deletions int    // 0 for a binary file
}

// parseNumstat reads git diff --numstat -z: "1\t2\tpath\0" or, for a rename,
// "1\t2\t\0old\0new\0"; binary files have hyphens.
func parseNumstat(out []byte) ([]fileStat, error) {
	var files []fileStat
	rest := string(out)
	for rest != "" {
		row, after, ok := strings.Cut(rest, "\x00")
		parts := strings.SplitN(row, "\t", 3)
		if !ok || len(parts) != 3 {
			return nil, fmt.Errorf("numstat row %.80q is not understood", row)
		}
		rest = after
		f := fileStat{path: parts[2]}
		var err1, err2 error
		f.additions, err1 = parseCount(parts[0])
		f.deletions, err2 = parseCount(parts[1])
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("numstat row %.80q: %w", row, err)
		}
		if f.path == "" {
			var ok1, ok2 bool
			f.from, rest, ok1 = strings.Cut(rest, "\x00")
			f.path, rest, ok2 = strings.Cut(rest, "\x00")
			if !ok1 || !ok2 || f.path == "" || f.from == "" {
				return nil, fmt.Errorf("numstat after %d files is cut off", len(files))
			}
		}
		files = append(files, f)
	}
	return files, nil
}

func parseCount(s string) (int, error) {
	if s == "-" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err
}

func (s *shadow) log(ctx context.Context) ([]cw.Commit, error) {
	out, err := s.git(ctx, "log", "-z", "--no-color", "--no-mailmap", "--no-show-signature", "--encoding=UTF-8",
		"--max-count="+strconv.Itoa(commitsMax), "--format=tformat:%H%x1f%ct%x1f%an <%ae>%x1f%s",
		"--end-of-options", s.base+".."+s.tip, "--")
	if err != nil {
		return nil, err
	}
	return parseLog(out)
}

// parseLog reads "id US seconds US author US subject NUL…".
func parseLog(out []byte) ([]cw.Commit, error) {
	commits := []cw.Commit{}
	for row := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if row == "" {
			continue
		}
		// The subject comes last, the author before it: either may hold the
		// separator, so an author who does moves into the subject, no further.
		parts := strings.SplitN(row, "\x1f", 4)
		if len(parts) != 4 {
			return nil, fmt.Errorf("log row %.80q is not understood", row)
		}
		seconds, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("log row %.80q: %w", row, err)
		}
		commits = append(commits, cw.Commit{ID: parts[0], At: time.Unix(seconds, 0).UTC(), Author: parts[2], Subject: parts[3]})
	}
	return commits, nil
}
