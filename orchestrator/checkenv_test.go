package orchestrator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// TestCommandsHaveWhatTheAgentHas: set-up and teardown find what the caller's
// shell finds, and so do the checks of the agent's work, with its ports.
func TestCommandsHaveWhatTheAgentHas(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	bin, book := t.TempDir(), filepath.Join(t.TempDir(), "book")
	tool := filepath.Join(bin, "only-the-caller-has-this")
	must(t, os.WriteFile(tool, []byte("#!/bin/sh\necho \"$1\" >> "+book+"\n"), 0o755)) //nolint:gosec // it is run
	e.withFile("setup: [only-the-caller-has-this set-up]\nteardown: [only-the-caller-has-this teardown]\nports: 2\n")
	req := e.request(fakecli.Script{File: "new.txt", Content: "x", Commit: "New", Signal: `{"status":"done"}`})
	req.Env["PATH"] = bin + ":" + req.Env["PATH"]
	v := e.rest(e.mustSpawn(req).Alias)
	if got, _ := os.ReadFile(book); string(got) != "set-up\nteardown\n" {
		t.Errorf("run were %q", got)
	}

	r := e.check(`only-the-caller-has-this "$CW_PORT_0 $CW_PORT_1 $CW_PORT_2"`)
	r.WorkOf, r.ProjectID, r.Ports = v.ID, v.Projects[0].ProjectID, 2
	if result := e.mustRun(r); !result.OK {
		t.Fatalf("%s: %s", result.Reason, result.Output)
	}
	ports, err := e.Store.PortsOf(t.Context(), v.ID)
	must(t, err)
	got, _ := os.ReadFile(book)
	want := fmt.Sprintf("%d %d \n", ports[0].First, ports[0].First+1)
	if !strings.HasSuffix(string(got), want) {
		t.Errorf("the check had %q, want %q", got, want)
	}
	if e.lent.has(ports[0].First) {
		t.Error("the check is over, and its ports are still taken")
	}
}

// TestLentPorts: the ports of a check are no worktree's while it runs.
func TestLentPorts(t *testing.T) {
	t.Parallel()
	l := newLentPorts()
	one, two := cw.WorktreePorts{First: 20000, Count: 2}, cw.WorktreePorts{First: 20001, Count: 2}
	first, second := l.take(one), l.take(two)
	first()
	if l.has(20000) || !l.has(20001) || !l.has(20002) || l.has(20003) {
		t.Error("not those of the second alone")
	}
	if second(); l.has(20001) {
		t.Error("all were given up")
	}
}
