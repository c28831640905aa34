package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// seen are the numbers of the events that the page shows, in its order; -1
// for live events, which have none.
func (b *tab) seen() []int64 {
	b.t.Helper()
	return eval[[]int64](b, `[...document.querySelectorAll("#events li")].map((li) => {
		const n = li.textContent.split(" ")[0];
		return n === "live" ? -1 : Number(n);
	})`)
}

// shows is an expression: the page shows an event of a type about an agent.
func shows(typ cw.EventType, agent string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#events li")].some((li) => li.textContent.includes(%s) && li.textContent.includes(%s))`,
		quoted(" "+string(typ)+" "), quoted(agent))
}

// TestForeignDashboard opens the example page in a real browser, served from
// another port than the daemon's. While its origin is not listed it gets
// nothing; listed, it follows an agent live; and when the daemon was killed and
// another one started, it comes back with a new ticket and shows every event
// exactly once.
func TestForeignDashboard(t *testing.T) {
	t.Parallel()
	findBrowser(t)
	port := servePages(t, nil)
	origin, far := fmt.Sprintf("http://127.0.0.1:%d", port), fmt.Sprintf("http://localhost:%d", port)
	d := newDoor(t).open()
	page := newTab(t, d.address)
	fragment := "/live.html#url=http://" + d.address + "&token=" + d.token

	first := d.MustSpawn(fakecli.Script{Signal: `{"status":"done","noChanges":"only looked"}`})
	d.Rest(first.Alias)
	page.open(origin + fragment)
	page.until(`document.getElementById("state").textContent.includes("Failed to fetch")`)
	if n := eval[int](page, `document.querySelectorAll("li").length`); n > 0 || page.good() > 0 {
		t.Errorf("a page that is not listed shows %d things; %d answers were good", n, page.good())
	}
	if log := d.DaemonLog(); !strings.Contains(log, "this web page may not call here (Origin)") {
		t.Errorf("the refusal is not in the log:\n%s", log)
	}
	page.shot("not-listed.png")

	d.Kill()
	d.allow(origin, far)
	d.Start()
	page.until(shows(cw.EventAgentStopped, first.Alias)) // the page tried again by itself
	release := filepath.Join(t.TempDir(), "go")
	second := d.MustSpawn(fakecli.Script{Pieces: 5, Tame: true, Wait: release, Signal: `{"status":"done","noChanges":"only looked"}`})
	page.until(shows(cw.EventAgentRunning, second.Alias)) // live: it goes on only when this was seen
	page.shot("live.png")

	before := len(page.asked("ticket="))
	d.Kill()
	must(t, os.WriteFile(release, nil, 0o600)) // the agent ends while no daemon is there
	d.Start()
	d.Rest(second.Alias)
	third := d.MustSpawn(fakecli.Script{Signal: `{"status":"done","noChanges":"only looked"}`})
	d.Rest(third.Alias)
	page.until(shows(cw.EventAgentStopped, third.Alias))
	page.shot("resumed.png")
	sameEvents(t, d, page)

	tickets := page.asked("ticket=")
	if slices.Sort(tickets); len(tickets) <= before || len(slices.Compact(slices.Clone(tickets))) != len(tickets) {
		t.Errorf("%d streams before the restart, then all of these: %v", before, tickets)
	}
	for _, address := range page.asked("") {
		if strings.Contains(address, d.token) {
			t.Errorf("the token is in an address: %s", address)
		}
	}

	// localhost is another site than 127.0.0.1, which browsers treat more harshly.
	other := newTab(t, d.address)
	other.open(far + fragment)
	other.until(shows(cw.EventAgentStopped, third.Alias))
}

// sameEvents compares what the page shows with what is stored: every number
// once, in order.
func sameEvents(t *testing.T, d *door, page *tab) {
	t.Helper()
	var stored []int64
	for e, err := range d.Client().Events(t.Context(), cw.EventQuery{}) {
		must(t, err)
		stored = append(stored, e.Seq)
	}
	for i, n := range stored {
		if n != int64(i+1) {
			t.Fatalf("the store has %v", stored)
		}
	}
	shown := slices.DeleteFunc(page.seen(), func(n int64) bool { return n < 0 })
	if !slices.Equal(shown, stored) {
		t.Errorf("the page shows %v, stored are %v", shown, stored)
	}
}

// TestRevokedWhileOpen: a token that is revoked takes the stream that it has
// open with it, and the page cannot come back.
func TestRevokedWhileOpen(t *testing.T) {
	t.Parallel()
	findBrowser(t)
	origin := fmt.Sprintf("http://127.0.0.1:%d", servePages(t, nil))
	d := newDoor(t).open(origin)
	page := newTab(t, d.address)
	page.open(origin + "/live.html#url=http://" + d.address + "&token=" + d.token)
	page.until(`document.getElementById("state").textContent === "live"`)
	if _, stderr, code := d.Run(d.Repo, "token", "revoke", "dashboard"); code != 0 {
		t.Fatal(stderr)
	}
	page.until(`document.getElementById("state").textContent.includes("token was revoked")`)
	agent := d.MustSpawn(fakecli.Script{})
	d.Rest(agent.Alias)
	if eval[bool](page, shows(cw.EventAgentSpawned, agent.Alias)) {
		t.Error("the page shows what happened after its token was revoked")
	}
}
