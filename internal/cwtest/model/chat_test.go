package model

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// chatTools is a list of tools on offer.
func chatTools(names ...string) string {
	var tools []string
	for _, name := range names {
		tools = append(tools, `{"type":"function","function":{"name":"`+name+`"}}`)
	}
	return "[" + strings.Join(tools, ",") + "]"
}

// qwenResumed is the shape of what qwen 0.24.4 sends in a resumed session, in
// the middle of the second run.
var qwenResumed = `{
 "model": "mock-model", "stream": true, "stream_options": {"include_usage": true},
 "tools": ` + chatTools("run_shell_command", "write_file") + `,
 "messages": [
  {"role": "system", "content": "You are Qwen Code."},
  {"role": "user", "content": [
    {"type": "text", "text": "<system-reminder>\nI'm currently working in the directory: /srv/a b/wt\nHere is more.\n</system-reminder>"},
    {"type": "text", "text": "<task>\nBuild it.\n</task>\n\n\n"}, {"type": "image_url", "image_url": {"url": "data:"}}]},
  {"role": "assistant", "content": null, "tool_calls": [
    {"id": "call_1", "type": "function", "function": {"name": "run_shell_command", "arguments": "{\"command\":\"ls\"}"}},
    {"id": "call_2", "type": "function", "function": {"name": "write_file", "arguments": "{"}}]},
  {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "Command: ls\nDirectory: (root)\nOutput: one\ntwo\nError: (none)\nExit Code: 3\nSignal: (none)\nProcess Group PGID: 4543"}]},
  {"role": "tool", "tool_call_id": "call_2", "content": "Successfully created."},
  {"role": "assistant", "content": "Which port?"},
  {"role": "user", "content": "8080"},
  {"role": "system", "content": "The mode has changed."},
  {"role": "assistant", "content": "", "tool_calls": [{"id": "call_3", "function": {"name": "run_shell_command", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "call_3", "content": "Command: a\nb\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 1"}
 ]}`

func readChat(t *testing.T, body string) (*Request, error) {
	t.Helper()
	r, err := http.NewRequest("POST", "/v1/chat/completions", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer key")
	return chat{}.read(r, []byte(body))
}

func TestChatRead(t *testing.T) {
	t.Parallel()
	got, err := readChat(t, qwenResumed)
	if err != nil {
		t.Fatal(err)
	}
	want := &Request{
		Protocol: "chat", Model: "mock-model", Stream: true, Dir: "/srv/a b/wt",
		Credential: Credential{Header: "authorization", Value: "key"},
		System:     "You are Qwen Code.",
		Tools:      []string{"run_shell_command", "write_file"},
		Raw:        []byte(qwenResumed),
		Conversation: Conversation{
			{Kind: KindNote, Text: "I'm currently working in the directory: /srv/a b/wt\nHere is more."},
			{Kind: KindPrompt, Text: "<task>\nBuild it.\n</task>\n\n\n"},
			{Kind: KindAnswer, Calls: []CallMade{
				{ID: "call_1", Name: "run_shell_command", Input: json.RawMessage(`{"command":"ls"}`)},
				{ID: "call_2", Name: "write_file", Input: json.RawMessage(`"{"`)},
			}},
			{Kind: KindResults, Results: []ToolResult{
				{ID: "call_1", Text: "one\ntwo\nExit code 3", Failed: true},
				{ID: "call_2", Text: "Successfully created."},
			}},
			{Kind: KindAnswer, Text: "Which port?"},
			{Kind: KindPrompt, Text: "8080"},
			{Kind: KindNote, Text: "The mode has changed."},
			{Kind: KindAnswer, Calls: []CallMade{{ID: "call_3", Name: "run_shell_command", Input: json.RawMessage(`{}`)}}},
			{Kind: KindResults, Results: []ToolResult{{ID: "call_3"}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if got.Prompt() != "8080" || got.Number() != 2 || len(got.Earlier().Answers()) != 2 {
		t.Errorf("prompt %q, turn %d, earlier %q", got.Prompt(), got.Number(), got.Earlier().Answers())
	}
}

// TestChatWords: what each CLI puts around words and outputs is taken off.
func TestChatWords(t *testing.T) {
	t.Parallel()
	got, err := readChat(t, `{"tools": `+chatTools("bash")+`, "messages": [
		{"role": "system", "content": "* Current working directory: /srv/wt\n* more"},
		{"role": "user", "content": "<current_datetime>2026-11-22</current_datetime>\n\n<task>\nGo.\n</task>"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := Conversation{
		{Kind: KindNote, Text: "<current_datetime>2026-11-22</current_datetime>"},
		{Kind: KindPrompt, Text: "<task>\nGo.\n</task>"},
	}
	if diff := cmp.Diff(want, got.Conversation); diff != "" || got.Dir != "/srv/wt" || len(got.Earlier()) != 0 {
		t.Errorf("in %q, conversation (-want +got):\n%s", got.Dir, diff)
	}
}

func TestCommandResult(t *testing.T) {
	t.Parallel()
	tests := []struct {
		cli, text, want string
		failed          bool
	}{
		{"copilot", "before\n<shellId: 0 completed with exit code 3>", "before\nExit code 3", true},
		{"copilot", "\n<shellId: 1 completed with exit code 0>", "", false},
		{"gemini", "<untrusted_context>\nOutput: before\nExit Code: 3\nProcess Group PGID: 4248\n</untrusted_context>", "before\nExit code 3", true},
		{"gemini", "<untrusted_context>\nOutput: a\nb\nProcess Group PGID: 4248\n</untrusted_context>", "a\nb", false},
		{"gemini", "<untrusted_context>\nOutput: (empty)\nProcess Group PGID: 4248\n</untrusted_context>", "", false},
		{"cline", `[{"query":"x","result":"[Command exited with code 3]\nbefore\n","error":"Command exited with code 3","success":false}]`, "before\nExit code 3", true},
		{"cline", `[{"query":"x","result":"one","success":true},{"query":"y","result":"two","success":true}]`, "one\ntwo", false},
		{"cline", `[{"query":"x","result":"","error":"no such tool","success":false}]`, "no such tool", true},
		{"cline", `[{"query": 7`, `[{"query": 7`, false},
		{"opencode", "before\n", "before\n", false},
	}
	for _, tt := range tests {
		want := ToolResult{ID: "c", Text: tt.want, Failed: tt.failed}
		if got := commandResult("c", tt.text); got != want {
			t.Errorf("%s: %q gives %+v, want %+v", tt.cli, tt.text, got, want)
		}
	}
}

// TestSideRequestsOfMany: each is known by its own words, and what is not known
// is an error.
func TestSideRequestsOfMany(t *testing.T) {
	t.Parallel()
	tests := []struct{ system, prompt, side, reply string }{
		{"You are a title generator. You output ONLY a thread title.", "Generate a title", "title", "Work on the task"},
		{"You are a specialized Task Routing AI. … a **Complexity Score** …\ncomplexity_score", "Go.", "router", `"complexity_score": 10`},
		{"", "Analyze *only* the content and structure of your immediately preceding response.", "who speaks next", `"next_speaker": "user"`},
		{"You are selecting memories that will be useful", "x", "memory", "selected_memories"},
		{"You are somebody else.", "What shall I do?", "", ""},
	}
	for _, tt := range tests {
		s := New(t, func(t *Turn) Reply { t.Fatalf("asked for a side request"); return Reply{} })
		body, err := json.Marshal(object{"messages": []object{
			{"role": "system", "content": tt.system}, {"role": "user", "content": tt.prompt},
		}})
		if err != nil {
			t.Fatal(err)
		}
		resp, got := send(t, s, "/v1/chat/completions", string(body))
		errs := s.TakeErrors()
		if tt.side == "" {
			if resp.StatusCode != 400 || len(errs) != 1 || !strings.Contains(errs[0].Error(), "of no known kind") {
				t.Errorf("an unknown request: status %d, errors %v", resp.StatusCode, errs)
			}
			continue
		}
		var said struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.Unmarshal(got, &said); err != nil || len(said.Choices) != 1 || !strings.Contains(said.Choices[0].Message.Content, tt.reply) {
			t.Errorf("%s: %s", tt.side, got)
		}
		if rs := s.SideRequests(); len(errs) > 0 || len(rs) != 1 || rs[0].Side != tt.side || len(s.Requests()) != 0 {
			t.Errorf("%s: errors %v, %d side requests", tt.side, errs, len(rs))
		}
	}
}

// send posts a body as a CLI with a key would.
func send(t *testing.T, s *Server, path, body string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer key-done")
	req.Header.Set("X-Goog-Api-Key", "key-done")
	req.Close = true // no idle connection outlives the test
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil && err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	return resp, got
}

// dataLines gives what the events of a stream without names hold.
func dataLines(t *testing.T, body []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for event := range strings.SplitSeq(strings.TrimSuffix(string(body), "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(event, "data: ")
		if !ok {
			t.Fatalf("event %q", event)
		}
		if data == "[DONE]" {
			all = append(all, nil)
			continue
		}
		var one map[string]any
		if err := json.Unmarshal([]byte(data), &one); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		all = append(all, one)
	}
	return all
}

func chatAsk(stream bool, tools string) string {
	return `{"model": "m-1", "stream": ` + map[bool]string{true: "true", false: "false"}[stream] + `, "tools": ` + tools + `, "messages": [
		{"role": "system", "content": "Working directory: /wt"}, {"role": "user", "content": "Go."}]}`
}

func TestChatStream(t *testing.T) {
	t.Parallel()
	s := New(t, func(*Turn) Reply {
		return Say("one two three four").Think("hm").Shell("ls").Write("a.txt", "A").Call("bash", nil).
			Using(Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40})
	})
	resp, body := send(t, s, "/v1/chat/completions", chatAsk(true, chatTools("bash", "write")))
	if ct := resp.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Errorf("headers %v", resp.Header)
	}
	var text, thinking, finish string
	var calls []string
	lines := dataLines(t, body)
	for _, line := range lines[:len(lines)-2] {
		choice := line["choices"].([]any)[0].(map[string]any)
		delta := choice["delta"].(map[string]any)
		if said, ok := delta["content"].(string); ok {
			text += said
		}
		if said, ok := delta["reasoning_content"].(string); ok {
			thinking += said
		}
		for _, c := range asList(delta["tool_calls"]) {
			f := c["function"].(map[string]any)
			calls = append(calls, f["name"].(string)+" "+f["arguments"].(string))
			if c["index"] != float64(len(calls)-1) || c["id"] == "" {
				t.Errorf("call %v", c)
			}
		}
		if reason, ok := choice["finish_reason"].(string); ok {
			finish = reason
		}
	}
	if text != "one two three four" || thinking != "hm" || finish != "tool_calls" || lines[len(lines)-1] != nil {
		t.Errorf("text %q, thinking %q, finish %q\n%s", text, thinking, finish, body)
	}
	want := []string{
		`bash {"command":"ls","description":"Run a command"}`,
		`write {"content":"A","filePath":"/wt/a.txt"}`,
		`bash {}`,
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	usage := lines[len(lines)-2]["usage"].(map[string]any)
	if usage["prompt_tokens"] != 80.0 || usage["completion_tokens"] != 20.0 || usage["total_tokens"] != 100.0 {
		t.Errorf("usage %v", usage)
	}
}

func asList(v any) []map[string]any {
	var out []map[string]any
	list, _ := v.([]any)
	for _, e := range list {
		out = append(out, e.(map[string]any))
	}
	return out
}

// TestChatWriters: the portable tools on what each CLI offers.
func TestChatWriters(t *testing.T) {
	t.Parallel()
	const shell = `mkdir -p '/wt' \u0026\u0026 printf %s 'A' \u003e '/wt/a'`
	tests := []struct{ cli, offered, shell, write string }{
		{"opencode", "bash write", `bash {"command":"ls","description":"Run a command"}`, `write {"content":"A","filePath":"/wt/a"}`},
		{"qwen", "run_shell_command write_file", `run_shell_command {"command":"ls","description":"Run a command","is_background":false}`, `write_file {"content":"A","file_path":"/wt/a"}`},
		{"copilot", "bash create", `bash {"command":"ls","description":"Run a command"}`, `bash {"command":"` + shell + `","description":"Run a command"}`},
		{"cline", "run_commands editor", `run_commands {"commands":["ls"]}`, `run_commands {"commands":["` + shell + `"]}`},
		{"cn", "Bash Write", `Bash {"command":"ls"}`, `Write {"content":"A","filepath":"/wt/a"}`},
	}
	for _, tt := range tests {
		r := &Request{Tools: strings.Fields(tt.offered), Dir: "/wt"}
		calls, err := toolCalls(chat{}, r, Say("").Shell("ls").Write("a", "A").Calls)
		if err != nil {
			t.Errorf("%s: %v", tt.cli, err)
			continue
		}
		got := []string{calls[0].name + " " + string(calls[0].input), calls[1].name + " " + string(calls[1].input)}
		if diff := cmp.Diff([]string{tt.shell, tt.write}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.cli, diff)
		}
	}
	if _, err := toolCalls(chat{}, &Request{Tools: []string{"grep"}}, Say("").Shell("ls").Calls); err == nil {
		t.Error("a command was run with no tool for it")
	}
}

func TestChatFailures(t *testing.T) {
	t.Parallel()
	inStream := OpenAIQuota()
	inStream.InStream = true
	tests := []struct {
		name   string
		reply  Reply
		status int
		want   string // in the body
		header string // Retry-After
	}{
		{"quota", Fail(OpenAIQuota()), 429, "insufficient_quota", ""},
		{"rate limit", Fail(OpenAIRateLimitFor(0)), 429, "rate_limit_exceeded", ""},
		{"rate limit of an hour", Fail(OpenAIRateLimitFor(time.Hour)), 429, "rate_limit_exceeded", "3600"},
		{"trouble", Fail(OpenAI500()), 500, "server_error", ""},
		{"in the stream", Fail(inStream), 200, "insufficient_quota", ""},
		{"cut", Say("one two three four").CutOff(), 200, "one two three", ""},
		{"no such tool", Say("").Call("Teleport", nil), 400, "no tool for Teleport", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := New(t, func(*Turn) Reply { return tt.reply })
			resp, body := send(t, s, "/v1/chat/completions", chatAsk(true, chatTools("bash")))
			if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.want) || resp.Header.Get("Retry-After") != tt.header {
				t.Errorf("status %d, headers %v: %s", resp.StatusCode, resp.Header, body)
			}
			if strings.Contains(string(body), "[DONE]") || strings.Contains(string(body), `"finish_reason":"stop"`) {
				t.Error("the answer was completed")
			}
			if errs := s.TakeErrors(); len(errs) > 0 != (tt.status == 400) {
				t.Errorf("errors %v", errs)
			}
		})
	}
}

func FuzzChatRead(f *testing.F) {
	f.Add([]byte(qwenResumed))
	f.Add([]byte(`{"tools":[{}],"messages":[{"role":"user","content":null},{"role":"assistant","tool_calls":[{"function":{"arguments":"{"}}]},{"role":"tool","content":"[{\"query\":"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := readChat(t, string(body))
		if err != nil {
			return
		}
		holds(t, req)
	})
}

// holds checks what is true of every request that was read.
func holds(t *testing.T, req *Request) {
	t.Helper()
	if n := len(req.Earlier()) + len(req.Current()); n != len(req.Conversation) {
		t.Errorf("earlier and current have %d messages, the conversation %d", n, len(req.Conversation))
	}
	if len(req.Tools) == 0 && req.Side == "" {
		t.Error("a request without tools is taken for the agent's work")
	}
	_ = tryKey(req)
}
