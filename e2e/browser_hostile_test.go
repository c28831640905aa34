package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// hostilePage tries whatever a page can do to an address, and keeps what it
// got of each try: "" for nothing.
func hostilePage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("testdata/hostile.html")
	must(t, err)
	return string(page)
}

// try is one attempt of a hostile page.
type try struct {
	Name string `json:"name"`
	Got  string `json:"got"` // what it read; "" for nothing
}

// TestHostilePages: a page whose origin is not listed changes nothing and
// reads nothing, in whatever way it asks, even with a token that it stole, and
// neither does one whose name was made to lead here.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	findBrowser(t)
	port := servePages(t, map[string]string{"/hostile.html": hostilePage(t)})
	d := newDoor(t).open("http://127.0.0.1:1") // some page is listed, and not this one
	agent := d.MustSpawn(fakecli.Script{Hang: true})
	d.Until(agent.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	before := stateOf(t, d)

	for _, origin := range []string{
		fmt.Sprintf("http://127.0.0.1:%d", port), // the same site
		fmt.Sprintf("http://localhost:%d", port), // another site
		fmt.Sprintf("http://evil.test:%d", port), // a foreign name
	} {
		page := newTab(t, d.address, leadsHere())
		page.open(origin + "/hostile.html#" + strings.Join([]string{d.address, d.token, agent.Alias, d.ticket()}, ","))
		page.until(`document.title === "done"`)
		tries := eval[[]try](page, "tries")
		if len(tries) < 30 {
			t.Errorf("%s: only %d tries", origin, len(tries))
		}
		for _, one := range tries {
			if one.Got != "" {
				t.Errorf("%s: %s got %.200q", origin, one.Name, one.Got)
			}
		}
		if n := page.good(); n > 0 || len(page.asked("")) < len(tries)/2 {
			t.Errorf("%s: of %d requests %d were not refused", origin, len(page.asked("")), n)
		}
		page.shot(strings.NewReplacer("http://", "", ":", "-").Replace(origin) + ".png")
		sameState(t, origin, before, stateOf(t, d))
	}
	if log := d.DaemonLog(); !strings.Contains(log, "not let in") {
		t.Errorf("no refusal is in the log:\n%s", log)
	}
}

// ticket gets a ticket for a stream, as a program does.
func (d *door) ticket() string {
	d.T.Helper()
	req, err := http.NewRequestWithContext(d.T.Context(), http.MethodPost, "http://"+d.address+"/v1/stream-tickets", nil)
	if err != nil {
		d.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.T.Fatal(err)
	}
	defer resp.Body.Close()
	var ticket struct{ Ticket string }
	if err := json.NewDecoder(resp.Body).Decode(&ticket); err != nil || ticket.Ticket == "" {
		d.T.Fatalf("ticket %q: %v", ticket.Ticket, err)
	}
	return ticket.Ticket
}

// leadsHere makes foreign names lead to this machine, as a hostile name server
// would.
func leadsHere() chromedp.ExecAllocatorOption {
	return chromedp.Flag("host-resolver-rules", "MAP evil.test 127.0.0.1,MAP *.evil.test 127.0.0.1")
}

// TestRebinding: a page came from a foreign name at the daemon's own port, and
// then that name leads to the daemon. To the browser it is one origin, so that
// the page may ask and read. The daemon refuses: the name in Host is none of
// its own.
func TestRebinding(t *testing.T) {
	t.Parallel()
	findBrowser(t)
	d := newDoor(t)
	_, port, _ := strings.Cut(d.address, ":")
	closeServer := serveAt(t, d.address)
	pages := map[string]*tab{}
	for _, host := range []string{"evil.test", "localhost.evil.test", "127.0.0.1.evil.test", "localhost."} {
		pages[host] = newTab(t, host+":"+port, leadsHere())
		pages[host].open("http://" + host + ":" + port + "/")
	}
	closeServer()
	d.open("http://127.0.0.1:1")
	agent := d.MustSpawn(fakecli.Script{Hang: true})
	d.Until(agent.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	before := stateOf(t, d)
	for host, page := range pages {
		statuses := eval[[]int](page, fmt.Sprintf(`(async () => {
			const headers = { Authorization: "Bearer " + %s, "Content-Type": "application/json" };
			const out = [];
			for (const [method, path, body] of [
				["GET", "/v1/agents"], ["GET", "/v1/events"], ["GET", "/v1/status"], ["GET", "/healthz"], ["POST", "/v1/stream-tickets"],
				["POST", "/v1/agents", '{"goal":"x"}'], ["POST", "/v1/agents/%s/stop", "{}"], ["DELETE", "/v1/projects/shop"],
			]) out.push((await fetch(path, { method, headers, body })).status);
			return out;
		})()`, quoted(d.token), agent.Alias))
		refused := slices.Repeat([]int{http.StatusForbidden}, 8)
		if !slices.Equal(statuses, refused) {
			t.Errorf("%s: %v", host, statuses)
		}
		sameState(t, host, before, stateOf(t, d))
	}
}

// serveAt serves an empty page at an address until it is closed.
func serveAt(t *testing.T, address string) (closeServer func()) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	must(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<p>hello") }))
	must(t, server.Listener.Close())
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	return server.Close
}

// stateOf is all that a page could want to change, as text.
func stateOf(t *testing.T, d *door) string {
	t.Helper()
	var out strings.Builder
	agents, err := cw.AllAgents(t.Context(), d.Client(), cw.AgentFilter{})
	must(t, err)
	for _, a := range agents {
		fmt.Fprintln(&out, "agent", a.Alias, a.Status, a.PID)
	}
	projects, err := cw.AllPages(t.Context(), d.Client().Projects)
	must(t, err)
	for _, p := range projects {
		fmt.Fprintln(&out, "project", p.Name)
	}
	tokens, err := cw.AllPages(t.Context(), d.Client().Tokens)
	must(t, err)
	for _, token := range tokens {
		fmt.Fprintln(&out, "token", token.Name, token.RevokedAt)
	}
	for e, err := range d.Client().Events(t.Context(), cw.EventQuery{}) {
		must(t, err)
		fmt.Fprintln(&out, "event", e.Seq, e.Type)
	}
	return out.String()
}

func sameState(t *testing.T, who, before, after string) {
	t.Helper()
	if before != after {
		t.Errorf("%s changed something\nbefore:\n%s\nafter:\n%s", who, before, after)
	}
}
