package crashlab

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere begins the names of the steps that are about what no flow has, as
// accounts, clones, and folders that are in the way. They are left to the tests of
// their packages, and those of merging and landing to the merge lab, which kills at
// them on the whole program.
func elsewhere() []string {
	return []string{
		"add/secret", "commands/", "refresh/", "remove/row", "setup/", "stall/", "trash/purged", "worktree/aside", "worktree/branch-pushed", "worktree/cloned", "worktree/fetched", "worktree/linked",
		"worktree/integration-", "worktree/land", "worktree/published", "worktree/scratch-",
		"worktree/purged", "worktree/purging", "worktree/remote-fetched", "worktree/submodules", "worktree/undone-",
	}
}

// TestEveryStepIsTried: whoever names a step in the program puts it into a flow.
func TestEveryStepIsTried(t *testing.T) {
	t.Parallel()
	var tried []string
	for _, f := range flows() {
		tried = append(tried, f.steps...)
	}
	hit, found := regexp.MustCompile(`\.Hit\("([^"]+)"\)`), 0
	for _, dir := range []string{"orchestrator", "worktree", "accounts"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range hit.FindAllStringSubmatch(string(text), -1) {
				found++
				other := slices.ContainsFunc(elsewhere(), func(begin string) bool { return strings.HasPrefix(step[1], begin) })
				if !strings.HasSuffix(file, "_test.go") && !other && !slices.Contains(tried, step[1]) {
					t.Errorf("%s: no flow kills at %s", file, step[1])
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d steps were found", found)
	}
}
