package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cw/internal/api"
	"cw/internal/cw"
)

// liveEvents is a stream that does not end by itself.
const liveEvents = "/v1/events?follow=true&since=2"

// ticketOf reads the answer of POST /v1/stream-tickets.
func ticketOf(t testing.TB, got rawReply) string {
	t.Helper()
	var out api.StreamTicket
	if err := json.Unmarshal([]byte(got.body), &out); got.status != http.StatusOK || err != nil || len(out.Ticket) < 43 {
		t.Errorf("no ticket: %s %v", got, err)
	}
	return out.Ticket
}

func (d door) ticket(t testing.TB, lines ...string) string {
	t.Helper()
	return ticketOf(t, d.ask(t, "POST", "/v1/stream-tickets", lines...))
}

// A ticket opens one stream and nothing else, once, whoever made it.
func TestTicket(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	want := func(what string, status int, got rawReply) {
		t.Helper()
		if got.status != status {
			t.Errorf("%s: %s, want %d", what, got, status)
		}
	}
	output := "/v1/agents/brave-otter/output?ticket="
	ticket := at.ticket(t, bearerLine(tokenRead))
	want("for another route", 401, at.ask(t, "GET", "/v1/agents?ticket="+ticket))
	want("for another method", 401, at.ask(t, "POST", "/v1/events?ticket="+ticket))
	want("for another page", 403, at.ask(t, "GET", "/v1/events?ticket="+ticket, "Origin: http://evil.com"))
	want("for another host", 403, door{at.network, at.address, "evil.com"}.ask(t, "GET", "/v1/events?ticket="+ticket))
	want("as a token", 401, at.ask(t, "GET", "/v1/events", bearerLine(ticket)))
	want("beside a token", 401, at.ask(t, "GET", "/v1/events?ticket="+ticket, bearerLine(tokenRead)))
	want("cut short", 401, at.ask(t, "GET", "/v1/events?ticket="+ticket[:len(ticket)-1]))
	want("with another", 401, at.ask(t, "GET", "/v1/events?ticket="+ticket+"&ticket=x"))
	want("what it is for", 200, at.ask(t, "GET", "/v1/events?since=2&ticket="+ticket))
	want("again", 401, at.ask(t, "GET", "/v1/events?since=2&ticket="+ticket))
	want("output", 200, at.ask(t, "GET", output+at.ticket(t, bearerLine(tokenOperate))))
	want("a person's", 200, at.ask(t, "GET", output+d.socketDoor().ticket(t)))
	want("by an agent", 403, d.socketDoor().ask(t, "POST", "/v1/stream-tickets", bearerLine(tokenSelf)))
	if strings.Contains(d.log.String(), "cws_") {
		t.Error("a ticket is in the log")
	}
}

// A ticket does not outlive the daemon.
func TestTicketOfAnotherDaemon(t *testing.T) {
	t.Parallel()
	first, second := startDaemon(t, dashboards), startDaemon(t, dashboards)
	ticket := first.serveTCP(t).ticket(t, bearerLine(tokenRead))
	if got := second.serveTCP(t).ask(t, "GET", "/v1/events?ticket="+ticket); got.status != http.StatusUnauthorized {
		t.Errorf("%s", got)
	}
}

// revoker revokes every token that is named.
type revoker struct{ cw.Services }

func (revoker) RevokeToken(_ context.Context, ref string) (cw.Token, error) {
	if ref == "nobody" {
		return cw.Token{ID: tokenOperate}, cw.Errorf(cw.CodeNotFound, "there is no such token")
	}
	return cw.Token{ID: cw.TokenID(ref)}, nil
}

// stream opens one that stays open, and gives what it says.
func (d door) stream(t testing.TB, target string, lines ...string) *bufio.Reader {
	t.Helper()
	conn := d.dial(t)
	_, err := io.WriteString(conn, request("GET", target, append([]string{"Host: " + d.host}, lines...)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v %v", target, resp, err)
	}
	return bufio.NewReader(resp.Body)
}

// Revoking a token ends its streams and its tickets, and nobody else's.
func TestRevoking(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, func(o *api.Options) { dashboards(o); o.Services = revoker{o.Services} })
	at := d.serveTCP(t)
	byToken := at.stream(t, liveEvents, bearerLine(tokenRead))
	byTicket := at.stream(t, liveEvents+"&ticket="+at.ticket(t, bearerLine(tokenRead)))
	others := at.stream(t, liveEvents, bearerLine(tokenOperate))
	unused, othersTicket := at.ticket(t, bearerLine(tokenRead)), at.ticket(t, bearerLine(tokenOperate))

	if got := d.socketDoor().ask(t, "DELETE", "/v1/tokens/nobody"); got.status != http.StatusNotFound {
		t.Fatalf("%s", got)
	}
	if got := d.socketDoor().ask(t, "DELETE", "/v1/tokens/"+tokenRead); got.status != http.StatusOK {
		t.Fatalf("%s", got)
	}
	for name, reader := range map[string]*bufio.Reader{"by its token": byToken, "by its ticket": byTicket} {
		if _, err := io.ReadAll(reader); isTimeout(err) {
			t.Errorf("the stream %s goes on", name)
		}
	}
	if got := at.ask(t, "GET", "/v1/events?ticket="+unused); got.status != http.StatusUnauthorized {
		t.Errorf("its ticket: %s", got)
	}
	// Whoever was let in a moment before the token died has no stream either.
	if got := at.ask(t, "GET", "/v1/events", bearerLine(tokenRead)); got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("its late stream: %s", got)
	}
	if got := at.ask(t, "GET", "/v1/events?since=2&ticket="+othersTicket); got.status != http.StatusOK {
		t.Errorf("another's ticket: %s", got)
	}
	d.memory.Tell(cw.Event{Type: cw.EventAgentRunning})
	for {
		line, err := others.ReadString('\n')
		if err != nil {
			t.Fatalf("another's stream: %v", err)
		}
		if strings.Contains(line, `"type":"agent:running"`) {
			break
		}
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

// holder is where both tokens of people are listed.
type holder struct{ cw.Services }

func (holder) Tokens(context.Context, cw.PageQuery) (cw.Page[cw.Token], error) {
	return cw.Page[cw.Token]{Items: []cw.Token{{ID: tokenOperate, Scopes: []cw.Scope{}}, {ID: tokenPerson, Scopes: []cw.Scope{}}}}, nil
}

// TestOwnToken: who lists tokens is told which one is its own; people on the
// socket have none.
func TestOwnToken(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, func(o *api.Options) { dashboards(o); o.Services = holder{o.Services} })
	for name, tt := range map[string]struct {
		got  rawReply
		want []bool
	}{
		"a session": {d.serveTCP(t).ask(t, "GET", "/v1/tokens", bearerLine(tokenPerson)), []bool{false, true}},
		"a person":  {d.socketDoor().ask(t, "GET", "/v1/tokens"), []bool{false, false}},
	} {
		var page cw.Page[cw.Token]
		if err := json.Unmarshal([]byte(tt.got.body), &page); err != nil || len(page.Items) != 2 {
			t.Fatalf("%s: %s, %v", name, tt.got, err)
		}
		if got := []bool{page.Items[0].Current, page.Items[1].Current}; !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
