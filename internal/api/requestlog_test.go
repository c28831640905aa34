package api_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"cw/internal/api"
)

// TestRequestsAreLogged: every request is a line for debugging, with nothing
// in it that the caller chose.
func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	client := rawClient(t, d)
	ask := func(method, path, token string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+api.SocketHost+path, strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		req.Header.Set("X-Note", "canary-header")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body) // for the next request's sake
		_ = res.Body.Close()
	}
	ask("GET", "/v1/whoami?x=canary-query", "")
	ask("GET", "/v1/whoami", tokenSelf)
	ask("GET", "/v1/agents/canary-name", "")
	ask("GET", "/canary-path", "")
	ask("CANARY", "/v1/whoami", "")
	ask("GET", "/v1/whoami", "canary-token")
	for _, want := range []string{
		`level=DEBUG msg=request method=GET route="GET /v1/whoami" status=200 ms=[0-9.e-]+ actor=person\n`,
		`level=DEBUG msg=request method=GET route="GET /v1/whoami" status=200 ms=[0-9.e-]+ actor=agent\n`,
		`level=DEBUG msg=request method=GET route="GET /v1/agents/{id}" status=404 ms=[0-9.e-]+ actor=person\n`,
		`level=DEBUG msg=request method=GET route=/ status=404 ms=[0-9.e-]+ actor=person\n`,
		`level=DEBUG msg=request method=other route=/ status=405 ms=[0-9.e-]+ actor=person\n`,
		`level=DEBUG msg=request method=GET route="" status=403 ms=[0-9.e-]+ actor=""\n`,
		`level=WARN msg="not let in"`,
	} {
		waitForLog(t, d, regexp.MustCompile(want))
	}
	if text := d.log.String(); strings.Contains(strings.ToLower(text), "canary") {
		t.Errorf("the log holds what callers chose:\n%s", text)
	}
}

// waitForLog waits for a line: it is written when the answer is out already.
func waitForLog(t *testing.T, d *daemon, line *regexp.Regexp) {
	t.Helper()
	for end := time.Now().Add(patience); !line.MatchString(d.log.String()); <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no line %s in\n%s", line, d.log.String())
		}
	}
}
