package orchestrator

import (
	"encoding/json"
	"fmt"

	"cw/internal/cw"
)

// options are the facts of a spawn that no column holds; they are kept with
// the agent so that a half-done spawn can be finished by another daemon, and a
// run resumed later. They hold no secrets: proxies and keys are taken from the
// daemon's environment then.
type options struct {
	Goal       string            `json:"goal"`              // what an execute agent is told to do
	Request    string            `json:"request,omitempty"` // what a person asked beside an assignment
	Script     string            `json:"script,omitempty"`
	Command    string            `json:"command"` // the CLI's binary
	Version    string            `json:"version,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	Checkouts  map[string]string `json:"checkouts,omitempty"` // project id → the checkout that was named
	Identity   bool              `json:"identity"`            // the user has a git identity
	DirtyFiles map[string]int    `json:"dirtyFiles,omitempty"`
	Sandbox    cw.Sandbox        `json:"sandbox,omitempty"`
	ConfigDir  string            `json:"configDir,omitempty"` // of the CLI, where it keeps its sessions
	AutoResume bool              `json:"autoResume,omitempty"`
	InMirror   []cw.ProjectID    `json:"inMirror,omitempty"` // projects whose base is a commit of cw's copy alone

	// Hooks are the git hooks of the user's checkouts, by project id.
	Hooks map[cw.ProjectID]gitHooks `json:"hooks,omitempty"`

	// around is what the project files say, once they are read; it is never kept.
	around *surroundings
	// access is of the run's account, once it is known; it is never kept.
	access cw.AccountAccess
}

// storedEnv are the names of the caller's environment that are kept: none of
// them carries a secret.
func storedEnv() []string { return []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR"} }

// keptEnv is what is kept of a caller's environment.
func (o *Orchestrator) keptEnv(env map[string]string) map[string]string {
	if o.Guards.Off("env-named") {
		return env
	}
	kept := map[string]string{}
	for _, name := range storedEnv() {
		if v, ok := env[name]; ok {
			kept[name] = v
		}
	}
	return kept
}

// optionsOf are the facts that are kept with an agent.
func optionsOf(a cw.Agent) (options, error) {
	var opts options
	if err := json.Unmarshal([]byte(a.OptionsJSON), &opts); err != nil {
		return opts, fmt.Errorf("decode options: %w", err)
	}
	return opts, nil
}

// renewOptions gives an agent's options as they are to be kept from now on, and
// as this run uses them. Only names that carry no secret are kept of the
// caller's environment. The CLI is looked for anew: it may have moved.
func (o *Orchestrator) renewOptions(a cw.Agent, env map[string]string) (kept string, opts options, err error) {
	if opts, err = optionsOf(a); err != nil {
		return "", opts, err
	}
	preset, err := o.Presets.Get(a.Provider)
	if err != nil {
		return "", opts, err
	}
	if len(env) > 0 {
		opts.Env = o.keptEnv(env)
		opts.ConfigDir = preset.ConfigDir(o.runEnv(preset, env, nil, nil, nil))
	}
	if err := o.findAgain(preset, &opts); err != nil {
		return "", opts, err
	}
	data, err := json.Marshal(opts)
	if err != nil {
		return "", opts, fmt.Errorf("encode options: %w", err)
	}
	if len(env) > 0 {
		opts.Env = env // with what is not stored: proxies, the ssh agent
	}
	return string(data), opts, nil
}
