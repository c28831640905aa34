package daemon_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// notified is what a receiver got.
type notified struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"`
	Agent string `json:"agent"`
	Body  string `json:"body"`
	whole string
}

// listener is a receiver that takes nothing before open.
func listener(t *testing.T) (url string, open *atomic.Bool, came <-chan notified) {
	t.Helper()
	open = &atomic.Bool{}
	out := make(chan notified, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		n := notified{whole: string(body)}
		if err != nil || json.Unmarshal(body, &n) != nil {
			t.Errorf("what came is no JSON: %s", body)
		}
		if !open.Load() {
			w.WriteHeader(http.StatusBadGateway)
		}
		out <- n
	}))
	t.Cleanup(server.Close)
	return server.URL, open, out
}

func nextNotice(t *testing.T, l *lab.Lab, came <-chan notified) notified {
	t.Helper()
	select {
	case n := <-came:
		return n
	case <-time.After(30 * time.Second):
		t.Fatalf("nothing came; the daemon said:\n%s", l.DaemonLog())
		panic("not reached")
	}
}

// askingScript is a script that ends with a question.
func askingScript(text string) fakecli.Script {
	signal, err := json.Marshal(cw.Signal{Status: cw.SignalQuestions, Questions: []cw.SignalQuestion{{Text: text}}})
	if err != nil {
		panic(err)
	}
	return fakecli.Script{Signal: string(signal)}
}

// TestNoticesOverARestart: a daemon that dies between an event and its delivery
// loses nothing: the next one delivers it under the same number, and masked.
func TestNoticesOverARestart(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	url, open, came := listener(t)
	secret := "sk-ant-api03-" + cw.NewID() + cw.NewID()
	shown := filepath.Join(l.Books, "shown")
	l.Env = []string{
		"CW_CONFIG_NOTIFY_WEBHOOK=" + url, "CW_CONFIG_NOTIFY_COMMAND=sh,-c,cat >>" + shown, "ANTHROPIC_API_KEY=" + secret,
		"CW_CONFIG_NOTIFY_EVENTS=question:requested",
	}
	l.Start()
	agent := l.MustSpawn(askingScript("Is " + secret + " yours?"))
	first := nextNotice(t, l, came) // refused
	l.Until(agent.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusWaitingForInput })
	st, err := l.Client().Status(t.Context())
	must(t, err)
	if len(st.Hooks) != 2 || st.Hooks[0].Kind != cw.HookWebhook || st.Hooks[1].Kind != cw.HookCommand {
		t.Fatalf("hooks: %+v", st.Hooks)
	}
	l.Kill()
	open.Store(true)
	for len(came) > 0 { // tries before the kill
		<-came
	}
	l.Start()
	second := nextNotice(t, l, came)
	if first.ID != second.ID || first.whole != second.whole || second.Type != "question:requested" || second.Agent != agent.Alias {
		t.Errorf("first %s\nthen %s", first.whole, second.whole)
	}
	if strings.Contains(second.whole, secret) || !strings.Contains(second.Body, "********") {
		t.Errorf("a secret in %s", second.whole)
	}
	next := l.MustSpawn(askingScript("And now?"))
	if third := nextNotice(t, l, came); third.Agent != next.Alias || third.Body != "And now?" {
		t.Errorf("then came %s", third.whole)
	}
	l.Until(next.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusWaitingForInput })
	lines := awaitLine(t, shown, next.Alias)
	if !strings.Contains(lines[0], agent.Alias) || !strings.Contains(lines[len(lines)-1], next.Alias) || len(lines) > 3 {
		t.Errorf("shown: %s", lines)
	}
}

// awaitLine waits until a file has a line with a text, and gives all its lines.
func awaitLine(t *testing.T, path, text string) []string {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		data, _ := os.ReadFile(path) // it may not be there yet
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if strings.Contains(string(data), text) && strings.HasSuffix(string(data), "\n") {
			return lines
		}
		if time.Now().After(end) {
			t.Fatalf("%s holds %q", path, data)
		}
	}
}

// TestNotifyTest sends by every hook from the daemon, and says what happened.
func TestNotifyTest(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	if _, stderr, code := l.Run(l.Repo, "notify", "test"); code != 4 || !strings.Contains(stderr, "notify.webhook") {
		t.Errorf("without a hook: exit %d: %s", code, stderr)
	}
	l.Run(l.Repo, "stop")
	url, open, came := listener(t)
	key := filepath.Join(l.Books, "key")
	must(t, os.WriteFile(key, []byte("a key of some length"), 0o600))
	l.Env = []string{"CW_CONFIG_NOTIFY_WEBHOOK=" + url, "CW_CONFIG_NOTIFY_SECRETFILE=" + key, "CW_CONFIG_NOTIFY_COMMAND=sh,-c,echo no display >&2; exit 3"}
	open.Store(true)
	l.Start()
	stdout, stderr, code := l.Run(l.Repo, "notify", "test")
	if n := nextNotice(t, l, came); n.ID != 0 || n.Type != "notify:test" {
		t.Errorf("told: %s", n.whole)
	}
	for _, part := range []string{"signed", "code 3", "no display", "failed"} {
		if code != 1 || !strings.Contains(stdout, part) {
			t.Errorf("exit %d: %s%s, want %q", code, stdout, stderr, part)
		}
	}
	must(t, os.Chmod(key, 0o644))
	stdout, _, _ = l.Run(l.Repo, "doctor", "--json")
	if !strings.Contains(stdout, `"webhook"`) || !strings.Contains(stdout, "open to other users") {
		t.Errorf("doctor: %s", stdout)
	}
	var trials []cw.HookTrial
	stdout, _, code = l.Run(l.Repo, "notify", "test", "--json")
	if err := json.Unmarshal([]byte(stdout), &trials); err != nil || code != 1 || len(trials) != 2 || trials[0].OK {
		t.Errorf("exit %d: %s", code, stdout)
	}
	if len(came) > 0 {
		t.Error("it was sent without a key")
	}
}
