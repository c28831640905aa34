package realcli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cwtest/model"
)

// newCodex makes one with the drawn version.
func newCodex(t *testing.T, url string) *worker {
	t.Helper()
	return newCodexOf(t, "", url)
}

func newCodexOf(t *testing.T, v Version, url string) *worker {
	t.Helper()
	cli := Codex(t, v)
	w := newWorker(t, cli.Native, cli.Env(t, t.TempDir(), url))
	w.begin = []string{"exec", "--json", "--dangerously-bypass-approvals-and-sandbox"}
	w.again = func(thread string) []string {
		return []string{"exec", "resume", "--json", "--dangerously-bypass-approvals-and-sandbox", thread, "-"}
	}
	w.told = func(o *output) ending { return o.turn(t) }
	return w
}

// codexLine is one line of codex's stdout.
type codexLine struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"` // of type error
	Item     struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"item"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"` // of type turn.failed
	Usage struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage"` // of type turn.completed
}

func (o *output) codexLines(t *testing.T) []codexLine {
	t.Helper()
	var lines []codexLine
	for line := range strings.Lines(o.stdout) {
		var l codexLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("not JSON: %v\n%s", err, o)
		}
		lines = append(lines, l)
	}
	return lines
}

// turn is what the lines of a run say together.
func (o *output) turn(t *testing.T) ending {
	t.Helper()
	e := ending{failed: true}
	for _, l := range o.codexLines(t) {
		switch {
		case l.Type == "thread.started":
			e.session = l.ThreadID
		case l.Item.Type == "agent_message":
			e.text = l.Item.Text
		case l.Type == "turn.completed":
			e.failed = false
		case l.Type == "turn.failed":
			e.text = l.Error.Message
		}
	}
	return e
}

// inStream sends a failure inside a stream that began well.
func inStream(f model.Failure) model.Failure {
	f.InStream = true
	return f
}

// TestCodexFailures pins how codex ends on each failure: with the same message
// in a line of type error and in turn.failed, and with exit code 1.
func TestCodexFailures(t *testing.T) {
	t.Parallel()
	resets := time.Now().Add(time.Hour)
	tests := []struct {
		name   string
		reply  model.Reply
		text   string // in the message
		errors int    // lines of type error, the last one included
	}{
		{"usage limit", model.Fail(model.OpenAIUsageLimit(resets)), "You’ve hit your usage limit.", 1},
		{"rate limit", model.Fail(model.OpenAIRateLimit()), "exceeded retry limit, last status: 429 Too Many Requests", 6},
		{"quota", model.Fail(model.OpenAIQuota()), "Quota exceeded. Check your plan and billing details.", 1},
		{"quota in the stream", model.Fail(inStream(model.OpenAIQuota())), "Quota exceeded. Check your plan and billing details.", 1},
		{"bad key", model.Fail(model.OpenAI401()), "unexpected status 401 Unauthorized: Incorrect API key provided.", 6},
		{"overloaded", model.Fail(model.OpenAIOverloaded()), "Selected model is at capacity. Please try a different model.", 1},
		{"overloaded in the stream", model.Fail(inStream(model.OpenAIOverloaded())), "Selected model is at capacity. Please try a different model.", 1},
		{"context length", model.Fail(model.OpenAIContextLength()), "Codex ran out of room in the model's context window.", 1},
		{"cut", model.Say("A sentence that nobody will ever hear to its very end.").CutOff(), "stream disconnected before completion:", 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := model.New(t, func(*model.Turn) model.Reply { return tt.reply })
			out := newCodex(t, srv.URL).run(prompt)
			lines := out.codexLines(t)
			last := lines[len(lines)-1]
			if last.Type != "turn.failed" || !strings.HasPrefix(last.Error.Message, tt.text) || out.code != 1 {
				t.Errorf("exit %d, at the end %+v", out.code, last)
			}
			errors := slices.DeleteFunc(lines, func(l codexLine) bool { return l.Type != "error" })
			if n := len(errors); n != tt.errors || errors[n-1].Message != last.Error.Message {
				t.Errorf("errors %+v, want %d", errors, tt.errors)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

// TestCodexRecovers: after these codex goes on by itself. What it says of them
// on the way is of type error and proves nothing.
func TestCodexRecovers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		reply model.Reply
		told  string // in a line of type error; "" for not a word
	}{
		{"overloaded first", model.Say("Here I am.").FailFirst(2, model.OpenAIOverloaded()), ""},
		{"bad key first", model.Say("Here I am.").FailFirst(1, model.OpenAI401()), "Reconnecting... 1/5 (unexpected status 401"},
		{"rate limit in the stream", model.Say("Here I am.").FailFirst(1, inStream(model.OpenAIRateLimit())), "Reconnecting... 1/5 (rate limit exceeded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := model.New(t, func(*model.Turn) model.Reply { return tt.reply })
			out := newCodex(t, srv.URL).run(prompt)
			if e := out.turn(t); e.failed || e.text != "Here I am." || out.code != 0 {
				t.Errorf("exit %d, told %+v", out.code, e)
			}
			said := slices.ContainsFunc(out.codexLines(t), func(l codexLine) bool { return l.Type == "error" })
			if said != (tt.told != "") || !strings.Contains(out.stdout, tt.told) {
				t.Errorf("told of it: %v, want %q", said, tt.told)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

// TestCodexUsageIsCumulative: a resumed run counts what the runs before it used.
func TestCodexUsageIsCumulative(t *testing.T) {
	t.Parallel()
	srv := model.New(t, func(*model.Turn) model.Reply {
		return model.Say("Hello.").Using(model.Usage{Input: 100, CacheRead: 20, Output: 10})
	})
	c := newCodex(t, srv.URL)
	first := c.run(prompt)
	second := c.resume("Go on.", first.turn(t).session)
	for i, out := range []*output{first, second} {
		lines := out.codexLines(t)
		u := lines[len(lines)-1].Usage
		if u.Input != 120*(i+1) || u.Output != 10*(i+1) {
			t.Errorf("run %d: usage %+v", i+1, u)
		}
	}
}

// TestCodexRollout: the exact time at which a limit ends, and the standing of
// the account in a run that goes well, are in the rollout file alone.
func TestCodexRollout(t *testing.T) {
	t.Parallel()
	resets := time.Now().Add(time.Hour)
	exact := fmt.Sprintf(`"resets_at":%d`, resets.Unix())
	tests := []struct {
		name  string
		reply model.Reply
		want  []string
	}{
		{"limit", model.Fail(model.OpenAIUsageLimit(resets)), []string{`"codex_error_info":"usage_limit_exceeded"`, `"used_percent":100.0`, exact}},
		{"good run", model.Say("Hello.").WithHeader(model.OpenAIRateLimits(42.5, resets)), []string{`"used_percent":42.5`, exact}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := model.New(t, func(*model.Turn) model.Reply { return tt.reply })
			c := newCodex(t, srv.URL)
			out := c.run(prompt)
			rollout := c.rollout(out.turn(t).session)
			for _, want := range tt.want {
				if !strings.Contains(rollout, want) {
					t.Errorf("the rollout has no %s:\n%s", want, rollout)
				}
			}
			if strings.Contains(out.stdout, "resets_at") {
				t.Errorf("stdout tells the time by now:\n%s", out)
			}
		})
	}
}

// rollout is codex's own record of a thread.
func (w *worker) rollout(thread string) string {
	w.t.Helper()
	home := variable(w.env, "CODEX_HOME")
	found, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*", "*", "rollout-*-"+thread+".jsonl"))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("%d rollout files of %s (%v)", len(found), thread, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// variable is the value of the last setting of a variable.
func variable(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// TestCodexBadThread: a thread that is not there is told on stderr alone.
func TestCodexBadThread(t *testing.T) {
	t.Parallel()
	srv := model.New(t, done)
	out := newCodex(t, srv.URL).resume("Go on.", "01a1ff95-95eb-7cf1-881d-efbcdf11962d")
	if out.stdout != "" || !strings.Contains(out.stderr, "no rollout found for thread id") || out.code != 1 {
		t.Errorf("exit %d\n%s", out.code, out)
	}
	if rs := srv.Requests(); len(rs) > 0 {
		t.Errorf("%d requests, want none", len(rs))
	}
}

// TestCodexLogin: a login in auth.json is told apart from a key, and its limits
// end a run as they do with a key.
func TestCodexLogin(t *testing.T) {
	t.Parallel()
	srv := model.New(t, func(t *model.Turn) model.Reply {
		t.Require(t.Credential.OAuth && t.Credential.Value == DummyKey, "credential %+v", t.Credential)
		return model.Fail(model.OpenAIUsageLimit(time.Now().Add(time.Hour)))
	})
	c := newCodex(t, srv.URL)
	c.env = append(c.env, "CODEX_API_KEY=")
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"email":"a@example.invalid","https://api.openai.com/auth":{"chatgpt_plan_type":"plus","chatgpt_account_id":"account-1"}}`))
	login := fmt.Sprintf(`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"e30.%s.e30","access_token":%q,"refresh_token":"r","account_id":"account-1"},"last_refresh":%q}`,
		claims, DummyKey, time.Now().UTC().Format(time.RFC3339))
	if err := os.WriteFile(filepath.Join(variable(c.env, "CODEX_HOME"), "auth.json"), []byte(login), 0o600); err != nil {
		t.Fatal(err)
	}
	out := c.run(prompt)
	if e := out.turn(t); !e.failed || !strings.HasPrefix(e.text, "You’ve hit your usage limit.") {
		t.Errorf("told %+v\n%s", e, out)
	}
}
