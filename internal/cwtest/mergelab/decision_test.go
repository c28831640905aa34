package mergelab

import (
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestDecision: a decision asks its questions; no agent answers them; they are
// answered together, on the command line, and whoever comes after reads what was
// said.
func TestDecision(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	h.work(job{name: "choose", kind: cw.TaskCheckpointDecide, asks: []cw.TaskQuestion{
		{ID: "colour", Text: "Which colour?", Options: []cw.QuestionOption{{Label: "dark blue"}, {Label: "red"}}},
		{ID: "sizes", Text: "Which sizes?", Options: []cw.QuestionOption{{Label: "S"}, {Label: "M"}, {Label: "L"}}, MultiSelect: true},
		{Text: "Why?"},
	}})
	id := string(h.tasks["choose"])
	h.work(
		job{name: "meddle", does: shell("meddle", `cw task done `+id+` --answer colour=red --answer sizes=S --answer q3=so > meddled.txt 2>&1 || echo "exit code $?" >> meddled.txt`)},
		job{name: "paint", after: []string{"choose"}, does: shell("paint", `cp .cw/input/context/tasks/`+id+`.md chosen.txt`)},
	)
	h.taskIs("choose", cw.TaskReady)
	h.taskIs("meddle", cw.TaskDone)
	if text := h.inMirror("show", branch+":meddled.txt"); !strings.Contains(text, "an agent may not do this") || !strings.Contains(text, "exit code 4") {
		t.Errorf("an agent decided: %s", text)
	}
	if st := h.standings(); !strings.Contains(st, "a person has to answer 3 questions") {
		t.Errorf("it does not say what it waits for:\n%s", st)
	}
	if out, errOut, code := h.Run(h.Repo, "task", "done", id, "--answer", "sizes=S"); code != 2 || !strings.Contains(errOut, "not answered: colour (Which colour?), q3 (Why?)") {
		t.Errorf("half a decision: exit code %d\n%s%s", code, out, errOut)
	}
	h.taskIs("choose", cw.TaskReady)
	out, errOut, code := h.Run(h.Repo, "task", "done", id, "--answer", "colour=dark blue", "--answer", "sizes=S", "--answer", "sizes=L", "--answer", "q3=as the logo: \"it\"", "--comment", "for now")
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	h.taskIs("paint", cw.TaskDone)
	text := h.inMirror("show", branch+":chosen.txt")
	for _, want := range []string{"colour: Which colour?\n  dark blue", "sizes: Which sizes?\n  S, L", "q3: Why?\n  as the logo: \"it\"", "  for now"} {
		if !strings.Contains(text, want) {
			t.Errorf("the next agent does not read %q in\n%s", want, text)
		}
	}
	if _, _, code := h.Run(h.Repo, "task", "done", id, "--answer", "colour=red", "--answer", "sizes=S", "--answer", "q3=so"); code != 4 {
		t.Errorf("decided again: exit code %d", code)
	}
}
