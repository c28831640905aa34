package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cw/artifacts"
	"cw/internal/cw"
	"cw/providers"
)

// Plans is what the engine needs of initiatives: what an agent is to work for,
// and what becomes of what it suggests.
type Plans interface {
	// Assign finds what a new agent is to work for by as much of it as the agent
	// names, and gives the agent with all of it. CodeNotFound, CodeInvalid,
	// CodeRefused.
	Assign(ctx context.Context, agent cw.Agent) (cw.Agent, artifacts.Input, error)
	// Assignment gives everything that an agent is given to read, as it is now.
	Assignment(ctx context.Context, agent cw.Agent) (artifacts.Input, error)
	// Propose makes proposals of what an agent left, to be stored with the end of
	// its run. given is what the agent was given to read, newest first; notes say
	// what was left out.
	Propose(ctx context.Context, agent cw.Agent, run cw.RunID, given []artifacts.Given, out artifacts.Output) (proposals []cw.Proposal, notes []string, err error)
	// RecordAnswers notes what people decided. It may be called again.
	RecordAnswers(ctx context.Context, agent cw.Agent, questions []cw.Question) error
}

// noPlans is for an engine without initiatives.
type noPlans struct{}

func (noPlans) Assign(_ context.Context, a cw.Agent) (cw.Agent, artifacts.Input, error) {
	if a.InitiativeID != "" || a.PhaseID != "" || a.TaskID != "" || a.Mode != cw.ModeExecute {
		return a, artifacts.Input{}, cw.Errorf(cw.CodeInvalid, "there are no initiatives here").WithHint("spawn an agent with mode execute and a goal")
	}
	return a, artifacts.Input{Agent: a}, nil
}

func (noPlans) Assignment(_ context.Context, a cw.Agent) (artifacts.Input, error) {
	return artifacts.Input{Agent: a}, nil
}

func (noPlans) Propose(context.Context, cw.Agent, cw.RunID, []artifacts.Given, artifacts.Output) ([]cw.Proposal, []string, error) {
	return nil, nil, nil
}

func (noPlans) RecordAnswers(context.Context, cw.Agent, []cw.Question) error { return nil }

// assign finds what a request wants done and fills in what it leaves open: the
// projects, the title, and the ids of what stands above a task or a phase.
func (o *Orchestrator) assign(ctx context.Context, req *cw.SpawnRequest) (artifacts.Input, error) {
	agent, in, err := o.Plans.Assign(ctx, cw.Agent{
		Mode: req.Mode, Title: titleOf(req.Title), InitiativeID: req.InitiativeID, PhaseID: req.PhaseID, TaskID: req.TaskID,
	})
	if err != nil {
		return in, err
	}
	req.InitiativeID, req.PhaseID, req.TaskID = agent.InitiativeID, agent.PhaseID, agent.TaskID
	req.Title = orDefault(titleOf(agent.Title), titleOf(req.Goal))
	if len(req.Projects) == 0 {
		for _, p := range in.Initiative.Projects {
			req.Projects = append(req.Projects, string(p.ID))
		}
	}
	if len(req.Projects) == 0 && agent.InitiativeID != "" && req.Mode == cw.ModeExecute {
		return in, cw.Errorf(cw.CodeInvalid, "the initiative %s has no project to work in", in.Initiative.Slug).
			WithHint("give it one: cw initiative edit %s --project PATH; or name one with --project", in.Initiative.Slug)
	}
	return in, nil
}

// taskPrompt is what an agent is told to do: its task with what a person adds,
// or a goal alone. Architects are told by their files.
func taskPrompt(req cw.SpawnRequest, in artifacts.Input) string {
	switch {
	case req.Mode != cw.ModeExecute:
		return ""
	case in.Task == nil:
		return req.Goal
	case strings.TrimSpace(req.Goal) == "":
		return artifacts.TaskFile(*in.Task)
	}
	return artifacts.TaskFile(*in.Task) + "\n" + req.Goal
}

// requestFile is what a person asks beside an assignment, relative to .cw/input.
const requestFile = "request.md"

// inputFiles are all files of .cw/input but the manifest, in the order in which
// they are read. What an architect is given is kept.
func (o *Orchestrator) inputFiles(ctx context.Context, st cw.RunState, opts options) ([]artifacts.File, error) {
	in, err := o.Plans.Assignment(ctx, st.Agent)
	if err != nil {
		return nil, fmt.Errorf("gather the assignment: %w", err)
	}
	if st.Agent.Mode.Architect() {
		if err := keepGiven(st.Run, in); err != nil {
			return nil, err
		}
	}
	files, err := in.Files()
	if err != nil {
		return nil, err
	}
	if in.Task == nil && opts.Goal != "" {
		task, err := taskText(st.Agent, opts.Goal)
		if err != nil {
			return nil, err
		}
		files = append(files, artifacts.File{Path: taskFile, Data: task})
	}
	if strings.TrimSpace(opts.Request) != "" {
		files = append(files, artifacts.File{Path: requestFile, Data: []byte(strings.TrimSpace(opts.Request) + "\n")})
	}
	return files, nil
}

// foldersOf are the folders of files, each after those above it.
func foldersOf(files []artifacts.File) []string {
	var out []string
	seen := map[string]bool{".": true}
	var add func(dir string)
	add = func(dir string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		add(path.Dir(dir))
		out = append(out, path.Join(inputDir, dir))
	}
	for _, f := range files {
		add(path.Dir(f.Path))
	}
	return out
}

// planTurn waits until no other agent of the initiative ends: two of them that
// suggest the same would not know of each other.
func (o *Orchestrator) planTurn(ctx context.Context, agent cw.Agent) (done func(), err error) {
	if agent.InitiativeID == "" {
		return func() {}, nil
	}
	return o.plans.take(ctx, agent.InitiativeID)
}

// suggested makes proposals of what an agent left, when its run ended as it
// wanted: a run that goes on, or that something else ended, is not its last word.
func (o *Orchestrator) suggested(ctx context.Context, st cw.RunState, v *verdict, lenient bool) ([]cw.Proposal, error) {
	if st.Agent.InitiativeID == "" || v.Next != nil || v.Status != cw.StatusIdle && v.Status != cw.StatusWaitingForInput {
		return nil, nil
	}
	proposals, notes, err := o.readSuggested(ctx, st, v)
	if err != nil && lenient && ctx.Err() == nil {
		notes, err = []string{"what it suggests could not be read, and is in its run directory: " + err.Error()}, nil
	}
	if err == nil && len(notes) > 0 {
		if ask, err := o.mayAskForFiles(ctx, st, *v); err != nil || ask {
			if ask {
				v.Next = &nextStep{Reason: cw.RunFiles, Why: counted(len(notes), "file") + " could not be taken", Files: notes}
			}
			return nil, err
		}
	}
	v.Warnings = append(v.Warnings, notes...)
	return proposals, err
}

// mayAskForFiles tells whether an agent is asked to correct its files: once, when
// it said that it is done, and never a plain program.
func (o *Orchestrator) mayAskForFiles(ctx context.Context, st cw.RunState, v verdict) (bool, error) {
	if v.Status != cw.StatusIdle || v.NoNext {
		return false, nil
	}
	preset, err := o.Presets.Get(providerOf(st.Run, st.Agent))
	if err != nil || preset.Command.From == providers.FromScript {
		return false, nil // its preset is gone, or run again it would do all again
	}
	view, err := o.Store.AgentView(ctx, string(st.Agent.ID))
	if err != nil {
		return false, fmt.Errorf("read its runs: %w", err)
	}
	return !slices.ContainsFunc(view.Runs, func(r cw.Run) bool { return r.Reason == cw.RunFiles }), nil
}

func (o *Orchestrator) readSuggested(ctx context.Context, st cw.RunState, v *verdict) ([]cw.Proposal, []string, error) {
	root, err := openOwnFolder(st.Agent.AgentCwd)
	if errors.Is(err, errNoSignal) {
		return nil, nil, nil // the folder is gone: its run left nothing
	}
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	out, err := artifacts.ReadOutput(root, path.Join(signalBase(st.Agent.AgentCwd), outputDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	out = maskOutput(o.Redact, out)
	v.Result = orDefault(v.Result, out.Summary)
	given, err := o.givenTo(st)
	if err != nil {
		return nil, nil, err
	}
	return o.Plans.Propose(ctx, st.Agent, st.Run.ID, given, out)
}

// notesAnswers tells whether what people answer an agent is noted on a page.
func notesAnswers(a cw.Agent) bool { return a.Mode == cw.ModeDiscuss && a.InitiativeID != "" }

// record notes answers where people read decisions. What cannot be noted, as the
// initiative is archived or its page has no room, is a warning: the agent goes on
// with its answers all the same.
func (o *Orchestrator) record(ctx context.Context, agent cw.Agent, questions []cw.Question) (warning string, err error) {
	err = o.Plans.RecordAnswers(ctx, agent, questions)
	switch cw.ErrorCode(err) {
	case "":
		return "", nil
	case cw.CodeRefused, cw.CodeNotFound, cw.CodeInvalid: // tried again it would be the same
		return "its answers were not noted as decisions: " + err.Error(), nil
	}
	return "", fmt.Errorf("note the answers: %w", err)
}
