package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// asked lets the prepared agent that runs be asked by another one, and gives a
// third one, too.
func asked(t *testing.T, d *daemon) (from, to, third string, c cw.ConversationView) {
	t.Helper()
	from, _ = d.fixture.Talk(t)
	to, _ = d.fixture.Talk(t)
	third, _ = d.fixture.Talk(t)
	c, err := d.client(tokenOf+from).Ask(t.Context(), cw.AskRequest{Question: "Where?", AgentID: to})
	noError(t, err)
	return from, to, third, c
}

// An agent may read a conversation in which it takes part. Of others it does not
// even learn whether they are there, and the try is told.
func TestConversationsOfOthers(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	from, to, third, c := asked(t, d)
	path := "/v1/conversations/"
	read := func(token, path string) reply {
		header := map[string]string{}
		if token != "" {
			header["Authorization"] = "Bearer " + token
		}
		return send(t, d, "GET", path, "", header)
	}
	for _, token := range []string{"", tokenOf + from, tokenOf + to} {
		if got := read(token, path+string(c.ID)); got.status != http.StatusOK || !strings.Contains(got.body, `"Where?"`) {
			t.Errorf("by %q: %s", token, got)
		}
	}
	theirs, nothing := read(tokenOf+third, path+string(c.ID)), read(tokenOf+third, path+cw.NewID())
	if theirs.status != http.StatusForbidden || theirs.body != nothing.body {
		t.Errorf("of others: %s, of nobody: %s", theirs, nothing)
	}
	for _, path := range []string{path + string(c.ID) + "/answer", "/v1/conversations", "/v1/agents/" + to + "/conversations/pending"} {
		if got := read(tokenOf+third, path); got.status != http.StatusForbidden || strings.Contains(got.body, "Where?") {
			t.Errorf("%s by a third: %s", path, got)
		}
	}
	if n := len(d.refusals()); n != 5 {
		t.Errorf("%d refusals were told: %v", n, d.refusals())
	}
}

// Nobody but the asked agent answers, and nobody at all over TCP.
func TestConversationsOverTCP(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	_, to, _, c := asked(t, d)
	for target, want := range map[string]int{
		"GET /v1/conversations":                              200,
		"GET /v1/conversations/" + string(c.ID):              200,
		"POST /v1/conversations":                             403,
		"POST /v1/conversations/" + string(c.ID) + "/answer": 403,
		"GET /v1/agents/" + to + "/conversations/pending":    403,
	} {
		method, path, _ := strings.Cut(target, " ")
		if got := at.ask(t, method, strings.TrimSuffix(path, "?ticket="), bearerLine(tokenOperate)); got.status != want {
			t.Errorf("%s: %s, want %d", target, got, want)
		}
	}
}

// The items of both streams are what their description says.
func TestConversationItemsFitTheirDescription(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	about := readDescription(t, d)
	from, to, _, c := asked(t, d)
	answered, err := d.client(tokenOf+to).AnswerConversation(t.Context(), string(c.ID), cw.ConversationAnswer{Answer: "There"})
	noError(t, err)
	again, err := d.client(tokenOf+from).Ask(t.Context(), cw.AskRequest{Question: "Sure?", AgentID: to})
	noError(t, err)
	for _, item := range []struct {
		path, token, schema, id string
	}{
		{"/v1/conversations/" + string(answered.ID) + "/answer", tokenOf + from, "ConversationView", string(answered.ID)},
		{"/v1/agents/" + to + "/conversations/pending", tokenOf + to, "PendingConversation", string(again.ID)},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://cw.sock"+item.path, nil)
		noError(t, err)
		req.Header.Set("Authorization", "Bearer "+item.token)
		resp, err := rawClient(t, d).Do(req)
		noError(t, err)
		head := make([]byte, 4096)
		n, err := io.ReadAtLeast(resp.Body, head, 60)
		noError(t, err)
		cancel()
		_ = resp.Body.Close()
		var value any
		for line := range strings.SplitSeq(string(head[:n]), "\n") {
			if data, ok := strings.CutPrefix(line, "data:"); ok && value == nil {
				noError(t, json.Unmarshal([]byte(data), &value))
			}
			if strings.HasPrefix(line, "id:") {
				t.Errorf("%s: an item has an id: %s", item.path, line)
			}
		}
		if why := about.fits(value, about.at("components", "schemas", item.schema)); why != "" {
			t.Errorf("%s: %s: %v", item.path, why, value)
		}
	}
}

// loses is a service that does what it is asked once, and whose daemon goes away
// before it says so.
type loses struct {
	cw.Services
	once sync.Once
	away func()
}

func (l *loses) Ask(ctx context.Context, req cw.AskRequest) (cw.ConversationView, error) {
	view, err := l.Services.Ask(ctx, req)
	l.once.Do(func() { l.away(); panic(http.ErrAbortHandler) })
	return view, err
}

// Who asks with a key, listens or waits for an answer goes on across the loss of
// an answer and the end of a daemon; who asks without one is told.
func TestConversationAcrossRestarts(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"with a key": cw.NewID(), "without": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &loses{}
			d := startDaemon(t, func(o *api.Options) { l.Services = o.Services; o.Services = l })
			from, _ := d.fixture.Talk(t)
			to, _ := d.fixture.Talk(t)
			l.away = func() {}
			client := d.client(tokenOf + from)
			view, err := client.Ask(t.Context(), cw.AskRequest{RequestKey: key, Question: "Where?", AgentID: to})
			if key == "" {
				if cw.ErrorCode(err) != cw.CodeUnreachable {
					t.Errorf("asked twice, or: %v", err)
				}
				return
			}
			noError(t, err)
			page, err := d.memory.Conversations(t.Context(), cw.ConversationFilter{})
			noError(t, err)
			if len(page.Items) != 1 || page.Items[0].ID != view.ID {
				t.Errorf("asked %d times", len(page.Items))
			}
			d.stop()
			heard, answers := make(chan cw.PendingConversation, 2), make(chan cw.ConversationView, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var all sync.WaitGroup
			defer all.Wait()
			defer cancel()
			all.Go(func() { // no daemon is there at first
				for p, err := range d.client(tokenOf+to).PendingConversations(ctx, to) {
					if err != nil {
						return
					}
					heard <- p
				}
			})
			all.Go(func() {
				if view, err := client.AwaitConversation(ctx, string(view.ID)); err == nil {
					answers <- view
				}
			})
			d.start(t)
			if p := <-heard; p.ConversationID != view.ID {
				t.Errorf("heard %+v", p)
			}
			d.stop()
			d.start(t)
			next, err := client.Ask(t.Context(), cw.AskRequest{RequestKey: cw.NewID(), Question: "And when?", AgentID: to})
			noError(t, err)
			if p := <-heard; p.ConversationID != next.ID { // what is open comes again, and before it
				t.Errorf("heard again: %+v", p)
			}
			_, err = d.client(tokenOf+to).AnswerConversation(t.Context(), string(view.ID), cw.ConversationAnswer{Answer: "There"})
			noError(t, err)
			if got := <-answers; got.Answer != "There" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A daemon of another version is not waited for.
func TestConversationOfAnotherVersion(t *testing.T) {
	t.Parallel()
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cw-Api", "9.0")
		w.WriteHeader(http.StatusOK)
	})}
	dial := serveOld(t, server)
	client := api.NewClient(api.ClientOptions{Dial: dial})
	_, err := client.Ask(t.Context(), cw.AskRequest{RequestKey: "k", Question: "x", AgentID: servicetest.PreparedAgent})
	if cw.ErrorCode(err) != cw.CodeUnreachable {
		t.Errorf("Ask: %v", err)
	}
	if _, err := client.AwaitConversation(t.Context(), "x"); cw.ErrorCode(err) != cw.CodeUnreachable {
		t.Errorf("AwaitConversation: %v", err)
	}
}

// serveOld serves on a socket until the test ends.
func serveOld(t *testing.T, server *http.Server) func(context.Context) (net.Conn, error) {
	t.Helper()
	socket := filepath.Join(socketDir(t), "s")
	listener, err := net.Listen("unix", socket)
	noError(t, err)
	done := make(chan struct{})
	go func() { _ = server.Serve(listener); close(done) }() // ends with Close
	t.Cleanup(func() { _ = server.Close(); <-done })
	return func(ctx context.Context) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", socket)
	}
}
