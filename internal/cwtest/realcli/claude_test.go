package realcli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cw/internal/cwtest/model"

	"github.com/google/uuid"
)

// TestClaudeFailures pins how claude ends on each failure that ends it at once.
func TestClaudeFailures(t *testing.T) {
	t.Parallel()
	resets := time.Now().Add(time.Hour)
	oauth := []string{"ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN=" + DummyKey}
	tests := []struct {
		name    string
		reply   model.Reply
		env     []string
		status  int    // of the result; 0: none
		kind    string // assistant.error
		text    string // in the result
		limited bool   // a rate_limit_event with status rejected is written
	}{
		{"usage limit of a login", model.Fail(model.UsageLimitOAuth(resets)), oauth, 429, "rate_limit", "You've hit your ", true},
		{"weekly limit of a login", model.Fail(model.WeeklyLimitOAuth(resets)), oauth, 429, "rate_limit", "You've hit your weekly limit", true},
		{"the same with a key", model.Fail(model.UsageLimitOAuth(resets)), nil, 429, "rate_limit", "Request rejected (429)", false},
		{"usage limit in words", model.Fail(model.UsageLimitText(resets)), nil, 429, "rate_limit", "Claude AI usage limit reached|", false},
		{"credit balance", model.Fail(model.CreditBalance400()), nil, 400, "billing_error", "Credit balance is too low", false},
		{"rate limit", model.Fail(model.RateLimit(time.Second)), []string{"CLAUDE_CODE_MAX_RETRIES=1"}, 429, "rate_limit", "Request rejected (429)", false},
		{"overloaded", model.Fail(model.Overloaded529()), []string{"CLAUDE_CODE_MAX_RETRIES=0"}, 529, "server_error", "529", false},
		{"bad key", model.Fail(model.Unauthorized401()), []string{"CLAUDE_CODE_MAX_RETRIES=0"}, 401, "authentication_failed", "Invalid API key", false},
		{"cut", model.Say("A sentence that nobody will ever hear to its very end.").CutOff(), nil, 0, "server_error", "mid-response", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := model.New(t, func(*model.Turn) model.Reply { return tt.reply })
			c := newClaude(t, srv.URL)
			c.env = append(c.env, tt.env...)

			out := c.run(prompt)
			r := out.result(t)
			if !r.IsError || r.Status != tt.status || !strings.Contains(r.Result, tt.text) || out.code != 1 {
				t.Errorf("exit %d, result = %+v", out.code, r)
			}
			if got := out.errorKind(); got != tt.kind {
				t.Errorf("assistant error = %q, want %q", got, tt.kind)
			}
			if got := strings.Contains(out.stdout, `"status":"rejected"`); got != tt.limited {
				t.Errorf("rate_limit_event: %v, want %v", got, tt.limited)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

func TestClaudeRecovers(t *testing.T) {
	t.Parallel()
	warning := model.LimitWarning(0.93, time.Now().Add(time.Hour))
	inStream := model.Overloaded529()
	inStream.InStream = true
	tests := []struct {
		name  string
		reply model.Reply
		want  string // in stdout
	}{
		{"overloaded first", model.Say("Here I am.").FailFirst(1, model.Overloaded529()), `"subtype":"api_retry"`},
		{"overloaded in the stream", model.Say("Here I am.").FailFirst(1, inStream), `"subtype":"success"`},
		{"limit is near", model.Say("Here I am.").WithHeader(warning), `"status":"allowed_warning"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := model.New(t, func(*model.Turn) model.Reply { return tt.reply })
			c := newClaude(t, srv.URL)
			c.env = append(c.env, "ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN="+DummyKey)
			out := c.run(prompt)
			if r := out.result(t); r.IsError || r.Result != "Here I am." || !strings.Contains(out.stdout, tt.want) {
				t.Errorf("result = %+v\n%s", r, out)
			}
		})
	}
}

// TestClaudeBadSession: a start that fails writes its reason to stderr alone.
func TestClaudeBadSession(t *testing.T) {
	t.Parallel()
	srv := model.New(t, done)
	c := newClaude(t, srv.URL)
	out := c.run(prompt, "--session-id", "not-a-uuid")
	if out.stdout != "" || !strings.Contains(out.stderr, "Invalid session ID") || out.code != 1 {
		t.Errorf("%s", out)
	}
	if rs := srv.Requests(); len(rs) > 0 {
		t.Errorf("%d requests, want none", len(rs))
	}
}

// TestClaudeStops: after SIGTERM in the middle of a tool call the session, under
// the id that was chosen for it, can be resumed, and the model sees what was
// before. The call itself may be gone: claude drops it when it had hardly begun. With
// claude 2.1.332 the command of the scenario never began, for a reason that is not
// known; TestIsStopped in e2e stops that version.
func TestClaudeStops(t *testing.T) {
	t.Parallel()
	srv := model.New(t, interruptible)
	c := newClaudeOf(t, Pinned, srv.URL)
	session := uuid.NewString()

	cmd, out := c.start(prompt, append(slices.Clip(c.begin), "--session-id", session)...)
	c.await("started")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	out.wait(cmd)
	c.endTool()
	if out.code != 143 || strings.Contains(out.stdout, `"type":"result"`) {
		t.Errorf("after SIGTERM: exit %d\n%s", out.code, out)
	}
	again := c.resume("Go on.", session)
	if r := again.result(t); r.Result != "Back again." || r.SessionID != session {
		t.Errorf("result = %+v\n%s", r, again)
	}
}

// TestClaudeIsHeld: a Stop hook that blocks sends claude back to the model, in
// the same process. What the hook says is told to the model as the CLI's own
// word.
func TestClaudeIsHeld(t *testing.T) {
	t.Parallel()
	srv := model.New(t, func(t *model.Turn) model.Reply {
		if t.Number() == 1 {
			return model.Say("I am done.")
		}
		said := t.Current()[len(t.Current())-1]
		t.Require(said.Kind == model.KindNote, "the hook's words came as %+v", said)
		return model.Say("Not yet: " + t.Find(said.Text, `First (write \w+\.txt)`))
	})
	c := newClaude(t, srv.URL)
	hook := `test -e held || { touch held; echo '{"decision":"block","reason":"First write it.txt."}'; }`
	settings, err := json.Marshal(map[string]any{"hooks": map[string]any{"Stop": []any{map[string]any{
		"hooks": []any{map[string]any{"type": "command", "command": hook}},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hooks.json")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	out := c.run(prompt, "--settings", file)
	if r := out.result(t); r.Result != "Not yet: write it.txt" || len(srv.Requests()) != 2 {
		t.Errorf("result = %+v, %d requests\n%s", r, len(srv.Requests()), out)
	}
}

// TestClaudeForgets: a session whose transcript is gone is told on stderr and in
// the result, and no model is asked.
func TestClaudeForgets(t *testing.T) {
	t.Parallel()
	srv := model.New(t, done)
	c := newClaude(t, srv.URL)
	out := c.resume("Go on.", uuid.NewString())
	const told = "No conversation found with session ID"
	if !strings.Contains(out.stdout, told) || !strings.Contains(out.stderr, told) || out.code != 1 {
		t.Errorf("exit %d\n%s", out.code, out)
	}
	if rs := srv.Requests(); len(rs) > 0 {
		t.Errorf("%d requests, want none", len(rs))
	}
}

// newClaude makes one with the drawn version.
func newClaude(t *testing.T, url string) *worker {
	t.Helper()
	return newClaudeOf(t, "", url)
}

func newClaudeOf(t *testing.T, v Version, url string) *worker {
	t.Helper()
	cli := Claude(t, v)
	w := newWorker(t, cli.Path, cli.Env(t.TempDir(), url))
	w.begin = []string{"-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"}
	w.again = func(session string) []string { return append(slices.Clip(w.begin), "--resume", session) }
	w.told = func(o *output) ending {
		r := o.result(t)
		return ending{r.Result, r.IsError, r.SessionID}
	}
	return w
}

// result is the line of type result.
type result struct {
	Type      string `json:"type"`
	IsError   bool   `json:"is_error"`
	Status    int    `json:"api_error_status"`
	Result    string `json:"result"`
	SessionID string `json:"session_id"`
}

func (o *output) result(t *testing.T) result {
	t.Helper()
	for line := range strings.Lines(o.stdout) {
		var r result
		if json.Unmarshal([]byte(line), &r) == nil && r.Type == "result" {
			return r
		}
	}
	t.Fatalf("no result line (exit %d)\n%s", o.code, o)
	return result{}
}

// errorKind is the error of claude's own last message.
func (o *output) errorKind() string {
	kind := ""
	for line := range strings.Lines(o.stdout) {
		var m struct {
			Error string `json:"error"`
			Type  string `json:"type"`
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.Type == "assistant" {
			kind = m.Error
		}
	}
	return kind
}
