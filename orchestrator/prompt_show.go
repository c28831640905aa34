package orchestrator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cw/internal/cw"
	"cw/internal/instructions"
	"cw/prompts"
	"cw/providers"
	"cw/worktree"
)

// What stands in a shown prompt for what is made with the agent.
const (
	shownID   = "AGENT-ID"
	shownName = "agent-name"
)

// A run is told the beginning of each instruction file, however long that is. To
// show the same, files are read whole up to these bytes, of one and of all.
const (
	shownFileMax  = 16 << 20
	shownTotalMax = 32 << 20
)

// Prompt implements cw.PromptService: it goes the way of a spawn, and makes
// nothing.
func (o *Orchestrator) Prompt(ctx context.Context, req cw.PromptRequest) (cw.PromptView, error) {
	spawn := cw.SpawnRequest{
		Mode: req.Mode, Goal: req.Goal, InitiativeID: cw.InitiativeID(req.Initiative), PhaseID: req.PhaseID, TaskID: req.TaskID,
		Provider: req.Provider, Projects: slices.Clone(req.Projects),
	}
	if err := req.Check(); err != nil {
		return cw.PromptView{}, err
	}
	if err := checkRequest(&spawn); err != nil {
		return cw.PromptView{}, err
	}
	for i, ref := range spawn.Projects { // whoever may only read must not lead cw into any folder
		p, err := o.Store.ProjectByRef(ctx, ref)
		if err != nil {
			return cw.PromptView{}, err
		}
		spawn.Projects[i] = string(p.ID)
	}
	assignment, err := o.assign(ctx, &spawn)
	if err != nil {
		return cw.PromptView{}, err
	}
	preset, err := o.shownPreset(&spawn)
	if err != nil {
		return cw.PromptView{}, err
	}
	if err := refuseArchitect(spawn.Mode, preset); err != nil {
		return cw.PromptView{}, err
	}
	places, err := o.places(ctx, spawn)
	if err != nil {
		return cw.PromptView{}, err
	}
	planned := spawnPlan{options: options{Goal: taskPrompt(spawn, assignment), Checkouts: map[string]string{}, DirtyFiles: map[string]int{}}}
	for _, pl := range places {
		if err := o.addPlace(ctx, &planned, pl); err != nil {
			return cw.PromptView{}, err
		}
	}
	intent, err := o.intent(spawn, preset, cw.Account{}, shownName, places, planned.options)
	if err != nil {
		return cw.PromptView{}, err
	}
	st := cw.RunState{Agent: intent.Agent, Run: intent.Run, Worktrees: intent.Worktrees}
	st.Agent.ID = shownID
	return o.showPrompt(ctx, preset, st, planned.options, places)
}

// shownPreset is the provider that is named, installed or not, or the one that a
// spawn would take. Where none is installed it is the first that cw looks for.
func (o *Orchestrator) shownPreset(req *cw.SpawnRequest) (providers.Preset, error) {
	if req.Provider != "" {
		return o.Presets.Get(req.Provider)
	}
	preset, err := o.choosePreset(req)
	if cw.ErrorCode(err) == cw.CodeNotFound && o.Defaults.Provider == "" {
		return o.Presets.Get(expected()[0])
	}
	return preset, err
}

// showPrompt renders the prompt with what the projects hold in the commits that
// the agent would begin from.
func (o *Orchestrator) showPrompt(ctx context.Context, preset providers.Preset, st cw.RunState, opts options, places []place) (view cw.PromptView, err error) {
	dir, err := os.MkdirTemp("", "cw-prompt-")
	if err != nil {
		return view, fmt.Errorf("make a folder for instruction files: %w", err)
	}
	defer os.RemoveAll(dir)
	in := promptInput(preset, st, opts)
	for i, pl := range places {
		req := worktree.TreeRequest{Project: pl.project, Checkout: orDefault(pl.checkout, pl.project.GitDir), Commit: pl.base.Commit}
		own, _, err := o.overrides(ctx, req)
		if err != nil {
			return view, err
		}
		in.Overrides = append(in.Overrides, own...)
		st.Worktrees[i].Path = filepath.Join(dir, fmt.Sprint(i))
		if err := o.copyInstructions(ctx, req, st.Worktrees[i].Path); err != nil {
			return view, err
		}
	}
	reminder, _, err := o.reminder(ctx, preset, st, opts)
	if err != nil {
		return view, err
	}
	p, err := prompts.Render(string(st.Agent.Mode), in)
	if err != nil {
		return view, err
	}
	view = p.View()
	if reminder != "" {
		first := cw.PromptBlock{Tag: "system-reminder", Source: "instruction files", Bytes: len(reminder), Tokens: prompts.Tokens(reminder)}
		view.Text, view.Blocks = reminder+"\n"+p.Text, append([]cw.PromptBlock{first}, view.Blocks...)
	}
	view.Tokens = prompts.Tokens(view.Text)
	return view, nil
}

// copyInstructions writes the instruction files of a commit into a folder, as a
// worktree would have them.
func (o *Orchestrator) copyInstructions(ctx context.Context, req worktree.TreeRequest, dir string) error {
	req.Paths, req.FilesMax = instructions.Checked(), 2*prompts.OverridesMax
	req.FileMax, req.TotalMax = shownFileMax, shownTotalMax
	files, err := o.Repos.TreeFiles(ctx, req)
	if err != nil {
		return fmt.Errorf("read the instruction files of %s: %w", req.Project.Name, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make a folder for instruction files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the folder for instruction files: %w", err)
	}
	defer root.Close()
	for _, f := range files {
		if f.Data == nil {
			continue // beyond what is read to show a prompt
		}
		if err := root.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			return fmt.Errorf("make a folder for instruction files: %w", err)
		}
		if err := root.WriteFile(f.Path, f.Data, 0o600); err != nil {
			return fmt.Errorf("write an instruction file: %w", err)
		}
	}
	return nil
}
