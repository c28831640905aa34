package daemon_test

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// ask sends a request over TCP with a token and gives the status of the answer.
func ask(t *testing.T, address, method, path, token string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, nil)
	must(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	must(t, resp.Body.Close())
	return resp.StatusCode
}

// TestTokensAtTheDoor: what opens the door over TCP and what does not: no
// token, one that was made up, one with its rights, the same one revoked, and
// the token of a living run, whose use is an event, once.
func TestTokensAtTheDoor(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Env = []string{"CW_CONFIG_HTTP_ADDRESS=127.0.0.1:0"}
	l.Start()
	address := l.Serving().HTTP
	leaked := filepath.Join(t.TempDir(), "token")
	agent := l.MustSpawn(fakecli.Script{Shell: "printf %s $CW_TOKEN > " + leaked + ".new && mv " + leaked + ".new " + leaked + " && sleep 600"})
	l.Until(agent.Alias, func(cw.AgentView) bool { _, err := os.Stat(leaked); return err == nil })
	ofRun, err := os.ReadFile(leaked)
	must(t, err)
	reader, err := l.Client().CreateToken(t.Context(), cw.TokenRequest{})
	must(t, err)
	operator, err := l.Client().CreateToken(t.Context(), cw.TokenRequest{Name: "desk", Scopes: []cw.Scope{cw.ScopeOperate}})
	must(t, err)

	stop := "/v1/agents/" + agent.Alias + "/stop"
	for _, tt := range []struct {
		name, method, path, token string
		want                      int
	}{
		{"none", "GET", "/v1/agents", "", 401},
		{"made up", "GET", "/v1/agents", cw.NewDashboardToken(), 401},
		{"of a run", "GET", "/v1/agents", string(ofRun), 401},
		{"of a run again", "GET", "/v1/agents/" + agent.Alias, string(ofRun), 401},
		{"reader reads", "GET", "/v1/agents", reader.Secret, 200},
		{"reader stops", "POST", stop, reader.Secret, 403},
		{"reader makes a token", "POST", "/v1/tokens", reader.Secret, 403},
		{"operator makes a token", "POST", "/v1/tokens", operator.Secret, 403},
		{"operator ends a token", "DELETE", "/v1/tokens/desk", operator.Secret, 403},
		{"operator reads", "GET", "/v1/agents", operator.Secret, 200},
	} {
		if got := ask(t, address, tt.method, tt.path, tt.token); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	_, err = l.Client().RevokeToken(t.Context(), "desk")
	must(t, err)
	if got := ask(t, address, "GET", "/v1/agents", operator.Secret); got != 401 {
		t.Errorf("revoked: %d", got)
	}
	misused := 0
	for e, err := range l.Client().Events(t.Context(), cw.EventQuery{Types: []cw.EventType{cw.EventSecurityRefused}, Agent: agent.Alias}) {
		must(t, err)
		if strings.Contains(string(e.Data), "over TCP") {
			misused++
		}
	}
	if misused != 1 {
		t.Errorf("the misuse of a run's token is %d events, want 1", misused)
	}
	nowhere(t, string(l.Home), reader.Secret, operator.Secret)
}

// nowhere fails when a secret is in any file of the home: databases, logs, all.
func nowhere(t *testing.T, home string, secrets ...string) {
	t.Helper()
	files := 0
	must(t, filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // it went away, or is a socket
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		files++
		for _, secret := range secrets {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds a token", path)
			}
		}
		return nil
	}))
	if files < 5 {
		t.Errorf("only %d files were looked at", files)
	}
}
