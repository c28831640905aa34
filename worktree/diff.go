package worktree

import (
	"cmp"
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

// Diff tells what an agent changed since its base: its commits, newest first, and
// what is not committed. against is a commit of the mirror: then it is since the
// agent's work parted from that; "": since its base. What the request says of the
// project and of sides is the caller's business. CodeNotFound for a path that names
// nothing, and when the mirror has no such commit.
func (m *Manager) Diff(ctx context.Context, look LookRequest, against string, req cw.DiffRequest) (cw.Diff, error) {
	if err := req.Check(); err != nil {
		return cw.Diff{}, err
	}
	found, s, err := m.look(ctx, look, m.mirrorCommit(look.Project))
	if err != nil {
		return cw.Diff{}, err
	}
	defer s.close()
	if against != "" && s.tip != "" {
		if err := s.partFrom(ctx, against); err != nil {
			return cw.Diff{}, fmt.Errorf("diff of %s: %w", look.Alias, err)
		}
	}
	d := cw.Diff{Project: look.Project.Name, Branch: found.Branch, HeadCommit: found.Tip, Uncommitted: append([]string{}, found.Dirty...)}
	if err := s.compare(ctx, &d, req); err != nil {
		return cw.Diff{}, fmt.Errorf("diff of %s: %w", look.Alias, tooLarge(look.Alias, err))
	}
	s.close()
	if err := m.onlyHere(ctx, look, &d, req); err != nil {
		return cw.Diff{}, fmt.Errorf("look what is in cw's copy alone: %w", err)
	}
	return d, nil
}

// partFrom lets the work be compared with where it parted from a commit, or with
// that itself where both have nothing in common.
func (s *shadow) partFrom(ctx context.Context, commit string) error {
	if !fullID().MatchString(commit) {
		return fmt.Errorf("%q is no full id", commit)
	}
	if _, err := s.git(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
		if isFinal(err) {
			return err
		}
		return cw.Errorf(cw.CodeNotFound, "commit %s is not in cw's copy", commit).WithHint("compare with where it began: --against base").Because(err)
	}
	common, err := s.common(ctx, commit, s.tip)
	if err != nil {
		return err
	}
	s.base, s.apart = cmp.Or(common, commit), commit
	return nil
}

// common gives the best common ancestor of two commits, "" when there is none.
func (s *shadow) common(ctx context.Context, one, other string) (string, error) {
	out, err := s.git(ctx, "merge-base", "--end-of-options", one, other)
	if exitCode(err) == 1 {
		return "", nil
	}
	return line(out), err
}

// compare fills in what is between base and tip, and what of the worktree is not
// committed, as far as the request wants it.
func (s *shadow) compare(ctx context.Context, d *cw.Diff, req cw.DiffRequest) error {
	d.BaseCommit, d.Commits, d.Files = s.base, []cw.Commit{}, []cw.FileChange{}
	var changed []fileStat
	var err error
	if s.tip != "" && s.tip != s.base {
		if changed, err = s.numstat(ctx); err != nil {
			return err
		}
	}
	only := req.Only()
	sel := choose(changed, d.Uncommitted, only)
	if err := s.nameSomething(ctx, sel.missed, changed); err != nil {
		return err
	}
	d.Uncommitted = sel.dirty
	for _, f := range sel.files {
		d.Stat.Files++
		d.Stat.Additions += f.additions
		d.Stat.Deletions += f.deletions
		d.Files = append(d.Files, cw.FileChange{Path: f.path, From: f.from, Additions: f.additions, Deletions: f.deletions, Binary: f.binary})
	}
	if s.tip != "" && s.tip != s.base {
		if d.Commits, err = s.log(ctx, sel.specs...); err != nil {
			return fmt.Errorf("list commits: %w", err)
		}
	}
	if req.Stat {
		return nil
	}
	return s.patches(ctx, d, sel.specs)
}

// patches fills the patch of the commits and that of what is not committed.
func (s *shadow) patches(ctx context.Context, d *cw.Diff, specs []string) (err error) {
	if s.tip != "" && s.tip != s.base {
		if d.Patch, err = s.patch(ctx, specs, s.base, s.tip); err != nil {
			return err
		}
	}
	if s.worktree == "" {
		return nil
	}
	if d.WorkPatch, err = s.patch(ctx, specs, s.from()); err != nil && !isFinal(err) {
		// Such as a FIFO where a file was. Uncommitted names it all the same.
		d.WorkPatch, err = "# git cannot compare the files: "+strings.ReplaceAll(stderrOf(err), "\n", "; ")+"\n", nil
	}
	return err
}

func tooLarge(alias string, err error) error {
	if errors.Is(err, errTooMuch) {
		return cw.Errorf(cw.CodeFailed, "the changes of %s are more than %d MiB of text", alias, maxOutput>>20).
			WithHint("cw agent diff %s --stat, or name some paths", alias).Because(err)
	}
	return err
}

// diffArgs is the one form in which we compare: no command that attributes or
// configuration name is run.
func diffArgs(more ...string) []string {
	return append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty",
		"--src-prefix=a/", "--dst-prefix=b/", "--find-renames"}, more...)
}

// patch compares two commits, or one with the worktree; specs bound it.
func (s *shadow) patch(ctx context.Context, specs []string, ids ...string) (string, error) {
	args := append(append(diffArgs("--patch", "--end-of-options"), ids...), "--")
	out, err := s.git(ctx, append(args, specs...)...)
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
	binary               bool
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
		f := fileStat{path: parts[2], binary: parts[0] == "-"}
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

// log lists the commits that tip has and what it is compared with has not, newest
// first; specs bound
// them to those that touch something.
func (s *shadow) log(ctx context.Context, specs ...string) ([]cw.Commit, error) {
	out, err := s.git(ctx, append([]string{"log", "-z", "--no-color", "--no-mailmap", "--no-show-signature", "--encoding=UTF-8",
		"--max-count=" + strconv.Itoa(commitsMax), "--format=tformat:%H%x1f%ct%x1f%an <%ae>%x1f%s",
		"--end-of-options", cmp.Or(s.apart, s.base) + ".." + s.tip, "--"}, specs...)...)
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
