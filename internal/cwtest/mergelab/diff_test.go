package mergelab

import (
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestDifferences looks at the work of agents, tasks and the initiative from both
// sides, file by file, before it is landed and after, when nothing of the agents is
// left but their commits.
func TestDifferences(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	h.work(
		job{name: "first", does: shell("first", "echo one > './-a b.txt'")},
		job{name: "second", kind: cw.TaskCheckpointVerify, does: shell("second", "echo two > './:(glob)c'")},
	)
	h.taskIs("first", cw.TaskDone)
	task := h.taskIs("second", cw.TaskVerifying)
	agent := string(task.AgentID)
	// files are those that a diff of these words names.
	files := func(words ...string) string {
		t.Helper()
		out, errOut, code := h.Run(h.Repo, words...)
		if code != 0 {
			t.Fatalf("%v: exit code %d\n%s%s", words, code, out, errOut)
		}
		var found []string
		for line := range strings.Lines(out) {
			if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
				found = append(found, strings.TrimRight(name, "\t\n"))
			}
		}
		return strings.Join(found, ", ")
	}
	want := func(files, want string) {
		t.Helper()
		if files != want {
			t.Errorf("%q, wanted %q", files, want)
		}
	}
	id := string(task.ID)
	for _, of := range [][]string{{"task", "diff", id}, {"agent", "diff", agent}} { // not merged, beside what is
		want(files(of...), ":(glob)c")
		want(files(append(of, "--against", "head")...), ":(glob)c")
		want(files(append(of, "--against", "base", ":(glob)c")...), ":(glob)c")
		want(files(append(of, "README.md")...), "")
	}
	want(files("initiative", "diff", slug), "-a b.txt")
	_, err := h.Client().DecideTask(t.Context(), task.ID, cw.TaskVerdict{Accept: true})
	h.need(err)
	h.taskIs("second", cw.TaskDone)
	if out, errOut, code := h.Run(h.Repo, "agent", "remove", agent); code != 0 {
		t.Fatalf("remove: exit code %d\n%s%s", code, out, errOut)
	}
	for _, of := range [][]string{{"task", "diff", id}, {"agent", "diff", agent}} {
		want(files(of...), ":(glob)c")
		want(files(append(of, "--against", "base", ":(glob)c")...), ":(glob)c")
		want(files(append(of, "--against", "head")...), "")
	}
	both := "-a b.txt, :(glob)c"
	want(files("initiative", "diff", slug), both)
	want(files("initiative", "diff", slug, "--against", "head"), both)
	want(files("initiative", "diff", slug, "--", "-a b.txt"), "-a b.txt")
	if out, errOut, code := h.Run(h.Repo, "initiative", "diff", slug, "*"); code != 3 || !strings.Contains(errOut, `nothing is called "*"`) {
		t.Errorf("a pattern: exit code %d\n%s%s", code, out, errOut)
	}
	if out, errOut, code := h.Run(h.Repo, "merge", slug); code != 0 {
		t.Fatalf("merge: exit code %d\n%s%s", code, out, errOut)
	}
	want(files("initiative", "diff", slug), both)
	want(files("initiative", "diff", slug, "--against", "head"), "")
}
