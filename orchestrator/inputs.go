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

	"cw/artifacts"
	"cw/internal/cw"
	"cw/internal/proc"
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

// inputDir is what an agent is given to read, relative to its cwd.
const inputDir = ".cw/input"

// tmpDir is for an agent's scratch files, relative to its cwd.
const tmpDir = ".cw/tmp"

// taskFile is the assignment: a task or a goal as Markdown, with a head of YAML.
const taskFile = "task.md"

// writeInputs makes .cw/ in the agent's cwd: input for it to read, output and
// tmp for it to write, output with what earlier runs left there. It goes through
// os.Root, because the repository may hold links of these names.
func (o *Orchestrator) writeInputs(ctx context.Context, st *cw.RunState, opts options) error {
	files, err := o.inputFiles(ctx, *st, opts)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(st.Agent.AgentCwd)
	if err != nil {
		return fmt.Errorf("open the agent's folder: %w", err)
	}
	defer root.Close()
	if err := makeWay(root, st.Run.SessionNumber); err != nil {
		return err
	}
	if err := makeFolders(root, ".cw", inputDir, tmpDir); err != nil {
		return err
	}
	if err := restoreOutput(root, o.earlierRunDirs(*st)); err != nil {
		return err
	}
	if err := makeFolders(root, outputDir); err != nil {
		return err
	}
	if !o.Guards.Off("signal-of-this-run") {
		if err := o.setAside(root, st); err != nil {
			return err
		}
	}
	return writeInputFiles(root, st, files)
}

// earlierRunDirs are the directories of the agent's earlier runs, newest first.
func (o *Orchestrator) earlierRunDirs(st cw.RunState) []string {
	var dirs []string
	for n := st.Run.SessionNumber - 1; n > 0; n-- {
		dirs = append(dirs, o.Home.RunDir(st.Agent.Alias, n))
	}
	return dirs
}

// makeWay moves away what an earlier run put where a folder of cw's belongs: the
// next one could not begin, and it would end as it did. What is moved stays in the
// folder for scratch files, which git ignores; what is in that folder's place is
// scratch itself.
func makeWay(root *os.Root, session int) error {
	if session == 1 {
		return nil // what is there belongs to the repository
	}
	if info, err := root.Lstat(tmpDir); err == nil && !info.IsDir() {
		if err := root.Remove(tmpDir); err != nil {
			return fmt.Errorf("make way for %s: %w", tmpDir, err)
		}
	}
	for _, dir := range []string{inputDir, outputDir} {
		if info, err := root.Lstat(dir); err != nil || info.IsDir() {
			continue
		}
		if err := makeFolders(root, tmpDir); err != nil {
			return err
		}
		if err := root.Rename(dir, fmt.Sprintf("%s/%s-before-%d", tmpDir, path.Base(dir), session)); err != nil {
			return fmt.Errorf("make way for %s: %w", dir, err)
		}
	}
	return nil
}

func makeFolders(root *os.Root, dirs ...string) error {
	for _, dir := range dirs {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			return inTheWay(info, dir, "a folder")
		}
		if err := root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make %s: %w", dir, err)
		}
	}
	return nil
}

// writeInputFiles writes the manifest and the assignment. Of an earlier run only
// what is still true stays.
func writeInputFiles(root *os.Root, st *cw.RunState, files []artifacts.File) error {
	m := manifest{
		Version: manifestVersion, AgentID: st.Agent.ID, AgentName: st.Agent.Alias, Mode: st.Agent.Mode,
		Title: st.Agent.Title, Projects: []manifestProject{}, Files: []string{},
	}
	for _, t := range st.Worktrees {
		m.Projects = append(m.Projects, manifestProject{
			Name: t.Project, Path: relative(st.Agent.AgentCwd, t.Path), Branch: t.Branch,
			BaseBranch: t.BaseBranch, BaseCommit: t.BaseCommit,
		})
	}
	for _, f := range files {
		m.Files = append(m.Files, f.Path)
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	if err := clearInput(root, st.Run.SessionNumber); err != nil {
		return err
	}
	if err := makeFolders(root, foldersOf(files)...); err != nil {
		return err
	}
	for _, f := range append(files, artifacts.File{Path: "manifest.json", Data: append(data, '\n')}) {
		if err := writeInput(root, path.Join(inputDir, f.Path), f.Data); err != nil {
			return err
		}
	}
	return nil
}

// clearInput takes away what an earlier run was given: pages and tasks may be gone
// since. What is there before the first run belongs to the repository.
func clearInput(root *os.Root, session int) error {
	if session == 1 {
		return nil
	}
	for _, name := range []string{"manifest.json", "initiative.md", "pages", "phase.md", taskFile, requestFile, "context"} {
		if err := root.RemoveAll(path.Join(inputDir, name)); err != nil {
			return fmt.Errorf("clear the input: %w", err)
		}
	}
	return nil
}

// writeInput writes one file. What is there for reading only cannot be written by
// mistake.
func writeInput(root *os.Root, name string, body []byte) error {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return inTheWay(info, name, "a file")
	}
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(name, inputDir+"/context/") {
		mode = 0o444
		if err == nil {
			if err := root.Remove(name); err != nil {
				return fmt.Errorf("write %s: %w", name, err)
			}
		}
	}
	if err := root.WriteFile(name, body, mode); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
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
func (o *Orchestrator) setAside(root *os.Root, st *cw.RunState) error {
	if _, err := root.Lstat(cw.SignalPath); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if data, err := readOwnFile(st.Agent.AgentCwd, cw.SignalPath, cw.SignalMax); err == nil {
		if err := os.MkdirAll(st.Run.Dir, 0o700); err != nil {
			return fmt.Errorf("make run directory: %w", err)
		}
		if err := writeFile(filepath.Join(st.Run.Dir, "stale-signal.json"), o.Redact.Mask(data)); err != nil {
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
	text, err := o.promptOf(ctx, *st, opts)
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
	if err := writeHooks(preset, in); err != nil {
		return err
	}
	if err := writeShell(preset, in); err != nil {
		return err
	}
	if err := writeToolFile(preset, in); err != nil {
		return err
	}
	cmd, err := commandOf(preset, *st, in)
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
	if path, text := preset.StdinFile(in); path != "" {
		if err := writeFile(path, []byte(text)); err != nil {
			return err
		}
		spec.Stdin, spec.StdinPipe = path, true
	}
	if spec.Meta, err = o.runFacts(ctx, st); err != nil {
		return err
	}
	return proc.Prepare(st.Run.Dir, spec)
}

// invocation is what the preset needs to know.
func (o *Orchestrator) invocation(st *cw.RunState, opts options, prompt string) providers.Invocation {
	return providers.Invocation{
		Binary: opts.Command, SessionID: st.Agent.SessionID, Model: st.Agent.Model, Script: opts.Script,
		Prompt: prompt, PromptFile: filepath.Join(st.Run.Dir, promptFile), Cwd: st.Agent.AgentCwd,
		RunDir: st.Run.Dir, ConfigDir: opts.access.ConfigDir, CW: o.Binary, Socket: o.Socket, Root: os.Geteuid() == 0,
		Sandbox: opts.Sandbox == cw.SandboxWorkspace,
	}
}

// commandOf is how the run's CLI is started: a resume goes on with the last
// session, unless it begins one of its own.
func commandOf(preset providers.Preset, st cw.RunState, in providers.Invocation) (providers.Command, error) {
	in.HookConfig, _ = preset.HookFile(in)
	in.MCPConfig, _ = preset.ToolFile(in)
	if st.Run.Reason == cw.RunSpawn || st.Run.Fresh {
		return preset.Spawn(in)
	}
	return preset.Resume(in)
}

// agentEnv is the whole environment of a run. It reaches the CLI through the
// shim's own environment and is never written to a file.
func (o *Orchestrator) agentEnv(p providers.Preset, st *cw.RunState, opts options, cmd providers.Command, token string, around projectEnv) []string {
	own := map[string]string{
		"CW_HOME": string(o.Home), "CW_RUN": string(st.Run.ID), "CW_AGENT_ID": string(st.Agent.ID),
		"CW_TOKEN": token, "CW_SOCKET": o.Socket,
		"CW_LISTEN_FILE": filepath.Join(st.Agent.AgentCwd, ".cw", "tmp", "listen.json"),
		// An agent without a repository, or in the folder above several, must not find
		// one that encloses cw's home, such as a home directory under git.
		"GIT_CEILING_DIRECTORIES": string(o.Home),
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
	maps.Copy(own, around.ports)
	if around.hooks != "" {
		maps.Copy(own, providers.GitConfig("core.hooksPath", around.hooks))
	}
	return o.envOfRun(p, providers.EnvInput{Account: opts.access.Env, Command: cmd.Env, CW: own, Project: around.file}, opts.Env)
}

// runEnv is the environment of a program of the provider. account is nil for the
// account default.
func (o *Orchestrator) runEnv(p providers.Preset, callerEnv, account, command, own map[string]string) []string {
	return o.envOfRun(p, providers.EnvInput{Account: account, Command: command, CW: own}, callerEnv)
}

// envOfRun fills in what is the same for all runs.
func (o *Orchestrator) envOfRun(p providers.Preset, in providers.EnvInput, callerEnv map[string]string) []string {
	for name, value := range callerEnv {
		in.Caller = append(in.Caller, name+"="+value)
	}
	in.Preset, in.Daemon, in.Home, in.BinDir = p, o.Environ, envOf(o.Environ, "HOME"), filepath.Dir(o.Binary)
	return providers.RunEnv(in)
}
