package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// rawClient speaks HTTP to the socket without the manners of api.Client.
func rawClient(t *testing.T, d *daemon) *http.Client {
	t.Helper()
	return &http.Client{
		Timeout: patience,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var dialer net.Dialer
				return dialer.DialContext(ctx, "unix", d.socket)
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// reply is an answer with its error, if it is one.
type reply struct {
	status int
	header http.Header
	body   string
	err    cw.Error
}

func (r reply) String() string { return fmt.Sprintf("%d %s", r.status, r.body) }

func send(t *testing.T, d *daemon, method, target, body string, header map[string]string) reply {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://cw.sock"+target, reader)
	noError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header[name] = []string{value}
	}
	resp, err := rawClient(t, d).Do(req)
	noError(t, err)
	defer func() { _ = resp.Body.Close() }()
	// A stream that goes on is read no further than its head.
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 1))
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		rest, err := io.ReadAll(resp.Body)
		noError(t, err)
		data = append(data, rest...)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, body: string(data)}
	if r.status != http.StatusOK {
		if err := json.Unmarshal(data, &r.err); err != nil || r.err.Code == "" || r.err.Message == "" {
			t.Fatalf("%s %s: not our form of error: %s", method, target, r)
		}
	}
	if got := resp.Header.Get("Cw-Api"); got != cw.APIVersion {
		t.Errorf("%s %s: Cw-Api %q", method, target, got)
	}
	return r
}

// target fills a route's pattern.
func target(row api.Route, agent string) string {
	path := strings.NewReplacer("{id}", agent, "{step}", "step-0", "{ref}", servicetest.PreparedProject).Replace(row.Path)
	for _, noun := range []string{"initiative", "page", "phase", "task", "proposal"} {
		path = strings.ReplaceAll(path, "{"+noun+"}", "spring-sale")
	}
	for _, noun := range []string{"conversation", "request", "response"} {
		path = strings.ReplaceAll(path, "{"+noun+"}", "k3v7q2mzt5ha")
	}
	switch row.ID {
	case "get-agent-diff":
		path += "?stat=true"
	case "prove-session":
		path += "?nonce=0123456789abcdef"
	case "list-tasks":
		path += "?initiative=spring-sale"
	}
	return path
}

func bodyFor(row api.Route) string {
	switch row.ID {
	case "add-project":
		return `{"path":"/nowhere"}`
	case "spawn-agent":
		return `{"goal":"x"}`
	case "start-session":
		return `{"code":"x"}`
	case "create-token":
		return `{"name":"wall-screen"}`
	case "send-message":
		return `{"text":"x"}`
	case "ask-people":
		return `{"questions":[]}`
	case "message-agent":
		return `{"agentId":"execute","content":"x"}`
	case "set-plan":
		return `{"title":"x","steps":[{"title":"y"}]}`
	case "move-plan-step":
		return `{"status":"completed"}`
	case "answer-questions":
		return `{"answers":{"k3v7q2mzt5ha":"x"}}`
	case "ask-agent":
		return `{"question":"x","agentId":"calm-heron"}`
	case "answer-conversation":
		return `{"answer":"x"}`
	case "trust-project":
		return `{"digest":"x"}`
	case "set-project":
		return `{"stall":"resume"}`
	case "make-backup":
		return `{"path":"nowhere"}`
	case "add-account":
		return `{"name":"work","token":"sk-ant-oat01-x"}`
	case "discover-accounts":
		return `{"env":{}}`
	case "set-account":
		return `{"enabled":false}`
	case "create-initiative", "edit-initiative", "create-phase", "edit-phase", "create-task", "edit-task":
		return `{"name":"x"}`
	case "edit-page-document":
		return `{"revision":1,"document":{"type":"doc"}}`
	case "create-page", "edit-page":
		return `{"title":"x"}`
	case "accept-proposals", "dismiss-proposals":
		return `{"ids":["k3v7q2mzt5ha"]}`
	case "render-prompt":
		return `{"mode":"execute","goal":"x"}`
	case "set-dispatch":
		return `{"state":"paused"}`
	case "decide-task":
		return `{"accept":true}`
	case "land-initiative":
		return `{"dryRun":true}`
	case "set-budget":
		return `{"scope":"agent","ref":"brave-otter","limitUsd":5}`
	}
	return ""
}

// agentsOnly are the routes that refuse people, in words of the service.
func agentsOnly() []string {
	return []string{"ask-agent", "answer-conversation", "list-pending-conversations", "ask-people", "message-agent", "get-toolbox"}
}

// want is what the table promises a caller: 0 means let in.
func want(row api.Route, token string, self bool) int {
	switch token {
	case "":
		if slices.Contains(agentsOnly(), row.ID) {
			return http.StatusForbidden // the service says what is for people
		}
		return 0
	case tokenUnknown:
		return http.StatusForbidden
	}
	granted := map[string]bool{
		"get-whoami": true, "list-agents": true, "ask-agent": true, "ask-people": true, "message-agent": true,
		"get-toolbox": true,
	}
	if self {
		granted["get-agent"], granted["get-agent-diff"], granted["get-agent-output"] = true, true, true
		granted["get-agent-output-page"] = true
		granted["list-pending-conversations"] = true
		granted["get-plan"], granted["set-plan"], granted["move-plan-step"] = true, true, true
	}
	if granted[row.ID] {
		return 0
	}
	return http.StatusForbidden
}

// hostile are headers that only a browser or an attacker sends.
func hostile() map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, host := range []string{
		"evil.com", "localhost", "127.0.0.1", "[::1]", "cw.sock.", "CW.SOCK", "cw.sock:80", "cw.sock:443", "a.cw.sock",
		"cw.sock.evil.com", "127.0.0.1.nip.io", "[::ffff:127.0.0.1]", "cw.sock@evil.com",
	} {
		out["host "+host] = map[string]string{"Host": host}
	}
	for _, origin := range []string{"null", "", "http://cw.sock", "https://evil.com", "http://localhost:3000", "file://"} {
		out["origin "+origin] = map[string]string{"Origin": origin}
		out["referer "+origin] = map[string]string{"Referer": origin}
	}
	for name, value := range map[string]string{
		"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty", "Sec-Fetch-User": "?1", "Sec-Fetch-New": "",
	} {
		out[name] = map[string]string{name: value}
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonp", "application/json, text/plain", ";"} {
		out["content type "+kind] = map[string]string{"Content-Type": kind}
	}
	for _, auth := range []string{"", "Bearer", "Bearer ", "Basic dTpw", "cwa_self"} {
		out["authorization "+auth] = map[string]string{"Authorization": auth}
	}
	out["newer API"] = map[string]string{"Cw-Api": "2.0"}
	out["odd API"] = map[string]string{"Cw-Api": "x"}
	return out
}

// Every route × every kind of caller, with clean headers, is decided by the
// table and by nothing else.
func TestRights(t *testing.T) {
	t.Parallel()
	n := 0
	for _, row := range api.Routes() {
		for _, token := range []string{"", tokenSelf, tokenOther, tokenUnknown} {
			// A fresh one for each, because some of the routes change things.
			d := startDaemon(t, nil)
			byID := string(d.agent(t, servicetest.PreparedAgent))
			for _, named := range []string{servicetest.PreparedAgent, byID, "no-such-agent", "BRAVE-OTTER", byID + "x", "%20" + byID} {
				n++
				isIt := named == servicetest.PreparedAgent || named == byID
				header := map[string]string{}
				if token != "" {
					header["Authorization"] = "Bearer " + token
				}
				before := len(d.refusals())
				got := send(t, d, row.Method, target(row, named), bodyFor(row), header)
				if token == "" && isIt && row.Scope == cw.ScopePlan { // the table lets people in, and the service does not
					if got.err.Code != cw.CodeForbidden || len(d.refusals()) != before {
						t.Errorf("%s by a person: %s", row.ID, got)
					}
					continue
				}
				wanted := want(row, token, isIt && token == tokenSelf)
				if (wanted == http.StatusForbidden) != (got.status == http.StatusForbidden) || got.status == http.StatusUnauthorized && row.ID != "start-session" {
					t.Errorf("%s %s by %q: %s", row.Method, target(row, named), token, got)
				}
				if wanted != 0 && got.err.Code != cw.CodeForbidden {
					t.Errorf("%s by %q: code %q", row.ID, token, got.err.Code)
				}
				told := len(d.refusals()) - before
				if wantTold := wanted != 0 && token != tokenUnknown && token != ""; (told == 1) != wantTold {
					t.Errorf("%s by %q: OnRefused was called %d times", row.ID, token, told)
				}
			}
			d.stop()
		}
	}
	t.Logf("%d combinations of route, caller and name", n)
}

// Every route × hostile headers × callers: refused before Identify and before
// any service, and without the body being read.
func TestHostileHeaders(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, func(o *api.Options) { o.Services = nil2{} })
	n := 0
	for _, row := range api.Routes() {
		for name, extra := range hostile() {
			for _, token := range []string{"", tokenSelf, tokenOther, tokenUnknown} {
				n++
				header := map[string]string{}
				if token != "" {
					header["Authorization"] = "Bearer " + token
				}
				for k, v := range extra {
					header[k] = v
				}
				got := send(t, d, row.Method, target(row, servicetest.PreparedAgent), "", header)
				if got.status < 400 || got.err.Code == cw.CodeInternal {
					t.Errorf("%s %s with %s by %q: %s", row.Method, row.Path, name, token, got)
				}
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.peers) != 0 {
		t.Errorf("Identify was asked %d times", len(d.peers))
	}
	t.Logf("%d combinations of route, headers and caller", n)
}

// nil2 has no services at all: a call of any panics and gives code internal.
type nil2 struct{ cw.Services }

// A caller that is no person and no agent has no right at all.
func TestOtherKindsMayNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []cw.ActorKind{cw.ActorDashboard, cw.ActorCW, "", "root"} {
		d := startDaemon(t, func(o *api.Options) {
			o.Services = nil2{}
			o.Identify = func(context.Context, api.Peer) (cw.Actor, error) { return cw.Actor{Kind: kind}, nil }
		})
		for _, row := range api.Routes() {
			if got := send(t, d, row.Method, target(row, "x"), bodyFor(row), nil); got.status != http.StatusForbidden {
				t.Errorf("%q on %s: %s", kind, row.ID, got)
			}
		}
		d.stop()
	}
}

// A token with fewer rights than a run's has only those.
func TestScopes(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, func(o *api.Options) {
		o.Rights = func(context.Context, cw.Actor) (cw.Rights, error) {
			return cw.Rights{Scopes: []cw.Scope{cw.ScopePeers}}, nil
		}
	})
	auth := map[string]string{"Authorization": "Bearer " + tokenSelf}
	if got := send(t, d, "GET", "/v1/whoami", "", auth); got.status != http.StatusForbidden {
		t.Errorf("whoami without its scope: %s", got)
	}
	if got := send(t, d, "GET", "/v1/agents", "", auth); got.status != http.StatusOK {
		t.Errorf("list with its scope: %s", got)
	}
}

// An agent's list of agents is itself, however it is filtered.
func TestAgentListsItself(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	for token, name := range map[string]string{tokenSelf: servicetest.PreparedAgent, tokenOther: servicetest.PreparedStandalone} {
		for _, f := range []cw.AgentFilter{{}, {PageQuery: cw.PageQuery{Limit: 1}}} {
			list, err := cw.AllAgents(t.Context(), d.client(token), f)
			noError(t, err)
			if len(list) != 1 || list[0].Alias != name {
				t.Errorf("%s sees %d agents", name, len(list))
			}
		}
	}
	list, err := cw.AllAgents(t.Context(), d.client(tokenSelf), cw.AgentFilter{Statuses: []cw.AgentStatus{cw.StatusCrashed}})
	if err != nil || len(list) != 0 {
		t.Errorf("filtered out: %v %v", list, err)
	}
	who, err := d.client(tokenOther).Whoami(t.Context())
	noError(t, err)
	if who.Kind != cw.ActorAgent || who.AgentID != d.agent(t, servicetest.PreparedStandalone) {
		t.Errorf("whoami: %+v", who)
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	const path = "/v1/agents"
	cases := []struct {
		name, body, contentType string
		status                  int
		text                    string
	}{
		{"good", `{"goal":"x"}`, "application/json", 200, ""},
		{"with charset", `{"goal":"x"}`, "application/json; charset=utf-8", 200, ""},
		{"unknown fields", `{"goal":"x","newInVersion9":{"a":[1]},"projects":null}`, "application/json", 200, ""},
		{"empty", "", "application/json", 400, "body"},
		{"not JSON", "goal=x", "application/json", 400, "body"},
		{"half", `{"goal":"x`, "application/json", 400, "body"},
		{"two values", `{"goal":"x"} {"goal":"y"}`, "application/json", 400, "body"},
		{"array", `[{"goal":"x"}]`, "application/json", 400, "body"},
		{"null", `null`, "application/json", 400, "body"},
		{"no goal", `{}`, "application/json", 400, "goal"},
		{"wrong type", `{"goal":7}`, "application/json", 400, "goal"},
		{"wrong type inside", `{"goal":"x","env":{"A":1}}`, "application/json", 400, "env"},
		{"key twice", `{"goal":"x","goal":"y"}`, "application/json", 400, "twice"},
		{"key twice inside", `{"goal":"x","env":{"A":"1","B":"2","A":"3"}}`, "application/json", 400, "twice"},
		{"same key in two objects", `{"goal":"x","a":[{"k":1},{"k":2}],"b":{"k":{"k":3}},"k":"k"}`, "application/json", 200, ""},
		{"keys that differ in case", `{"goal":"x","env":{"http_proxy":"1","HTTP_PROXY":"2"}}`, "application/json", 200, ""},
		{"text", `{"goal":"x"}`, "text/plain", 400, "JSON"},
		{"cbor", `{"goal":"x"}`, "application/cbor", 400, "JSON"},
		{"no type", `{"goal":"x"}`, "", 400, "JSON"},
		{"deep", strings.Repeat("[", 200_000), "application/json", 400, "body"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := send(t, d, "POST", path, c.body, map[string]string{"Content-Type": c.contentType})
			if got.status != c.status || !strings.Contains(got.err.Message, c.text) || c.status == 400 && got.err.Code != cw.CodeInvalid {
				t.Errorf("%.300s", got)
			}
			if got.header.Get("Content-Type") != "application/json" || len(got.body) > 4096 {
				t.Errorf("answered with %s, %d bytes", got.header.Get("Content-Type"), len(got.body))
			}
		})
	}
}

// endless is a body without a length.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	e.left -= n
	copy(p, bytes.Repeat([]byte(" "), n))
	return n, nil
}

func TestBodyTooLarge(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	for _, chunked := range []bool{true, false} {
		body := io.MultiReader(strings.NewReader(`{"goal":"x"}`), &endless{api.BodyMax})
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://cw.sock/v1/agents", body)
		noError(t, err)
		req.Header.Set("Content-Type", "application/json")
		if !chunked {
			req.ContentLength = api.BodyMax + int64(len(`{"goal":"x"}`))
		}
		resp, err := rawClient(t, d).Do(req)
		if err != nil { // it may hang up while we still send
			t.Logf("chunked %v: %v", chunked, err)
			continue
		}
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("chunked %v: %d", chunked, resp.StatusCode)
		}
		_ = resp.Body.Close()
	}
	list, err := cw.AllAgents(t.Context(), d.memory, cw.AgentFilter{})
	if err != nil || len(list) != 2 {
		t.Errorf("%d agents, %v", len(list), err)
	}
}

// A body that says it is too long is refused before any of it is read.
func TestBodyTooLargeByItsHeader(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	conn, err := net.Dial("unix", d.socket)
	noError(t, err)
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = fmt.Fprintf(conn, "POST /v1/agents HTTP/1.1\r\nHost: cw.sock\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", api.BodyMax+1)
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") || !strings.Contains(string(answer), "is longer than") {
		t.Errorf("%v: %s", err, answer)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	out := "/v1/agents/" + servicetest.PreparedAgent + "/output"
	for target, status := range map[string]int{
		"/v1/agents?limit=1":                    200,
		"/v1/agents?limit=-1":                   400,
		"/v1/agents?limit=x":                    400,
		"/v1/agents?limit=9223372036854775808":  400,
		"/v1/agents?unknown=1":                  200,
		"/v1/events?since=-1":                   400,
		"/v1/events?since=x":                    400,
		"/v1/events?follow=maybe":               400,
		"/v1/events?since=9223372036854775807":  400,
		"/v1/events?since=9223372036854775808":  400,
		"/v1/events?since=6":                    400,
		"/v1/events?since=6&tail=true":          200,
		"/v1/events?since=5":                    200,
		"/v1/events?type=agent:stoped":          400,
		"/v1/events?type=agent:stopped,x":       400,
		"/v1/events?type=":                      200,
		"/v1/events?initiative=none":            404,
		"/v1/events?initiative=springsaleaa":    200,
		"/v1/agents?initiative=none":            404,
		out:                                     200,
		out + "?format=events":                  200,
		out + "?format=xml":                     400,
		out + "?until=never":                    400,
		out + "?session=-1":                     400,
		out + "?offset=-1":                      400,
		out + "?offset=99999999999":             400,
		out + "?session=1&offset=99999999999":   200,
		"/v1/agents/nobody/output":              404,
		"/v1/agents/nobody/output?until=closed": 404,
		"/v1/events?agent=nobody&follow=true":   404,
		"/v1/events?since=1":                    410,
	} {
		if got := send(t, d, "GET", target, "", nil); got.status != status {
			t.Errorf("%s: %s, want %d", target, got, status)
		}
	}
}

func TestLastEventID(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	for _, path := range []string{"/v1/events", "/v1/agents/" + servicetest.PreparedAgent + "/output", "/v1/agents/" + servicetest.PreparedAgent + "/output?format=events"} {
		ahead := 200 // what comes after any chunk is what comes next
		if path == "/v1/events" {
			ahead = 400
		}
		for id, status := range map[string]int{
			"5": 200, "6": ahead, "9223372036854775807": ahead, "": 200, "0": 200,
			"-1": 400, "9223372036854775808": 400, "1e3": 400, "0x10": 400, "text": 400, "5 ": 200, "5;": 400, "+5": 400, "١": 400, "5,6": 400,
		} {
			got := send(t, d, "GET", path, "", map[string]string{"Last-Event-ID": id})
			if got.status != status {
				t.Errorf("%s with %q: %s, want %d", path, id, got, status)
			}
		}
	}
}

func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	cases := []struct {
		method, target string
		status         int
		allow          string
	}{
		{"GET", "/", 404, ""},
		{"GET", "/v1", 404, ""},
		{"GET", "/v1/", 404, ""},
		{"GET", "/v1/nothing", 404, ""},
		{"GET", "/v1/status/", 404, ""},
		{"GET", "//v1/status", 404, ""},
		{"GET", "/v1//status", 404, ""},
		{"GET", "/v1/./status", 404, ""},
		{"GET", "/v1/projects/../status", 404, ""},
		{"GET", "/V1/status", 404, ""},
		{"GET", "/openapi.json", 404, ""},
		{"GET", "/docs", 404, ""},
		{"GET", "/schemas/Project.json", 404, ""},
		{"POST", "/v1/status", 405, "GET"},
		{"HEAD", "/v1/status", 405, ""},
		{"OPTIONS", "/v1/agents", 405, "GET, POST"},
		{"DELETE", "/v1/agents", 405, "GET, POST"},
		{"PUT", "/v1/projects/x", 405, "GET, DELETE"},
		{"PATCH", "/v1/agents/x", 405, "GET"},
		{"GET", "/v1/shutdown", 405, "POST"},
	}
	for _, c := range cases {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://cw.sock"+c.target, nil)
		noError(t, err)
		resp, err := rawClient(t, d).Do(req)
		noError(t, err)
		var e cw.Error
		decodeErr := json.NewDecoder(resp.Body).Decode(&e)
		_ = resp.Body.Close()
		code := map[int]cw.Code{404: cw.CodeNotFound, 405: cw.CodeInvalid}[c.status]
		if resp.StatusCode != c.status || c.method != "HEAD" && (decodeErr != nil || e.Code != code) {
			t.Errorf("%s %s: %d %+v", c.method, c.target, resp.StatusCode, e)
		}
		if got := strings.Join(resp.Header.Values("Allow"), ", "); c.allow != "" && got != c.allow {
			t.Errorf("%s %s: allow %q, want %q", c.method, c.target, got, c.allow)
		}
	}
	if d.memory.ShutdownAsked() {
		t.Error("it was shut down by GET")
	}
}

// Requests that no HTTP library sends never reach a service.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, func(o *api.Options) { o.Services = nil2{} })
	for name, text := range map[string]string{
		"no host":       "GET /v1/status HTTP/1.1\r\n\r\n",
		"HTTP/1.0":      "GET /v1/status HTTP/1.0\r\n\r\n",
		"two hosts":     "GET /v1/status HTTP/1.1\r\nHost: cw.sock\r\nHost: evil.com\r\n\r\n",
		"absolute form": "GET http://evil.com/v1/status HTTP/1.1\r\nHost: cw.sock\r\n\r\n",
		"options star":  "OPTIONS * HTTP/1.1\r\nHost: cw.sock\r\nOrigin: x\r\n\r\n",
		"connect":       "CONNECT cw.sock:80 HTTP/1.1\r\nHost: cw.sock:80\r\n\r\n",
		"two tokens":    "GET /v1/status HTTP/1.1\r\nHost: cw.sock\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
		"two types":     "POST /v1/shutdown HTTP/1.1\r\nHost: cw.sock\r\nContent-Type: application/json\r\nContent-Type: text/plain\r\n\r\n",
		"long header":   "GET /v1/status HTTP/1.1\r\nHost: cw.sock\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n",
		"HTTP/2":        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"upper origin":  "GET /v1/status HTTP/1.1\r\nHost: cw.sock\r\nORIGIN: null\r\n\r\n",
		"sec-fetch":     "GET /v1/status HTTP/1.1\r\nHost: cw.sock\r\nsec-fetch-Anything: 1\r\n\r\n",
	} {
		conn, err := net.Dial("unix", d.socket)
		noError(t, err)
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, text)
		_ = conn.(*net.UnixConn).CloseWrite()
		answer, _ := io.ReadAll(conn)
		_ = conn.Close()
		status := strings.TrimPrefix(strings.TrimPrefix(string(answer), "HTTP/1.1 "), "HTTP/1.0 ")
		if !strings.HasPrefix(status, "4") && !strings.HasPrefix(status, "505") {
			t.Errorf("%s: %.200q", name, answer)
		}
	}
}

// Without Serve nobody knows who is at the other end.
func TestHandlerAloneRefuses(t *testing.T) {
	t.Parallel()
	server, err := api.NewServer(api.Options{
		Services: nil2{}, Identify: func(context.Context, api.Peer) (cw.Actor, error) { return cw.Actor{Kind: cw.ActorPerson}, nil },
	})
	noError(t, err)
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://cw.sock/v1/status", nil))
	if w.Code != http.StatusUnauthorized {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

// What Identify says is passed on; what it breaks on is not.
func TestIdentifyErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
	}{
		{cw.Errorf(cw.CodeForbidden, "the token belongs to another process tree"), 403},
		{cw.Errorf(cw.CodeUnauthorized, "who are you"), 401},
		{errors.New("secret cause"), 500},
	} {
		d := startDaemon(t, func(o *api.Options) {
			o.Services = nil2{}
			o.Identify = func(context.Context, api.Peer) (cw.Actor, error) {
				return cw.Actor{Kind: cw.ActorPerson}, c.err
			}
		})
		got := send(t, d, "GET", "/v1/status", "", nil)
		if got.status != c.status || strings.Contains(got.body, "secret") {
			t.Errorf("%v: %s", c.err, got)
		}
		d.stop()
	}
}
