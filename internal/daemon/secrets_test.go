package daemon_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// TestSecretsStaySecret gives the daemon, its callers and its agents secrets in
// every way there is, lets them work, and then looks for these in everything
// that cw wrote down, tells or shows: plain, in base64, in hex and as in a URL.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	known := map[string]string{}         // by what it is
	secret := func(what string) string { // the same thing twice has two secrets
		what = fmt.Sprintf("%s (secret %d)", what, len(known))
		known[what] = "k/" + cw.NewID() + "+" + cw.NewID()
		return known[what]
	}
	l.Env = []string{
		"CW_CONFIG_HTTP_ADDRESS=127.0.0.1:0", "CW_CONFIG_METRICS_ENABLED=true", "CW_CONFIG_LOG_LEVEL=debug",
		"ANTHROPIC_API_KEY=" + secret("the daemon's key"), "SHOP_PASSWORD=" + secret("the daemon's password"),
	}
	must(t, os.WriteFile(l.Home.Config(), []byte("# "+secret("comment of the configuration")+"\nhttp:\n  allowedHosts: [allowed.invalid]\n"), 0o600))
	known["host of the configuration"] = "allowed.invalid"
	l.Start()
	address := l.Serving().HTTP
	token, err := l.Client().CreateToken(t.Context(), cw.TokenRequest{Name: "board"})
	must(t, err)
	known["token of the dashboard"] = token.Secret

	callAll(t, l, address, token.Secret, known, secret)
	names := workWithSecrets(t, l, known, secret)
	if code, _ := get(t, address, "/v1/agents", token.Secret); code != 200 {
		t.Fatalf("the right token is refused: %d", code)
	}

	places := written(t, l, "worker-0")
	places["events"] = strings.Join(allEvents(t, l), "\n")
	_, places["metrics"] = get(t, address, "/metrics", token.Secret)
	for _, path := range append([]string{"/v1/status", "/v1/agents", "/v1/projects", "/v1/tokens"}, names...) {
		places[path] = over(t, l, path)
	}
	for _, p := range lab.Processes(string(l.Home)) {
		places[fmt.Sprintf("command line of %d", p.PID)] = p.Command
	}
	if len(places["metrics"]) < 500 || len(places["events"]) < 500 || len(places["daemon.log"]) < 500 || len(known) < 30 {
		t.Fatalf("there is too little to look at: %d secrets, %v", len(known), slices.Sorted(maps.Keys(places)))
	}
	for what, value := range known {
		for _, form := range forms(value) {
			for place, text := range places {
				if strings.Contains(text, form) {
					t.Errorf("%s is in %s (as %s)", what, place, form)
				}
			}
		}
	}
}

// callAll makes requests with secrets in every place of a request.
func callAll(t *testing.T, l *lab.Lab, address, token string, known map[string]string, secret func(string) string) {
	t.Helper()
	word := func(what string) string { // of letters and digits alone
		known[what] = cw.NewID() + cw.NewID()
		return known[what]
	}
	socket := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, Dial: func(string, string) (net.Conn, error) { return net.Dial("unix", l.Socket()) }}}
	tcp := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	send := func(client *http.Client, method, target, body string, header map[string]string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		must(t, err)
		for name, value := range header {
			req.Header.Set(name, value)
		}
		res, err := client.Do(req)
		must(t, err)
		defer res.Body.Close()
		if strings.Contains(target, "/events") && res.StatusCode == 200 {
			return res.StatusCode, "" // it does not end
		}
		answer, err := io.ReadAll(res.Body)
		must(t, err)
		return res.StatusCode, string(answer)
	}
	right := "Bearer " + token
	for client, base := range map[*http.Client]string{socket: "http://" + api.SocketHost, tcp: "http://" + address} {
		by := map[*http.Client]string{socket: " on the socket", tcp: " on TCP"}[client]
		auth := right
		if client == socket {
			auth = "" // a person needs none
		}
		headers := []map[string]string{
			{"Authorization": "Bearer " + secret("wrong token"+by)},
			{"Authorization": "Basic " + secret("basic authorization"+by)},
			{"Authorization": auth, "Cookie": "session=" + secret("cookie"+by)},
			{"Authorization": auth, "X-Api-Key": secret("header" + by)},
			{"Authorization": auth, "Origin": "http://" + word("origin"+by) + ".invalid"},
			{"Authorization": auth, "Referer": "http://a.invalid/?" + secret("referer"+by)},
		}
		for _, h := range headers {
			maps.DeleteFunc(h, func(_, value string) bool { return value == "" })
			send(client, "GET", base+"/v1/agents?q="+url.QueryEscape(secret("query"+by)), "", h)
		}
		with := map[string]string{"Content-Type": "application/json", "Authorization": auth}
		maps.DeleteFunc(with, func(_, value string) bool { return value == "" })
		send(client, "POST", base+"/v1/agents", `{"goal": 7, "password": "`+secret("refused body"+by)+`"}`, with)
		send(client, "POST", base+"/v1/agents", `{"password": "`+secret("broken body"+by)+`"`, with)
		send(client, "GET", base+"/v1/events?ticket="+url.QueryEscape("cws_"+secret("wrong ticket"+by)), "", nil)
	}
	code, answer := send(tcp, "POST", "http://"+address+"/v1/stream-tickets", "{}", map[string]string{"Authorization": right, "Content-Type": "application/json"})
	var made api.StreamTicket
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Ticket == "" {
		t.Fatalf("no ticket: %d %s", code, answer)
	}
	known["ticket"] = made.Ticket
	if code, answer := send(tcp, "GET", "http://"+address+"/v1/events?ticket="+made.Ticket, "", nil); code != 200 {
		t.Fatalf("the ticket does not open: %d %s", code, answer)
	}
}

// workWithSecrets runs agents whose caller has secrets too, one of them to its
// end and one that goes on, and gives the paths of their routes.
func workWithSecrets(t *testing.T, l *lab.Lab, known map[string]string, secret func(string) string) []string {
	t.Helper()
	kept := filepath.Join(l.Books, "token")
	word := func(what string) string {
		known[what] = cw.NewID() + cw.NewID()
		return known[what]
	}
	for i, s := range []fakecli.Script{
		{Book: l.Books, Pieces: 5, Shell: "printf %s $CW_TOKEN >" + kept, File: "a.txt", Commit: "Add a", Signal: `{"status":"done"}`},
		{Book: l.Books, Pieces: 5, Hang: true},
	} {
		cmd := exec.Command(l.Binary, "agent", "spawn", "--provider", "fake", "--name", fmt.Sprintf("worker-%d", i), "--project", l.Repo, s.Goal())
		cmd.Dir = l.Repo
		cmd.Env = append(l.Environ(), "OPENAI_API_KEY="+secret("the caller's key"),
			"HTTPS_PROXY=http://user:"+url.QueryEscape(secret("the caller's proxy"))+"@127.0.0.1:9",
			"CW_CONFIG_RUN_MODEL="+word("the caller's configuration"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if v := l.Rest("worker-0"); v.Status != cw.StatusIdle {
		t.Fatalf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	l.Until("worker-1", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	text, err := os.ReadFile(kept)
	must(t, err)
	if len(text) < 20 {
		t.Fatalf("the run has no token: %q", text)
	}
	known["token of a run"] = string(text)
	return []string{"/v1/agents/worker-0", "/v1/agents/worker-1", "/v1/agents/worker-0/diff"}
}

// written is everything that cw has on the disk, and what its terminal showed.
// The configuration is its owner's, and programs hold nothing of the test's.
func written(t *testing.T, l *lab.Lab, agent string) map[string]string {
	t.Helper()
	places := map[string]string{"terminal": l.DaemonLog()}
	must(t, filepath.WalkDir(string(l.Home), func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == l.Home.Config() || !d.Type().IsRegular() {
			return nil // gone already, or no text
		}
		if path == l.Home.Bin() {
			return filepath.SkipDir
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(string(l.Home), path) // it is below
		if err == nil {
			places[name] = string(data)
		}
		return nil
	}))
	for _, needed := range []string{"cw.db", "cw.db-wal", "log.db", "log.db-wal", "daemon.log", "runs/" + agent + "/1/exit.json"} {
		if _, ok := places[needed]; !ok {
			t.Fatalf("there is no %s", needed)
		}
	}
	return places
}

// allEvents are all stored events, as the API tells them.
func allEvents(t *testing.T, l *lab.Lab) []string {
	t.Helper()
	var out []string
	for ev, err := range l.Client().Events(t.Context(), cw.EventQuery{}) {
		must(t, err)
		data, err := json.Marshal(ev)
		must(t, err)
		out = append(out, string(data))
	}
	return out
}

// over asks on the socket, as a person.
func over(t *testing.T, l *lab.Lab, path string) string {
	t.Helper()
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, Dial: func(string, string) (net.Conn, error) { return net.Dial("unix", l.Socket()) }}}
	res, err := client.Get("http://" + api.SocketHost + path)
	must(t, err)
	defer res.Body.Close()
	var body bytes.Buffer
	_, err = io.Copy(&body, res.Body)
	must(t, err)
	if res.StatusCode != 200 {
		t.Fatalf("%s: %d %s", path, res.StatusCode, body.String())
	}
	return body.String()
}

// forms are the ways in which a secret may be written. Within a longer text
// base64 has three forms; their ends depend on what is beside them.
func forms(secret string) []string {
	out := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}
	for shift := range 3 {
		text := append(make([]byte, shift), secret...)
		for _, code := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			coded := code.EncodeToString(text)
			first, last := (shift*8+5)/6, len(text)*8/6
			out = append(out, coded[first:last])
		}
	}
	return out
}

// TestForms: a secret is found within a longer text, however that is coded.
func TestForms(t *testing.T) {
	t.Parallel()
	const secret = "k/abc+defgh"
	found := func(text string) bool {
		return slices.ContainsFunc(forms(secret), func(form string) bool { return strings.Contains(text, form) })
	}
	for before := range 4 {
		text := []byte(strings.Repeat("~", before) + secret + "?>~")
		for what, coded := range map[string]string{
			"plain": string(text), "base64": base64.StdEncoding.EncodeToString(text), "base64 for URLs": base64.URLEncoding.EncodeToString(text),
			"hex": hex.EncodeToString(text), "URL": url.QueryEscape(string(text)),
		} {
			if !found(coded) {
				t.Errorf("not found after %d bytes in %s: %s", before, what, coded)
			}
		}
	}
	if found("k/abc+defg and more") {
		t.Error("found where it is not")
	}
}
