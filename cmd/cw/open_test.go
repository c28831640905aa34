package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

func TestOpenOptions(t *testing.T) {
	t.Parallel()
	open := func(a *app, f func(context.Context, *openOptions) error) runner { return newOpenCmd(a, f) }
	got, err := parsed(t, []string{"brave-otter", "--print"}, open)
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &openOptions{print: true, ref: "brave-otter"}, got)
	for _, bad := range [][]string{{"a", "b"}, {" "}, {"--print=maybe"}} {
		if _, err := parsed(t, bad, open); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	otter := func(b *bench) {
		b.fake.add(cw.AgentView{Agent: cw.Agent{ID: "aaaaaaaaaaaa", Alias: "brave-otter"}}, nil)
	}
	ssh := func(b *bench) { b.env["SSH_CONNECTION"], b.screen = "192.0.2.1 1 192.0.2.2 22", false }
	sessions(t, "open", []sessionCase{
		{"browser", []string{"open"}, nil, 0},
		{"agent", []string{"open", "brave-otter", "--print"}, otter, 0},
		{"nobody", []string{"open", "nobody"}, otter, 3},
		{"print", []string{"open", "--print"}, nil, 0},
		{"print over ssh", []string{"open", "--print"}, ssh, 0},
		{"json", []string{"open", "--json"}, nil, 0},
		{"no browser", []string{"open"}, ssh, 1},
		{"browser fails", []string{"open"}, func(b *bench) { b.browseErr = errors.New("xdg-open ended: exit status 3") }, 1},
		{"cannot listen", []string{"open"}, func(b *bench) {
			b.fake.errs["OpenDoor"] = cw.Errorf(cw.CodeFailed, "cw cannot listen on 127.0.0.1:0")
		}, 1},
		{"inside", []string{"open"}, func(b *bench) {
			b.fake.errs["OpenDoor"] = cw.Errorf(cw.CodeForbidden, "an agent may not do this (open-dashboard)")
		}, 4},
	})
}

// TestOpenHidesTheCode: what other users of the machine see of a process is its
// command line, and that has the name of a file only.
func TestOpenHidesTheCode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text, code := b.session(t.Context(), "open")
	if want := []string{"xdg-open", "/home/lead/.cw/run/open-k3v7q2mzt5ha.html"}; code != 0 || !slices.Equal(b.browsed, want) {
		t.Errorf("exit %d, started %q", code, b.browsed)
	}
	if strings.Contains(text, "cwo_") {
		t.Errorf("it shows the code:\n%s", text)
	}
}

func TestBrowserOf(t *testing.T) {
	t.Parallel()
	all := func(string) bool { return true }
	none := func(string) bool { return false }
	notFirefox := func(name string) bool { return name != "firefox" }
	for _, c := range []struct {
		env    environ
		system string
		found  func(string) bool
		want   string
		ok     bool
	}{
		{environ{"DISPLAY": ":0"}, "linux", all, "xdg-open", true},
		{environ{"WAYLAND_DISPLAY": "wayland-0"}, "linux", all, "xdg-open", true},
		{environ{}, "linux", all, "xdg-open", false},
		{environ{"DISPLAY": ":0"}, "linux", none, "xdg-open", false},
		{environ{}, "darwin", all, "open", true},
		{environ{"BROWSER": "firefox"}, "linux", all, "firefox", true},
		{environ{"BROWSER": "firefox --new-window %s:lynx"}, "linux", all, "firefox --new-window", true},
		{environ{"BROWSER": "firefox", "DISPLAY": ":0"}, "linux", none, "firefox", false},
		{environ{"BROWSER": " ", "DISPLAY": ":0"}, "linux", all, "xdg-open", true},
		{environ{"BROWSER": "firefox:lynx -x:w3m"}, "linux", notFirefox, "lynx -x", true},
		{environ{"BROWSER": ": :firefox %s:lynx", "DISPLAY": ":0"}, "linux", notFirefox, "lynx", true},
		{environ{"BROWSER": "::", "DISPLAY": ":0"}, "linux", all, "xdg-open", true},
		{environ{"BROWSER": "firefox:lynx", "DISPLAY": ":0"}, "linux", none, "firefox", false},
	} {
		argv, ok := browserOf(c.env, c.system, c.found)
		if strings.Join(argv, " ") != c.want || ok != c.ok {
			t.Errorf("%v on %s: %q %v", c.env, c.system, argv, ok)
		}
	}
}

// TestStartBrowser: it gets its arguments, and one that fails at once is told of.
func TestStartBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "browser")
	script := "#!/bin/sh\nprintf '%s' \"$1\" > \"$OUT.new\" && mv \"$OUT.new\" \"$OUT\"\nexit ${CODE:-0}\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := startBrowser([]string{program, "a page.html"}, []string{"OUT=" + out, "PATH=" + os.Getenv("PATH")}); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if data, err := os.ReadFile(out); err == nil {
			if string(data) != "a page.html" {
				t.Errorf("it got %q", data)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal("the browser was not started")
		}
	}
	if err := startBrowser([]string{filepath.Join(dir, "none")}, nil); err == nil {
		t.Error("a browser that is not there was started")
	}
}
