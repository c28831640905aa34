package parsers

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

func TestDoingOfCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"cd web &&\n npm test","description":"Run"}`, "run cd web &&"},
		{"shell", `{"command":"/bin/bash -lc 'go test ./...'"}`, "run go test ./..."},
		{"shell", `{"command":"/bin/bash -lc \"echo \\\"hi\\\"\""}`, `run echo "hi"`},
		{"exec_command", `{"cmd":["git","log"]}`, "run git log"},
		{"run_shell_command", `{"command":"ls"}`, "run ls"},
		{"apply_patch", `{"changes":[{"path":"/w/a.go","kind":"update"}]}`, "edit /w/a.go"},
		{"MultiEdit", `{"file_path":"a.go"}`, "edit a.go"},
		{"search_replace", `{"path":"a.go"}`, "edit a.go"},
		{"Write", `{"file_path":"b.go","content":"x"}`, "write b.go"},
		{"NotebookEdit", `{"notebook_path":"n.ipynb"}`, "edit n.ipynb"},
		{"Read", `{"file_path":"c.go"}`, "read c.go"},
		{"read_many_files", `{"paths":["a","b"]}`, "read a b"},
		{"Grep", `{"pattern":"func main","path":"x"}`, "search func main"},
		{"LS", `{"path":"x"}`, "search x"},
		{"WebSearch", `{"query":"go 1.26"}`, "search go 1.26"},
		{"WebFetch", `{"url":"https://go.dev","prompt":"?"}`, "fetch https://go.dev"},
		{"TodoWrite", `{"todos":[]}`, "plan "},
		{"Task", `{"description":"Look at it","prompt":"long"}`, "delegate Look at it"},
		{"AskUserQuestion", `{"questions":[{"question":"Which port?"}]}`, "ask Which port?"},
		{"mcp__cw__ask_user", `{"question":"Which port?"}`, "ask Which port?"},
		{"mcp__tracker__get_issue", `{"title":"Bug"}`, "use mcp__tracker__get_issue Bug"},
		{"Skill", `not json`, "use Skill"},
		{"Bash", `{"command":{"deep":{"er":1}}}`, "run "},
		{"Bash", `{"command":"\u001b[31mx\u202e"}`, "run x"},
	} {
		d := Doing{}.After(cw.StreamEvent{Kind: cw.StreamToolCall, Tool: tt.tool, Input: json.RawMessage(tt.input)}, time.Time{})
		if got := fmt.Sprintf("%s %s", d.Verb, d.Subject); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.tool, tt.input, got, tt.want)
		}
	}
}

func TestDoingFold(t *testing.T) {
	t.Parallel()
	call := func(id string) cw.StreamEvent {
		return cw.StreamEvent{Kind: cw.StreamToolCall, Tool: "Bash", ToolUseID: id, Input: json.RawMessage(`{"command":"` + id + `"}`)}
	}
	var d Doing
	var got []string
	for n, ev := range []cw.StreamEvent{
		{Kind: cw.StreamInit},
		{Kind: cw.StreamText, Text: "I look"},
		{Kind: cw.StreamText, Text: " at it"},
		{Kind: cw.StreamText, Text: ".\nThen"},
		{Kind: cw.StreamText, Text: "The next"},
		{Kind: cw.StreamUsage},
		call("a"),
		call("b"),
		{Kind: cw.StreamToolCall, Tool: "Read", ToolUseID: "c", ParentToolUseID: "b"},
		{Kind: cw.StreamToolResult, ToolUseID: "a"},
		{Kind: cw.StreamToolResult, ToolUseID: "b"},
		{Kind: cw.StreamThinking, Text: "Hm"},
		{Kind: cw.StreamRetry, Attempt: 1},
		{Kind: cw.StreamResult, Text: "Done"},
	} {
		d = d.After(ev, time.Unix(int64(n), 0))
		got = append(got, fmt.Sprintf("%d %s %s", d.Since.Unix(), d.Verb, d.Subject))
	}
	want := []string{
		"0 think ", "1 say I look", "1 say I look at it", "1 say I look at it.", "4 say The next", "4 say The next",
		"6 run a", "7 run b", "7 run b", "7 run b", "10 think ", "10 think Hm", "10 think Hm", "13 think ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
