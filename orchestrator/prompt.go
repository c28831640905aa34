package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/prompts"
	"cw/providers"
	"cw/worktree"
)

// promptOf is the whole prompt of a run: the agent's instructions for a session
// that begins, and the run's texts for one that goes on.
func (o *Orchestrator) promptOf(ctx context.Context, st cw.RunState, opts options) (string, error) {
	if st.Run.Reason == cw.RunSpawn {
		return o.instructions(ctx, st, opts)
	}
	messages, err := o.Store.RunMessages(ctx, st.Run.ID)
	if err != nil {
		return "", fmt.Errorf("read the run's texts: %w", err)
	}
	if st.Run.Fresh && len(messages) == 0 {
		return o.instructions(ctx, st, opts) // no run of it ever began: it begins now
	}
	blocks := blocksOf(messages)
	if st.Run.Fresh {
		first, err := o.instructions(ctx, st, opts)
		if err != nil {
			return "", err
		}
		blocks = append([]string{first}, blocks...)
	}
	plan, err := o.planText(ctx, st.Agent.ID)
	if err != nil {
		return "", fmt.Errorf("read its plan: %w", err)
	}
	if plan != "" {
		blocks = append(blocks, plan)
	}
	return strings.Join(append(blocks, prompts.NewRun()), "\n"), nil
}

// blocksOf gives the blocks of a prompt in the order of its texts, a hand-over
// first. Texts that a run which never started was to deliver are among them: of
// several hand-overs the first one counts, since nothing happened after it, and
// what cw said twice is said once.
func blocksOf(messages []cw.Message) []string {
	var handOver, blocks []string
	for _, m := range messages {
		switch {
		case isHandOver(m):
			handOver = append(handOver, m.Body)
		case m.Origin == cw.OriginCW:
			text := m.Body
			if !strings.HasPrefix(text, "<") { // no block yet: of who merges the work
				text = prompts.HandedBack(text)
			}
			if !slices.Contains(blocks, text) {
				blocks = append(blocks, text)
			}
		case m.Origin == cw.OriginAgent:
			blocks = append(blocks, framed(m))
		default:
			blocks = append(blocks, prompts.FollowUp(m.Body))
		}
	}
	if len(blocks) == 0 && len(handOver) == 0 {
		return []string{prompts.GoOn(prompts.GoOnInput{})}
	}
	return append(handOver[:min(1, len(handOver))], blocks...)
}

// framed is a text of another agent as it stands in a prompt.
func framed(m cw.Message) string {
	about, _ := cw.ConversationTextOf(m)
	return prompts.Frame(prompts.FrameInput{
		From: orDefault(about.From, writerOf(m)), Kind: about.Kind, Conversation: string(about.ConversationID),
		Question: about.Question, Text: m.Body,
	})
}

// instructions renders the prompt that a session begins with: what people keep
// for every agent, and the agent's own assignment.
func (o *Orchestrator) instructions(ctx context.Context, st cw.RunState, opts options) (string, error) {
	preset, err := o.Presets.Get(st.Agent.Provider)
	if err != nil {
		return "", err
	}
	reminder, notes, err := o.reminder(ctx, preset, st, opts)
	if err != nil {
		return "", err
	}
	if st.Agent.TaskID != "" { // as it is now: people may have changed it since
		assignment, err := o.Plans.Assignment(ctx, st.Agent)
		if err != nil {
			return "", fmt.Errorf("read the task: %w", err)
		}
		opts.Goal = taskPrompt(cw.SpawnRequest{Mode: st.Agent.Mode, Goal: opts.Request}, assignment)
	}
	in := promptInput(preset, st, opts)
	for _, t := range st.Worktrees {
		own, trouble, err := o.overrides(ctx, worktree.TreeRequest{Project: cw.Project{ID: t.ProjectID, Name: t.Project}, Commit: t.BaseCommit})
		if err != nil {
			return "", err
		}
		in.Overrides, notes = append(in.Overrides, own...), append(notes, trouble...)
	}
	for _, note := range notes {
		if slices.Contains(st.Agent.Warnings, note) {
			continue
		}
		if err := o.warn(ctx, st.Agent, note); err != nil {
			return "", err
		}
	}
	p, err := prompts.Render(string(st.Agent.Mode), in)
	if err != nil || reminder == "" {
		return p.Text, err
	}
	return reminder + "\n" + p.Text, nil
}

// promptInput is what a prompt is rendered from, without the repository's own
// words.
func promptInput(preset providers.Preset, st cw.RunState, opts options) prompts.Input {
	in := prompts.Input{
		AgentID: string(st.Agent.ID), AgentName: st.Agent.Alias,
		Task: opts.Goal, Cwd: st.Agent.AgentCwd, Commands: prompts.AgentCommands(),
	}
	if preset.OffersTools() {
		in.Tools = cw.MayUse(cw.RunScopes(), nil, nil)
	}
	for _, t := range st.Worktrees {
		in.Projects = append(in.Projects, prompts.Project{
			Name: t.Project, Path: relative(st.Agent.AgentCwd, t.Path), Branch: t.Branch,
			BaseBranch: t.BaseBranch, BaseCommit: t.BaseCommit, DirtyFiles: opts.DirtyFiles[t.Project],
			Hooks: opts.Hooks[t.ProjectID].unheard(opts.around.of(t.ProjectID)),
		})
	}
	return in
}

// overrides reads a repository's own words for blocks, as they are in the commit
// that its agents begin from: no agent can change what it is told itself. notes
// say which files are none.
func (o *Orchestrator) overrides(ctx context.Context, req worktree.TreeRequest) (own []prompts.Override, notes []string, err error) {
	if req.Checkout == "" {
		if req.Project, err = o.Store.ProjectByRef(ctx, string(req.Project.ID)); err != nil {
			return nil, nil, fmt.Errorf("find project: %w", err)
		}
	}
	req.Paths, req.FileMax, req.FilesMax = []string{prompts.OverrideDir}, prompts.OverrideMax, prompts.OverridesMax
	files, err := o.Repos.TreeFiles(ctx, req)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s of %s: %w", prompts.OverrideDir, req.Project.Name, err)
	}
	for i, f := range files {
		if i == prompts.OverridesMax {
			notes = append(notes, fmt.Sprintf("%s holds %d files; the first %d by name are looked at", prompts.OverrideDir, len(files), i))
			break
		}
		name := strings.TrimPrefix(f.Path, prompts.OverrideDir+"/")
		switch override, err := prompts.ParseOverride(name, string(f.Data)); {
		case f.Data == nil && f.Size > prompts.OverrideMax:
			notes = append(notes, fmt.Sprintf("%s has %d bytes, at most %d are taken; it is not used", f.Path, f.Size, prompts.OverrideMax))
		case err != nil:
			notes = append(notes, err.Error()+"; it is not used")
		default:
			own = append(own, override)
		}
	}
	return own, notes, nil
}
