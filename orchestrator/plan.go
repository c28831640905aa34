package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers"
	"cw/worktree"
)

const (
	// titleMax is the greatest length of a title in characters.
	titleMax = 80
	// versionWait bounds how long a CLI may take to tell its version.
	versionWait = 20 * time.Second
)

// options are the facts of a spawn that no column holds; they are kept with
// the agent so that a half-done spawn can be finished by another daemon, and a
// run resumed later. They hold no secrets: proxies and keys are taken from the
// daemon's environment then.
type options struct {
	Goal       string            `json:"goal"`
	Script     string            `json:"script,omitempty"`
	Command    string            `json:"command"` // the CLI's binary
	Version    string            `json:"version,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	Checkouts  map[string]string `json:"checkouts,omitempty"` // project id → the checkout that was named
	Identity   bool              `json:"identity"`            // the user has a git identity
	DirtyFiles map[string]int    `json:"dirtyFiles,omitempty"`
	Sandbox    cw.Sandbox        `json:"sandbox,omitempty"`
	ConfigDir  string            `json:"configDir,omitempty"` // of the CLI, where it keeps its sessions
}

// storedEnv are the names of the caller's environment that are kept: none of
// them carries a secret.
func storedEnv() []string { return []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR"} }

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
	checkout string
	base     worktree.Base
}

// plan checks a request whole and decides everything about it. It changes
// nothing, so that a refused request leaves nothing behind.
func (o *Orchestrator) plan(ctx context.Context, req cw.SpawnRequest) (spawnPlan, error) {
	if err := checkRequest(&req); err != nil {
		return spawnPlan{}, err
	}
	if err := enoughDisk(string(o.Home)); err != nil { // before the database says so
		return spawnPlan{}, err
	}
	preset, err := o.choosePreset(&req)
	if err != nil {
		return spawnPlan{}, err
	}
	places, err := o.places(ctx, req)
	if err != nil {
		return spawnPlan{}, err
	}
	opts := options{
		Goal: req.Goal, Checkouts: map[string]string{}, DirtyFiles: map[string]int{}, Env: map[string]string{}, Identity: true,
		Sandbox: req.Sandbox, ConfigDir: preset.ConfigDir(o.runEnv(preset, req.Env, nil, nil)),
	}
	if err := o.findCommand(ctx, preset, req, &opts); err != nil {
		return spawnPlan{}, err
	}
	alias, err := o.chooseAlias(ctx, req.Name)
	if err != nil {
		return spawnPlan{}, err
	}
	for _, name := range storedEnv() {
		if v, ok := req.Env[name]; ok {
			opts.Env[name] = v
		}
	}
	p := spawnPlan{options: opts, callerEnv: req.Env}
	for _, pl := range places {
		if err := o.addPlace(ctx, &p, pl); err != nil {
			return spawnPlan{}, err
		}
	}
	p.intent, err = o.intent(req, preset, alias, places, p.options)
	actor := cw.ActorOf(ctx)
	p.intent.Agent.Origin, p.intent.Agent.CreatedBy = string(actor.Kind), actor.ID
	p.intent.Agent.Warnings = append(p.intent.Agent.Warnings, p.warnings...)
	return p, err
}

// addPlace notes what one project means for the plan.
func (o *Orchestrator) addPlace(ctx context.Context, p *spawnPlan, pl place) error {
	p.projects = append(p.projects, pl.project)
	if pl.isNew {
		p.newOnes = append(p.newOnes, pl.project)
	}
	p.options.Checkouts[string(pl.project.ID)] = pl.checkout
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
	switch {
	case strings.TrimSpace(req.Goal) == "":
		return cw.Errorf(cw.CodeInvalid, "the goal is empty").WithHint(`say what is to be done: cw run "fix the failing test in parser_test.go"`)
	case len(req.Goal) > cw.GoalMax:
		return cw.Errorf(cw.CodeInvalid, "the goal is %d bytes long, at most %d are taken", len(req.Goal), cw.GoalMax).WithHint("put the material into a file of the repository and name it in the goal")
	case !utf8.ValidString(req.Goal):
		return cw.Errorf(cw.CodeInvalid, "the goal is not UTF-8 text").WithHint("convert it, for example with iconv -t utf-8")
	case strings.ContainsRune(req.Goal, 0):
		return cw.Errorf(cw.CodeInvalid, "the goal holds a zero byte").WithHint("give plain text")
	}
	if err := notYet(*req); err != nil {
		return err
	}
	if req.Name != "" {
		return cw.ValidAlias(req.Name)
	}
	return nil
}

// notYet refuses by name what later versions will take.
func notYet(req cw.SpawnRequest) error {
	modes := []cw.Mode{cw.ModeDiscuss, cw.ModePlan, cw.ModeDetail, cw.ModeRefine}
	refuse := func(what string) error {
		return cw.Errorf(cw.CodeInvalid, "%s is not there yet in this version", what).WithHint("spawn an agent with mode execute and a goal")
	}
	switch {
	case slices.Contains(modes, req.Mode):
		return refuse("mode " + string(req.Mode))
	case req.Mode != cw.ModeExecute:
		return cw.Errorf(cw.CodeInvalid, "%q is no mode", req.Mode).WithHint("modes: execute (others come later)")
	case req.InitiativeID != "":
		return refuse("--initiative")
	case req.PhaseID != "":
		return refuse("--phase")
	case req.TaskID != "":
		return refuse("--task")
	case req.AccountID != "" && req.AccountID != accountDefault:
		return refuse("an account other than " + accountDefault)
	}
	return nil
}

const (
	// accountDefault is the account that uses the user's own login.
	accountDefault = "default"
	providerScript = "script"
)

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// lookPath finds a provider's CLI on the caller's PATH.
func (o *Orchestrator) lookPath(p providers.Preset, path string) (string, error) {
	return p.Find(orDefault(path, envOf(o.Environ, "PATH")), envOf(o.Environ, "HOME"))
}

// findCommand finds the CLI and checks its version.
func (o *Orchestrator) findCommand(ctx context.Context, p providers.Preset, req cw.SpawnRequest, opts *options) error {
	if p.Command.From == providers.FromScript {
		return findScript(req.Script, opts)
	}
	found, err := o.lookPath(p, req.Env["PATH"])
	if err != nil {
		return err
	}
	opts.Command = found
	if len(p.Version.Args) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionWait)
	defer cancel()
	out, stderr, code, err := proc.Output(ctx, proc.Command{
		Argv: append([]string{found}, p.Version.Args...),
		Env:  o.runEnv(p, req.Env, nil, nil),
		Dir:  os.TempDir(),
	})
	if err != nil || code != 0 {
		said := lastPart(append(out, stderr...), stderrShown)
		return cw.Errorf(cw.CodeFailed, "%s does not tell its version (%s)%s", found, versionTrouble(code, err), colon(said)).
			WithHint("run it by hand, or install it again: %s", p.Command.Install).Because(err)
	}
	opts.Version, err = p.CheckVersion(string(out))
	return err
}

// versionTrouble says for people how a version probe failed.
func versionTrouble(code int, err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", versionWait)
	case err != nil:
		return "it could not be run"
	case code < 0:
		return "a signal ended it"
	default:
		return fmt.Sprintf("exit code %d", code)
	}
}

func findScript(name string, opts *options) error {
	info, err := os.Stat(name)
	switch {
	case !filepath.IsAbs(name):
		return cw.Errorf(cw.CodeInvalid, "the script's path %q is not absolute", name).WithHint("give the whole path")
	case err != nil:
		return cw.Errorf(cw.CodeInvalid, "the script cannot be used: %v", err).WithHint("check the path")
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return cw.Errorf(cw.CodeInvalid, "the script %s is not executable", name).WithHint("chmod +x %s", name)
	}
	opts.Script, opts.Command = name, name
	return nil
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
	for _, ref := range req.Projects {
		pl, err := o.place(ctx, ref, out)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(p place) bool { return p.project.GitDir == pl.project.GitDir }) {
			return nil, cw.Errorf(cw.CodeInvalid, "project %s is named twice", pl.project.Name).WithHint("name each project once")
		}
		pl.base, err = o.Repos.ResolveBase(ctx, pl.checkout, req.Base)
		if err != nil {
			return nil, err
		}
		out = append(out, pl)
	}
	return out, nil
}

// place finds one project by id, name or path; a path may be a repository that
// is not registered yet.
func (o *Orchestrator) place(ctx context.Context, ref string, before []place) (place, error) {
	if !filepath.IsAbs(ref) {
		p, err := o.Store.ProjectByRef(ctx, ref)
		if err != nil {
			return place{}, err
		}
		_, err = o.sameRepository(ctx, p)
		return place{project: p, checkout: p.Path}, err
	}
	repo, err := o.Repos.Inspect(ctx, ref)
	if err != nil {
		return place{}, err
	}
	p, known, err := o.Store.ProjectByGitDir(ctx, repo.CommonGitDir)
	if err != nil {
		return place{}, fmt.Errorf("look for the project: %w", err)
	}
	if !known {
		p, err = o.newProject(ctx, repo, before)
	}
	return place{project: p, isNew: !known, checkout: repo.TopLevel}, err
}

// intent puts the decisions into rows.
func (o *Orchestrator) intent(req cw.SpawnRequest, preset providers.Preset, alias string, places []place, opts options) (cw.SpawnIntent, error) {
	now := time.Now().UTC()
	optionsJSON, err := json.Marshal(opts)
	if err != nil {
		return cw.SpawnIntent{}, fmt.Errorf("encode options: %w", err)
	}
	agent := cw.Agent{
		ID: cw.AgentID(cw.NewID()), Alias: alias, Mode: req.Mode, Definition: string(req.Mode),
		Provider: preset.Name, AccountID: accountDefault, Model: req.Model,
		Title: orDefault(titleOf(req.Title), titleOf(req.Goal)), Status: cw.StatusPending, Warnings: []string{},
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
		AccountID: accountDefault, Dir: o.Home.RunDir(alias, 1), CreatedAt: now,
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

func envOf(environ []string, name string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
