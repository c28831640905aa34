package parsers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// short is a list of steps in words: "step-0 a pending".
func short(steps []cw.PlanStep) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.ID+" "+s.Title+" "+string(s.Status))
	}
	return out
}

func TestNativeSteps(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", cw.PlanTitleMax)
	tests := []struct {
		name  string
		read  func(json.RawMessage) []cw.PlanStep
		input string
		want  []string
	}{
		{"claude and qwen", todoSteps, `{"todos":[{"content":"a","status":"completed","activeForm":"doing a"},{"id":"2","content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}`,
			[]string{"step-0 a completed", "step-1 b in_progress", "step-2 c pending"}},
		{"opencode", todoSteps, `{"todos":[{"id":"1","content":"a","status":"cancelled","priority":"high"}]}`, []string{"step-0 a skipped"}},
		{"gemini", todoSteps, `{"todos":[{"description":"a","status":"in_progress"},{"description":"b","status":"cancelled"}]}`, []string{"step-0 a in_progress", "step-1 b skipped"}},
		{"codex", listSteps, `[{"text":"a","completed":true},{"text":"b","completed":false}]`, []string{"step-0 a completed", "step-1 b pending"}},
		{"ACP", listSteps, `[{"content":"a","priority":"low","status":"in_progress"},{"content":"b"}]`, []string{"step-0 a in_progress", "step-1 b pending"}},
		{"what is no step is left out", listSteps, `[1,null,"x",[],{},{"content":7},{"content":" \n"},{"content":7,"text":"a","status":["done"],"completed":"true"}]`, []string{"step-0 a pending"}},
		{"one line", listSteps, `[{"content":" a\r\n\tb  c\u0000d\ud800"}]`, []string{"step-0 a b c d\ufffd pending"}},
		{"as long as may be", listSteps, `[{"content":"` + long + `"}]`, []string{"step-0 " + long + " pending"}},
		{"too long", listSteps, `[{"content":"` + long + `x"}]`, []string{"step-0 " + strings.Repeat("ü", cw.PlanTitleMax-1) + "… pending"}},
		{"nothing", todoSteps, `{"todos":[]}`, nil},
		{"no list", todoSteps, `{"todos":"a"}`, nil},
		{"no input", todoSteps, ``, nil},
		{"no JSON", listSteps, `[{"content":"a"}`, nil},
		{"another form", listSteps, `{"todos":[{"content":"a"}]}`, nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, short(test.read(json.RawMessage(test.input)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	var many []string
	for i := range cw.PlanStepsMax + 1 {
		many = append(many, fmt.Sprintf(`{"content":"%d"}`, i))
	}
	if got := listSteps(json.RawMessage("[" + strings.Join(many, ",") + "]")); len(got) != cw.PlanStepsMax {
		t.Errorf("%d steps", len(got))
	}
}

// TestClaudeTasks: the list that claude keeps task by task, also in a session that
// goes on.
func TestClaudeTasks(t *testing.T) {
	t.Parallel()
	call := func(id, tool, input string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","content":[{"type":"tool_use","id":"` + id + `","name":"` + tool + `","input":` + input + `}]}}`
	}
	result := func(id, text string, failed bool) string {
		return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `","is_error":` + strconv.FormatBool(failed) + `,"content":"` + text + `"}]}}`
	}
	p := newClaude(Options{})
	p.recallPlan([]cw.PlanStep{{ID: "step-1", Title: "two", Status: cw.StepPending}, {ID: "step-0", Title: "one", Status: cw.StepCompleted}})
	for _, c := range []struct {
		line string
		want []string // of the last event that tells the list
	}{
		{call("a", "TaskCreate", `{"subject":"four","description":"x"}`), nil},
		{result("a", "Task #4 created successfully: four", false), []string{"step-0 one completed", "step-1 two pending", "step-3 four pending"}},
		{call("b", "TaskCreate", `{"subject":"three"}`), nil},
		{result("b", "Task #3 created successfully: three", false), []string{"step-0 one completed", "step-1 two pending", "step-2 three pending", "step-3 four pending"}},
		{result("b", "Task #5 created successfully: three", false), nil},
		{call("c", "TaskCreate", `{"subject":"no"}`), nil},
		{result("c", "Task #6 created successfully: no", true), nil},
		{call("d", "TaskUpdate", `{"taskId":"2","status":"in_progress"}`), []string{"step-0 one completed", "step-1 two in_progress", "step-2 three pending", "step-3 four pending"}},
		{call("e", "TaskUpdate", `{"taskId":"3","status":"deleted"}`), []string{"step-0 one completed", "step-1 two in_progress", "step-2 three skipped", "step-3 four pending"}},
		{call("f", "TaskUpdate", `{"taskId":"#4","subject":"4"}`), []string{"step-0 one completed", "step-1 two in_progress", "step-2 three skipped", "step-3 4 pending"}},
		{call("g", "TaskUpdate", `{"taskId":"9","status":"completed"}`), nil},
		{call("h", "TaskUpdate", `{"taskId":9}`), nil},
		{call("i", "TaskCreate", `{"subject":"far"}`), nil},
		{result("i", "Task #101 created successfully: far", false), nil},
	} {
		var steps []cw.PlanStep
		for _, ev := range p.Line([]byte(c.line)) {
			if ev.Kind == cw.StreamPlan {
				steps = ev.Steps
			}
		}
		if diff := cmp.Diff(c.want, short(steps)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.line, diff)
		}
	}
	if p.Unknown() != 0 {
		t.Errorf("%d lines are unknown", p.Unknown())
	}
}

// FuzzNativeSteps: whatever a CLI writes, its steps are those of a plan that may
// be stored.
func FuzzNativeSteps(f *testing.F) {
	for _, seed := range []string{
		`{"todos":[{"content":"a","status":"completed"}]}`, `[{"text":"a","completed":true}]`, `[{"content":"\u0000\ud800"},null,1]`,
		`{"subject":"a"}`, `{"taskId":"1","status":"deleted"}`, `{"taskId":-1}`, `[[[`, `{"todos":{"content":"a"}}`, "[{\"content\":\"\xff\"}]",
	} {
		f.Add([]byte(seed), "Task #1 created")
	}
	f.Fuzz(func(t *testing.T, input []byte, result string) {
		tasks := claudeTasks{waiting: map[string]string{}}
		tasks.create("a", input)
		lists := [][]cw.PlanStep{todoSteps(input), listSteps(input), tasks.created("a", result), tasks.update(input)}
		for _, steps := range lists {
			var seen []string
			for _, s := range steps {
				if s.Title == "" || utf8.RuneCountInString(s.Title) > cw.PlanTitleMax || !utf8.ValidString(s.Title) || strings.ContainsAny(s.Title, "\x00\n\r\t") ||
					!slices.Contains(cw.StepStatuses(), s.Status) || slices.Contains(seen, s.ID) {
					t.Fatalf("%q gives %+v", input, s)
				}
				seen = append(seen, s.ID)
			}
			if len(steps) > cw.PlanStepsMax {
				t.Fatalf("%d steps", len(steps))
			}
		}
	})
}
