package daemon_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/servicetest"
)

// binary is the program under test: these tests run the real daemon.
var binary string

func TestMain(m *testing.M) {
	fakecli.Main()
	built, cleanup, err := lab.Build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = built
	code := m.Run()
	cleanup()
	os.Exit(code)
}

// TestOneDaemon starts many daemons at once: exactly one stays, and the others
// say who was first and leave with the exit code of a refusal.
func TestOneDaemon(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	const many = 50
	type end struct {
		code int
		text string
	}
	ends := make(chan end, many)
	var all sync.WaitGroup
	for range many {
		cmd := exec.Command(binary, "serve")
		cmd.Env = l.Environ()
		cmd.Dir = filepath.Dir(l.Repo)
		all.Go(func() {
			out, _ := cmd.CombinedOutput() // an exit code is expected
			ends <- end{cmd.ProcessState.ExitCode(), string(out)}
		})
	}
	for n := range many - 1 {
		select {
		case e := <-ends:
			if e.code != 4 || !strings.Contains(e.text, "already serves") {
				t.Errorf("exit %d: %s", e.code, e.text)
			}
		case <-time.After(60 * time.Second):
			t.Fatalf("only %d of %d gave up", n, many-1)
		}
	}
	st := l.Serving()
	_, stderr, code := l.Run(l.Repo, "serve")
	if want := fmt.Sprintf("pid %d", st.PID); code != 4 || !strings.Contains(stderr, want) {
		t.Errorf("exit %d: %s, want %s", code, stderr, want)
	}
	if _, _, code := l.Run(l.Repo, "stop"); code != 0 {
		t.Errorf("stop: exit %d", code)
	}
	all.Wait()
}

// TestSocketPath: a home whose path is too long for a socket works all the
// same, and one that a dead daemon left behind does not hinder.
func TestSocketPath(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Home = cw.Home(filepath.Join(string(l.Home), strings.Repeat("long-", 20), "home"))
	if err := os.MkdirAll(string(l.Home), 0o700); err != nil {
		t.Fatal(err)
	}
	l.Start()
	if s := l.Socket(); len(s) > cw.SocketPathMax || s == l.Home.Socket() {
		t.Errorf("socket %s (%d bytes)", s, len(s))
	}
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(l.Socket())) })
	l.Kill()
	l.Start()
	if stdout, stderr, code := l.Run(l.Repo, "status", "--json"); code != 0 || !strings.Contains(stdout, `"pid"`) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// TestBadHomes: each is refused with a reason, a hint and the right exit code,
// and is left as it was.
func TestBadHomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func(t *testing.T, l *lab.Lab)
		want  string
	}{
		{"open to others", func(t *testing.T, l *lab.Lab) { must(t, os.Chmod(string(l.Home), 0o755)) }, "chmod 700"},
		{"a file", func(t *testing.T, l *lab.Lab) {
			must(t, os.RemoveAll(string(l.Home)))
			must(t, os.WriteFile(string(l.Home), nil, 0o600))
		}, "CW_HOME"},
		{"no database", func(t *testing.T, l *lab.Lab) {
			must(t, os.WriteFile(filepath.Join(string(l.Home), "cw.db"), []byte(strings.Repeat("not a database ", 500)), 0o600))
		}, "cw.db"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t, binary)
			tt.spoil(t, l)
			before, _ := os.ReadFile(filepath.Join(string(l.Home), "cw.db")) // only one case has it
			_, stderr, code := l.Run(l.Repo, "project", "list")
			if code == 0 || code == 2 || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "hint:") {
				t.Errorf("exit %d: %s", code, stderr)
			}
			if after, _ := os.ReadFile(filepath.Join(string(l.Home), "cw.db")); string(after) != string(before) {
				t.Error("the database was changed")
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestInsideAnAgent calls the program from inside a run: it may see itself and
// nothing else, with its token or without.
func TestInsideAnAgent(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	other := l.MustSpawn(fakecli.Script{Hang: true})
	calls := []struct {
		shell string
		code  int
	}{
		{"cw id", 0},
		{"cw agent show $CW_AGENT_ID --json", 0},
		{"cw agent logs $CW_AGENT_ID", 0},
		{"cw agent diff $CW_AGENT_ID", 0},
		{"cw agent list --json", 0},
		{"cw agent show " + other.Alias, 4},
		{"cw agent logs " + other.Alias, 4},
		{"cw agent diff " + other.Alias, 4},
		{"cw agent stop " + other.Alias, 4},
		{"cw agent stop $CW_AGENT_ID", 4},
		{"cw agent stop --all", 4},
		{"cw agent spawn --project . 'do more'", 4},
		{"cw run 'do more'", 4},
		{"cw project list", 4},
		{"cw project add .", 4},
		{"cw project remove shop", 4},
		{"cw project trust shop --yes", 4},
		{"cw token create", 4},
		{"cw token list", 4},
		{"cw token revoke wall", 4},
		{"cw events", 4},
		{"cw status", 4},
		{"cw stop", 4},
		{"cw restart", 4},
		{"cw serve", 4},
		{"env -u CW_TOKEN cw project list", 4},
		{"env -u CW_TOKEN -u CW_RUN -u CW_AGENT_ID cw project list", 4},
		{"env -u CW_TOKEN -u CW_RUN setsid cw project list", 4},
		{"env CW_TOKEN=cwa_forged cw agent show $CW_AGENT_ID", 4},
		// Its run directory is its own to spoil; who it is does not stand there.
		{"mv $CW_HOME/runs/$(basename $PWD)/1/started.json .cw/tmp/; env -u CW_TOKEN -u CW_RUN cw project list", 4},
	}
	var script strings.Builder
	for i, c := range calls {
		fmt.Fprintf(&script, "%s >.cw/output/%d.out 2>&1; echo $? >.cw/output/%d.code\n", c.shell, i, i)
	}
	v := l.MustSpawn(fakecli.Script{Shell: script.String(), Signal: `{"status":"done","noChanges":"only looked"}`})
	v = l.Rest(string(v.ID))
	if v.Status != cw.StatusIdle {
		t.Fatalf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	for i, c := range calls {
		code, err := os.ReadFile(filepath.Join(v.Runs[0].Dir, fmt.Sprintf("output/%d.code", i)))
		must(t, err)
		out, err := os.ReadFile(filepath.Join(v.Runs[0].Dir, fmt.Sprintf("output/%d.out", i)))
		must(t, err)
		if got := strings.TrimSpace(string(code)); got != fmt.Sprint(c.code) {
			t.Errorf("%s: exit %s, want %d: %s", c.shell, got, c.code, out)
		}
		// Both work on one project, so they are peers; where the other's files are is not told.
		if c.shell == "cw agent list --json" && (!strings.Contains(string(out), string(v.ID)) ||
			!strings.Contains(string(out), string(other.ID)) || strings.Contains(string(out), string(l.Home))) {
			t.Errorf("an agent sees: %s", out)
		}
	}
	if v := l.Until(string(other.ID), func(cw.AgentView) bool { return true }); v.Status != cw.StatusRunning {
		t.Errorf("the other agent is %s", v.Status)
	}
	refused := 0
	for ev, err := range l.Client().Events(t.Context(), cw.EventQuery{Types: []cw.EventType{cw.EventSecurityRefused}}) {
		must(t, err)
		if ev.AgentID == v.ID {
			refused++
		}
	}
	if refused < 10 {
		t.Errorf("%d refusals are stored", refused)
	}
}

// TestEveryRouteFromInside calls every route of the table from inside an agent,
// with its token: for itself, for another agent, and those that name nobody.
// What is not granted is 403.
func TestEveryRouteFromInside(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	other := l.MustSpawn(fakecli.Script{Hang: true})
	own := "brave-otter"
	want := map[string]int{}
	for _, r := range api.Routes() {
		for _, ref := range []string{own, other.Alias} {
			path := strings.NewReplacer("{id}", ref, "{ref}", "shop", "{step}", "step-0").Replace(r.Path)
			granted := r.Scope != "" && r.Scope != cw.ScopeSpawn && (!r.Self || ref == own) // its project lets no agent make agents
			for _, noun := range []string{"initiative", "page", "phase", "task", "proposal", "conversation", "request", "response"} {
				if what := "{" + noun + "}"; strings.Contains(path, what) {
					path, granted = strings.ReplaceAll(path, what, "shop"), false // it works for no initiative, takes part in nothing, and asked and sent nothing
				}
			}
			want[r.Method+" "+path] = map[bool]int{true: 200, false: 403}[granted]
		}
	}
	for _, route := range []string{"POST /v1/conversations", "POST /v1/questions", "POST /v1/agent-messages"} {
		want[route] = 400 // nothing is asked or said in {}
	}
	// Let in, and told that it has no plan, and that nothing is none.
	want["GET /v1/agents/"+own+"/plan"], want["POST /v1/agents/"+own+"/plan"] = 404, 400
	want["POST /v1/agents/"+own+"/plan/steps/step-0"] = 404
	want["GET /v1/nothing"] = 404
	want["GET /v1/agents/nobody-here"] = 403 // who else is there is not told
	script := fakecli.Script{Book: l.Books, Routes: slices.Sorted(maps.Keys(want)), Signal: `{"status":"done","noChanges":"only looked"}`}
	v, err := l.Client().Spawn(t.Context(), cw.SpawnRequest{
		Goal: script.Goal(), Projects: []string{l.Repo}, Provider: "fake", Name: own,
	})
	must(t, err)
	if v = l.Rest(string(v.ID)); v.Status != cw.StatusIdle {
		t.Fatalf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	books, err := fakecli.ReadBooks(l.Books)
	must(t, err)
	got := books[string(v.Runs[0].ID)].Answers()
	for route, status := range want {
		if got[route] != status {
			t.Errorf("%s: %d, want %d", route, got[route], status)
		}
	}
	if _, err := l.Client().Status(t.Context()); err != nil {
		t.Errorf("the daemon: %v", err)
	}
}

// TestAgentStartsNoDaemon: the daemon is dead, and an agent calls cw. It waits
// for a daemon that a person starts, and never starts one itself.
func TestAgentStartsNoDaemon(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	gate := filepath.Join(l.Books, "go")
	v := l.MustSpawn(fakecli.Script{
		Wait: gate, Shell: "cw agent show $CW_AGENT_ID --json >.cw/output/show.json 2>.cw/output/show.err; echo $? >.cw/output/code",
		Signal: `{"status":"done","noChanges":"only looked"}`,
	})
	l.Kill()
	must(t, os.WriteFile(gate, nil, 0o600))
	calling := func() bool {
		for _, p := range lab.Processes(string(l.Home)) {
			if strings.Contains(p.Command, " serve") {
				t.Fatalf("an agent started a daemon: %s", p.Command)
			}
			if strings.Contains(p.Command, "agent show") {
				return true
			}
		}
		return false
	}
	for end := time.Now().Add(4 * time.Minute); !calling(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the agent does not call")
		}
	}
	for range 50 { // half a second in which it must not start one
		calling()
		<-time.After(10 * time.Millisecond)
	}
	l.Start()
	v = l.Rest(string(v.ID))
	code, err := os.ReadFile(filepath.Join(v.Runs[0].Dir, "output/code"))
	must(t, err)
	if strings.TrimSpace(string(code)) != "0" {
		said, _ := os.ReadFile(filepath.Join(v.Runs[0].Dir, "output/show.err")) // for the message only
		t.Errorf("the call ended with %s: %s", code, said)
	}
}

// TestRestartSparesAgents: stop says how many run on, and restart changes the
// daemon's pid and nothing else.
func TestRestartSparesAgents(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	gate := filepath.Join(l.Books, "go")
	v := l.MustSpawn(fakecli.Script{Pieces: 5, Wait: gate, File: "a.txt", Commit: "Add a", Signal: `{"status":"done"}`})
	before, err := l.Client().Status(t.Context())
	must(t, err)
	if stdout, stderr, code := l.Run(l.Repo, "stop"); code != 0 || !strings.Contains(stdout+stderr, "1 agent") {
		t.Errorf("stop: exit %d: %s%s", code, stdout, stderr)
	}
	if stdout, stderr, code := l.Run(l.Repo, "restart"); code != 0 {
		t.Errorf("restart: exit %d: %s%s", code, stdout, stderr)
	}
	t.Cleanup(func() { l.Run(l.Repo, "stop") })
	after, err := l.Client().Status(t.Context())
	must(t, err)
	if after.PID == before.PID || after.AgentsAlive != 1 {
		t.Errorf("pid %d, then %d; %d agents alive", before.PID, after.PID, after.AgentsAlive)
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	if v = l.Rest(string(v.ID)); v.Status != cw.StatusIdle || v.Commits() != 1 {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
}

// TestServices holds the whole program, over its socket, to the contract that
// every implementation of the services keeps.
func TestServices(t *testing.T) {
	t.Parallel()
	servicetest.Exercise(t, func(t *testing.T) servicetest.Fixture {
		l := lab.New(t, binary)
		l.Start()
		repo := filepath.Join(filepath.Dir(l.Repo), "we ird%2F..?#ü;+&=")
		lab.NewRepo(t, repo)
		_, err := l.Client().AddProject(t.Context(), cw.ProjectRequest{Path: l.Repo})
		must(t, err)
		hang := fakecli.Script{Hang: true, Book: l.Books}
		return servicetest.Fixture{
			Services: l.Client(), Who: cw.ActorPerson, Repo: repo, NoRepo: l.Books,
			Spawn: spawning(hang),
			CommitFile: func(t *testing.T, content string) {
				must(t, os.WriteFile(filepath.Join(repo, cw.ProjectFileName), []byte(content), 0o600))
				lab.Git(t, repo, "add", cw.ProjectFileName)
				lab.Git(t, repo, "commit", "-q", "-m", "How it is built")
			},
			Work: func(t *testing.T, projects ...string) (string, func()) { return working(t, l, projects) },
			Ask:  func(t *testing.T) string { return asking(t, l) },
			Talk: func(t *testing.T) (string, cw.Services) { return talking(t, l) },
			Text: func() string { // the CLI does no script twice
				return fakecli.Script{Hang: true, Book: l.Books, Content: cw.NewID()}.Text()
			},
			Lose: func(name string) { emptyTrash(l, name) },
			Suggest: func(t *testing.T, initiative cw.InitiativeID, proposals ...cw.Proposal) string {
				return suggesting(t, l, initiative, proposals)
			},
			Happen: func() {
				_, err := l.Client().SetProject(l.T.Context(), l.Repo, cw.ProjectSettings{AutoResume: new(bool)})
				must(t, err)
			},
			Fill:       func(t *testing.T, f *servicetest.Fixture) { fill(t, l, f) },
			Dispatches: true,
		}
	})
}

func spawning(s fakecli.Script) cw.SpawnRequest {
	return cw.SpawnRequest{Goal: s.Goal(), Provider: "fake", Env: map[string]string{"PATH": os.Getenv("PATH")}}
}

// fill adds an agent with three sessions, and one without a project.
func fill(t *testing.T, l *lab.Lab, f *servicetest.Fixture) {
	t.Helper()
	script := func(seed uint64) fakecli.Script {
		return fakecli.Script{Book: l.Books, Seed: seed, Pieces: 3, Tame: true, Signal: `{"status":"done","noChanges":"only looked"}`}
	}
	idle := func(v cw.AgentView, err error) cw.AgentView {
		must(t, err)
		return l.Until(v.Alias, func(v cw.AgentView) bool { return v.Status.AtRest() && !v.Settling })
	}
	req := spawning(script(1))
	req.Projects = []string{l.Repo}
	v := idle(l.Client().Spawn(t.Context(), req))
	for seed := range uint64(2) {
		idle(l.Client().Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: script(2 + seed).Text()}))
	}
	alone := idle(l.Client().Spawn(t.Context(), spawning(script(1))))
	f.Agent, f.Standalone, f.Project = v.Alias, alone.Alias, v.Projects[0].Project
}

// working makes an agent that is idle once it is told to finish.
func working(t *testing.T, l *lab.Lab, projects []string) (name string, finish func()) {
	t.Helper()
	gate := filepath.Join(l.Books, "gate-"+cw.NewID())
	req := spawning(fakecli.Script{Book: l.Books, Wait: gate, Signal: `{"status":"done","noChanges":"only looked"}`})
	req.Projects = projects
	v, err := l.Client().Spawn(t.Context(), req)
	must(t, err)
	return v.Alias, func() { must(t, os.WriteFile(gate, nil, 0o600)) }
}

// asking makes an agent that waits for answers.
func asking(t *testing.T, l *lab.Lab) (name string) {
	t.Helper()
	sig := cw.Signal{Status: cw.SignalQuestions}
	for _, q := range servicetest.Asked() {
		sig.Questions = append(sig.Questions, cw.SignalQuestion{
			Text: q.Text, Header: q.Header, Options: q.Options, MultiSelect: q.MultiSelect,
		})
	}
	data, err := json.Marshal(sig)
	must(t, err)
	v, err := l.Client().Spawn(t.Context(), spawning(fakecli.Script{Book: l.Books, Signal: string(data)}))
	must(t, err)
	l.Until(v.Alias, func(v cw.AgentView) bool { return v.Status.AtRest() && !v.Settling })
	return v.Alias
}

// talking makes an agent that runs until it is stopped, and gives the services
// as one of its processes calls them.
func talking(t *testing.T, l *lab.Lab) (name string, as *api.Client) {
	t.Helper()
	dir, err := os.MkdirTemp("", "door") // a socket's path has at most 104 bytes
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	door := filepath.Join(dir, "s")
	req := spawning(fakecli.Script{Book: l.Books, Door: door, Hang: true})
	req.Projects = []string{l.Repo} // agents reach those of their project
	v, err := l.Client().Spawn(t.Context(), req)
	must(t, err)
	l.Until(v.Alias, func(v cw.AgentView) bool {
		_, err := os.Stat(door)
		return err == nil && v.Status == cw.StatusRunning
	})
	return v.Alias, api.NewClient(api.ClientOptions{Socket: door})
}

// suggesting makes an agent of an initiative that has written the files of
// proposals.
func suggesting(t *testing.T, l *lab.Lab, initiative cw.InitiativeID, proposals []cw.Proposal) (name string) {
	t.Helper()
	lines := []string{"#!/bin/sh", "set -e"}
	write := func(file, text string) {
		lines = append(lines, "mkdir -p .cw/output/"+filepath.Dir(file), "cat >.cw/output/"+file+" <<'END_OF_FILE'", strings.TrimSuffix(text, "\n"), "END_OF_FILE")
	}
	for _, p := range proposals {
		write(p.File, p.After)
	}
	write("signal.json", `{"status":"done","result":"suggested"}`)
	script := filepath.Join(l.Books, "suggest-"+cw.NewID()+".sh")
	must(t, os.WriteFile(script, []byte(strings.Join(lines, "\n")+"\n"), 0o700))
	v, err := l.Client().Spawn(t.Context(), cw.SpawnRequest{
		Mode: cw.ModeRefine, InitiativeID: initiative, Provider: "script", Script: script, Env: map[string]string{"PATH": os.Getenv("PATH")},
	})
	must(t, err)
	l.Until(v.Alias, func(v cw.AgentView) bool { return v.Status.AtRest() && !v.Settling })
	return v.Alias
}

// emptyTrash deletes what is kept of a removed agent.
func emptyTrash(l *lab.Lab, name string) {
	places, err := filepath.Glob(filepath.Join(l.Home.Trash(), name+"-*"))
	must(l.T, err)
	if len(places) == 0 {
		l.T.Errorf("nothing of %s is in the trash", name)
	}
	for _, place := range places {
		must(l.T, os.RemoveAll(place))
	}
}

// TestRunAnswersInJSON: one value on stdout, nothing else, whatever happens.
func TestRunAnswersInJSON(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	script := fakecli.Script{Book: l.Books, Pieces: 3, Tame: true, File: "a.txt", Content: "a\nb\n", Commit: "Add a", Signal: `{"status":"done","result":"ok"}`}
	stdout, stderr, code := l.Run(l.Repo, "run", "--json", "--provider", "fake", script.Goal())
	var got struct {
		Branch       string `json:"branch"`
		BaseCommit   string `json:"baseCommit"`
		HeadCommit   string `json:"headCommit"`
		Commits      int    `json:"commits"`
		FilesChanged int    `json:"filesChanged"`
		Agent        struct {
			Name   string `json:"name"`
			Status string `json:"status"`
		} `json:"agent"`
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 {
		t.Fatalf("exit %d, %v\n%s\n%s", code, err, stdout, stderr)
	}
	if got.Commits != 1 || got.FilesChanged != 1 || got.Agent.Status != "idle" || got.Branch != "agent/"+got.Agent.Name ||
		got.HeadCommit != lab.Git(t, l.Repo, "rev-parse", got.Branch) || got.BaseCommit != lab.Git(t, l.Repo, "rev-parse", "main") {
		t.Errorf("%+v", got)
	}
}

// TestGoRun: `go run` deletes its binary, and a build is replaced by another;
// what an agent uses stays until its run is over.
func TestGoRun(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	gate := filepath.Join(l.Books, "go")
	script := fakecli.Script{Book: l.Books, Wait: gate, Shell: "cw id >.cw/output/id", Signal: `{"status":"done","noChanges":"only looked"}`}
	cmd := exec.Command("go", "run", "-ldflags=-X=main.other=build", "cw/cmd/cw", "run", "--detach", "--json", "--provider", "fake", "-C", l.Repo, script.Goal())
	cmd.Env = append(l.Environ(), "CGO_ENABLED=0", "HOME="+os.Getenv("HOME"))
	out, err := cmd.Output()
	must(t, err)
	t.Cleanup(func() { l.Run(l.Repo, "stop") })
	var got struct {
		Agent struct {
			ID string `json:"id"`
		} `json:"agent"`
	}
	must(t, json.Unmarshal(out, &got))
	if _, stderr, code := l.Run(l.Repo, "restart"); code != 0 { // now it is the lab's build
		t.Fatalf("restart: exit %d: %s", code, stderr)
	}
	if n := builds(t, l); n != 2 {
		t.Errorf("%d builds are kept while a run uses the older one, want 2", n)
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	v := l.Rest(got.Agent.ID)
	id, err := os.ReadFile(filepath.Join(v.Runs[0].Dir, "output/id"))
	if err != nil || !cw.IsID(strings.TrimSpace(string(id))) {
		t.Errorf("cw id inside the agent: %q, %v (%s %s)", id, err, v.Reason, v.Error)
	}
	l.Run(l.Repo, "restart")
	if n := builds(t, l); n != 1 {
		t.Errorf("%d builds are kept when no run uses the older one", n)
	}
}

func builds(t *testing.T, l *lab.Lab) int {
	t.Helper()
	l.Serving()
	entries, err := os.ReadDir(l.Home.Bin())
	must(t, err)
	return len(entries)
}

// TestWorkElsewhere: agents commit where they should not, and leave their
// branch. What they committed is in the user's repository as agent/<name> all
// the same, and nothing is called done that is not there.
func TestWorkElsewhere(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	commit := "echo x >x.txt && git add x.txt && git commit -qm Work"
	for name, shell := range map[string]string{
		"another-branch": "git checkout -qb feature/x-$$ && " + commit,
		"detached":       "git checkout -q --detach && " + commit,
		"left":           commit + " && git checkout -q --detach HEAD~1",
		"deleted":        commit + " && git checkout -q --detach && git branch -qD agent/deleted",
		"amended":        commit + " && git commit -q --amend -m Better",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := fakecli.Script{Book: l.Books, Shell: shell, Signal: `{"status":"done"}`}
			v, err := l.Client().Spawn(t.Context(), cw.SpawnRequest{
				Goal: script.Goal(), Projects: []string{l.Repo}, Provider: "fake", Name: name, Env: map[string]string{"PATH": os.Getenv("PATH")},
			})
			must(t, err)
			v = l.Rest(string(v.ID))
			if v.Status != cw.StatusIdle || v.Commits() != 1 {
				t.Fatalf("%s %s (%s), %d commits, warnings %q", v.Status, v.Reason, v.Error, v.Commits(), v.Warnings)
			}
			if got := lab.Git(t, l.Repo, "show", "agent/"+name+":x.txt"); got != "x" || v.Projects[0].HandedOver == "" {
				t.Errorf("the branch holds %q; handed over as %q", got, v.Projects[0].HandedOver)
			}
			d, err := l.Client().Diff(t.Context(), name, cw.DiffRequest{})
			if err != nil || len(d.Commits) != 1 || d.HeadCommit != v.HeadCommit {
				t.Errorf("diff: %+v, %v", d.Commits, err)
			}
		})
	}
}
