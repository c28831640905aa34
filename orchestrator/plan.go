package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"cw/internal/cw"
	"cw/providers"
	"cw/worktree"
)

// titleMax is the greatest length of a title in characters.
const titleMax = 80

// spawnPlan is everything decided about a spawn before anything is done.
type spawnPlan struct {
	intent    cw.SpawnIntent
	options   options
	callerEnv map[string]string
	projects  []cw.Project // those not registered yet are in newOnes
	newOnes   []cw.Project
	warnings  []string
}

// place is a project with the checkout of it that was named.
type place struct {
	project  cw.Project
	isNew    bool
	checkout string // "" for a remote repository
	base     worktree.Base
	inMirror bool // the base is a commit of cw's copy, not of the user's repository
	hooks    cw.HooksPolicy
	warning  string
}

// plan checks a request whole and decides everything about it. It changes
// nothing, so that a refused request leaves nothing behind. by is the agent that
// asks; nil: a person does.
func (o *Orchestrator) plan(ctx context.Context, req cw.SpawnRequest, by *parentage) (spawnPlan, error) {
	if err := checkRequest(&req); err != nil {
		return spawnPlan{}, err
	}
	if err := cw.CheckBudget(cw.BudgetAgent, req.BudgetUSD); err != nil {
		return spawnPlan{}, err
	}
	if err := o.enoughDisk(); err != nil { // before the database says so
		return spawnPlan{}, err
	}
	assignment, err := o.assign(ctx, &req)
	if err != nil {
		return spawnPlan{}, err
	}
	if err := o.providerOfAccount(ctx, &req); err != nil {
		return spawnPlan{}, err
	}
	preset, err := o.choosePreset(&req)
	if err != nil {
		return spawnPlan{}, err
	}
	if err := refuseArchitect(req.Mode, preset); err != nil {
		return spawnPlan{}, err
	}
	if o.Admit != nil && !req.Claim {
		if err := o.Admit(ctx, preset.Name); err != nil {
			return spawnPlan{}, err
		}
	}
	places, err := o.places(ctx, req)
	if err != nil {
		return spawnPlan{}, err
	}
	if err := o.refuseUntrustedPlaces(ctx, req.Mode, places); err != nil {
		return spawnPlan{}, err
	}
	if by != nil {
		by.beginWhere(places)
	}
	opts := options{
		Goal: taskPrompt(req, assignment), Checkouts: map[string]string{}, DirtyFiles: map[string]int{}, Env: o.keptEnv(req.Env), Identity: true,
		Sandbox: req.Sandbox, AutoResume: req.AutoResume, ConfigDir: preset.ConfigDir(o.runEnv(preset, req.Env, nil, nil, nil)),
	}
	if opts.Goal != req.Goal { // else it is the task
		opts.Request = req.Goal
	}
	if err := o.findCommand(ctx, preset, req, &opts); err != nil {
		return spawnPlan{}, err
	}
	alias, err := o.chooseAlias(ctx, req.Name)
	if err != nil {
		return spawnPlan{}, err
	}
	account, note, err := o.spawnAccount(ctx, req, preset)
	if err != nil {
		return spawnPlan{}, err
	}
	if err := o.refuseUnusable(ctx, req, preset, account, opts.Command); err != nil {
		return spawnPlan{}, err
	}
	p := spawnPlan{options: opts, callerEnv: req.Env}
	if opts.Version == "" && len(preset.Version.Args) > 0 {
		p.warnings = append(p.warnings, fmt.Sprintf("the version of %s is not known: it did not tell it in time", opts.Command))
	}
	if note != "" {
		p.warnings = append(p.warnings, note)
	}
	for _, pl := range places {
		if err := o.addPlace(ctx, &p, pl); err != nil {
			return spawnPlan{}, err
		}
		if surrounded(req.Mode) {
			o.addHooks(ctx, &p, pl)
		}
	}
	p.intent, err = o.intent(req, preset, account, alias, places, p.options)
	actor := cw.ActorOf(ctx)
	p.intent.Agent.Origin, p.intent.Agent.CreatedBy = string(actor.Kind), actor.ID
	if by != nil {
		p.intent.Agent.ParentID, p.intent.Agent.Depth = by.Agent.ID, by.Agent.Depth+1
	}
	p.intent.Agent.Warnings = append(p.intent.Agent.Warnings, p.warnings...)
	p.intent.BudgetUSD, p.intent.Claim = req.BudgetUSD, req.Claim
	return p, err
}

// addPlace notes what one project means for the plan.
func (o *Orchestrator) addPlace(ctx context.Context, p *spawnPlan, pl place) error {
	p.projects = append(p.projects, pl.project)
	if pl.isNew {
		p.newOnes = append(p.newOnes, pl.project)
	}
	if pl.warning != "" {
		p.warnings = append(p.warnings, pl.warning)
	}
	p.options.Checkouts[string(pl.project.ID)] = pl.checkout
	if pl.inMirror {
		p.options.InMirror = append(p.options.InMirror, pl.project.ID)
	}
	_, _, ok, err := o.Repos.Identity(ctx, pl.project)
	if err != nil {
		return fmt.Errorf("look for a git identity: %w", err)
	}
	p.options.Identity = p.options.Identity && ok
	dirty, err := o.Repos.DirtyFiles(ctx, pl.checkout)
	if err != nil {
		return fmt.Errorf("look for changes in %s: %w", pl.checkout, err)
	}
	if dirty > 0 {
		p.options.DirtyFiles[pl.project.Name] = dirty
		p.warnings = append(p.warnings, fmt.Sprintf("the agent does not see what is not committed in %s: %s", pl.checkout, counted(dirty, "changed file")))
	}
	return nil
}

// checkRequest refuses what is wrong in itself and fills in defaults.
func checkRequest(req *cw.SpawnRequest) error {
	req.Mode = orDefault(req.Mode, cw.ModeExecute)
	goalNeeded := req.Mode == cw.ModeExecute && req.TaskID == ""
	switch {
	case !slices.Contains(cw.Modes(), req.Mode):
		return cw.Errorf(cw.CodeInvalid, "%.40q is no mode", req.Mode).WithHint("modes: %s", joinModes(cw.Modes()))
	case goalNeeded && strings.TrimSpace(req.Goal) == "":
		return cw.Errorf(cw.CodeInvalid, "the goal is empty").WithHint(`say what is to be done: cw run "fix the failing test in parser_test.go"`)
	case len(req.Goal) > cw.GoalMax:
		return cw.Errorf(cw.CodeInvalid, "the goal is %d bytes long, at most %d are taken", len(req.Goal), cw.GoalMax).WithHint("put the material into a file of the repository and name it in the goal")
	case !utf8.ValidString(req.Goal):
		return cw.Errorf(cw.CodeInvalid, "the goal is not UTF-8 text").WithHint("convert it, for example with iconv -t utf-8")
	case strings.ContainsRune(req.Goal, 0):
		return cw.Errorf(cw.CodeInvalid, "the goal holds a zero byte").WithHint("give plain text")
	}
	if req.Name != "" {
		return cw.ValidAlias(req.Name)
	}
	return nil
}

func joinModes(modes []cw.Mode) string {
	words := make([]string, len(modes))
	for i, m := range modes {
		words[i] = string(m)
	}
	return strings.Join(words, ", ")
}

const providerScript = "script"

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

func (o *Orchestrator) chooseAlias(ctx context.Context, wanted string) (string, error) {
	taken := func(alias string) (bool, error) { return o.Store.AliasTaken(ctx, alias) }
	if wanted == "" {
		return cw.NewAlias(taken)
	}
	used, err := taken(wanted)
	if err != nil {
		return "", fmt.Errorf("look for the name: %w", err)
	}
	if used {
		return "", cw.Errorf(cw.CodeRefused, "the name %s is taken; names are never used twice", wanted).WithHint("choose another, or leave --name out")
	}
	return wanted, nil
}

// places resolves every project of the request to a repository, a checkout and
// a base commit.
func (o *Orchestrator) places(ctx context.Context, req cw.SpawnRequest) ([]place, error) {
	var out []place
	branches, err := o.branchesFor(ctx, req)
	if err != nil {
		return nil, err
	}
	for _, ref := range req.Projects {
		pl, err := o.place(ctx, ref, req.Env, out)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(p place) bool { return p.project.GitDir == pl.project.GitDir }) {
			return nil, cw.Errorf(cw.CodeInvalid, "project %s is named twice", pl.project.Name).WithHint("name each project once")
		}
		base, there := branches[pl.project.ID]
		switch {
		case there:
			pl.base, pl.inMirror = base, true
		case pl.inMirror && req.Base == "": // of the agent's worktree in which somebody stands
		default:
			pl.inMirror = false
			pl.base, err = o.Repos.ResolveBase(ctx, orDefault(pl.checkout, pl.project.GitDir), req.Base)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, pl)
	}
	return out, nil
}

// branchesFor gives what the agent of a task begins from where nobody named
// anything else: the branches of its initiative, which hold what the task builds
// on.
func (o *Orchestrator) branchesFor(ctx context.Context, req cw.SpawnRequest) (map[cw.ProjectID]worktree.Base, error) {
	if req.TaskID == "" || req.Mode != cw.ModeExecute || req.Base != "" {
		return nil, nil
	}
	rows, err := o.Store.IntegrationsOf(ctx, req.InitiativeID)
	if err != nil {
		return nil, fmt.Errorf("look for the branches of the initiative: %w", err)
	}
	out := map[cw.ProjectID]worktree.Base{}
	for _, r := range rows {
		if r.Head != "" {
			out[r.ProjectID] = worktree.Base{Branch: r.Branch, Commit: r.Head}
		}
	}
	return out, nil
}

// place finds one project by id, name, path or URL; a path may be a repository
// that is not registered yet. A remote one is fetched first.
func (o *Orchestrator) place(ctx context.Context, ref string, env map[string]string, before []place) (place, error) {
	if !filepath.IsAbs(ref) {
		p, err := o.Store.ProjectByRef(ctx, ref)
		if err != nil {
			return place{}, err
		}
		if p.Remote() {
			return o.remotePlace(ctx, p, env)
		}
		p, checkout, err := o.sameRepository(ctx, p)
		return place{project: p, checkout: checkout}, err
	}
	repo, err := o.Repos.Inspect(ctx, ref)
	if err != nil {
		return place{}, err
	}
	if own, err := o.ownCopy(ctx, repo); err != nil || own != nil {
		if err != nil {
			return place{}, err
		}
		return o.placeInWorktree(ctx, *own, repo, env)
	}
	p, known, err := o.Store.ProjectByGitDir(ctx, repo.CommonGitDir)
	if err != nil {
		return place{}, fmt.Errorf("look for the project: %w", err)
	}
	switch {
	case !known:
		p, err = o.newProject(ctx, repo, before)
	case !dirExists(p.Path):
		p, err = o.movedCheckout(ctx, p, repo.Main)
	}
	return place{project: p, isNew: !known, checkout: repo.TopLevel}, err
}

// placeInWorktree is the place for somebody who stands in an agent's worktree: its
// project, beginning at the commit of that worktree.
func (o *Orchestrator) placeInWorktree(ctx context.Context, p cw.Project, repo worktree.Repository, env map[string]string) (pl place, err error) {
	if p.Remote() {
		pl, err = o.remotePlace(ctx, p, env)
	} else {
		pl.project, pl.checkout, err = o.sameRepository(ctx, p)
	}
	pl.base, pl.inMirror = worktree.Base{Branch: repo.HeadBranch, Commit: repo.HeadCommit}, true
	return pl, err
}

// intent puts the decisions into rows.
func (o *Orchestrator) intent(req cw.SpawnRequest, preset providers.Preset, account cw.Account, alias string, places []place, opts options) (cw.SpawnIntent, error) {
	now := time.Now().UTC()
	optionsJSON, err := json.Marshal(opts)
	if err != nil {
		return cw.SpawnIntent{}, fmt.Errorf("encode options: %w", err)
	}
	agent := cw.Agent{
		ID: cw.AgentID(cw.NewID()), Alias: alias, Mode: req.Mode, Definition: string(req.Mode),
		Provider: preset.Name, AccountID: account.ID, Model: req.Model,
		InitiativeID: req.InitiativeID, PhaseID: req.PhaseID, TaskID: req.TaskID, Title: req.Title, Status: cw.StatusPending, Warnings: []string{},
		SessionNumber: 1, SessionID: preset.NewSessionID(),
		OptionsJSON: string(optionsJSON), CreatedAt: now, UpdatedAt: now,
	}
	in := cw.SpawnIntent{Agent: agent}
	switch len(places) {
	case 0:
		in.Agent.AgentCwd = o.Home.Workspace(alias)
	case 1:
		in.Agent.AgentCwd = o.Home.Worktree(alias)
	default:
		in.Agent.AgentCwd = o.Home.Workdir(alias)
	}
	for _, pl := range places {
		path := in.Agent.AgentCwd
		if len(places) > 1 {
			path = filepath.Join(path, pl.project.Name)
		}
		in.Worktrees = append(in.Worktrees, cw.AgentWorktree{
			AgentID: agent.ID, ProjectID: pl.project.ID, Project: pl.project.Name, Path: path,
			Branch: "agent/" + alias, BaseBranch: pl.base.Branch, BaseCommit: pl.base.Commit,
			HeadCommit: pl.base.Commit, State: cw.WorktreePlanned,
		})
	}
	in.Run = cw.Run{
		ID: cw.RunID(cw.NewID()), AgentID: agent.ID, Kind: cw.RunAgent, SessionNumber: 1, Reason: cw.RunSpawn,
		Provider: preset.Name, AccountID: account.ID, Model: req.Model, Dir: o.Home.RunDir(alias, 1), CreatedAt: now,
	}
	in.Run.OutputPath = filepath.Join(in.Run.Dir, outputFile)
	in.Op = cw.Op{
		ID: cw.OpID(cw.NewID()), Kind: cw.OpSpawn, Status: cw.OpIntended, AgentID: agent.ID, RunID: in.Run.ID,
		CreatedAt: now, UpdatedAt: now,
	}
	if req.RequestKey != "" {
		in.Op.RequestKey = &req.RequestKey
	}
	return in, nil
}

// titleOf is the first line of a text that says something. Control characters
// go: a title is printed on terminals.
func titleOf(text string) string {
	for line := range strings.Lines(text) {
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, line)
		line = strings.Join(strings.Fields(strings.TrimLeft(strings.TrimSpace(line), "#")), " ")
		if line != "" {
			return cut(line, titleMax)
		}
	}
	return ""
}
