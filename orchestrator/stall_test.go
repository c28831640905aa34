package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/providers"
)

// limitsOf are the patience of a preset.
func limitsOf(silence, tool time.Duration) providers.Patience {
	return providers.Patience{Silence: providers.Duration{Duration: silence}, ToolSilence: providers.Duration{Duration: tool}}
}

// TestSilence: it begins anew with every piece of output, and lasts longer while
// a tool runs or the CLI has said that it waits.
func TestSilence(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	limits := limitsOf(5*time.Minute, time.Hour)
	call := func(id, tool string) cw.StreamEvent {
		return cw.StreamEvent{Kind: cw.StreamToolCall, ToolUseID: id, Tool: tool}
	}
	result := func(id string) cw.StreamEvent { return cw.StreamEvent{Kind: cw.StreamToolResult, ToolUseID: id} }
	began := func(id string) cw.StreamEvent {
		return cw.StreamEvent{Kind: cw.StreamTaskBegan, ToolUseID: id, Tool: "Bash"}
	}
	text := cw.StreamEvent{Kind: cw.StreamText}
	for _, tt := range []struct {
		name   string
		output [][]cw.StreamEvent // a piece each minute
		tool   string
		lasts  time.Duration // from the start
	}{
		{"no output", nil, "", 5 * time.Minute},
		{"output that says nothing", [][]cw.StreamEvent{nil, nil}, "", 7 * time.Minute},
		{"words", [][]cw.StreamEvent{{text}}, "", 6 * time.Minute},
		{"a tool runs", [][]cw.StreamEvent{{text, call("1", "Bash")}}, "Bash", 61 * time.Minute},
		{"a tool ran", [][]cw.StreamEvent{{call("1", "Bash")}, {result("1")}}, "", 7 * time.Minute},
		{"one of two ran", [][]cw.StreamEvent{{call("1", "Bash"), call("2", "Read")}, {result("2")}}, "Bash", 62 * time.Minute},
		{"the result of another", [][]cw.StreamEvent{{call("1", "Bash")}, {result("9")}}, "Bash", 62 * time.Minute},
		{"the turn is over", [][]cw.StreamEvent{{call("1", "Bash")}, {{Kind: cw.StreamResult}}}, "", 7 * time.Minute},
		{"a task in the background", [][]cw.StreamEvent{{call("1", "Bash")}, {result("1"), began("b")}, {{Kind: cw.StreamResult}}}, "Bash", 63 * time.Minute},
		{"it has ended", [][]cw.StreamEvent{{began("b")}, {{Kind: cw.StreamTaskEnded, ToolUseID: "b"}}}, "", 7 * time.Minute},
		{"another has ended", [][]cw.StreamEvent{{began("b")}, {{Kind: cw.StreamTaskEnded, ToolUseID: "c"}}}, "Bash", 62 * time.Minute},
		{"it waits", [][]cw.StreamEvent{{{Kind: cw.StreamRetry, Delay: 10 * time.Minute}}}, "", 16 * time.Minute},
		{"it waited", [][]cw.StreamEvent{{{Kind: cw.StreamRetry, Delay: 10 * time.Minute}}, {text}}, "", 7 * time.Minute},
	} {
		s := silence{Since: start}
		for i, events := range tt.output {
			s = s.after(events, start.Add(time.Duration(i+1)*time.Minute))
		}
		noticed, deadline := s.deadline(limits)
		if s.tool() != tt.tool || !deadline.Equal(start.Add(tt.lasts)) || noticed.Before(s.Since) || !noticed.Before(deadline) {
			t.Errorf("%s: tool %q, %s, noticed at %s", tt.name, s.tool(), deadline.Sub(start), noticed.Sub(start))
		}
		if _, deadline := s.deadline(providers.Patience{}); !deadline.IsZero() {
			t.Errorf("%s: without patience it ends at %s", tt.name, deadline)
		}
	}
	var many []cw.StreamEvent
	for i := range 10 * callsMax {
		many = append(many, call(fmt.Sprint(i), "Bash"))
	}
	if s := (silence{}).after(many, start); len(s.Calls) != callsMax {
		t.Errorf("%d calls are remembered", len(s.Calls))
	}
}

// TestStallPolicy: one project that wants it is enough, but not for ever.
func TestStallPolicy(t *testing.T) {
	t.Parallel()
	event, resume := cw.Project{Stall: cw.StallEvent}, cw.Project{Stall: cw.StallResume}
	for _, tt := range []struct {
		projects []cw.Project
		before   int
		atLimit  bool
		want     cw.StallPolicy
	}{
		{nil, 0, false, cw.StallEvent},
		{[]cw.Project{event}, 0, false, cw.StallEvent},
		{[]cw.Project{{}}, 0, false, cw.StallEvent},
		{[]cw.Project{event, resume}, 0, false, cw.StallResume},
		{[]cw.Project{resume}, cw.MaxStallRetry - 1, false, cw.StallResume},
		{[]cw.Project{resume}, cw.MaxStallRetry, false, cw.StallEvent},
		{[]cw.Project{event}, cw.MaxStallRetry, true, cw.StallResume},
	} {
		if got := stallPolicy(tt.projects, tt.before, tt.atLimit); got != tt.want {
			t.Errorf("%+v after %d: %s", tt.projects, tt.before, got)
		}
	}
}

// stalls are the stored silences of an agent.
func (e *engine) stalls(agent cw.AgentID) []cw.AgentStalled {
	e.t.Helper()
	page, err := e.db.EventsAfter(e.t.Context(), 0, cw.EventFilter{Types: []cw.EventType{cw.EventAgentStalled}, Agent: agent}, 0)
	must(e.t, err)
	out := make([]cw.AgentStalled, len(page.Events))
	for i, ev := range page.Events {
		must(e.t, json.Unmarshal(ev.Data, &out[i]))
	}
	return out
}

// stalledRun counts how often the silence of one run was told.
func (e *engine) stalledRun(run cw.Run) (times int) {
	e.t.Helper()
	page, err := e.db.EventsAfter(e.t.Context(), 0, cw.EventFilter{Types: []cw.EventType{cw.EventAgentStalled}, Agent: run.AgentID}, 0)
	must(e.t, err)
	for _, ev := range page.Events {
		if ev.RunID == run.ID {
			times++
		}
	}
	return times
}

// TestSilenceIsToldOnce: once for each silence, whichever daemon sees its end,
// with what the agent did last; the next output ends it.
func TestSilenceIsToldOnce(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "codex")
	ctx := t.Context()
	f := tp.follower()
	defer f.close()
	tp.write([]byte(codexBegins + `{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"x","aggregated_output":"","exit_code":null,"status":"in_progress"}}` + "\n"))
	must(t, f.take(ctx, false))
	ended := func() { t.Error("the run is ended") }
	since := f.silence.Since
	look := func(f *follower, after time.Duration) time.Duration {
		next := f.watchPatience(ctx, since.Add(after), ended)
		if next.IsZero() {
			return 0
		}
		return next.Sub(since)
	}
	for _, tt := range []struct{ at, next time.Duration }{
		{0, quietMax}, {quietMax - 1, quietMax}, {quietMax, time.Hour}, {time.Hour - 1, time.Hour}, {time.Hour, 0}, {2 * time.Hour, 0},
	} {
		if next := look(f, tt.at); next != tt.next {
			t.Errorf("at %s: the next look is at %s, want %s", tt.at, next, tt.next)
		}
	}
	second := tp.follower() // as another daemon would make one
	defer second.close()
	if next := look(second, 3*time.Hour); next != 0 {
		t.Errorf("the next daemon looks again at %s", next)
	}
	told := tp.stalls(tp.state.Agent.ID)
	want := []cw.AgentStalled{{
		Name: tp.state.Agent.Alias, Since: since.Round(0), Seconds: 3600, Tool: "shell", LastTool: "shell", Policy: cw.StallEvent,
	}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	for _, f := range []*follower{f, second} {
		if a := f.activity(); a.State != cw.ActivityStalled || a.Tool != "shell" || a.LastAt == nil || !a.LastAt.Equal(since) {
			t.Errorf("activity %+v", a)
		}
	}

	tp.write([]byte(`{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"x","aggregated_output":"","exit_code":0,"status":"completed"}}` + "\n"))
	must(t, second.take(ctx, false))
	if a := second.activity(); a.State != cw.ActivityBusy {
		t.Errorf("after output it is %s", a.State)
	}
	since = second.silence.Since
	if look(second, 15*time.Minute) != 0 || len(tp.stalls(tp.state.Agent.ID)) != 2 {
		t.Errorf("the next silence was not told: %+v", tp.stalls(tp.state.Agent.ID))
	}
}

// TestSilenceOnAFullDisk: what cannot be stored is told later.
func TestSilenceOnAFullDisk(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "codex")
	f := tp.follower()
	defer f.close()
	now := f.silence.Since.Add(15 * time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // stands for a store that does not take it
	if next := f.watchPatience(ctx, now, nil); !next.Equal(now.Add(storeRetry)) || f.activity().State == cw.ActivityStalled {
		t.Errorf("the next look is at %s", next)
	}
	if next := f.watchPatience(t.Context(), now.Add(storeRetry), nil); !next.IsZero() || len(tp.stalls(tp.state.Agent.ID)) != 1 {
		t.Errorf("then %s, %+v", next, tp.stalls(tp.state.Agent.ID))
	}
}

// silent gives the engine a provider that keeps sessions and whose patience is
// short.
func (e *engine) silent(silence string) {
	e.t.Helper()
	self, err := os.Executable()
	must(e.t, err)
	preset := fakecli.SessionPreset("silent", self, e.books) + "patience: {silence: " + silence + "}\n"
	must(e.t, os.WriteFile(filepath.Join(e.home.Providers(), "silent.yaml"), []byte(preset), 0o600))
}

// TestSilentAgentRunsOn: as a rule a silence is told, with what the process tree
// shows, and the agent goes on as it likes.
func TestSilentAgentRunsOn(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.silent("2s")
	gate := filepath.Join(e.books, "gate")
	req := e.request(fakecli.Script{Pieces: 1, Tame: true, Child: true, Wait: gate, Signal: `{"status":"done","noChanges":"none"}`})
	req.Provider = "silent"
	agent := e.mustSpawn(req)
	v := e.until(agent.Alias, func(v cw.AgentView) bool { return v.Activity != nil && v.Activity.State == cw.ActivityStalled })
	if v.Status != cw.StatusRunning || v.Runs[0].StopRequested != "" {
		t.Errorf("%s, stop %q", v.Status, v.Runs[0].StopRequested)
	}
	told := e.stalls(v.ID)
	if len(told) != 1 || told[0].Processes != 2 || told[0].Policy != cw.StallEvent || told[0].Name != v.Alias {
		t.Errorf("%+v", told)
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	if v := e.rest(agent.Alias); v.Status != cw.StatusIdle {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
}

// TestSilentAgentIsResumed: where its project wants it, a silent run is ended
// whole and the agent goes on with a note, at most twice; then it is only told.
func TestSilentAgentIsResumed(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.silent("2s")
	req := e.wantResumed(fakecli.Script{Child: true, Hang: true, Next: &fakecli.Script{Hang: true, Next: &fakecli.Script{Hang: true}}})
	agent := e.mustSpawn(req)
	v := e.until(agent.Alias, func(v cw.AgentView) bool {
		return len(v.Runs) == 3 && v.Activity != nil && v.Activity.State == cw.ActivityStalled
	})
	var told []string
	for _, s := range e.stalls(v.ID) {
		told = append(told, string(s.Policy))
	}
	if diff := cmp.Diff([]string{"resume", "resume", "event"}, told); diff != "" {
		t.Error(diff)
	}
	for i, r := range v.Runs[:2] {
		if r.StopRequested != stopRule || r.Outcome != cw.StatusStopped || r.OutcomeReason != cw.ReasonStalled || v.Runs[i+1].Reason != cw.RunStalled {
			t.Errorf("run %d: stop %q, %s %s, then %s", i+1, r.StopRequested, r.Outcome, r.OutcomeReason, v.Runs[i+1].Reason)
		}
	}
	if prompt, err := os.ReadFile(filepath.Join(v.Runs[1].Dir, promptFile)); err != nil || !strings.Contains(string(prompt), "silent") && !strings.Contains(string(prompt), "output") {
		t.Errorf("the note is %q, %v", prompt, err)
	}
	if v.Status != cw.StatusRunning || v.Runs[2].StopRequested != "" {
		t.Errorf("%s, stop %q", v.Status, v.Runs[2].StopRequested)
	}
	for _, p := range lab.Processes(string(e.home)) {
		if p.Run != string(v.Runs[2].ID) {
			t.Errorf("process %d of an earlier run lives on", p.PID)
		}
	}
	_, err := e.Stop(t.Context(), agent.Alias, cw.StopRequest{Now: true})
	must(t, err)
}

// wantResumed registers the repository with the policy resume, and asks for an
// agent of the silent provider.
func (e *engine) wantResumed(s fakecli.Script) cw.SpawnRequest {
	e.t.Helper()
	p, err := e.AddProject(e.t.Context(), cw.ProjectRequest{Path: e.repo})
	must(e.t, err)
	resume := cw.StallResume
	_, err = e.SetProject(e.t.Context(), p.Name, cw.ProjectSettings{Stall: &resume})
	must(e.t, err)
	req := e.request(s)
	req.Provider = "silent"
	return req
}

// TestSilenceAcrossDaemons: a daemon that dies after it told a silence, or asked
// for the end of the run, leaves the rest to the next one.
func TestSilenceAcrossDaemons(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"stall/told", "stall/requested"} {
		t.Run(filepath.Base(step), func(t *testing.T) {
			t.Parallel()
			g, hold := newGate(step)
			e := newEngine(t, hold)
			e.silent("2s")
			agent := e.mustSpawn(e.wantResumed(fakecli.Script{Hang: true, Next: &fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`}}))
			<-g.reached
			stopped := make(chan struct{})
			go func() { defer close(stopped); e.stopRun() }()
			eventually(t, "the daemon lets go", e.letsGo)
			close(g.open)
			<-stopped
			e.boot()
			v := e.until(agent.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusIdle })
			if len(v.Runs) != 2 || v.Runs[0].OutcomeReason != cw.ReasonStalled || v.Runs[1].Reason != cw.RunStalled {
				t.Errorf("%d runs, the first %s %s", len(v.Runs), v.Runs[0].Outcome, v.Runs[0].OutcomeReason)
			}
			if told := e.stalledRun(v.Runs[0]); told != 1 { // the next one may be slow, too
				t.Errorf("told %d times", told)
			}
		})
	}
}

// letsGo tells whether the engine takes no jobs any more: its context is over.
func (e *engine) letsGo() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	return e.hand(ctx, func(context.Context) {}) != nil
}

// TestPersonBeforeRule: a person's stop is one, whatever a rule wanted before.
func TestPersonBeforeRule(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.mustSpawn(e.request(hangs()))
	for _, how := range []string{stopRule, stopTerm, stopRule} {
		if asked, err := e.db.RequestStop(t.Context(), v.Runs[0].ID, how); err != nil || !asked {
			t.Fatal(asked, err)
		}
	}
	v, err := e.Agent(t.Context(), v.Alias)
	must(t, err)
	if v.Runs[0].StopRequested != stopTerm {
		t.Errorf("stop %q", v.Runs[0].StopRequested)
	}
	v, err = e.Stop(t.Context(), v.Alias, cw.StopRequest{})
	e.wantStopped(v, err)
}
