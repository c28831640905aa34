package crashlab

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the tests that end a daemon, or the process of a package, at steps
// that no flow here has: accounts, clones, folders that are in the way, commands
// of projects, and, on the whole program, tasks and merges from the first to the
// last. Each of them fails when a step that it names is not reached.
func elsewhere() []string {
	return []string{
		"accounts/add_test.go", "accounts/refresh_test.go",
		"internal/cwtest/mergelab/line_test.go", "internal/cwtest/mergelab/setup_test.go",
		"orchestrator/commands_test.go", "orchestrator/furnish_test.go", "orchestrator/open_test.go", "orchestrator/stall_test.go", "orchestrator/trash_test.go",
		"worktree/add_test.go", "worktree/far_killed_test.go", "worktree/merge_killed_test.go", "worktree/trash_test.go",
	}
}

// root is the folder of the module.
const root = "../../.."

// TestEveryStepIsTried: whoever names a step in the program puts it into a flow,
// or into a test of its package that dies there.
func TestEveryStepIsTried(t *testing.T) {
	t.Parallel()
	tried := map[string]string{}
	for _, f := range flows() {
		for _, step := range f.steps {
			tried[step] = "the flow " + f.name
		}
	}
	for _, file := range elsewhere() {
		for _, step := range matches(t, filepath.Join(root, file), named()) {
			tried[step] = file
		}
	}
	steps := stepsOf(t)
	for _, step := range slices.Sorted(maps.Keys(steps)) {
		if tried[step] == "" {
			t.Errorf("%s: no test dies at %s", steps[step], step)
		}
	}
	if len(steps) < 90 {
		t.Errorf("only %d steps were found", len(steps))
	}
}

// TestTasksAndMergesAreKilled: the merge lab kills the whole program at all steps
// of the dispatcher, and at those of the commands and checkouts that it needs.
func TestTasksAndMergesAreKilled(t *testing.T) {
	t.Parallel()
	var tried []string
	for _, file := range []string{"line_test.go", "setup_test.go"} {
		tried = append(tried, matches(t, filepath.Join(root, "internal", "cwtest", "mergelab", file), named())...)
	}
	found := 0
	for step, file := range stepsOf(t) {
		begin, _, _ := strings.Cut(step, "/")
		if !slices.Contains([]string{"dispatch", "merge", "commands", "setup"}, begin) && !strings.HasPrefix(step, "worktree/scratch-") {
			continue
		}
		if found++; !slices.Contains(tried, step) {
			t.Errorf("%s: the merge lab does not kill at %s", file, step)
		}
	}
	if found < 20 {
		t.Errorf("only %d steps were found", found)
	}
}

// stepsOf gives the named steps of the program, each with its file. Those of an
// operation are named by its kind and a constant, which the flows put together.
func stepsOf(t *testing.T) map[string]string {
	t.Helper()
	hit := regexp.MustCompile(`\.Hit\("([^"]+)"\)`)
	constant := regexp.MustCompile(`(?m)^\tstep[A-Z]\w*\s+= "([^"]+)"`)
	steps := map[string]string{}
	for _, dir := range []string{"accounts", "dispatch", "environment", "internal/daemon", "internal/store", "orchestrator", "planning", "worktree"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, step := range append(matches(t, file, hit), matches(t, file, constant)...) {
				if strings.Contains(step, "/") {
					steps[step] = file
					continue
				}
				for _, kind := range []string{"spawn", "resume"} {
					if step != "session-carried" || kind == "resume" { // a first run has no session
						steps[kind+"/"+step] = file
					}
				}
			}
		}
	}
	return steps
}

// named matches the name of a step as a test has it.
func named() *regexp.Regexp { return regexp.MustCompile(`"([a-z-]+/[a-z-]+)"`) }

// matches gives what the first group of a pattern matches in a file.
func matches(t *testing.T, file string, pattern *regexp.Regexp) (out []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}
