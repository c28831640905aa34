package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestFileAt: a file is read as it was committed, in the user's repository and
// where only the mirror has the commit, without filters and links.
func TestFileAt(t *testing.T) {
	l := newLab(t)
	git(t, l.repo, "config", "filter.evil.smudge", "sed s/committed/smudged/")
	git(t, l.repo, "config", "cw.ignoreFilter", "evil")
	write(t, l.repo, ".gitattributes", "cw.yaml filter=evil eol=crlf\n")
	write(t, l.repo, "cw.yaml", "committed\n")
	write(t, l.repo, "sub/cw.yaml", "deeper\n")
	write(t, l.repo, "large", strings.Repeat("x", 101))
	if err := os.Symlink("/etc/passwd", filepath.Join(l.repo, "link")); err != nil {
		t.Fatal(err)
	}
	git(t, l.repo, "add", "-A")
	git(t, l.repo, "commit", "-m", "files")
	users := git(t, l.repo, "rev-parse", "HEAD")
	write(t, l.repo, "cw.yaml", "not committed\n")
	a := l.add("brave-otter")
	a.commit("cw.yaml", "of the agent\n")
	agents := a.look().Head
	// What stands in for the commit in the user's repository is not what a
	// worktree gets.
	git(t, l.repo, "replace", users, users+"^")

	for _, tt := range []struct {
		name, commit, file, want string
		found                    bool
		code                     cw.Code
	}{
		{"of the user", users, "cw.yaml", "committed\n", true, ""},
		{"deeper", users, "sub/cw.yaml", "deeper\n", true, ""},
		{"of the mirror", agents, "cw.yaml", "of the agent\n", true, ""},
		{"not there", users, "cw.yml", "", false, ""},
		{"a link", users, "link", "", false, cw.CodeInvalid},
		{"a folder", users, "sub", "", false, cw.CodeInvalid},
		{"too large", users, "large", "", false, cw.CodeInvalid},
		{"an unknown commit", strings.Repeat("1", 40), "cw.yaml", "", false, cw.CodeNotFound},
		{"no commit", "HEAD", "cw.yaml", "", false, cw.CodeInternal},
		{"a path that leaves", users, "../cw.yaml", "", false, cw.CodeFailed},
	} {
		data, found, err := l.m.FileAt(ctx(t), l.p, tt.commit, tt.file, 100)
		if string(data) != tt.want || found != tt.found || cw.ErrorCode(err) != tt.code {
			t.Errorf("%s: %q %v %v", tt.name, data, found, err)
		}
	}
}
