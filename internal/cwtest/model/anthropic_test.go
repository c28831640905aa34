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

// resumed is the shape of what claude 2.1.197 sends in a resumed session, in
// the middle of the second run.
const resumed = `{
 "model": "claude-opus-4-8", "max_tokens": 64000, "stream": true,
 "system": [{"type": "text", "text": "You are a worker."},
            {"type": "text", "text": "# Environment\n - Primary working directory: /srv/a b/wt \n - Platform: linux"}],
 "metadata": {"user_id": "{\"device_id\":\"d\",\"session_id\":\"s-1\"}"},
 "tools": [{"name": "Bash"}, {"name": "Write"}],
 "messages": [
  {"role": "user", "content": [
    {"type": "text", "text": "<system-reminder>\nToday is Monday.\n</system-reminder>\n\n"},
    {"type": "text", "text": "<task>\nBuild it.\n</task>"}]},
  {"role": "system", "content": "Available agent types: none"},
  {"role": "assistant", "content": [
    {"type": "thinking", "thinking": "hm", "signature": "x"},
    {"type": "text", "text": "Which port?"},
    {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
    {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "false"}}]},
  {"role": "user", "content": [
    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "README.md"},
    {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": true, "content": [
      {"type": "text", "text": "Exit code 1\n<system-reminder>be careful</system-reminder>"}]},
    {"type": "text", "text": "[Request interrupted by user for tool use]"}]},
  {"role": "user", "content": "Continue from where you left off."},
  {"role": "assistant", "content": [{"type": "text", "text": "No response requested."}]},
  {"role": "user", "content": [{"type": "text", "text": "Stop hook feedback:\nWrite it.\n"}]},
  {"role": "user", "content": "8080"},
  {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_3", "name": "Write", "input": {}}]},
  {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_3", "content": "written"}]}
 ]}`

func TestAnthropicRead(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequest("POST", "/v1/messages", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer tok")
	r.Header.Set("Anthropic-Beta", "a-1,oauth-2025-04-20")
	got, err := anthropic{}.read(r, []byte(resumed))
	if err != nil {
		t.Fatal(err)
	}
	want := &Request{
		Protocol: "anthropic", Model: "claude-opus-4-8", Stream: true, Session: "s-1", Dir: "/srv/a b/wt",
		Credential: Credential{Header: "authorization", Value: "tok", OAuth: true},
		System:     "You are a worker.\n# Environment\n - Primary working directory: /srv/a b/wt \n - Platform: linux",
		Tools:      []string{"Bash", "Write"},
		Raw:        []byte(resumed),
		Conversation: Conversation{
			{Kind: KindNote, Text: "Today is Monday."},
			{Kind: KindPrompt, Text: "<task>\nBuild it.\n</task>"},
			{Kind: KindNote, Text: "Available agent types: none"},
			{Kind: KindAnswer, Text: "Which port?", Calls: []CallMade{
				{ID: "toolu_1", Name: "Bash", Input: json.RawMessage(`{"command": "ls"}`)},
				{ID: "toolu_2", Name: "Bash", Input: json.RawMessage(`{"command": "false"}`)},
			}},
			{Kind: KindResults, Results: []ToolResult{
				{ID: "toolu_1", Text: "README.md"},
				{ID: "toolu_2", Text: "Exit code 1", Failed: true},
			}},
			{Kind: KindNote, Text: "[Request interrupted by user for tool use]"},
			{Kind: KindNote, Text: "Continue from where you left off."},
			{Kind: KindNote, Text: "No response requested."},
			{Kind: KindNote, Text: "Stop hook feedback:\nWrite it.\n"},
			{Kind: KindPrompt, Text: "8080"},
			{Kind: KindAnswer, Calls: []CallMade{{ID: "toolu_3", Name: "Write", Input: json.RawMessage(`{}`)}}},
			{Kind: KindResults, Results: []ToolResult{{ID: "toolu_3", Text: "written"}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}

	if got.Prompt() != "8080" || got.Number() != 2 {
		t.Errorf("prompt %q, turn %d, want 8080, 2", got.Prompt(), got.Number())
	}
	if told := (&Turn{Request: got}).Told("task"); told != "Build it." {
		t.Errorf("the task it was told is %q", told)
	}
	if diff := cmp.Diff([]string{"Which port?"}, got.Earlier().Answers()); diff != "" {
		t.Errorf("earlier answers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ToolResult{{ID: "toolu_3", Text: "written"}}, got.Current().Results()); diff != "" {
		t.Errorf("current results (-want +got):\n%s", diff)
	}
}

// TestFreshSession: the notes that come with the first prompt are nothing that
// was said earlier.
func TestFreshSession(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequest("POST", "/v1/messages", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := anthropic{}.read(r, []byte(`{"messages": [
		{"role": "user", "content": "<system-reminder>Monday</system-reminder>\nGo."},
		{"role": "system", "content": "Agents: none"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got.Prompt() != "Go." || got.Number() != 1 || len(got.Earlier()) != 0 {
		t.Errorf("prompt %q, turn %d, earlier %v", got.Prompt(), got.Number(), got.Earlier())
	}
}

func TestAnthropicCredentials(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		header http.Header
		want   Credential
	}{
		{"none", http.Header{}, Credential{}},
		{"key", http.Header{"X-Api-Key": {"k"}}, Credential{Header: "x-api-key", Value: "k"}},
		{"token", http.Header{"Authorization": {"Bearer k"}}, Credential{Header: "authorization", Value: "k"}},
		{"login", http.Header{"Authorization": {"Bearer k"}, "Anthropic-Beta": {"oauth-2025-04-20"}},
			Credential{Header: "authorization", Value: "k", OAuth: true}},
	}
	for _, tt := range tests {
		if got := anthropicCredential(tt.header); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func FuzzAnthropicRead(f *testing.F) {
	f.Add([]byte(resumed))
	f.Add([]byte(`{"messages":[{"role":"user","content":null}]}`))
	f.Add([]byte(`{"system":"x","messages":[{"role":"user","content":[{"type":"tool_result","content":"a"}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := http.NewRequest("POST", "/v1/messages", nil)
		if err != nil {
			t.Fatal(err)
		}
		req, err := anthropic{}.read(r, body)
		if err != nil {
			return
		}
		if n := len(req.Earlier()) + len(req.Current()); n != len(req.Conversation) {
			t.Errorf("earlier and current have %d messages, the conversation %d", n, len(req.Conversation))
		}
		if len(req.Earlier().Prompts()) > 0 && req.Prompt() == "" {
			t.Error("an earlier prompt but no latest one")
		}
		_ = tryKey(req)
	})
}

// event is one server-sent event.
type event struct {
	name string
	data map[string]any
}

func parseEvents(t *testing.T, body []byte) []event {
	t.Helper()
	var events []event
	for part := range strings.SplitSeq(strings.TrimSuffix(string(body), "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(part, "\n")
		e := event{name: strings.TrimPrefix(name, "event: ")}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &e.data); err != nil || !ok {
			t.Fatalf("not an event: %q (%v)", part, err)
		}
		if e.data["type"] != e.name {
			t.Errorf("event %q has type %q", e.name, e.data["type"])
		}
		events = append(events, e)
	}
	return events
}

func names(events []event) string {
	var ns []string
	for _, e := range events {
		ns = append(ns, e.name)
	}
	return strings.Join(ns, " ")
}

// ask is a small request as claude makes it.
func ask(stream bool, texts ...string) string {
	var messages []object
	for i, text := range texts {
		role := []string{"user", "assistant"}[i%2]
		messages = append(messages, object{"role": role, "content": text})
	}
	b, err := json.Marshal(object{
		"model": "m-1", "stream": stream, "max_tokens": 100, "messages": messages,
		"system": "working directory: /wt", "tools": []object{{"name": "Bash"}, {"name": "Write"}, {"name": "mcp__x__y"}},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// post sends body to a server as the caller with this key.
func post(t *testing.T, s *Server, key, body string) (*http.Response, []byte) {
	t.Helper()
	resp, b, err := tryPost(t, s, key, body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, b
}

func tryPost(t *testing.T, s *Server, key, body string) (*http.Response, []byte, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/v1/messages?beta=true", bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", key)
	req.Close = true // no idle connection outlives the test
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, b, err
}

func TestAnthropicStream(t *testing.T) {
	t.Parallel()
	s := New(t, func(*Turn) Reply {
		return Say("one two three four").Think("hm").Shell("ls").Write("a.txt", "A").
			Using(Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40})
	})
	resp, body := post(t, s, "k", ask(true, "Go."))
	if ct := resp.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Errorf("content type %q", ct)
	}
	if !strings.HasPrefix(resp.Header.Get("Request-Id"), "req_") {
		t.Error("no request id")
	}
	events := parseEvents(t, body)
	const block = " content_block_start content_block_delta"
	want := "message_start ping" +
		block + " content_block_delta content_block_stop" + // thinking, signature
		block + " content_block_delta content_block_stop" + // two chunks of text
		block + " content_block_stop" + block + " content_block_stop" + // two calls
		" message_delta message_stop"
	if got := names(events); got != want {
		t.Fatalf("events\n%s, want\n%s", got, want)
	}

	start := events[0].data["message"].(map[string]any)
	if start["model"] != "m-1" || start["stop_reason"] != nil || !strings.HasPrefix(start["id"].(string), "msg_") {
		t.Errorf("message_start: %v", start)
	}
	usage := start["usage"].(map[string]any)
	if usage["input_tokens"] != 10.0 || usage["cache_read_input_tokens"] != 30.0 || usage["cache_creation_input_tokens"] != 40.0 {
		t.Errorf("usage: %v", usage)
	}
	end := events[len(events)-2].data
	if end["delta"].(map[string]any)["stop_reason"] != "tool_use" || end["usage"].(map[string]any)["output_tokens"] != 20.0 {
		t.Errorf("message_delta: %v", end)
	}

	var text string
	var calls, inputs, ids []string
	for _, e := range events {
		if delta, ok := e.data["delta"].(map[string]any); ok && delta["type"] == "text_delta" {
			text += delta["text"].(string)
		} else if ok && delta["type"] == "input_json_delta" {
			inputs = append(inputs, delta["partial_json"].(string))
		}
		if b, ok := e.data["content_block"].(map[string]any); ok && b["type"] == "tool_use" {
			calls, ids = append(calls, b["name"].(string)), append(ids, b["id"].(string))
		}
	}
	if text != "one two three four" {
		t.Errorf("text %q", text)
	}
	if diff := cmp.Diff([]string{"Bash", "Write"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`{"command":"ls","description":"Run a command"}`, `{"content":"A","file_path":"/wt/a.txt"}`}, inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	if ids[0] == ids[1] || !strings.HasPrefix(ids[0], "toolu_") {
		t.Errorf("ids %v", ids)
	}
}

func TestAnthropicWhole(t *testing.T) {
	t.Parallel()
	s := New(t, func(*Turn) Reply { return Say("Hello.").Call("mcp__x__y", map[string]any{"q": 1}) })
	_, body := post(t, s, "k", ask(false, "Go."))
	var msg struct {
		Type       string
		Role       string
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type, Text, Name string
			Input            map[string]any
		}
		Usage struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		}
	}
	if err := json.Unmarshal(body, &msg); err != nil {
		t.Fatal(err)
	}
	if msg.Type != "message" || msg.Role != "assistant" || msg.StopReason != "tool_use" || len(msg.Content) != 2 {
		t.Fatalf("message %s", body)
	}
	if msg.Content[0].Text != "Hello." || msg.Content[1].Name != "mcp__x__y" || msg.Content[1].Input["q"] != 1.0 {
		t.Errorf("content %s", body)
	}
	if msg.Usage.Input == 0 || msg.Usage.Output == 0 {
		t.Errorf("usage is not estimated: %s", body)
	}
}

func TestAnthropicFailures(t *testing.T) {
	t.Parallel()
	resets := time.Now().Add(time.Hour)
	tests := []struct {
		name    string
		failure Failure
		status  int
		header  map[string]string
		body    string
	}{
		{"usage limit", UsageLimitOAuth(resets), 429, map[string]string{
			"anthropic-ratelimit-unified-status":               "rejected",
			"anthropic-ratelimit-unified-representative-claim": "five_hour",
			"anthropic-ratelimit-unified-5h-status":            "rejected",
			"x-should-retry":                                   "false",
		}, "rate_limit_error"},
		{"weekly limit", WeeklyLimitOAuth(resets), 429, map[string]string{
			"anthropic-ratelimit-unified-representative-claim": "seven_day",
			"anthropic-ratelimit-unified-7d-utilization":       "1",
		}, "rate_limit_error"},
		{"limit in words", UsageLimitText(time.Unix(1795237769, 0)), 429,
			map[string]string{"x-should-retry": "false"}, "Claude AI usage limit reached|1795237769"},
		{"rate limit", RateLimit(2 * time.Second), 429, map[string]string{"retry-after": "2"}, "rate_limit_error"},
		{"overloaded", Overloaded529(), 529, nil, "overloaded_error"},
		{"unauthorized", Unauthorized401(), 401, nil, "authentication_error"},
		{"credit", CreditBalance400(), 400, nil, "credit balance is too low"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := New(t, func(*Turn) Reply { return Fail(tt.failure) })
			for range 2 { // it lasts
				resp, body := post(t, s, "k", ask(true, "Go."))
				if resp.StatusCode != tt.status {
					t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
				}
				for name, want := range tt.header {
					if got := resp.Header.Get(name); got != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
				var e struct{ Type string }
				if err := json.Unmarshal(body, &e); err != nil || e.Type != "error" || !strings.Contains(string(body), tt.body) {
					t.Errorf("body %s (%v)", body, err)
				}
			}
		})
	}
}

func TestAnthropicFailureInStream(t *testing.T) {
	t.Parallel()
	f := Overloaded529()
	f.InStream = true
	s := New(t, func(*Turn) Reply { return Say("Hello.").FailFirst(1, f) })
	resp, body := post(t, s, "k", ask(true, "Go."))
	if got := names(parseEvents(t, body)); resp.StatusCode != 200 || got != "message_start ping error" {
		t.Errorf("status %d, events %s", resp.StatusCode, got)
	}
	if _, body = post(t, s, "k", ask(true, "Go.")); !strings.Contains(string(body), "Hello.") {
		t.Errorf("the second try failed: %s", body)
	}
}

func TestAnthropicCut(t *testing.T) {
	t.Parallel()
	s := New(t, func(*Turn) Reply { return Say("Never to the end.").CutOff() })
	_, body, err := tryPost(t, s, "k", ask(true, "Go."))
	if err == nil || !strings.Contains(string(body), "content_block_stop") || strings.Contains(string(body), "message_stop") {
		t.Errorf("error %v after\n%s", err, body)
	}
}
