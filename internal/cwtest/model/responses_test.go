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

// codexTools is the shape of what codex 0.169.0 offers with a model in code
// mode.
const codexTools = `{"type": "additional_tools", "role": "developer", "tools": [
  {"type": "namespace", "name": "functions", "tools": [
    {"type": "custom", "name": "exec", "description": "Run JavaScript\n\ndeclare const tools: { apply_patch(input: string): Promise<unknown>; };\n\ndeclare const tools: { exec_command(args: {\n  cmd: string;\n}): Promise<{}>; };\ndeclare const tools: { mcp__x__y(args: {}): Promise<{}>; };\n"},
    {"type": "function", "name": "wait"}]},
  {"type": "namespace", "name": "clock", "tools": [{"type": "function", "name": "sleep"}]}]}`

// codexResumed is the shape of what it sends in a resumed thread, in the middle
// of the second run.
const codexResumed = `{
 "model": "gpt-6.1-sol", "stream": true, "store": false, "prompt_cache_key": "t-1", "instructions": "Be good.",
 "input": [` + codexTools + `,
  {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "You are Codex."}]},
  {"type": "message", "role": "user", "content": [
    {"type": "input_text", "text": " \n"},
    {"type": "input_text", "text": "# AGENTS.md instructions\n\nBe brief."},
    {"type": "input_text", "text": "<environment_context>\n  <cwd>/srv/old</cwd>\n</environment_context>"}]},
  {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<task>\nBuild it.\n</task>\n"}]},
  {"type": "reasoning", "content": null, "summary": [{"type": "summary_text", "text": "hm"}]},
  {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Which port?"}]},
  {"type": "custom_tool_call", "call_id": "call_1", "name": "exec", "input": "text(1)"},
  {"type": "function_call", "call_id": "call_2", "name": "wait", "arguments": "{\"cell_id\":\"1\"}"},
  {"type": "custom_tool_call_output", "call_id": "call_1", "output": [
    {"type": "input_text", "text": "Script failed\nWall time 0.1 seconds\nOutput:\n"},
    {"type": "input_text", "text": "one\n"},
    {"type": "input_text", "text": "Script error:\nError: Exit code 4"}]},
  {"type": "function_call_output", "call_id": "call_2", "output": "aborted"},
  {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<turn_aborted>\nThe user interrupted.\n</turn_aborted>"}]},
  {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "The mode has changed."}]},
  {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>\n  <cwd>/srv/a b/wt</cwd>\n</environment_context>"}]},
  {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "8080"}]},
  {"type": "custom_tool_call", "call_id": "call_3", "name": "exec", "input": "text(2)"},
  {"type": "custom_tool_call_output", "call_id": "call_3", "output": [
    {"type": "input_text", "text": "Script completed\nWall time 0.0 seconds\nOutput:\n"}, {"type": "input_text", "text": "written\n"}]}
 ]}`

func readResponses(t *testing.T, body string, header http.Header) (*Request, error) {
	t.Helper()
	r, err := http.NewRequest("POST", "/v1/responses", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	return responses{}.read(r, []byte(body))
}

func TestResponsesRead(t *testing.T) {
	t.Parallel()
	header := http.Header{"Authorization": {"Bearer tok"}, "Chatgpt-Account-Id": {"a"}, "Session-Id": {"s-1"}}
	got, err := readResponses(t, codexResumed, header)
	if err != nil {
		t.Fatal(err)
	}
	want := &Request{
		Protocol: "responses", Model: "gpt-6.1-sol", Stream: true, Session: "s-1", Dir: "/srv/a b/wt",
		Credential: Credential{Header: "authorization", Value: "tok", OAuth: true},
		System:     "Be good.\nYou are Codex.",
		Tools:      []string{"exec", "tools.apply_patch", "tools.exec_command", "tools.mcp__x__y", "wait"},
		Raw:        []byte(codexResumed),
		Conversation: Conversation{
			{Kind: KindNote, Text: "# AGENTS.md instructions\n\nBe brief."},
			{Kind: KindNote, Text: "<environment_context>\n  <cwd>/srv/old</cwd>\n</environment_context>"},
			{Kind: KindPrompt, Text: "<task>\nBuild it.\n</task>\n"},
			{Kind: KindAnswer, Text: "Which port?", Calls: []CallMade{
				{ID: "call_1", Name: "exec", Input: json.RawMessage(`"text(1)"`)},
				{ID: "call_2", Name: "wait", Input: json.RawMessage(`{"cell_id":"1"}`)},
			}},
			{Kind: KindResults, Results: []ToolResult{
				{ID: "call_1", Text: "one\nScript error:\nError: Exit code 4", Failed: true},
				{ID: "call_2", Text: "aborted"},
			}},
			{Kind: KindNote, Text: "<turn_aborted>\nThe user interrupted.\n</turn_aborted>"},
			{Kind: KindNote, Text: "The mode has changed."},
			{Kind: KindNote, Text: "<environment_context>\n  <cwd>/srv/a b/wt</cwd>\n</environment_context>"},
			{Kind: KindPrompt, Text: "8080"},
			{Kind: KindAnswer, Calls: []CallMade{{ID: "call_3", Name: "exec", Input: json.RawMessage(`"text(2)"`)}}},
			{Kind: KindResults, Results: []ToolResult{{ID: "call_3", Text: "written"}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if got.Prompt() != "8080" || got.Number() != 2 {
		t.Errorf("prompt %q, turn %d, want 8080, 2", got.Prompt(), got.Number())
	}
	if diff := cmp.Diff([]string{"Which port?"}, got.Earlier().Answers()); diff != "" {
		t.Errorf("earlier answers (-want +got):\n%s", diff)
	}
}

func TestResponsesSession(t *testing.T) {
	t.Parallel()
	got, err := readResponses(t, codexResumed, http.Header{})
	if err != nil || got.Session != "t-1" || got.Credential != (Credential{}) {
		t.Errorf("session %q, credential %+v, %v", got.Session, got.Credential, err)
	}
}

// TestResponsesSideRequest: whoever offers no tools is not at work.
func TestResponsesSideRequest(t *testing.T) {
	t.Parallel()
	got, err := readResponses(t, `{"stream": true, "input": [{"role": "user", "content": "title?"}]}`, http.Header{})
	if err != nil || got.Side != "no tools" || got.Prompt() != "title?" {
		t.Errorf("side %q, prompt %q, %v", got.Side, got.Prompt(), err)
	}
}

// TestResponsesRunningScript: the number of a script that still runs is told to
// the model.
func TestResponsesRunningScript(t *testing.T) {
	t.Parallel()
	const said = "Script running with cell ID 1\nWall time 30.0 seconds\nOutput:\n"
	item := responsesItem{Output: responsesContent{{Text: said}}}
	if got := item.result(); got.Failed || !strings.HasPrefix(got.Text, "Script running with cell ID 1") {
		t.Errorf("result %+v", got)
	}
}

func TestResponsesUnreadable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		header     http.Header
		want       string
	}{
		{"compressed", codexResumed, http.Header{"Content-Encoding": {"zstd"}}, "enable_request_compression=false"},
		{"in one piece", `{"model": "m", "input": []}`, http.Header{}, "only streams"},
		{"no JSON", `{`, http.Header{}, "unexpected end"},
		{"one text for all", `{"stream": true, "input": "hello"}`, http.Header{}, "cannot unmarshal"},
	}
	for _, tt := range tests {
		if _, err := readResponses(t, tt.body, tt.header); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func FuzzResponsesRead(f *testing.F) {
	f.Add([]byte(codexResumed))
	f.Add([]byte(`{"stream":true,"input":[{"role":"user","content":null},{"type":"x_output","output":"a"},{"type":"y_call","arguments":"{"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := readResponses(t, string(body), http.Header{})
		if err != nil {
			return
		}
		if n := len(req.Earlier()) + len(req.Current()); n != len(req.Conversation) {
			t.Errorf("earlier and current have %d messages, the conversation %d", n, len(req.Conversation))
		}
		for _, c := range req.Conversation {
			for _, call := range c.Calls {
				if !json.Valid(call.Input) {
					t.Errorf("input of a call is no JSON: %q", call.Input)
				}
			}
		}
		_ = tryKey(req)
	})
}

// codexPost sends what codex sends first, with this prompt.
func codexPost(t *testing.T, s *Server, path, prompt string) (*http.Response, []byte) {
	t.Helper()
	said, err := json.Marshal(prompt)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"model": "m-1", "stream": true, "input": [` + codexTools + `,
		{"role": "user", "content": "<environment_context><cwd>/wt</cwd></environment_context>"},
		{"role": "user", "content": ` + string(said) + `}]}`
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer key-done")
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

func TestResponsesStream(t *testing.T) {
	t.Parallel()
	s := New(t, func(*Turn) Reply {
		return Say("one two three four").Think("hm").Shell("ls '%'").Write("a.txt", "A\nB\n").Write("b.txt", "B").
			Call("mcp__x__y", map[string]any{"q": 1}).Call("wait", nil).
			Using(Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40}).WithHeader(OpenAIRateLimits(42.5, time.Unix(1795238119, 0)))
	})
	resp, body := codexPost(t, s, "/v1/responses", "Go.")
	if ct := resp.Header.Get("Content-Type"); ct != "text/event-stream" || resp.Header.Get("X-Codex-Primary-Used-Percent") != "42.5" || resp.Header.Get("X-Codex-Primary-Reset-At") != "1795238119" {
		t.Errorf("headers %v", resp.Header)
	}
	events := parseEvents(t, body)
	const item = " response.output_item.added response.output_item.done"
	want := "response.created" + item + // thinking
		" response.output_item.added response.output_text.delta response.output_text.delta response.output_text.done response.output_item.done" +
		strings.Repeat(item, 5) + " response.completed" // calls
	if got := names(events); got != want {
		t.Fatalf("events\n%s, want\n%s", got, want)
	}
	for i, e := range events {
		if e.data["sequence_number"] != float64(i) {
			t.Errorf("event %d has number %v", i, e.data["sequence_number"])
		}
	}

	whole := events[len(events)-1].data["response"].(map[string]any)
	usage := whole["usage"].(map[string]any)
	if whole["status"] != "completed" || usage["input_tokens"] != 80.0 || usage["output_tokens"] != 20.0 || usage["total_tokens"] != 100.0 {
		t.Errorf("response: %v", whole)
	}
	var calls []string
	ids := map[any]bool{}
	for _, o := range whole["output"].([]any) {
		o := o.(map[string]any)
		switch o["type"] {
		case "custom_tool_call":
			calls = append(calls, o["name"].(string)+": "+o["input"].(string))
		case "function_call":
			calls = append(calls, o["name"].(string)+": "+o["arguments"].(string))
		default:
			continue
		}
		ids[o["call_id"]] = true
	}
	shell := func(command string) string { return "exec: " + strings.Replace(shellScript, "%s", command, 1) }
	if diff := cmp.Diff([]string{
		shell(`{"cmd":"ls '%'"}`),
		`exec: await tools.apply_patch("*** Begin Patch\n*** Add File: /wt/a.txt\n+A\n+B\n*** End Patch\n");` + "\n",
		shell(`{"cmd":"mkdir -p '/wt' \u0026\u0026 printf %s 'B' \u003e '/wt/b.txt'"}`),
		`exec: text(await tools.mcp__x__y({"q":1}));` + "\n",
		`wait: {}`,
	}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if len(ids) != 5 {
		t.Errorf("the calls have %d ids", len(ids))
	}
}

func TestResponsesFailures(t *testing.T) {
	t.Parallel()
	inStream := OpenAIQuota()
	inStream.InStream = true
	tests := []struct {
		name   string
		reply  Reply
		status int
		want   string // in the body
	}{
		{"usage limit", Fail(OpenAIUsageLimit(time.Unix(1795238119, 0))), 429, `"resets_at":1795238119`},
		{"in the stream", Fail(inStream), 200, `"code":"insufficient_quota"`},
		{"cut", Say("one two three four").CutOff(), 200, "response.output_text.done"},
		{"no such tool", Say("").Call("Teleport", nil), 400, "no tool for Teleport"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := New(t, func(*Turn) Reply { return tt.reply })
			resp, body := codexPost(t, s, "/responses", "Go.")
			if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.want) {
				t.Errorf("status %d: %s", resp.StatusCode, body)
			}
			if completed := strings.Contains(string(body), "response.completed"); completed {
				t.Error("the response was completed")
			}
			if failed := strings.Contains(string(body), "response.failed"); failed != (tt.name == "in the stream") {
				t.Errorf("failed in the stream: %v", failed)
			}
			if errs := s.TakeErrors(); len(errs) > 0 != (tt.status == 400) {
				t.Errorf("errors %v", errs)
			}
		})
	}
}

// TestWebSocketIsRefused: so that codex goes on over HTTPS at once.
func TestWebSocketIsRefused(t *testing.T) {
	t.Parallel()
	s := New(t, func(*Turn) Reply { return Say("Hello.") })
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/v1/responses", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired || len(s.Requests()) != 0 {
		t.Errorf("status %d, %d requests", resp.StatusCode, len(s.Requests()))
	}
}
