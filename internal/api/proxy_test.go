package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cwtest/lab"
)

// TestStreamsPassNginx: nginx holds an answer back until it has filled a buffer,
// unless the answer says not to. A frame must arrive while the stream is open.
func TestStreamsPassNginx(t *testing.T) {
	t.Parallel()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx, err = exec.LookPath("/usr/sbin/nginx") // where Debian puts it, and users do not look
	}
	if err != nil {
		lab.Lacks(t, "nginx is not installed")
	}
	d := startDaemon(t, nil)
	client := nginxBefore(t, nginx, d.socket)
	for _, target := range []string{"/v1/events?follow=true", "/v1/agents/brave-otter/output?follow=true", "/v1/agents/brave-otter/output?follow=true&format=events"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		req, err := http.NewRequestWithContext(ctx, "GET", "http://proxy"+target, nil)
		noError(t, err)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s: nothing came through nginx: %v", target, err)
		}
		lines, first := bufio.NewScanner(resp.Body), ""
		for first == "" && lines.Scan() {
			if strings.HasPrefix(lines.Text(), "data: ") {
				first = lines.Text()
			}
		}
		if first == "" || strings.Contains(first, "reason") {
			t.Errorf("%s: no frame came through nginx while the stream was open: %q %v", target, first, lines.Err())
		}
		cancel()
		_ = resp.Body.Close()
	}
}

// TestStreamsTellProxies is what TestStreamsPassNginx needs, where there is no nginx.
func TestStreamsTellProxies(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	for target, want := range map[string]string{
		"/v1/events":                               "no",
		"/v1/agents/brave-otter/output":            "no",
		"/v1/agents/brave-otter/output?session=-1": "", // an error is no stream
		"/v1/agents":                               "",
	} {
		resp, err := rawClient(t, d).Get("http://cw.sock" + target)
		noError(t, err)
		_ = resp.Body.Close()
		if got := resp.Header.Get("X-Accel-Buffering"); got != want {
			t.Errorf("%s: X-Accel-Buffering %q, want %q", target, got, want)
		}
	}
}

// nginxBefore starts nginx as it comes, as a proxy of the daemon's socket, and
// gives a client of it.
func nginxBefore(t *testing.T, nginx, daemon string) *http.Client {
	t.Helper()
	dir := socketDir(t)
	listen := filepath.Join(dir, "n")
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;" // the daemon takes calls of its own user alone
	}
	var temps strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temps, "%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	config := filepath.Join(dir, "nginx.conf")
	noError(t, os.WriteFile(config, fmt.Appendf(nil, `daemon off; master_process on; worker_processes 1; %s
pid %s/pid; error_log stderr warn;
events {}
http {
%s	access_log off;
	server {
		listen unix:%s;
		location / { proxy_pass http://unix:%s:; proxy_set_header Host cw.sock; }
	}
}
`, user, dir, &temps, listen, daemon), 0o600))
	ctx, end := context.WithCancel(context.Background())
	run := exec.CommandContext(ctx, nginx, "-p", dir, "-e", "stderr", "-c", config)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 10 * time.Second
	said := &lockedBuffer{}
	run.Stdout, run.Stderr = said, said
	noError(t, run.Start())
	t.Cleanup(func() {
		end()
		_ = run.Wait() // it was interrupted
	})
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", listen)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	eventually(t, "nginx answers; it said: "+said.String(), func() bool {
		conn, err := net.Dial("unix", listen)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return &http.Client{Transport: transport}
}
