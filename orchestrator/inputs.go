package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/prompts"
	"cw/providers"
)

// manifestVersion is the version of the manifest's form.
const manifestVersion = 1

// manifest is .cw/input/manifest.json: who the agent is and what it was given.
type manifest struct {
	Version   int               `json:"version"`
	AgentID   cw.AgentID        `json:"agentId"`
	AgentName string            `json:"agentName"`
	Mode      cw.Mode           `json:"mode"`
	Title     string            `json:"title"`
	Projects  []manifestProject `json:"projects"`
	Files     []string          `json:"files"` // relative to .cw/input
}

type manifestProject struct {
	Name       string `json:"name"`
	Path       string `json:"path"` // relative to the agent's cwd
	Branch     string `json:"branch"`
	BaseBranch string `json:"baseBranch,omitempty"`
	BaseCommit string `json:"baseCommit"`
}

// taskFile is the assignment: the goal as Markdown, with a head of YAML.
const taskFile = "task.md"

// writeInputs makes .cw/ in the agent's cwd: input for it to read, output and
// tmp for it to write. It goes through os.Root, because the repository may
// hold links of these names.
func writeInputs(st *cw.RunState, opts options) error {
	root, err := os.OpenRoot(st.Agent.AgentCwd)
	if err != nil {
		return fmt.Errorf("open the agent's folder: %w", err)
	}
	defer root.Close()
	for _, dir := range []string{".cw", ".cw/input", outputDir, ".cw/tmp"} {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			return inTheWay(info, dir, "a folder")
		}
		if err := root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make %s: %w", dir, err)
		}
	}
	if err := setAside(root, st); err != nil {
		return err
	}
	m := manifest{
		Version: manifestVersion, AgentID: st.Agent.ID, AgentName: st.Agent.Alias, Mode: st.Agent.Mode,
		Title: st.Agent.Title, Projects: []manifestProject{}, Files: []string{taskFile},
	}
	for _, t := range st.Worktrees {
		m.Projects = append(m.Projects, manifestProject{
			Name: t.Project, Path: relative(st.Agent.AgentCwd, t.Path), Branch: t.Branch,
			BaseBranch: t.BaseBranch, BaseCommit: t.BaseCommit,
		})
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	task, err := taskText(st.Agent, opts.Goal)
	if err != nil {
		return err
	}
	for name, body := range map[string][]byte{"manifest.json": append(data, '\n'), taskFile: task} {
		name = path.Join(".cw/input", name)
		if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return inTheWay(info, name, "a file")
		}
		if err := root.WriteFile(name, body, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// inTheWay refuses a repository with something of its own where cw writes:
// through a link it would write into the agent's work.
func inTheWay(info fs.FileInfo, name, needed string) error {
	return cw.Errorf(cw.CodeInvalid, "the repository holds %s named %s where cw needs %s", kindOf(info), name, needed).
		WithHint("rename it in the repository, or choose another base with --base")
}

// setAside moves a signal that is there before the run begins into the run
// directory: only what this run writes counts.
func setAside(root *os.Root, st *cw.RunState) error {
	if _, err := root.Lstat(cw.SignalPath); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if data, err := readOwnFile(st.Agent.AgentCwd, cw.SignalPath, cw.SignalMax); err == nil {
		if err := os.MkdirAll(st.Run.Dir, 0o700); err != nil {
			return fmt.Errorf("make run directory: %w", err)
		}
		if err := writeFile(filepath.Join(st.Run.Dir, "stale-signal.json"), data); err != nil {
			return err
		}
	}
	if err := root.RemoveAll(cw.SignalPath); err != nil {
		return fmt.Errorf("set an old signal aside: %w", err)
	}
	return nil
}

func relative(base, target string) string {
	rel, err := filepath.Rel(base, target)
	if err != nil {
		return target
	}
	return rel
}

func taskText(a cw.Agent, goal string) ([]byte, error) {
	head, err := yaml.Marshal(map[string]string{"kind": "task", "title": a.Title, "agent": a.Alias})
	if err != nil {
		return nil, fmt.Errorf("encode the task's head: %w", err)
	}
	return []byte("---\n" + string(head) + "---\n\n" + strings.TrimSpace(goal) + "\n"), nil
}

// writeRunDir makes the run directory: the prompt and what the shim needs.
func (o *Orchestrator) writeRunDir(ctx context.Context, st *cw.RunState, opts options) error {
	if err := os.MkdirAll(st.Run.Dir, 0o700); err != nil {
		return fmt.Errorf("make run directory: %w", err)
	}
	text, err := renderPrompt(st, opts)
	if err != nil {
		return fmt.Errorf("render the prompt: %w", err)
	}
	prompt := filepath.Join(st.Run.Dir, promptFile)
	if err := writeFile(prompt, []byte(text)); err != nil {
		return err
	}
	preset, err := o.Presets.Get(st.Agent.Provider)
	if err != nil {
		return err
	}
	in := o.invocation(st, opts, text)
	if in.WritableDirs, err = o.writableDirs(ctx, st, opts); err != nil {
		return err
	}
	cmd, err := preset.Spawn(in)
	if err != nil {
		return err
	}
	spec := proc.Spec{
		RunID: string(st.Run.ID), Argv: cmd.Argv, Dir: st.Agent.AgentCwd,
		Stdout: st.Run.OutputPath, Stderr: filepath.Join(st.Run.Dir, stderrFile),
		StopGrace: preset.Stop.Grace.Duration,
	}
	if cmd.PromptOnStdin {
		spec.Stdin = prompt
	}
	spec.Meta, err = json.Marshal(map[string]any{"agentId": st.Agent.ID, "agent": st.Agent.Alias, "session": st.Run.SessionNumber, "binary": o.Binary})
	if err != nil {
		return fmt.Errorf("encode run facts: %w", err)
	}
	return proc.Prepare(st.Run.Dir, spec)
}

// invocation is what the preset needs to know.
func (o *Orchestrator) invocation(st *cw.RunState, opts options, prompt string) providers.Invocation {
	return providers.Invocation{
		Binary: opts.Command, SessionID: st.Agent.SessionID, Model: st.Agent.Model, Script: opts.Script,
		Prompt: prompt, PromptFile: filepath.Join(st.Run.Dir, promptFile), Cwd: st.Agent.AgentCwd,
		RunDir: st.Run.Dir, CW: o.Binary, Root: os.Geteuid() == 0,
		Sandbox: opts.Sandbox == cw.SandboxWorkspace,
	}
}

// renderPrompt renders the execute prompt for one agent.
func renderPrompt(st *cw.RunState, opts options) (string, error) {
	in := prompts.Input{
		AgentID: string(st.Agent.ID), AgentName: st.Agent.Alias,
		Task: opts.Goal, Cwd: st.Agent.AgentCwd, Commands: []string{"id"},
	}
	for _, t := range st.Worktrees {
		in.Projects = append(in.Projects, prompts.Project{
			Name: t.Project, Path: relative(st.Agent.AgentCwd, t.Path), Branch: t.Branch,
			BaseBranch: t.BaseBranch, BaseCommit: t.BaseCommit, DirtyFiles: opts.DirtyFiles[t.Project],
		})
	}
	p, err := prompts.Render(string(st.Agent.Mode), in)
	return p.Text, err
}

// agentEnv is the whole environment of a run. It reaches the CLI through the
// shim's own environment and is never written to a file.
func (o *Orchestrator) agentEnv(p providers.Preset, st *cw.RunState, opts options, cmd providers.Command, token string) []string {
	own := map[string]string{
		"CW_HOME": string(o.Home), "CW_RUN": string(st.Run.ID), "CW_AGENT_ID": string(st.Agent.ID),
		"CW_TOKEN": token, "CW_SOCKET": o.Socket,
		"CW_LISTEN_FILE": filepath.Join(st.Agent.AgentCwd, ".cw", "tmp", "listen.json"),
	}
	if !opts.Identity {
		// Without any identity git refuses to commit.
		name := "cw agent " + st.Agent.Alias
		email := st.Agent.Alias + "@cw.invalid"
		maps.Copy(own, map[string]string{
			"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email,
			"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email,
		})
	}
	return o.runEnv(p, opts.Env, cmd.Env, own)
}

func (o *Orchestrator) runEnv(p providers.Preset, callerEnv, command, own map[string]string) []string {
	var caller []string
	for name, value := range callerEnv {
		caller = append(caller, name+"="+value)
	}
	return providers.RunEnv(providers.EnvInput{
		Preset: p, Caller: caller, Daemon: o.Environ, Home: envOf(o.Environ, "HOME"),
		BinDir: filepath.Dir(o.Binary), Command: command, CW: own,
	})
}
