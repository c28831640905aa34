package artifacts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestReadDraft: what agents write that differ in form reads the same, and what
// a head does not say is not made up.
func TestReadDraft(t *testing.T) {
	t.Parallel()
	has := func(keys ...string) map[string]bool {
		out := map[string]bool{}
		for _, key := range keys {
			out[key] = true
		}
		return out
	}
	tests := []struct {
		name, dir, text string
		want            Draft
	}{
		{
			"camelCase and scalars for lists", "tasks",
			"---\nID: " + idA + "\nName: ' Do it '\ndependsOn: " + idC + "\npaths: a/**\nChecks:\n  - 3\n---\nText",
			Draft{
				Task: cw.Task{ID: idA, Name: "Do it", DependsOn: []cw.TaskID{idC}, Paths: []string{"a/**"}, Checks: []string{"3"}, Body: "Text"},
				Has:  has("id", "title", "depends_on", "paths", "checks"),
			},
		},
		{
			"questions in every form", "tasks",
			"---\ntype: checkpoint:decision\nquestions:\n  - Which one?\n  - {id: why, Question: ' Why? ', answer: so}\n" +
				"  - question: Sizes?\n    multiSelect: yes\n    options: [1, {label: no}, {Label: M, description: middle}]\n---\n",
			Draft{
				Task: cw.Task{ID: idA, Type: cw.TaskCheckpointDecide, Questions: []cw.TaskQuestion{
					{ID: "q1", Text: "Which one?"}, {ID: "why", Text: "Why?"},
					{ID: "q3", Text: "Sizes?", MultiSelect: true, Options: []cw.QuestionOption{{Label: "1"}, {Label: "no"}, {Label: "M", Description: "middle"}}},
				}},
				Has: has("type", "questions"),
			},
		},
		{"no questions", "tasks", "---\nquestions: []\n---\n", Draft{Task: cw.Task{ID: idA}, Has: has("questions")}},
		{
			"kebab-case, doubles and other keys", "phases",
			"---\ntitle: A\ndepends-on: [" + idB + ", " + idB + "]\nname: B\nowner: {team: [x]}\nstatus: draft\n---\n",
			Draft{
				Phase: cw.Phase{ID: idA, Name: "A", DependsOn: []cw.PhaseID{idB}}, Has: has("title", "depends_on"),
				Extra: map[string]any{"name": "B", "owner": map[string]any{"team": []any{"x"}}},
			},
		},
		{
			"keys without a value", "tasks", "---\ntitle:\nphase:\ntype: ~\npaths:\nsize: large\n---\n",
			Draft{Task: cw.Task{ID: idA, Size: cw.SizeLarge}, Has: has("size")},
		},
		{
			"an empty list", "phases", "---\ndepends_on: []\n---\n",
			Draft{Phase: cw.Phase{ID: idA, DependsOn: []cw.PhaseID{}}, Has: has("depends_on")},
		},
		{
			"no head, raw HTML", "pages", "# Exports\n\n<script>alert(1)</script>\n",
			Draft{Page: cw.Document{ID: idA, Body: "# Exports\n\n<script>alert(1)</script>"}, Has: has()},
		},
		{
			"to be deleted", "phases", "---\ndelete: yes\n---\nIt is in the other one.\n",
			Draft{Delete: true, Reason: "It is in the other one.", Phase: cw.Phase{ID: idA, Body: "It is in the other one."}, Has: has("delete")},
		},
		{
			"to be deleted, with its text", "phases", "---\ndelete: true\nreason: ' It is in the other one. '\n---\nThe aim.\n",
			Draft{Delete: true, Reason: "It is in the other one.", Phase: cw.Phase{ID: idA, Body: "The aim."}, Has: has("delete", "reason")},
		},
		{
			"to be deleted for nothing", "phases", "---\ndelete: true\n---\n",
			Draft{Delete: true, Phase: cw.Phase{ID: idA}, Has: has("delete")},
		},
		{
			"a reason of its own", "phases", "---\nreason: why not\n---\nThe aim.\n",
			Draft{Phase: cw.Phase{ID: idA, Body: "The aim."}, Has: has(), Extra: map[string]any{"reason": "why not"}},
		},
		{
			"a decision", "decisions", "\ufeff---\r\ntitle: SQLite stays\r\npage: " + idB + "\r\n---\r\nBecause.\r\n",
			Draft{Decision: Decision{ID: idA, Title: "SQLite stays", PageID: idB, Body: "Because."}, Has: has("title", "page")},
		},
		{
			"from the context, with where it stands", "tasks", contextTaskFile(with(cw.Task{
				ID: idA, Name: "Do", PhaseID: idB, Type: cw.TaskAuto, Size: cw.SizeSmall, Priority: cw.PriorityLow,
			}, "one\ntwo: three")),
			Draft{
				Task: cw.Task{
					ID: idA, Name: "Do", PhaseID: idB, Type: cw.TaskAuto, Size: cw.SizeSmall, Priority: cw.PriorityLow,
					DependsOn: []cw.TaskID{}, Paths: []string{}, Checks: []string{},
				},
				Has: has("id", "title", "phase", "type", "size", "priority", "depends_on", "paths", "checks"),
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.File, tt.want.ID = tt.dir+"/"+idA+".md", idA
			tt.want.Target, _ = targetOf(tt.dir)
			got, problems := ReadDraft(tt.want.File, []byte(tt.text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("- wanted, + got:\n%s", diff)
			}
		})
	}
}

// TestReadDraftRefuses: every fault of a file is told with its line, and the
// file is not taken.
func TestReadDraftRefuses(t *testing.T) {
	t.Parallel()
	manyIDs := make([]string, 0, cw.DependenciesMax+1)
	for n := range cw.DependenciesMax + 1 {
		manyIDs = append(manyIDs, strings.NewReplacer("0", "a", "1", "b", "8", "c", "9", "d").Replace(fmt.Sprintf("%012d", n)))
	}
	task := func(head string) string { return "---\n" + head + "\n---\nText\n" }
	tests := []struct {
		name, file, text string
		want             []string // LINE: part of the text
	}{
		{"empty", "", "", []string{"0: empty"}},
		{"blank", "", "\ufeff\n \n", []string{"0: empty"}},
		{"an empty head alone", "", "---\n---\n\n", []string{"0: empty"}},
		{"no folder of ours", "notes/" + idA + ".md", "x", []string{"0: no folder of"}},
		{"no folder", idA + ".md", "x", []string{"0: no folder of"}},
		{"a folder above", "../tasks/" + idA + ".md", "x", []string{"0: no folder of"}},
		{"no Markdown", "tasks/" + idA + ".txt", "x", []string{"0: .md"}},
		{"no id", "tasks/first.md", "x", []string{"0: no id"}},
		{"an id in capitals", "tasks/" + strings.ToUpper(idA) + ".md", "x", []string{"0: small letters: " + idA + ".md"}},
		{"not closed", "", "---\ntitle: x\n", []string{"1: ends it"}},
		{"tabs", "", task("paths:\n\t- a"), []string{"3: tabs"}},
		{"a key twice", "", task("title: a\ntitle: b"), []string{"3: twice"}},
		{"a key in two spellings", "", task("dependsOn: []\ndepends_on: []"), []string{"3: twice"}},
		{"of another id", "", task("title: x\nid: " + idB), []string{"3: " + idB + ", which belongs into tasks/" + idB + ".md"}},
		{"an id that is a path", "", task("id: ../../etc/passwd"), []string{"2: ../../etc/passwd"}},
		{"several faults", "", task("title: [a]\ntype: atuo\nsize: huge\npriority: {a: b}\nphase: ../x\ndelete: maybe"), []string{
			"2: takes one text", "3: did you mean auto?", "4: small, medium, large", "5: a mapping", "6: ../x, which is no id", "7: true or false",
		}},
		{"a title of two lines", "", task("title: \"a\\nb\""), []string{"2: line ends"}},
		{"an empty title", "", task("title: \"\""), []string{"2: no name"}},
		{"a title that is too long", "", task("name: " + strings.Repeat("x", cw.NameMax+1)), []string{"2: longer than 200"}},
		{"dependencies that are no ids", "", task("depends_on:\n  - a/b\n  - the first"), []string{"2: a/b", "2: the first"}},
		{"lists in lists", "", task("title: x\ndepends_on:\n  - [a]"), []string{"4: an entry is a list"}},
		{"too many dependencies", "", task("depends_on: [" + strings.Join(manyIDs, ", ") + "]"), []string{"2: more than 200"}},
		{"a path of two lines", "", task("paths: [\"a\\nb\"]"), []string{"2: no single line"}},
		{"questions that are a text", "", task("questions: Which one?"), []string{"2: takes a list of questions, and this is a text"}},
		{"a question that is a list", "", task("questions:\n  - [a]"), []string{"3: this is a list"}},
		{"a question that is nothing", "", task("questions:\n  -"), []string{"3: this is empty"}},
		{"a question without a text", "", task("questions:\n  - id: a"), []string{"2: question 1: question is empty"}},
		{"a question with more", "", task("questions:\n  - question: a\n    colour: blue"), []string{"4: colour is no key here"}},
		{"options that are a text", "", task("questions:\n  - question: a\n    options: b"), []string{"4: takes a list of answers"}},
		{"an option that is nothing", "", task("questions:\n  - question: a\n    options:\n      - ~"), []string{"5: this is empty"}},
		{"options twice", "", task("questions:\n  - question: a\n    options: [b, B]"), []string{"2: label of another option"}},
		{"questions of one name", "", task("questions:\n  - {id: a, question: b}\n  - {id: a, question: c}"), []string{"2: two questions"}},
		{"an empty check", "", task("checks: [\"\"]"), []string{"2: no single line"}},
		{"too many checks", "", task("checks: [" + strings.Repeat("a, ", cw.TaskChecksMax) + "a]"), []string{"2: at most 50"}},
		{"too many paths", "", task("paths: [" + strings.Repeat("a, ", cw.TaskPathsMax) + "a]"), []string{"2: at most 200"}},
		{"a path that leads out", "", task("paths: [a, ../b]"), []string{"2: leads out of the repository"}},
		{"a position below 0", "pages/" + idA + ".md", task("position: -1"), []string{"2: from 0"}},
		{"a position that is none", "phases/" + idA + ".md", task("position: first"), []string{"2: whole number"}},
		{"a parent that is a path", "pages/" + idA + ".md", task("parent: /etc"), []string{"2: /etc"}},
		{"a page that is none", "decisions/" + idA + ".md", task("page: [" + idB + "]"), []string{"2: takes one text"}},
		{"a body of 5 MB", "", task("title: x") + strings.Repeat("x", 5<<20), []string{"4: at most 1048576"}},
		{"a NUL", "", task("title: x\x00"), []string{"2: NUL"}},
		{"not UTF-8", "", task("title: x") + "\xff", []string{"5: UTF-8"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := tt.file
			if file == "" {
				file = "tasks/" + idA + ".md"
			}
			draft, problems := ReadDraft(file, []byte(tt.text))
			if diff := cmp.Diff(Draft{}, draft); diff != "" {
				t.Errorf("it is taken:\n%s", diff)
			}
			matches(t, problems, file, tt.want)
		})
	}
}

// matches compares problems of one file with LINE: part of the text.
func matches(t *testing.T, problems []Problem, file string, want []string) {
	t.Helper()
	if len(problems) != len(want) {
		t.Fatalf("%d problems: %v", len(problems), problems)
	}
	for i, p := range problems {
		line, text, _ := strings.Cut(want[i], ": ")
		if p.File != file || fmt.Sprint(p.Line) != line || !strings.Contains(p.Text, text) {
			t.Errorf("%+v, wanted %s in %s", p, want[i], file)
		}
	}
}

// FuzzReadDraft: whatever an agent writes is a problem with a text, or a draft
// that is as sound as its rules say and has one canonical text.
func FuzzReadDraft(f *testing.F) {
	for _, target := range []string{"pages", "phases", "tasks", "decisions"} {
		f.Add(target, []byte("---\nid: "+idA+"\ntitle: x\ndelete: true\nextra: [1, {a: b}]\n---\ntext\n"))
		f.Add(target, []byte(TaskFile(cw.Task{ID: idA, Name: "Do", PhaseID: idB, Type: cw.TaskAuto, Size: cw.SizeSmall, Priority: cw.PriorityLow})))
		f.Add(target, []byte(PhaseFile(cw.Phase{ID: idA, Name: "Do", DependsOn: []cw.PhaseID{idB, idC}, Body: "b"})))
		f.Add(target, []byte("---\ntitle: [a\n---\n"))
	}
	f.Fuzz(func(t *testing.T, dir string, data []byte) {
		file := dir + "/" + idA + ".md"
		draft, problems := ReadDraft(file, data)
		for _, p := range problems {
			if p.Text == "" || p.File != file || p.Line < 0 {
				t.Errorf("%+v", p)
			}
		}
		if len(problems) > 0 {
			if diff := cmp.Diff(Draft{}, draft); diff != "" {
				t.Errorf("it is taken:\n%s", diff)
			}
			return
		}
		text := canonicalOf(draft)
		again, problems := ReadDraft(file, []byte(text))
		if len(problems) > 0 {
			if !draft.Has[keyTitle] || len(text) > 64<<10 {
				return // without a title no file can be written that is taken
			}
			t.Fatalf("%v in %q", problems, text)
		}
		if got := canonicalOf(again); got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func canonicalOf(d Draft) string {
	switch d.Target {
	case cw.TargetPage:
		return PageFile(d.Page)
	case cw.TargetPhase:
		return PhaseFile(d.Phase)
	case cw.TargetTask:
		t := d.Task // as planning fills in what is not said
		if t.Type == "" {
			t.Type = cw.TaskAuto
		}
		if t.Size == "" {
			t.Size = cw.SizeMedium
		}
		if t.Priority == "" {
			t.Priority = cw.PriorityMedium
		}
		return TaskFile(t)
	}
	return DecisionFile(d.Decision)
}
