package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cw/internal/api"
	"cw/internal/cwtest/servicetest"
)

// promised is what each route promises over TCP and to agents, written down a
// second time: a route that is not here, or is otherwise in the table, fails.
func promised() map[string]promise {
	return map[string]promise{
		"get-status":                 {"read", ""},
		"shut-down":                  {"never", ""},
		"get-whoami":                 {"read", "any"},
		"list-projects":              {"read", ""},
		"add-project":                {"operate", ""},
		"get-project":                {"read", ""},
		"remove-project":             {"operate", ""},
		"get-project-file":           {"read", ""},
		"trust-project":              {"person", ""},
		"list-agents":                {"read", "any"},
		"spawn-agent":                {"operate", ""},
		"get-agent":                  {"read", "self"},
		"stop-agent":                 {"operate", ""},
		"resume-agent":               {"operate", ""},
		"remove-agent":               {"operate", ""},
		"restore-agent":              {"operate", ""},
		"open-worktree":              {"operate", ""},
		"list-messages":              {"read", ""},
		"send-message":               {"operate", ""},
		"list-questions":             {"read", ""},
		"get-question":               {"read", ""},
		"ask-people":                 {"never", "any"},
		"await-answers":              {"stream", "part"},
		"message-agent":              {"never", "any"},
		"await-agent-message":        {"stream", "part"},
		"get-toolbox":                {"never", "any"},
		"answer-questions":           {"operate", ""},
		"list-conversations":         {"read", ""},
		"get-conversation":           {"read", "initiative"},
		"ask-agent":                  {"never", "any"},
		"await-conversation":         {"stream", "initiative"},
		"answer-conversation":        {"never", "initiative"},
		"list-pending-conversations": {"never", "self"},
		"set-project":                {"operate", ""},
		"collect-garbage":            {"never", ""},
		"make-backup":                {"never", ""},
		"try-hooks":                  {"person", ""},
		"get-agent-diff":             {"read", "self"},
		"get-agent-output":           {"stream", "self"},
		"get-agent-output-page":      {"read", "self"},
		"get-plan":                   {"read", "self"},
		"set-plan":                   {"never", "self"},
		"move-plan-step":             {"never", "self"},
		"list-initiatives":           {"read", ""},
		"create-initiative":          {"operate", ""},
		"get-initiative":             {"read", "initiative"},
		"edit-initiative":            {"operate", ""},
		"create-pull-request":        {"person", ""},
		"list-pages":                 {"read", "initiative"},
		"create-page":                {"operate", ""},
		"get-page":                   {"read", "initiative"},
		"edit-page":                  {"operate", ""},
		"get-page-document":          {"read", "initiative"},
		"edit-page-document":         {"operate", ""},
		"remove-page":                {"operate", ""},
		"list-phases":                {"read", "initiative"},
		"create-phase":               {"operate", ""},
		"get-phase":                  {"read", "initiative"},
		"edit-phase":                 {"operate", ""},
		"list-initiative-tasks":      {"read", "initiative"},
		"list-tasks":                 {"read", ""},
		"create-task":                {"operate", ""},
		"get-task":                   {"read", "initiative"},
		"edit-task":                  {"operate", ""},
		"get-dispatch":               {"read", ""},
		"set-dispatch":               {"operate", ""},
		"get-inbox":                  {"read", ""},
		"get-dispatch-plan":          {"read", ""},
		"retry-task":                 {"operate", ""},
		"decide-task":                {"operate", ""},
		"list-merges":                {"read", ""},
		"list-integrations":          {"read", ""},
		"land-initiative":            {"person", ""},
		"get-task-diff":              {"read", ""},
		"get-initiative-diff":        {"read", ""},
		"list-proposals":             {"read", ""},
		"get-proposal":               {"read", "initiative"},
		"accept-proposals":           {"operate", ""},
		"dismiss-proposals":          {"operate", ""},
		"render-prompt":              {"read", ""},
		"list-accounts":              {"read", ""},
		"get-account":                {"read", ""},
		"add-account":                {"never", ""},
		"discover-accounts":          {"never", ""},
		"set-account":                {"operate", ""},
		"remove-account":             {"operate", ""},
		"login-account":              {"never", ""},
		"finish-login":               {"never", ""},
		"get-account-usage":          {"operate", ""},
		"test-account":               {"operate", ""},
		"list-providers":             {"read", ""},
		"get-provider":               {"read", ""},
		"get-costs":                  {"read", ""},
		"list-budgets":               {"read", ""},
		"set-budget":                 {"operate", ""},
		"list-tokens":                {"person", ""},
		"create-token":               {"never", ""},
		"revoke-token":               {"person", ""},
		"open-dashboard":             {"never", ""},
		"get-config":                 {"person", ""},
		"start-session":              {"own page", ""},
		"prove-session":              {"anyone", ""},
		"end-session":                {"person", ""},
		"get-events":                 {"stream", ""},
		"list-event-log":             {"read", ""},
		"create-stream-ticket":       {"read", ""},
		"get-openapi":                {"read", ""},
		"get-health":                 {"anyone", ""},
		"get-metrics":                {"read", ""},
	}
}

type promise struct {
	tcp   string // the right that is needed: stream is read, and a ticket will do; "own page": no token, from there
	agent string // "self": an agent may ask about itself; "any": it names nobody; "initiative": whose it is has to be looked up, a conversation too; "part": it is nobody's, which the table of who asked and sent tells
}

// The callers, by what they show.
const (
	showsNothing = "nothing"
	showsTicket  = "a ticket"
)

// verdict is the oracle: the status that a request must get; 0 means that it
// must reach the service.
func verdict(d door, p promise, tr trial, caller string) int {
	if d.network == "unix" {
		return socketVerdict(p, tr, caller)
	}
	switch tr.fails {
	case broken:
		return http.StatusBadRequest
	case host:
		return http.StatusForbidden
	}
	if p.tcp == "anyone" {
		return http.StatusOK
	}
	if tr.fails == page {
		return http.StatusForbidden
	}
	if p.tcp == "own page" {
		return ownPageVerdict(d, tr)
	}
	stream := p.tcp == "stream"
	switch {
	case tr.fails == auth, caller == showsNothing, caller == tokenUnknown, caller == tokenRevoked, caller == showsTicket && !stream:
		return http.StatusUnauthorized
	case caller == tokenSelf:
		return http.StatusForbidden
	case tr.fails == version:
		return http.StatusServiceUnavailable
	case tr.fails == form:
		return http.StatusBadRequest
	case p.tcp == "never", p.tcp == "person" && caller != tokenPerson, p.tcp == "operate" && caller != tokenOperate && caller != tokenPerson:
		return http.StatusForbidden
	}
	return 0
}

// ownPageVerdict: nobody's token counts, and a browser's word for the page does.
func ownPageVerdict(d door, tr trial) int {
	switch {
	case !slices.Contains(tr.lines, "Origin: http://"+d.host):
		return http.StatusForbidden
	case tr.fails == version:
		return http.StatusServiceUnavailable
	case tr.fails == form:
		return http.StatusBadRequest
	}
	return 0
}

func socketVerdict(p promise, tr trial, caller string) int {
	switch tr.fails {
	case broken, form:
		return http.StatusBadRequest
	case host, page:
		return http.StatusForbidden
	case auth:
		return http.StatusUnauthorized
	case version:
		return http.StatusServiceUnavailable
	}
	switch {
	case caller == showsNothing, caller == showsTicket, // a person; a ticket means nothing here
		caller == tokenSelf && p.agent != "" && p.agent != "part", caller == tokenOther && (p.agent == "any" || p.agent == "initiative"):
		return 0
	}
	return http.StatusForbidden
}

// matrix sends everything and counts.
type matrix struct {
	t       *testing.T
	d       *daemon
	tcp     door
	self    string
	sent    atomic.Int64
	reached atomic.Int64 // requests that must have reached a service
	allowed atomic.Int64 // requests that were wrongly let in
}

// Every route × sets of headers × callers over both listeners: what is refused
// reaches no service, and not a byte of its body is asked for.
func TestHostileMatrix(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, func(o *api.Options) { dashboards(o); o.Services, o.Site = nil2{}, siteFiles() })
	m := &matrix{t: t, d: d, tcp: d.serveTCP(t), self: string(d.agent(t, servicetest.PreparedAgent))}
	promises := promised()
	if got := len(api.Routes()); got != len(promises) {
		t.Errorf("%d routes and %d promises", got, len(promises))
	}
	jobs := make(chan func())
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for job := range jobs {
				job()
			}
		})
	}
	for _, row := range api.Routes() {
		p, ok := promises[row.ID]
		if !ok {
			t.Errorf("nothing is promised of %s: say here what its callers may", row.Pattern())
			continue
		}
		for _, at := range []door{m.tcp, d.socketDoor()} {
			m.each(at, func(tr trial, caller string) { jobs <- func() { m.try(at, row, p, tr, caller) } })
		}
	}
	close(jobs)
	workers.Wait()
	if n := strings.Count(d.log.String(), `msg="internal error"`); n != int(m.reached.Load()) {
		t.Errorf("services were reached %d times, and should %d times", n, m.reached.Load())
	}
	if m.sent.Load() < 1500 || m.allowed.Load() != 0 {
		t.Errorf("%d requests, %d wrongly allowed", m.sent.Load(), m.allowed.Load())
	}
	t.Logf("%d requests over both listeners, %d of them let in, %d wrongly", m.sent.Load(), m.reached.Load(), m.allowed.Load())
}

func (m *matrix) each(at door, visit func(trial, string)) {
	trials := socketTrials(at)
	callers := []string{showsNothing, tokenUnknown, tokenSelf, tokenOther, showsTicket}
	if at.network == "tcp" {
		trials = tcpTrials(at)
		callers = []string{showsNothing, tokenUnknown, tokenRevoked, tokenRead, tokenOperate, tokenPerson, tokenSelf, showsTicket}
	}
	if len(trials) < 30 {
		m.t.Errorf("%d sets of headers", len(trials))
	}
	for _, tr := range trials {
		if tr.own {
			visit(tr, showsNothing)
			continue
		}
		for _, caller := range callers {
			visit(tr, caller)
		}
	}
}

// try sends one request. A body is promised and not sent where it must not be
// read: who reads it answers 100 first.
func (m *matrix) try(at door, row api.Route, p promise, tr trial, caller string) {
	want := verdict(at, p, tr, caller)
	target := target(row, m.self)
	var lines []string
	switch tr.host {
	case "":
		lines = append(lines, "Host: "+at.host)
	case noHost:
	default:
		lines = append(lines, "Host: "+tr.host)
	}
	lines = append(lines, tr.lines...)
	switch caller {
	case showsNothing:
	case showsTicket:
		target = with(target, "ticket="+m.ticket())
	default:
		lines = append(lines, bearerLine(caller))
	}
	if tr.to != nil {
		target = tr.to(target)
	}
	body := bodyFor(row)
	if body != "" || row.Method != http.MethodGet && want != 0 {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Content-Type:") }) {
			lines = append(lines, "Content-Type: application/json")
		}
		lines = append(lines, fmt.Sprintf("Content-Length: %d", max(len(body), 2)))
	}
	if want != 0 {
		body = ""
		lines = append(lines, "Expect: 100-continue")
	}
	got, err := at.raw(request(row.Method, target, lines) + body)
	if err != nil {
		m.t.Errorf("%s %s by %s with %s at %s: %v", row.Method, row.Path, caller, tr.name, at.network, err)
		return
	}
	m.sent.Add(1)
	m.judge(at, row, tr, caller, want, got)
}

func (m *matrix) judge(at door, row api.Route, tr trial, caller string, want int, got rawReply) {
	// There are no services: who reaches one ends in a panic, which is a 500.
	// These have none behind them.
	serviceless := map[string]int{"create-stream-ticket": http.StatusOK, "get-openapi": http.StatusOK, "get-health": http.StatusOK, "prove-session": http.StatusOK, "get-metrics": http.StatusNotFound}
	wanted := want
	if want == 0 {
		if wanted = serviceless[row.ID]; wanted == 0 {
			wanted = http.StatusInternalServerError
			m.reached.Add(1)
		}
	}
	if want >= 400 && (got.status < 400 || got.status == http.StatusInternalServerError) {
		m.allowed.Add(1)
	}
	if got.status != wanted {
		m.t.Errorf("%s %s by %s with %s at %s: %s, want %d", row.Method, row.Path, caller, tr.name, at.network, got, wanted)
	}
	if tr.fails == broken {
		return // net/http's own words
	}
	if want >= 400 && (got.err.Code == "" || got.err.Message == "") {
		m.t.Errorf("%s %s: not our form of error: %s", row.Method, row.Path, got)
	}
	if at.network == "tcp" {
		checkTCPHeaders(m.t, got, caller == showsNothing || wanted == http.StatusUnauthorized)
	}
}

// ticket gives one that works.
func (m *matrix) ticket() string {
	got := m.tcp.ask(m.t, "POST", "/v1/stream-tickets", bearerLine(tokenRead))
	return ticketOf(m.t, got)
}

// checkTCPHeaders looks at what every answer must have, and must not.
func checkTCPHeaders(t testing.TB, got rawReply, stranger bool) {
	t.Helper()
	for name, value := range map[string]string{
		"X-Content-Type-Options":       "nosniff",
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cache-Control":                "no-store",
		"Cw-Api":                       "1.0",
	} {
		if values := got.header.Values(name); len(values) != 1 || values[0] != value {
			t.Errorf("%s: %q in %s", name, values, got)
		}
	}
	if got.header.Get("Set-Cookie") != "" || got.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("cookies or credentials in %v", got.header)
	}
	if stranger && got.header.Get("Server") != "" {
		t.Errorf("a stranger is told %q", got.header.Get("Server"))
	}
	if (got.status == http.StatusUnauthorized) != (got.header.Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("WWW-Authenticate %q in %s", got.header.Get("WWW-Authenticate"), got)
	}
}
