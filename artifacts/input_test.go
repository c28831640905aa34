package artifacts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/frontmatter"
)

func TestInputFiles(t *testing.T) {
	t.Parallel()
	phase := cw.Phase{ID: idB, Name: "Jobs", Status: cw.PhaseApproved, Body: "what"}
	task := cw.Task{
		ID: idC, Name: "Do", PhaseID: idB, Type: cw.TaskAuto, Size: cw.SizeSmall, Priority: cw.PriorityLow,
		Status: cw.TaskDone, Summary: "Moved the export.\nTests pass.", Body: "what",
	}
	in := Input{
		Initiative: cw.Initiative{ID: idA, Name: "Sale", Goal: "Sell more.", Projects: []cw.InitiativeProject{{Name: "shop"}, {Name: "web"}}},
		Pages:      []cw.Document{{ID: idB, Title: "Goal", Body: "one"}, {ID: idA, Title: "Below", ParentID: idB, Body: "two"}},
		Phase:      &phase, Task: &task, Phases: []cw.Phase{phase}, Tasks: []cw.Task{task},
		Dismissed: []cw.Proposal{
			{Target: cw.TargetTask, TargetID: idA, Action: cw.ActionCreate, Title: "Rewrite", After: "---\nid: x\n---\n\n```go\nx\n```\n", Note: "not now"},
			{Target: cw.TargetPhase, TargetID: idB, Action: cw.ActionDelete, Title: "Jobs\x1b"},
		},
	}
	want := map[string]string{
		"initiative.md":                 "---\nid: " + idA + "\ntitle: Sale\nprojects:\n  - shop\n  - web\n---\n\nSell more.\n",
		"pages/" + idB + ".md":          "---\nid: " + idB + "\ntitle: Goal\nposition: 0\n---\n\none\n",
		"pages/" + idA + ".md":          "---\nid: " + idA + "\ntitle: Below\nparent: " + idB + "\nposition: 0\n---\n\ntwo\n",
		"phase.md":                      PhaseFile(phase),
		"task.md":                       TaskFile(task),
		"context/phases/" + idB + ".md": "---\nid: " + idB + "\ntitle: Jobs\ndepends_on: []\nposition: 0\nstatus: approved\n---\n\nwhat\n",
		"context/tasks/" + idC + ".md": "---\nid: \"" + idC + "\"\ntitle: Do\nphase: " + idB + "\ntype: auto\nsize: small\npriority: low\ndepends_on: []\npaths: []\nchecks: []\n" +
			"status: done\nsummary: |-\n  Moved the export.\n  Tests pass.\n---\n\nwhat\n",
		"context/dismissed.md": "---\nids:\n  - " + idB + "\n  - " + idA + "\n---\n\nWhat people did not want, the latest first. Do not suggest it again.\n\n" +
			"## delete phase " + idB + ": \"Jobs\\x1b\"\n\nWhy: no reason was given\n\n" +
			"## create task " + idA + ": Rewrite\n\nWhy: not now\n\n````markdown\n---\nid: x\n---\n\n```go\nx\n```\n````\n",
	}
	files, err := in.Files()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
		if diff := cmp.Diff(want[f.Path], string(f.Data)); diff != "" {
			t.Errorf("%s: - wanted, + got:\n%s", f.Path, diff)
		}
		if _, err := frontmatter.Parse(f.Data); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
	order := []string{
		"initiative.md", "pages/" + idB + ".md", "pages/" + idA + ".md", "phase.md", "task.md",
		"context/phases/" + idB + ".md", "context/tasks/" + idC + ".md", "context/dismissed.md",
	}
	if diff := cmp.Diff(order, paths); diff != "" {
		t.Error(diff)
	}
}

// TestInputOfNothing: what there is nothing of has no file.
func TestInputOfNothing(t *testing.T) {
	t.Parallel()
	if files, err := (Input{}).Files(); err != nil || len(files) > 0 {
		t.Errorf("%v, %v", files, err)
	}
}

// TestInputRefuses: an id never leads out of the folder.
func TestInputRefuses(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]Input{
		"pages: ../x is no id":          {Pages: []cw.Document{{ID: "../x"}}},
		"context/phases: \"\" is no id": {Phases: []cw.Phase{{}}},
		"context/tasks: a/b is no id":   {Tasks: []cw.Task{{ID: "a/b"}}},
		"there twice":                   {Tasks: []cw.Task{{ID: idA}, {ID: idA}}},
	} {
		if _, err := in.Files(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestInputBounds: what stands in a head and what was dismissed is cut, so that
// the files can be read.
func TestInputBounds(t *testing.T) {
	t.Parallel()
	in := Input{Tasks: []cw.Task{{ID: idA, Summary: strings.Repeat("é\n", 1<<20)}}}
	for n := range 200 {
		in.Dismissed = append(in.Dismissed, cw.Proposal{
			TargetID: idB, Target: cw.TargetPage, Action: cw.ActionUpdate, Title: fmt.Sprintf("n%d", n), After: strings.Repeat("x", 1<<20), Note: strings.Repeat("y", 1<<20),
		})
	}
	files, err := in.Files()
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	doc, err := frontmatter.Parse(files[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := doc.Text(keySummary); len(text) > summaryMax+len("…") || !strings.HasSuffix(text, "…") {
		t.Errorf("a summary of %d bytes", len(text))
	}
	text := string(files[1].Data)
	if len(text) > dismissedMax+1000 || !strings.Contains(text, ": n199\n") || strings.Contains(text, ": n0\n") {
		t.Errorf("%d bytes", len(text))
	}
	shown := strings.Count(text, "\n## ")
	if want := fmt.Sprintf("\n%d older ones are left out.\n", 200-shown); !strings.HasSuffix(text, want) {
		t.Errorf("%d are shown; it ends with %q", shown, text[len(text)-50:])
	}
}
