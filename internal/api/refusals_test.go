package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestBodiesByRoute: only a text for an agent may be long. A stream would hold its body for
// as long as it is open, and whoever may only read could fill the memory.
func TestBodiesByRoute(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	const short = 64 << 10
	text := func(length int) string { return fmt.Sprintf(`{"goal":"","x":%q}`, strings.Repeat("x", length-18)) }
	for _, c := range []struct {
		what, method, target, body string
		want                       string // of the answer
	}{
		{"a stream", "GET", "/v1/events?since=2", "{}", "a body is not taken here"},
		{"a list", "GET", "/v1/agents", "{}", "a body is not taken here"},
		{"an end", "DELETE", "/v1/projects/nope", "{}", "a body is not taken here"},
		{"a short one", "POST", "/v1/stream-tickets", text(short), `"ticket":`},
		{"one byte more", "POST", "/v1/stream-tickets", text(short + 1), "longer than 65536 bytes"},
		{"a goal", "POST", "/v1/agents", text(short + 1), "goal"},
		{"answers", "POST", "/v1/answers", text(short + 1), "no answer is given"},
		{"a message", "POST", "/v1/agents/brave-otter/messages", text(short + 1), "the text is empty"},
		{"more instructions", "POST", "/v1/agents/nobody/resume", text(short + 1), "there is no agent"},
		{"a removal", "POST", "/v1/agents/brave-otter/remove", text(short + 1), "longer than 65536 bytes"},
		{"settings", "POST", "/v1/projects/shop/settings", text(short + 1), "longer than 65536 bytes"},
	} {
		lines := []string{"Host: " + at.host, bearerLine(tokenOperate), "Content-Type: application/json", "Connection: close"}
		whole := append(lines, fmt.Sprintf("Content-Length: %d", len(c.body)))
		pieces := append(lines, "Transfer-Encoding: chunked")
		for form, message := range map[string]string{
			"whole":     request(c.method, c.target, whole) + c.body,
			"in pieces": request(c.method, c.target, pieces) + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(c.body), c.body),
		} {
			got, err := at.raw(message)
			if err != nil || !strings.Contains(got.body, c.want) {
				t.Errorf("%s, %s: %v %s", c.what, form, err, got)
			}
		}
	}
}

// TestNobodyKeepsNoConnection: there are only so many, and a page or a program
// without a token could hold all of them.
func TestNobodyKeepsNoConnection(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	for what, got := range map[string]rawReply{
		"health":       at.ask(t, "GET", "/healthz"),
		"no token":     at.ask(t, "GET", "/v1/agents"),
		"another page": at.ask(t, "GET", "/v1/agents", "Origin: http://evil.com", bearerLine(tokenRead)),
		"preflight":    at.ask(t, "OPTIONS", "/v1/agents", "Origin: "+listedOrigin, "Access-Control-Request-Method: GET"),
	} {
		if !got.last {
			t.Errorf("%s: the connection stays open after %s", what, got)
		}
	}
	if got := at.ask(t, "GET", "/v1/agents", bearerLine(tokenRead)); got.last {
		t.Errorf("with a token it ends after %s", got)
	}
}

// TestSecretsInAPathAreNotKept: people and agents write credentials where they
// do not belong, also ones that cw cannot tell from a name, and what is refused
// is logged and stored. So the pattern of the route is kept, not the path.
func TestSecretsInAPathAreNotKept(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	tickets := d.socketDoor().ask(t, "POST", "/v1/stream-tickets")
	_, ticket, _ := strings.Cut(tickets.body, `"ticket":"`)
	ticket, _, _ = strings.Cut(ticket, `"`)
	for _, secret := range []string{cw.NewDashboardToken(), cw.NewToken(), ticket, "ghp_Canary0123456789", "sk-ant-canary", "my%20canary%2Fpass"} {
		if got := at.ask(t, "GET", "/v1/events/"+secret); got.status != http.StatusUnauthorized {
			t.Errorf("without a token: %s", got)
		}
		if got := at.ask(t, "DELETE", "/v1/tokens/"+secret, bearerLine(tokenOperate)); got.status != http.StatusForbidden {
			t.Errorf("what none may: %s", got)
		}
		if kept := d.log.String() + strings.Join(d.refusals(), "\n"); strings.Contains(kept, secret[4:]) || strings.Contains(strings.ToLower(kept), "canary") {
			t.Errorf("%s is kept:\n%s", secret, kept)
		}
	}
	kept := d.refusals()
	if len(kept) != 6 {
		t.Fatalf("told: %q", kept)
	}
	for _, what := range kept {
		if !strings.HasSuffix(what, " revoke-token (DELETE /v1/tokens/{ref})") {
			t.Errorf("told: %q", what)
		}
	}
	for _, line := range []string{`msg="not let in" method=GET route=none `, `what="revoke-token (DELETE /v1/tokens/{ref})"`} {
		if !strings.Contains(d.log.String(), line) {
			t.Errorf("the log has no %s", line)
		}
	}
}

// TestRefusalsAreFewLines: the log is rotated, so a flood of them would drive
// out all else. Those of known callers count alone.
func TestRefusalsAreFewLines(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	for range 100 {
		at.ask(t, "GET", "/v1/agents", "Origin: http://evil.com")
		at.ask(t, "POST", "/v1/shutdown", bearerLine(tokenRead))
	}
	if got := at.ask(t, "POST", "/v1/shutdown", bearerLine(tokenOperate)); got.status != http.StatusForbidden {
		t.Fatal(got)
	}
	log := d.log.String()
	for line, want := range map[string]int{
		`level=WARN msg="not let in"`:         60,
		`level=WARN msg=refused`:              61, // and one of the other token
		`level=(WARN|DEBUG) msg="not let in"`: 100,
		`level=(WARN|DEBUG) msg=refused`:      101,
	} {
		if got := len(regexp.MustCompile(line).FindAllString(log, -1)); got != want {
			t.Errorf("%d lines of %s, want %d", got, line, want)
		}
	}
	if got := len(d.refusals()); got != 101 {
		t.Errorf("OnRefused heard of %d", got)
	}
}
