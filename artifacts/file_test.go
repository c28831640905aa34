package artifacts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"cw/internal/cw"
)

const (
	idA = "k3v7q2mzt5ha"
	idB = "m4x7t2qa6v3b"
	idC = "222222222222" // a number to YAML
	idD = "2e3456723456" // another
)

func TestFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ got, want string }{
		"page": {PageFile(cw.Document{ID: idA, Title: "Exports: now", ParentID: idC, Position: 2, Body: "\n\n  # Exports\r\n\r\ntext \n\n"}),
			"---\nid: " + idA + "\ntitle: \"Exports: now\"\nparent: \"" + idC + "\"\nposition: 2\n---\n\n  # Exports\n\ntext\n"},
		"first page": {PageFile(cw.Document{ID: idA, Title: "Goal"}), "---\nid: " + idA + "\ntitle: Goal\nposition: 0\n---\n"},
		"phase": {PhaseFile(cw.Phase{ID: idA, Name: "Jobs", DependsOn: []cw.PhaseID{idB}, Status: cw.PhaseDone, Body: "b"}),
			"---\nid: " + idA + "\ntitle: Jobs\ndepends_on:\n  - " + idB + "\nposition: 0\n---\n\nb\n"},
		"task": {TaskFile(cw.Task{
			ID: idA, Name: "Do", PhaseID: idB, Type: cw.TaskCheckpointVerify, Size: cw.SizeSmall, Priority: cw.PriorityHigh,
			Paths: []string{"**/*.go", "a/b"}, Checks: []string{"make test"}, Status: cw.TaskDone, Summary: "done", Body: "b",
		}), "---\nid: " + idA + "\ntitle: Do\nphase: " + idB + "\ntype: checkpoint:verify\nsize: small\npriority: high\n" +
			"depends_on: []\npaths:\n  - \"**/*.go\"\n  - a/b\nchecks:\n  - make test\n---\n\nb\n"},
		"questions": {TaskFile(cw.Task{
			ID: idA, Name: "Do", PhaseID: idB, Type: cw.TaskCheckpointDecide, Size: cw.SizeSmall, Priority: cw.PriorityLow, Body: "b",
			Questions: []cw.TaskQuestion{
				{ID: "colour", Header: "Colour", Text: "Which: blue?", Options: []cw.QuestionOption{{Label: "yes"}, {Label: "no", Description: "as the logo"}}, MultiSelect: true, Answer: "yes"},
				{ID: "why", Text: "Why?\nSay it."},
			},
		}), "---\nid: " + idA + "\ntitle: Do\nphase: " + idB + "\ntype: checkpoint:decision\nsize: small\npriority: low\ndepends_on: []\npaths: []\nchecks: []\n" +
			"questions:\n  -\n    id: colour\n    header: Colour\n    question: \"Which: blue?\"\n    options:\n      - yes\n      -\n" +
			"        label: no\n        description: as the logo\n    multi_select: true\n" +
			"  -\n    id: why\n    question: |-\n      Why?\n      Say it.\n---\n\nb\n"},
		"decision": {DecisionFile(Decision{ID: idA, Title: "SQLite", PageID: idB, Body: "b"}),
			"---\nid: " + idA + "\ntitle: SQLite\npage: " + idB + "\n---\n\nb\n"},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s: - wanted, + got:\n%s", name, diff)
		}
	}
}

// lines are texts of one line as titles, paths and checks are.
func lines() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"true", "null", "**", "- a", "a: b", "# x", "\"", "@x", "3", "1e3", "<script>", "💥", "---"}),
		rapid.StringMatching(`[a-z][a-z:#'" *{}\[\],-]{0,20}[a-z]`),
	)
}

func bodies() *rapid.Generator[string] {
	return rapid.Map(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z# \n-]{0,40}`)), func(s string) string {
		s = strings.NewReplacer("\x00", "", "\r", "").Replace(s)
		return trimBody(s)
	})
}

func ids() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{idA, idB, idC, idD}), rapid.StringMatching(`[a-z2-7]{12}`))
}

// questions are what a decision may ask.
func questions() *rapid.Generator[[]cw.TaskQuestion] {
	line := rapid.Map(lines(), strings.TrimSpace)
	option := rapid.Custom(func(t *rapid.T) cw.QuestionOption {
		return cw.QuestionOption{Label: line.Draw(t, "label"), Description: rapid.OneOf(rapid.Just(""), line).Draw(t, "description")}
	})
	one := rapid.Custom(func(t *rapid.T) cw.TaskQuestion {
		q := cw.TaskQuestion{
			ID: rapid.StringMatching(`[a-zA-Z0-9_][a-zA-Z0-9_-]{0,20}`).Draw(t, "id"), Header: rapid.SampledFrom([]string{"", "true", "a: b", "3"}).Draw(t, "header"),
			Text:    rapid.OneOf(line, rapid.Just("Which?\n\n- a: b\n- # c")).Draw(t, "question"),
			Options: rapid.SliceOfNDistinct(option, 0, 4, func(o cw.QuestionOption) string { return strings.ToLower(o.Label) }).Draw(t, "options"),
		}
		q.MultiSelect = len(q.Options) > 0 && rapid.Bool().Draw(t, "several")
		return q
	})
	return rapid.SliceOfNDistinct(one, 0, 4, func(q cw.TaskQuestion) string { return strings.ToLower(q.ID) })
}

// mapTo gives texts as a named type.
func mapTo[T ~string](texts []string) []T {
	out := make([]T, 0, len(texts))
	for _, text := range texts {
		out = append(out, T(text))
	}
	return out
}

// TestRoundTrip: the file of a thing reads as the thing.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id, other := ids().Draw(t, "id"), ids().Draw(t, "other")
		title, body := lines().Draw(t, "title"), bodies().Draw(t, "body")
		list := rapid.SliceOfN(lines(), 0, 4)
		deps := rapid.SliceOfNDistinct(ids(), 0, 4, rapid.ID)
		position := rapid.IntRange(0, 1000).Draw(t, "position")
		page := cw.Document{ID: cw.PageID(id), Title: title, ParentID: cw.PageID(other), Position: position, Body: body}
		phase := cw.Phase{ID: cw.PhaseID(id), Name: title, DependsOn: mapTo[cw.PhaseID](deps.Draw(t, "phases")), Position: position, Body: body}
		task := cw.Task{
			ID: cw.TaskID(id), Name: title, PhaseID: cw.PhaseID(other), Body: body,
			Type:     rapid.SampledFrom(cw.TaskTypes()).Draw(t, "type"),
			Size:     rapid.SampledFrom(cw.TaskSizes()).Draw(t, "size"),
			Priority: rapid.SampledFrom(cw.TaskPriorities()).Draw(t, "priority"),
			Paths:    list.Draw(t, "paths"), Checks: list.Draw(t, "checks"), DependsOn: mapTo[cw.TaskID](deps.Draw(t, "tasks")),
		}
		if task.Type == cw.TaskCheckpointDecide {
			task.Questions = questions().Draw(t, "questions")
		}
		decision := Decision{ID: id, Title: title, PageID: cw.PageID(other), Body: body}
		for _, tt := range []struct {
			dir, file string
			was       any
			is        func(Draft) any
		}{
			{"pages", PageFile(page), page, func(d Draft) any { return d.Page }},
			{"phases", PhaseFile(phase), phase, func(d Draft) any { return d.Phase }},
			{"tasks", TaskFile(task), task, func(d Draft) any { return d.Task }},
			{"decisions", DecisionFile(decision), decision, func(d Draft) any { return d.Decision }},
			// What an agent copied from the context reads the same.
			{"phases", contextPhaseFile(phase), phase, func(d Draft) any { return d.Phase }},
			{"tasks", contextTaskFile(with(task, body)), task, func(d Draft) any { return d.Task }},
		} {
			draft, problems := ReadDraft(tt.dir+"/"+id+".md", []byte(tt.file))
			if len(problems) > 0 {
				t.Fatalf("%v in %q", problems, tt.file)
			}
			if diff := cmp.Diff(tt.was, tt.is(draft), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%q: - was, + is:\n%s", tt.file, diff)
			}
			if draft.Extra != nil || draft.Delete || !draft.Has["title"] {
				t.Fatalf("%+v", draft)
			}
		}
	})
}

func with(t cw.Task, summary string) cw.Task {
	t.Status, t.Summary = cw.TaskDone, summary
	return t
}

func TestTrimBody(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"": "", "\n \n": "", "a": "a", "\n\n  a\n\n  b  \n\n": "  a\n\n  b", "\r\n\r\n  a\r\n": "  a", "  a": "  a",
	} {
		if got := trimBody(body); got != want {
			t.Errorf("%q: %q", body, got)
		}
	}
}
