package model

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const geminiTools = `[{"functionDeclarations": [{"name": "run_shell_command"}, {"name": "write_file"}]}]`

// geminiResumed is the shape of what gemini 0.61.0 sends in a resumed session,
// in the middle of the second run.
const geminiResumed = `{
 "systemInstruction": {"role": "user", "parts": [{"text": "You are Gemini CLI."}]},
 "tools": ` + geminiTools + `,
 "contents": [
  {"role": "user", "parts": [{"text": "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /srv/a b/wt\n- **Directory Structure:**\n</session_context>"}]},
  {"role": "user", "parts": [{"text": "<task>\nBuild it.\n</task>\n"}]},
  {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": "First "}, {"text": "this."},
    {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}}, "thoughtSignature": "x"}]},
  {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": "<untrusted_context>\nOutput: one\nExit Code: 3\nProcess Group PGID: 4\n</untrusted_context>"}}}]},
  {"role": "model", "parts": [{"text": "Which port?"}]},
  {"role": "user", "parts": [{"text": "8080"}]},
  {"role": "model", "parts": [{"functionCall": {"id": "c2", "name": "write_file", "args": {}}}]},
  {"role": "user", "parts": [{"functionResponse": {"id": "c2", "name": "write_file", "response": {"error": "Path not in workspace"}}}]}
 ]}`

func readGemini(t *testing.T, call, body string) (*Request, error) {
	t.Helper()
	r, err := http.NewRequest("POST", "/v1beta/models/"+call, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetPathValue("call", call)
	r.Header.Set("X-Goog-Api-Key", "key")
	return gemini{}.read(r, []byte(body))
}

func TestGeminiRead(t *testing.T) {
	t.Parallel()
	got, err := readGemini(t, "gemini-3:streamGenerateContent", geminiResumed)
	if err != nil {
		t.Fatal(err)
	}
	want := &Request{
		Protocol: "gemini", Model: "gemini-3", Stream: true, Dir: "/srv/a b/wt",
		Credential: Credential{Header: "x-goog-api-key", Value: "key"},
		System:     "You are Gemini CLI.",
		Tools:      []string{"run_shell_command", "write_file"},
		Raw:        []byte(geminiResumed),
		Conversation: Conversation{
			{Kind: KindNote, Text: "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /srv/a b/wt\n- **Directory Structure:**\n</session_context>"},
			{Kind: KindPrompt, Text: "<task>\nBuild it.\n</task>\n"},
			{Kind: KindAnswer, Text: "First this.", Calls: []CallMade{{ID: "c1", Name: "run_shell_command", Input: json.RawMessage(`{"command": "ls"}`)}}},
			{Kind: KindResults, Results: []ToolResult{{ID: "c1", Text: "one\nExit code 3", Failed: true}}},
			{Kind: KindAnswer, Text: "Which port?"},
			{Kind: KindPrompt, Text: "8080"},
			{Kind: KindAnswer, Calls: []CallMade{{ID: "c2", Name: "write_file", Input: json.RawMessage(`{}`)}}},
			{Kind: KindResults, Results: []ToolResult{{ID: "c2", Text: "Path not in workspace", Failed: true}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if got.Number() != 2 || got.Prompt() != "8080" || len(got.Earlier().Prompts()) != 1 {
		t.Errorf("turn %d of %q", got.Number(), got.Prompt())
	}
	for _, call := range []string{"gemini-3:embedContent", "gemini-3"} {
		if _, err := readGemini(t, call, geminiResumed); err == nil {
			t.Errorf("%s was read", call)
		}
	}
}

const geminiAsk = `{"tools": ` + geminiTools + `, "contents": [
	{"role": "user", "parts": [{"text": "<session_context>\n- **Workspace Directories:**\n  - /wt\n</session_context>"}]},
	{"role": "user", "parts": [{"text": "Go."}]}]}`

// parts collects what all pieces of an answer say, and why it ended.
func parts(t *testing.T, pieces []map[string]any) (text, thinking string, calls []string, finish any) {
	t.Helper()
	for _, piece := range pieces {
		candidate := asList(piece["candidates"])[0]
		if candidate["finishReason"] != nil {
			finish = candidate["finishReason"]
		}
		for _, part := range asList(candidate["content"].(map[string]any)["parts"]) {
			said, _ := part["text"].(string)
			if part["thought"] == true {
				thinking += said
			} else {
				text += said
			}
			if call, ok := part["functionCall"].(map[string]any); ok {
				args, err := json.Marshal(call["args"])
				if err != nil {
					t.Fatal(err)
				}
				calls = append(calls, call["name"].(string)+" "+string(args))
			}
		}
	}
	return text, thinking, calls, finish
}

func TestGeminiAnswers(t *testing.T) {
	t.Parallel()
	for method, stream := range map[string]bool{"streamGenerateContent?alt=sse": true, "generateContent": false} {
		s := New(t, func(*Turn) Reply {
			return Say("one two three four").Think("hm").Shell("ls").Write("a.txt", "A").
				Using(Usage{Input: 10, Output: 20, CacheRead: 30})
		})
		_, body := send(t, s, "/v1beta/models/m:"+method, geminiAsk)
		var pieces []map[string]any
		if stream {
			pieces = dataLines(t, body)
		} else {
			pieces = make([]map[string]any, 1)
			if err := json.Unmarshal(body, &pieces[0]); err != nil {
				t.Fatal(err)
			}
		}
		text, thinking, calls, finish := parts(t, pieces)
		if text != "one two three four" || thinking != "hm" || finish != "STOP" {
			t.Errorf("%s: text %q, thinking %q, finish %v", method, text, thinking, finish)
		}
		want := []string{
			`run_shell_command {"command":"ls","description":"Run a command"}`,
			`write_file {"content":"A","file_path":"/wt/a.txt"}`,
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", method, diff)
		}
		usage := pieces[len(pieces)-1]["usageMetadata"].(map[string]any)
		if usage["promptTokenCount"] != 40.0 || usage["candidatesTokenCount"] != 20.0 || usage["cachedContentTokenCount"] != 30.0 {
			t.Errorf("%s: usage %v", method, usage)
		}
	}
}

func TestGeminiFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reply  Reply
		status int
		want   string // in the body
	}{
		{"quota of a day", Fail(GeminiDailyQuota()), 429, "PerDay"},
		{"rate limit", Fail(GeminiRateLimit(0)), 429, "RESOURCE_EXHAUSTED"},
		{"rate limit that tells a time", Fail(GeminiRateLimit(7 * time.Second)), 429, `"retryDelay":"7s"`},
		{"bad key", Fail(Gemini401()), 401, "UNAUTHENTICATED"},
		{"trouble", Fail(Gemini500()), 500, "INTERNAL"},
		{"cut", Say("one two three four").CutOff(), 200, "one two three"},
		{"no such tool", Say("").Call("Teleport", nil), 400, "no tool for Teleport"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := New(t, func(*Turn) Reply { return tt.reply })
			resp, body := send(t, s, "/v1beta/models/m:streamGenerateContent?alt=sse", geminiAsk)
			if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.want) || strings.Contains(string(body), "STOP") {
				t.Errorf("status %d: %s", resp.StatusCode, body)
			}
			if errs := s.TakeErrors(); len(errs) > 0 != (tt.status == 400) {
				t.Errorf("errors %v", errs)
			}
		})
	}
}

func FuzzGeminiRead(f *testing.F) {
	f.Add([]byte(geminiResumed))
	f.Add([]byte(`{"tools":[{"functionDeclarations":[{}]}],"contents":[{"parts":[{"functionResponse":{}},{"functionCall":{}},{"thought":true}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := readGemini(t, "m:generateContent", string(body))
		if err != nil {
			return
		}
		holds(t, req)
	})
}
