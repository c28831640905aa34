package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// renewerCommand turns the test binary into a CLI that is as jealous of its
// login as they come: it renews whatever it can before it does anything.
const renewerCommand = "renewing-cli"

// renewerNotes names the folder in which it writes down all that it was given.
const renewerNotes = "RENEWER_NOTES"

// tokenURL is the endpoint at which claude's logins are renewed.
const tokenURL = "https://platform.claude.com/v1/oauth/token"

// renewerPreset is the provider of this CLI. It works with accounts of claude.
func renewerPreset(binary, notes string) string {
	return fmt.Sprintf(`name: renewer
title: Renewing CLI
command:
  paths: [%q]
spawn:
  args: [%q]
  env: {%s: %q}
promptMode: stdin
parser: lines
account:
  of: claude
  configDir: [CLAUDE_CONFIG_DIR]
  key: ANTHROPIC_API_KEY
  token: CLAUDE_CODE_OAUTH_TOKEN
  baseUrl: ANTHROPIC_BASE_URL
patterns:
  auth: [failed to authenticate]
`, binary, renewerCommand, renewerNotes, notes)
}

// renewer makes the process this CLI when it was started as one.
func renewer() {
	if len(os.Args) < 2 || os.Args[1] != renewerCommand {
		return
	}
	if err := renewAndWork(os.Getenv("CLAUDE_CONFIG_DIR")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// claudeLogin is a login as claude writes it down.
type claudeLogin struct {
	OAuth struct {
		Access  string   `json:"accessToken"`
		Refresh string   `json:"refreshToken,omitempty"`
		Expires int64    `json:"expiresAt"` // ms of the epoch
		Scopes  []string `json:"scopes"`
	} `json:"claudeAiOauth"`
}

// loginOf makes the file of a login.
func loginOf(access, refresh string, expires time.Time) []byte {
	var l claudeLogin
	l.OAuth.Access, l.OAuth.Refresh, l.OAuth.Expires = access, refresh, expires.UnixMilli()
	l.OAuth.Scopes = []string{"user:inference", "user:profile"}
	data, err := json.Marshal(l)
	if err != nil { // plain fields always encode
		panic(err)
	}
	return data
}

func renewAndWork(dir string) error {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	file := filepath.Join(dir, ".credentials.json")
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := noteGiven(data); err != nil {
		return err
	}
	var login claudeLogin
	if err := json.Unmarshal(data, &login); err != nil {
		return err
	}
	if o := login.OAuth; o.Refresh != "" && time.Now().After(time.UnixMilli(o.Expires)) {
		if login, err = renewByItself(file, o.Refresh); err != nil {
			return err
		}
	}
	if err := askModel(login.OAuth.Access); err != nil {
		return err
	}
	if os.Getenv("CW_RUN") == "" { // by hand
		return nil
	}
	return os.WriteFile(filepath.Join(".cw", "output", "signal.json"), []byte(`{"status":"done","noChanges":"There was nothing to do."}`), 0o644)
}

// noteGiven writes down the environment and the file of credentials.
func noteGiven(credentials []byte) error {
	dir := os.Getenv(renewerNotes)
	if dir == "" {
		return nil
	}
	var seen bytes.Buffer
	for _, kv := range os.Environ() {
		fmt.Fprintln(&seen, kv)
	}
	seen.Write(credentials)
	return os.WriteFile(filepath.Join(dir, os.Getenv("CW_RUN")+".given"), seen.Bytes(), 0o600)
}

// renewByItself spends the refresh token, and writes the new login down.
func renewByItself(file, refresh string) (login claudeLogin, err error) {
	ask, err := json.Marshal(map[string]string{"grant_type": "refresh_token", "refresh_token": refresh})
	if err != nil {
		return login, err
	}
	resp, err := http.Post(tokenURL, "application/json", bytes.NewReader(ask))
	if err != nil {
		return login, err
	}
	defer resp.Body.Close()
	var got tokenAnswer
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != http.StatusOK {
		return login, fmt.Errorf("failed to authenticate: %d %v", resp.StatusCode, err)
	}
	data := loginOf(got.Access, got.Refresh, time.Now().Add(time.Hour))
	if err := json.Unmarshal(data, &login); err != nil {
		return login, err
	}
	return login, os.WriteFile(file, data, 0o600)
}

// tokenAnswer is what the endpoint answers.
type tokenAnswer struct {
	Access    string `json:"access_token"`
	Refresh   string `json:"refresh_token"`
	ExpiresIn int    `json:"expires_in"` // seconds
}

// askModel asks the model one thing, as claude does with a login.
func askModel(token string) error {
	body := `{"model":"renewer","max_tokens":100,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"Go."}]}`
	req, err := http.NewRequest(http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Anthropic-Beta", "oauth-2025-04-20")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("failed to authenticate: %d", resp.StatusCode)
	}
	return nil
}
