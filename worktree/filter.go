package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// Filters change files between a commit and the disk: git-crypt keeps cipher text
// in commits, for one. Their commands are the user's configuration, which agents'
// worktrees do not have, but for git-lfs. Where one would be needed nothing is
// checked out: an agent would see cipher text, or commit plain text.

// fileFilters holds, with our copies, the names of the filters that are set up at
// the user's and not in the mirror, one in a line.
const fileFilters = "filters"

// ignoreFilterKey is the git configuration by which a user says, by their names,
// which filters agents can do without.
const ignoreFilterKey = "cw.ignorefilter"

// missingFilters names the filters that are set up at the user's and that the
// mirror will not have.
func missingFilters(config userConfig) []string {
	ignored := strings.FieldsFunc(config.get(ignoreFilterKey), func(r rune) bool { return r == ' ' || r == ',' })
	var names []string
	for key, value := range config {
		rest, ok := strings.CutPrefix(key, "filter.")
		dot := strings.LastIndexByte(rest, '.')
		if !ok || dot < 1 || value == "" {
			continue
		}
		name, what := rest[:dot], rest[dot+1:]
		if what != "clean" && what != "smudge" && what != "process" || slices.Contains(ignored, name) || slices.Contains(names, name) {
			continue
		}
		if _, err := exec.LookPath("git-lfs"); name != "lfs" || err != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// checkFilters refuses a commit in which a file needs a filter that the user has
// and the mirror does not.
func (x *mirror) checkFilters(ctx context.Context, commit string) error {
	text, err := readSmall(guardCopy(x.dir, fileFilters))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the names of filters: %w", err)
	}
	missing := strings.Fields(string(text))
	named, err := x.namedFilters(ctx, commit)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(named, func(name string) bool { return slices.Contains(missing, name) }) {
		return nil
	}
	file, filter, err := x.filtered(ctx, commit, missing)
	if err != nil || file == "" {
		return err
	}
	return filterError(x.p, file, filter)
}

func filterError(p cw.Project, file, filter string) error {
	if filter == "lfs" {
		return cw.Errorf(cw.CodeFailed, "%q of %s is kept in git-lfs, and the daemon does not find the program git-lfs", file, p.Where()).
			WithHint("install git-lfs, or run this in a shell that finds it: cw restart")
	}
	return cw.Errorf(cw.CodeFailed, "%q of %s goes through your filter %q, which agents do not have: they would see it as it is stored, and commit it as it is on the disk", file, p.Where(), filter).
		WithHint("if that does no harm, as with a filter that only tidies up: git -C %s config %s %s", cw.ShellWord(p.Where()), "cw.ignoreFilter", cw.ShellWord(filter))
}

// namedFilters gives the filters that the attributes of a commit name, whether or
// not a file has them.
func (x *mirror) namedFilters(ctx context.Context, commit string) ([]string, error) {
	out, err := x.git(ctx, nil, "grep", "-h", "-I", "--no-color", "-e", "filter=", commit, "--", ":(glob)**/.gitattributes")
	if err != nil && exitCode(err) != 1 { // 1: none does
		return nil, fmt.Errorf("look for filters: %w", err)
	}
	for _, name := range []string{fileAttributes, fileGlobalAttributes} {
		if more, err := readSmall(guardCopy(x.dir, name)); err == nil {
			out = append(append(out, '\n'), more...)
		}
	}
	return filtersIn(out), nil
}

// filtersIn gives the names of the filters in the text of an attributes file.
func filtersIn(attributes []byte) []string {
	var names []string
	for row := range bytes.Lines(attributes) {
		if bytes.HasPrefix(bytes.TrimSpace(row), []byte("#")) {
			continue
		}
		for _, word := range strings.Fields(string(row)) {
			if name, ok := strings.CutPrefix(word, "filter="); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// filtered finds a file of a commit that has one of the filters.
func (x *mirror) filtered(ctx context.Context, commit string, filters []string) (file, filter string, err error) {
	dir, err := os.MkdirTemp(x.guardDir(), "attributes-*")
	if err != nil {
		return "", "", fmt.Errorf("look for filters: %w", err)
	}
	defer os.RemoveAll(dir)
	at := x.place()
	at.env = append(at.env, "GIT_INDEX_FILE="+filepath.Join(dir, "index"))
	if _, err := x.gitAt(ctx, at, nil, "read-tree", "--end-of-options", commit); err != nil {
		return "", "", fmt.Errorf("look for filters: %w", err)
	}
	files, err := x.gitAt(ctx, at, nil, "ls-files", "-z")
	if err != nil {
		return "", "", fmt.Errorf("look for filters: %w", err)
	}
	out, err := x.gitAt(ctx, at, files, "check-attr", "--cached", "-z", "--stdin", "filter")
	if err != nil {
		return "", "", fmt.Errorf("look for filters: %w", err)
	}
	f := strings.Split(string(out), "\x00") // path, attribute, value, and so on
	for i := 0; i+2 < len(f); i += 3 {
		if slices.Contains(filters, f[i+2]) {
			return f[i], f[i+2], nil
		}
	}
	return "", "", nil
}

// filterWarnings tells when files of a new worktree are as they are stored because
// their filter is set up nowhere.
func (x *mirror) filterWarnings(worktree string) []string {
	text, err := readSmall(filepath.Join(worktree, ".gitattributes"))
	if err != nil {
		return nil
	}
	var warnings []string
	for _, name := range filtersIn(text) {
		switch {
		case name == "lfs" && !x.hasLFS():
			warnings = append(warnings, "the repository keeps files in git-lfs, which is not set up here: the agent sees pointers (run: git lfs install)")
		case name != "lfs":
			warnings = append(warnings, fmt.Sprintf("the agent sees and commits files with the filter %q as they are stored: it has no such filter", name))
		}
	}
	return warnings
}
