package orchestrator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/proc"
)

// TestHooksAreWritten: each run of a provider with hooks gets a file of its own,
// named in its arguments; the others get none.
func TestHooksAreWritten(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	self, err := os.Executable()
	must(t, err)
	preset := strings.Replace(fakecli.Preset("hooked", self), "\npromptMode", "\nhooks: {file: \"{{runDir}}/hooks.json\", template: 'ask {{json stopHook}}', args: [[--settings, \"{{hookConfig}}\"]]}\npromptMode", 1)
	preset = strings.Replace(preset, "]\nhooks", ", \"{{hookArgs}}\"]\nhooks", 1)
	must(t, os.WriteFile(filepath.Join(e.home.Providers(), "hooked.yaml"), []byte(preset), 0o600))
	for provider, hooked := range map[string]bool{"hooked": true, "fake": false} {
		req := e.request(fakecli.Script{Signal: `{"status":"error","error":"x"}`})
		req.Provider = provider
		v := e.rest(e.mustSpawn(req).Alias)
		dir := v.Runs[0].Dir
		text, err := os.ReadFile(filepath.Join(dir, "hooks.json"))
		if (err == nil) != hooked {
			t.Fatalf("%s: %v", provider, err)
		}
		spec, err := proc.ReadSpec(dir)
		must(t, err)
		if named := strings.Contains(strings.Join(spec.Argv, " "), "--settings "+dir+"/hooks.json"); named != hooked {
			t.Errorf("%s: started with %q", provider, spec.Argv)
		}
		if hooked && (!strings.Contains(string(text), "hook stop") || !strings.Contains(string(text), v.AgentCwd)) {
			t.Errorf("%s", text)
		}
	}
}

// TestSetProject: policies change one by one, and who changed them is told.
func TestSetProject(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	ctx := cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorPerson})
	p, err := e.AddProject(ctx, cw.ProjectRequest{Path: e.repo})
	must(t, err)
	if p.Stall != cw.StallEvent || p.AutoResume {
		t.Errorf("new: %+v", p)
	}
	resume, on, odd := cw.StallResume, true, cw.StallPolicy("odd")
	for _, tt := range []struct {
		set   cw.ProjectSettings
		stall cw.StallPolicy
		auto  bool
	}{
		{cw.ProjectSettings{Stall: &resume}, resume, false},
		{cw.ProjectSettings{AutoResume: &on}, resume, true},
	} {
		got, err := e.SetProject(ctx, p.Name, tt.set)
		must(t, err)
		stored, err := e.Project(ctx, string(p.ID))
		must(t, err)
		if got.Stall != tt.stall || got.AutoResume != tt.auto || stored.Stall != got.Stall || stored.AutoResume != got.AutoResume {
			t.Errorf("%+v, stored %+v", got, stored)
		}
	}
	page, err := e.db.EventsAfter(ctx, 0, cw.EventFilter{Types: []cw.EventType{cw.EventProjectChanged}}, 0)
	must(t, err)
	if len(page.Events) != 2 || page.Events[1].ProjectID != p.ID || page.Events[1].ActorKind != cw.ActorPerson || !strings.Contains(string(page.Events[1].Data), `"stall":"resume","autoResume":true`) {
		t.Errorf("%+v", page.Events)
	}
	for _, set := range []cw.ProjectSettings{{}, {Stall: &odd}} {
		if _, err := e.SetProject(ctx, p.Name, set); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Error(err)
		}
	}
	if _, err := e.SetProject(ctx, "nowhere", cw.ProjectSettings{AutoResume: &on}); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Error(err)
	}
}
