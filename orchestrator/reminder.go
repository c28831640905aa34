package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/internal/instructions"
	"cw/prompts"
	"cw/providers"
)

// statusMax is how many changed paths an agent is told of.
const statusMax = 20

// reminder is what people keep for every coding agent, as far as the agent's CLI
// does not read it by itself; "" for nothing. notes say what was cut or could not
// be read.
func (o *Orchestrator) reminder(ctx context.Context, preset providers.Preset, st cw.RunState, opts options) (text string, notes []string, err error) {
	home := envOf(o.Environ, "HOME")
	places := instructions.Places{Home: home, Imports: preset.InstructionImports}
	for _, t := range st.Worktrees {
		checkout := opts.Checkouts[string(t.ProjectID)]
		if checkout == "" {
			p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
			if err != nil {
				return "", nil, fmt.Errorf("find project %s: %w", t.Project, err)
			}
			checkout = p.Path
		}
		copied := func(name string) bool { return t.Included[name] != "" }
		places.Projects = append(places.Projects, instructions.ProjectPlaces{Name: t.Project, Tree: t.Path, Checkout: checkout, Copied: copied})
	}
	looks := providers.InstructionPlaces{
		Version: opts.Version, Home: home, Own: cmp.Or(opts.access.ConfigDir, opts.ConfigDir) == preset.ConfigDir([]string{"HOME=" + home}),
		Cwd: st.Agent.AgentCwd,
	}
	if len(st.Worktrees) == 1 {
		looks.Tree = st.Worktrees[0].Path
	}
	files, notes := instructions.Discover(places, func(name string) bool { return preset.Reads(looks, name) })
	if len(files) == 0 {
		return "", notes, nil
	}
	in := prompts.ReminderInput{Files: reminderFiles(files), Date: time.Now()}
	if in.Status, err = o.gitStatus(ctx, st); err != nil {
		return "", nil, err
	}
	return prompts.Reminder(in), notes, nil
}

func reminderFiles(files []instructions.File) []prompts.ReminderFile {
	out := make([]prompts.ReminderFile, len(files))
	for i, f := range files {
		out[i] = prompts.ReminderFile{Name: f.Name, Whose: string(f.Kind), Text: f.Text, Cut: f.Cut}
	}
	return out
}

// gitStatus is what git says of each worktree. One that was made for this run is
// clean.
func (o *Orchestrator) gitStatus(ctx context.Context, st cw.RunState) ([]prompts.ReminderStatus, error) {
	var out []prompts.ReminderStatus
	for _, t := range st.Worktrees {
		lines := []string{fmt.Sprintf("branch %s, begun at %.12s", t.Branch, t.BaseCommit)}
		if st.Run.SessionNumber > 1 {
			req, err := o.lookRequest(ctx, st.Agent, t)
			if err != nil {
				return nil, err
			}
			look, err := o.Repos.Look(ctx, req)
			if err != nil {
				return nil, fmt.Errorf("look at worktree %s: %w", t.Path, err)
			}
			lines = append(lines, statusLines(look.Commits, look.Dirty)...)
		} else {
			lines = append(lines, statusLines(0, nil)...)
		}
		out = append(out, prompts.ReminderStatus{Name: t.Project, Text: strings.Join(lines, "\n")})
	}
	return out, nil
}

func statusLines(commits int, dirty []string) []string {
	var lines []string
	if commits > 0 {
		lines = append(lines, counted(commits, "commit")+" since")
	}
	if len(dirty) == 0 {
		return append(lines, "nothing is changed")
	}
	for i, path := range dirty {
		if i == statusMax {
			lines = append(lines, fmt.Sprintf("and %d more", len(dirty)-statusMax))
			break
		}
		lines = append(lines, "changed: "+path)
	}
	return lines
}
