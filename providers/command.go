package providers

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

// Invocation is what one run needs to know. Paths are absolute. What is empty
// is left out of argv and environment.
type Invocation struct {
	Binary     string // as Find gave it; not for scripts
	Script     string // the agent's own script, for providers that are one
	SessionID  string // of a resume, and of a spawn where cw chooses it
	Model      string
	Prompt     string // only where the prompt travels as an argument
	PromptFile string
	Cwd        string
	RunDir     string
	ConfigDir  string // of the account; "" for the account default
	MCPConfig  string // a file of cw's with MCP servers
	HookConfig string // a file of cw's with hooks
	CW         string // cw's own binary
	Socket     string // where the daemon is reached; "": cw's tools are not offered
	Root       bool   // the run's user is root
	// Sandbox asks for the CLI's own sandbox, in which it may write to its
	// working directory and WritableDirs.
	Sandbox      bool
	WritableDirs []string
}

// Command is how to start a run. It goes to the shim as it is: no shell reads
// it.
type Command struct {
	Argv []string          // Argv[0] is an absolute path
	Env  map[string]string // what the preset adds to the environment of the run
	// PromptOnStdin tells that the prompt file is the run's stdin. Otherwise
	// stdin is /dev/null: some CLIs wait on an open one.
	PromptOnStdin bool
	// PromptInArgv tells that the prompt, or the name of its file, is an argument.
	PromptInArgv bool
}

// Spawn gives the command of an agent's first run. What the caller asked for
// and cannot be passed to the CLI (a model that reads as an option, a prompt
// that is too long for an argument) is CodeInvalid.
func (p Preset) Spawn(in Invocation) (Command, error) {
	if p.SessionID.Choose == chooseUUID && in.SessionID == "" {
		return Command{}, fmt.Errorf("spawn %s: no session id was chosen", p.Name)
	}
	if p.Driver == DriverACP {
		in.SessionID = "" // of an earlier run; the agent names the new one
	}
	return p.launch(p.SpawnForm, in)
}

// Resume gives the command of a run that goes on with a session. A provider
// that cannot resume is CodeRefused: it needs a fresh session and a hand-over.
func (p Preset) Resume(in Invocation) (Command, error) {
	if !p.CanResume() {
		return Command{}, cw.Errorf(cw.CodeRefused, "%s cannot resume a session", p.Title)
	}
	needsID := p.ResumeStyle == ResumeACP || p.ResumeForm.Args.uses("sessionId") || envUses(p.ResumeForm.Env, "sessionId")
	if needsID && in.SessionID == "" {
		return Command{}, cw.Errorf(cw.CodeRefused, "the session to resume is not known")
	}
	return p.launch(p.ResumeForm, in)
}

func (p Preset) launch(form Launch, in Invocation) (Command, error) {
	program := in.Binary
	if p.Command.From == FromScript {
		program = in.Script
		if program == "" {
			return Command{}, cw.Errorf(cw.CodeInvalid, "provider %s needs a script", p.Name).
				WithHint("name it with --script FILE")
		}
	}
	if !filepath.IsAbs(program) || strings.Contains(program, "\x00") {
		return Command{}, fmt.Errorf("start %s: %q is no absolute path", p.Name, program)
	}
	if in.Sandbox && !p.CanSandbox() {
		return Command{}, cw.Errorf(cw.CodeInvalid, "%s has no sandbox that cw knows of", p.Title).
			WithHint("leave --sandbox out, or take a provider with sandboxArgs, like codex")
	}
	values := in.values()
	args, err := p.flatten(form.Args, in).expand(values, in.WritableDirs...)
	if err != nil {
		return Command{}, p.refuse(err)
	}
	env, err := p.env(form, in.Root, values)
	if err != nil {
		return Command{}, p.refuse(err)
	}
	argv, err := p.driven(append([]string{program}, args...), in, values)
	if err != nil {
		return Command{}, err
	}
	return Command{
		Argv:          argv,
		Env:           env,
		PromptOnStdin: p.PromptMode == PromptStdin || p.Driver == DriverACP,
		PromptInArgv:  p.PromptMode == PromptFlag || p.PromptMode == PromptArg,
	}, nil
}

func (p Preset) refuse(err error) error {
	return cw.Errorf(cw.CodeInvalid, "%s cannot be started so: %v", p.Title, err)
}

func (in Invocation) values() map[string]string {
	return map[string]string{
		"sessionId": in.SessionID, "model": in.Model, "prompt": in.Prompt, "promptFile": in.PromptFile,
		"cwd": in.Cwd, "runDir": in.RunDir, "script": in.Script, "configDir": in.ConfigDir,
		"mcpConfig": in.MCPConfig, "hookConfig": in.HookConfig, "cw": in.CW, "socket": in.Socket, "stopHook": in.stopHook(),
		"onPath": in.onPath(),
	}
}

// flatten puts the lists that a template includes into their places.
func (p Preset) flatten(args Args, in Invocation) Args {
	lists := map[string]Args{
		"modelArgs": p.ModelArgs, "outputArgs": p.OutputArgs,
		"nonInteractiveArgs": p.NonInteractiveArgs, "autoApproveArgs": p.AutoApproveArgs,
		"configArgs": p.Account.ConfigArgs, "mcpArgs": p.MCP.Args, "hookArgs": p.Hooks.Args,
	}
	if in.Sandbox {
		lists["autoApproveArgs"] = p.SandboxArgs
	}
	if !p.wiresTools(in) {
		delete(lists, "mcpArgs")
	}
	if in.HookConfig == "" {
		delete(lists, "hookArgs")
	}
	var out Args
	for _, group := range args {
		if name := include(group); name != "" {
			out = append(out, lists[name]...)
			continue
		}
		out = append(out, group)
	}
	return out
}

// env fills the environment of a form. A variable with an empty part is left
// out.
func (p Preset) env(form Launch, root bool, values map[string]string) (map[string]string, error) {
	templates := map[string]string{}
	if p.OffersTools() {
		maps.Copy(templates, p.MCP.Env)
	}
	maps.Copy(templates, p.Hooks.Env)
	if values["onPath"] != "" {
		maps.Copy(templates, p.Shell.Env)
	}
	maps.Copy(templates, form.Env)
	if root {
		maps.Copy(templates, p.AsRootEnv)
	}
	env := map[string]string{}
	for name, template := range templates {
		text, complete := expand(template, values)
		if !complete {
			continue
		}
		if strings.Contains(text, "\x00") {
			return nil, fmt.Errorf("%s has a zero byte in it", name)
		}
		env[name] = text
	}
	return env, nil
}
