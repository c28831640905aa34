package worktree

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestHandOverNamesMissingSubmoduleCommits: the branch of an agent that committed
// in a submodule cannot be checked out whole, and that is said with the way out,
// which works.
func TestHandOverNamesMissingSubmoduleCommits(t *testing.T) {
	t.Parallel()
	a := newLabFor(t, rich(t)).add("brave-otter")
	a.commit("x.txt", "x\n")
	if out := a.handOver(); out.Missing != "" {
		t.Errorf("of a branch that moves no submodule: %q", out.Missing)
	}
	lib := filepath.Join(a.path, "lib")
	git(t, lib, "commit", "-q", "--allow-empty", "-m", "in the submodule")
	git(t, a.path, "commit", "-qam", "move lib")
	out := a.handOver()
	if !strings.Contains(out.Missing, `submodule "lib", which is not in your copy`) {
		t.Fatalf("%q", out.Missing)
	}
	git(t, filepath.Join(a.repo, "lib"), "fetch", "-q", lib, "HEAD")
	if out := a.handOver(); out.Missing != "" {
		t.Errorf("after the fetch: %q", out.Missing)
	}
}
