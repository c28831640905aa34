package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTreeFiles: a commit's files are read as they were committed, from the
// user's repository and from the mirror, whatever lies in the folder since.
func TestTreeFiles(t *testing.T) {
	l := newLab(t)
	prompt := func(name, text string) { write(t, l.repo, ".cw/prompts/"+name, text) }
	prompt("role.md", "as it was\n")
	prompt("plan/rules extrl.md", "no newline at its end")
	prompt("long.md", strings.Repeat("x", 200))
	prompt("empty.md", "")
	if err := os.Symlink("/etc/passwd", filepath.Join(l.repo, ".cw/prompts/link.md")); err != nil {
		t.Fatal(err)
	}
	git(t, l.repo, "add", "-f", ".cw")
	git(t, l.repo, "commit", "-m", "prompts")
	commit := git(t, l.repo, "rev-parse", "HEAD")
	prompt("role.md", "as it is now\n")
	l.ensure()
	for name, checkout := range map[string]string{"checkout": l.repo, "mirror": ""} {
		t.Run(name, func(t *testing.T) {
			got, err := l.m.TreeFiles(ctx(t), TreeRequest{
				Project: l.p, Checkout: checkout, Commit: commit, Paths: []string{".cw/prompts", "not-there"}, FileMax: 100, FilesMax: 10,
			})
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, f := range got {
				text := string(f.Data)
				if f.Data == nil {
					text = "nil"
				}
				said = append(said, f.Path+"="+text)
			}
			want := ".cw/prompts/empty.md=|.cw/prompts/long.md=nil|.cw/prompts/plan/rules extrl.md=no newline at its end|.cw/prompts/role.md=as it was\n"
			if strings.Join(said, "|") != want {
				t.Errorf("got %q", said)
			}
			got, err = l.m.TreeFiles(ctx(t), TreeRequest{
				Project: l.p, Checkout: checkout, Commit: commit, Paths: []string{".cw/prompts"}, FileMax: 100, FilesMax: 10, TotalMax: 30,
			})
			if err != nil || len(got) != 4 || len(got[2].Data) != 21 || got[3].Data != nil {
				t.Errorf("of at most 30 bytes: %+v %v", got, err)
			}
		})
	}
}
