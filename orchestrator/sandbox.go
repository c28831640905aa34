package orchestrator

import (
	"context"
	"fmt"

	"cw/internal/cw"
	"cw/providers"
)

// checkSandbox refuses what the provider cannot do. A configured sandbox that
// it lacks is refused, too: without it the agent could do more than its person
// believes.
func checkSandbox(preset providers.Preset, sandbox cw.Sandbox, configured bool) error {
	switch {
	case sandbox != cw.SandboxOff && sandbox != cw.SandboxWorkspace:
		return cw.Errorf(cw.CodeInvalid, "%q is no sandbox", sandbox).WithHint("sandboxes: %s, %s", cw.SandboxOff, cw.SandboxWorkspace)
	case sandbox == cw.SandboxOff || preset.CanSandbox():
		return nil
	case configured:
		return cw.Errorf(cw.CodeInvalid, "%s has no sandbox, and the configuration asks for one", preset.Title).
			WithHint("add --sandbox off, or choose a provider that has one: --provider codex")
	}
	return cw.Errorf(cw.CodeInvalid, "%s has no sandbox", preset.Title).
		WithHint("leave --sandbox out, or choose a provider that has one: --provider codex")
}

// writableDirs are the folders outside of its working directory that an agent
// in a sandbox must write to, to commit: those of all its projects.
func (o *Orchestrator) writableDirs(ctx context.Context, st *cw.RunState, opts options) ([]string, error) {
	if opts.Sandbox != cw.SandboxWorkspace {
		return nil, nil
	}
	var out []string
	for _, t := range st.Worktrees {
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			return nil, fmt.Errorf("find project %s: %w", t.Project, err)
		}
		dirs, err := o.Repos.CommitDirs(p, st.Agent.Alias)
		if err != nil {
			return nil, fmt.Errorf("find what a commit writes to: %w", err)
		}
		out = append(out, dirs...)
	}
	return out, nil
}
