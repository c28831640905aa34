package daemon_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// openPrint runs cw open --print and gives the address and the code.
func openPrint(t *testing.T, l *lab.Lab) (address, code string) {
	t.Helper()
	stdout, stderr, exit := l.Run(l.Repo, "open", "--print")
	at, err := url.Parse(strings.TrimSpace(stdout))
	if exit != 0 || err != nil || at.RawQuery != "" || !strings.HasPrefix(at.Fragment, "code=") {
		t.Fatalf("exit %d, %v: %s%s", exit, err, stdout, stderr)
	}
	return at.Host, strings.TrimPrefix(at.Fragment, "code=")
}

// startSession sends a code as the dashboard's page does.
func startSession(t *testing.T, address, code string) (made cw.CreatedToken, status int) {
	t.Helper()
	body, err := json.Marshal(cw.SessionRequest{Code: code})
	must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/sessions", strings.NewReader(string(body)))
	must(t, err)
	req.Header.Set("Origin", "http://"+address)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		must(t, json.NewDecoder(resp.Body).Decode(&made))
	}
	return made, resp.StatusCode
}

// TestOpen: cw open opens the door of a daemon that runs, its code begins one
// session, which outlives the daemon at the same port and ends, streams too,
// when it is revoked. Neither the code nor the token is written down anywhere.
func TestOpen(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Env = []string{"CW_CONFIG_LOG_LEVEL=debug"}
	l.Start()
	if at := l.Serving().HTTP; at != "" {
		t.Fatalf("it listens on %s before anybody asked", at)
	}
	address, code := openPrint(t, l)
	if at := l.Serving().HTTP; at != address {
		t.Errorf("the status says %q, not %s", at, address)
	}
	if status, page := get(t, address, "/agents/brave-otter", ""); status != 200 || !strings.Contains(page, "<!doctype html>") {
		t.Errorf("the page: %d %.200s", status, page)
	}
	if _, status := startSession(t, address, cw.NewOpenCode()); status != 401 {
		t.Errorf("a code that was made up: %d", status)
	}
	session, status := startSession(t, address, code)
	if status != 200 || session.Name != "browser" {
		t.Fatalf("session: %d %+v", status, session.Token)
	}
	if _, status := startSession(t, address, code); status != 401 {
		t.Errorf("the code a second time: %d", status)
	}
	for path, want := range map[string]int{"/v1/agents": 200, "/v1/tokens": 200, "/v1/whoami": 200} {
		if got := ask(t, address, "GET", path, session.Secret); got != want {
			t.Errorf("%s: %d", path, got)
		}
	}
	if _, list := get(t, address, "/v1/tokens", session.Secret); strings.Count(list, `"current":true`) != 1 {
		t.Errorf("it is not told which session is its own: %s", list)
	}
	if got := ask(t, address, "POST", "/v1/open", session.Secret); got != 403 {
		t.Errorf("a session lets others in: %d", got)
	}
	_, stale := openPrint(t, l)
	nowhere(t, string(l.Home), code, stale, session.Secret)

	if _, stderr, exit := l.Run(l.Repo, "restart"); exit != 0 {
		t.Fatalf("restart: exit %d: %s", exit, stderr)
	}
	t.Cleanup(func() { l.Run(l.Repo, "stop") })
	if at := l.Serving().HTTP; at != address {
		t.Fatalf("after the restart it listens on %q, not %s", at, address)
	}
	if _, status := startSession(t, address, stale); status != 401 {
		t.Errorf("a code of the daemon before: %d", status)
	}
	ends := follow(t, address, session.Secret)
	if stdout, stderr, exit := l.Run(l.Repo, "token", "revoke", "browser"); exit != 0 {
		t.Fatalf("revoke: %s%s", stdout, stderr)
	}
	select {
	case <-ends:
	case <-time.After(10 * time.Second):
		t.Error("the stream of a session outlives it")
	}
	if got := ask(t, address, "GET", "/v1/agents", session.Secret); got != 401 {
		t.Errorf("revoked: %d", got)
	}
	nowhere(t, string(l.Home), code, stale, session.Secret)
}

// follow opens a live stream and tells when it is over.
func follow(t *testing.T, address, token string) <-chan struct{} {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/v1/events?follow=true", nil)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the stream: %s", resp.Status)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		}
	}()
	return over
}

// TestOpenBrowser: the browser is given a file and nothing else; the code is in
// that file, which is gone after its use.
func TestOpenBrowser(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	dir := t.TempDir()
	program, seen := filepath.Join(dir, "browser"), filepath.Join(dir, "seen")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\nstat -c %a \"$1\" > "+seen+"; echo \"$#\" \"$1\" >> "+seen+"; cat \"$1\" >> "+seen+"\n"), 0o700))
	l.Env = []string{"BROWSER=" + program}
	stdout, stderr, exit := l.Run(l.Repo, "open")
	if exit != 0 {
		t.Fatalf("exit %d: %s%s", exit, stdout, stderr)
	}
	data, err := os.ReadFile(seen)
	must(t, err)
	lines := strings.SplitN(string(data), "\n", 3)
	count, file, _ := strings.Cut(lines[1], " ")
	_, rest, _ := strings.Cut(lines[2], "#code=")
	code, _, _ := strings.Cut(rest, `"`)
	if lines[0] != "600" || count != "1" || filepath.Dir(file) != l.Home.RunState() || strings.Contains(file+stdout+stderr, code) {
		t.Errorf("the browser got:\n%s", data)
	}
	if _, status := startSession(t, l.Serving().HTTP, code); status != 200 {
		t.Errorf("its code: %d", status)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}
