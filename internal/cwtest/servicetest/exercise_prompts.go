package servicetest

import (
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// promptsCase: what an agent of each mode would be told is whole, and its blocks
// are the parts of it, in order; nothing is made for it.
func promptsCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	v := initiative(t, f)
	p, err := s.AddProject(ctx, cw.ProjectRequest{Path: f.Repo}) // a task is done in a repository
	ok(t, err)
	_, err = s.EditInitiative(ctx, v.Slug, cw.InitiativeEdit{Projects: &[]string{p.Name}})
	ok(t, err)
	task, err := s.EditTask(ctx, v.Tasks[0].ID, cw.TaskEdit{Body: new("Halve <b>&</role> them.")})
	ok(t, err)
	for name, c := range map[string]struct {
		req  cw.PromptRequest
		want string
	}{
		"goal":         {cw.PromptRequest{Mode: cw.ModeExecute, Goal: "Make it so.\n\nAll of it."}, "<task>\nMake it so.\n\nAll of it.\n</task>"},
		"task":         {cw.PromptRequest{Mode: cw.ModeExecute, TaskID: task.ID}, "Halve <b>&&lt;/role> them."},
		"discuss":      {cw.PromptRequest{Mode: cw.ModeDiscuss, Initiative: v.Slug}, "<question_quality>"},
		"refine by id": {cw.PromptRequest{Mode: cw.ModeRefine, Initiative: string(v.ID)}, "<improvement_priorities>"},
		"plan":         {cw.PromptRequest{Mode: cw.ModePlan, Initiative: v.Slug, Goal: "plan it"}, "<phase_design>"},
		"detail":       {cw.PromptRequest{Mode: cw.ModeDetail, PhaseID: v.Phases[0].ID}, "<task_sizing>"},
	} {
		c.req.Provider = f.Spawn.Provider // another one may not be installed
		got, err := s.Prompt(ctx, c.req)
		ok(t, err)
		checkPrompt(t, name, got)
		if !strings.Contains(got.Text, c.want) {
			t.Errorf("%s: %q is not in it:\n%s", name, c.want, got.Text)
		}
		again, err := s.Prompt(ctx, c.req)
		ok(t, err)
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("%s: asked twice: %s", name, diff)
		}
	}
}

// checkPrompt holds a prompt against the parts that it is said to have.
func checkPrompt(t *testing.T, name string, v cw.PromptView) {
	t.Helper()
	rest := v.Text
	for _, b := range v.Blocks {
		at := strings.Index(rest, "<"+b.Tag+">\n")
		if at < 0 || at+b.Bytes > len(rest) || !strings.HasSuffix(rest[at:at+b.Bytes], "\n</"+b.Tag+">\n") {
			t.Fatalf("%s: no block %s of %d bytes is next:\n%s", name, b.Tag, b.Bytes, rest)
		}
		if b.Source == "" || b.Tokens <= 0 || b.Tokens > b.Bytes {
			t.Errorf("%s: %+v", name, b)
		}
		rest = rest[at+b.Bytes:]
	}
	role := slices.IndexFunc(v.Blocks, func(b cw.PromptBlock) bool { return b.Tag == "role" && b.Source == cw.PromptBuiltin })
	// Only a reminder of instruction files may come before the role.
	if len(v.Blocks) < 10 || role < 0 || role > 1 || !strings.HasPrefix(v.Text, "<"+v.Blocks[0].Tag+">\n") || v.Tokens != (len(v.Text)+3)/4 {
		t.Errorf("%s: %d tokens, blocks %+v", name, v.Tokens, v.Blocks)
	}
}

// badPromptsCase: what cannot be told is refused by its kind.
func badPromptsCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	v := initiative(t, f)
	for name, c := range map[string]struct {
		req  cw.PromptRequest
		want cw.Code
	}{
		"no mode":                {cw.PromptRequest{Goal: "x"}, cw.CodeInvalid},
		"an odd mode":            {cw.PromptRequest{Mode: "plam", Initiative: v.Slug}, cw.CodeInvalid},
		"plan nothing":           {cw.PromptRequest{Mode: cw.ModePlan, Goal: "x"}, cw.CodeInvalid},
		"do nothing":             {cw.PromptRequest{Mode: cw.ModeExecute, Goal: " \n"}, cw.CodeInvalid},
		"no such initiative":     {cw.PromptRequest{Mode: cw.ModePlan, Initiative: unknown}, cw.CodeNotFound},
		"no such phase":          {cw.PromptRequest{Mode: cw.ModeDetail, Initiative: v.Slug, PhaseID: unknown}, cw.CodeNotFound},
		"no such task":           {cw.PromptRequest{Mode: cw.ModeExecute, TaskID: "a/b"}, cw.CodeNotFound},
		"no such project":        {cw.PromptRequest{Mode: cw.ModeExecute, Goal: "x", Projects: []string{unknown}}, cw.CodeNotFound},
		"a phase that is a task": {cw.PromptRequest{Mode: cw.ModeDetail, PhaseID: cw.PhaseID(v.Tasks[0].ID)}, cw.CodeNotFound},
	} {
		_, err := s.Prompt(ctx, c.req)
		wantCode(t, name, err, c.want)
		if cw.ErrorHint(err) == "" && c.want == cw.CodeInvalid {
			t.Errorf("%s: %v says not what to do", name, err)
		}
	}
}
