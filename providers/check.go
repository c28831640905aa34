package providers

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/providers/parsers"
)

// Values of sessionId.
const (
	chooseUUID = "uuid"
	none       = "none"
)

// Defaults of keys that a file leaves out.
const (
	defaultSilence     = 5 * time.Minute
	defaultToolSilence = 60 * time.Minute
	defaultGrace       = 10 * time.Second
)

// callMaxLeast is the least time that a CLI may give a call: in less, nothing
// can be waited for.
const callMaxLeast = 10 * time.Second

// asksWaitLeast is the least time that a CLI must give a call that waits for
// people.
const asksWaitLeast = time.Hour

var (
	namePattern = cw.Pattern(`^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`)
	envPattern  = cw.Pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// fill sets what a file left out.
func (p *Preset) fill() {
	setDefault(&p.Title, p.Name)
	setDefault(&p.Account.Of, p.Name)
	setDefault(&p.Command.From, FromPath)
	setDefault(&p.PromptMode, PromptStdin)
	setDefault(&p.ResumeStyle, ResumeNone)
	setDefault(&p.ResumeBoundTo, BoundNone)
	setDefault(&p.SessionID.Choose, none)
	setDefault(&p.SessionID.From, none)
	setDefault(&p.Parser, parsers.FormatLines)
	setDefault(&p.Usage, UsageRun)
	setDefault(&p.Driver, DriverNative)
	setDefault(&p.Signal, SignalAgent)
	setDefault(&p.MCP.Style, none)
	setDefault(&p.Hooks.Style, none)
	setDefault(&p.Patience.Silence.Duration, defaultSilence)
	setDefault(&p.Patience.ToolSilence.Duration, defaultToolSilence)
	setDefault(&p.Stop.Signal, "TERM")
	setDefault(&p.Stop.Grace.Duration, defaultGrace)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// check refuses a preset that could not work, naming the key, and compiles its
// patterns.
func (p *Preset) check() error {
	if !namePattern().MatchString(p.Name) {
		return keyError("name", "%q is no name: lower-case letters, digits and single hyphens, a letter first", p.Name)
	}
	for _, alias := range p.Aliases {
		if !namePattern().MatchString(alias) {
			return keyError("aliases", "%q is no name: lower-case letters, digits and single hyphens, a letter first", alias)
		}
	}
	for _, step := range []func() error{p.checkChoices, p.checkCommand, p.checkTemplates, p.checkPrompt, p.checkEnv, p.checkRollout, p.checkSession, p.checkDriver, p.compile, p.compileLogin} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// checkError is an error in the value of a key.
type checkError struct {
	key string // as written in the file; of nested keys with dots
	msg string
}

func (e *checkError) Error() string { return e.key + ": " + e.msg }

func keyError(key, format string, args ...any) error {
	return &checkError{key: key, msg: fmt.Sprintf(format, args...)}
}

func (p *Preset) checkChoices() error {
	wirings := []string{none, "flag", "env", "file"}
	choices := []struct {
		key, value string
		known      []string
	}{
		{"command.from", string(p.Command.From), []string{"path", "script"}},
		{"promptMode", string(p.PromptMode), []string{"native", "flag", "arg", "stdin"}},
		{"resumeStyle", string(p.ResumeStyle), []string{"none", "flag", "subcommand", "acp"}},
		{"resumeBoundTo", string(p.ResumeBoundTo), []string{"none", "cwd", "repo"}},
		{"sessionId.choose", p.SessionID.Choose, []string{chooseUUID, none}},
		{"sessionId.from", p.SessionID.From, []string{"first-line", "every-line", "last-line", none}},
		{"driver", string(p.Driver), []string{"native", "acp"}},
		{"signal", string(p.Signal), []string{"agent", "derived"}},
		{"parser", p.Parser, parsers.Formats()},
		{"usage", string(p.Usage), []string{"run", "session"}},
		{"mcp.style", p.MCP.Style, append([]string{styleACP}, wirings...)},
		{"hooks.style", p.Hooks.Style, wirings},
		{"stop.signal", p.Stop.Signal, []string{"TERM", "INT", "HUP"}},
	}
	for _, c := range choices {
		if !slices.Contains(c.known, c.value) {
			return keyError(c.key, "%q is not known; it is one of %s", c.value, strings.Join(c.known, ", "))
		}
	}
	if min(p.Patience.Silence.Duration, p.Patience.ToolSilence.Duration, p.Patience.Retrying.Duration) < 0 {
		return keyError("patience", "it is negative")
	}
	if p.Stop.Grace.Duration < 0 {
		return keyError("stop.grace", "it is negative")
	}
	if m := p.MCP.CallMax.Duration; m != 0 && m < callMaxLeast {
		return keyError("mcp.callMax", "%s is less than %s; 0 is for ever", m, callMaxLeast)
	}
	if m := p.MCP.CallMax.Duration; p.MCP.AsksWait && m != 0 && m < asksWaitLeast {
		return keyError("mcp.asksWait", "a call that is given up after %s cannot wait for people", m)
	}
	return nil
}

func (p *Preset) checkCommand() error {
	named := len(p.Command.Names)+len(p.Command.Paths) > 0
	switch {
	case p.Command.From == FromPath && !named:
		return keyError("command", "it has neither names nor paths")
	case p.Command.From == FromScript && named:
		return keyError("command", "a script has neither names nor paths")
	}
	for _, name := range p.Command.Names {
		if name == "" || strings.ContainsAny(name, "/\x00") {
			return keyError("command.names", "%q is no name of a program; use paths", name)
		}
	}
	for _, path := range p.Command.Paths {
		if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~/") {
			return keyError("command.paths", "%q is neither absolute nor below ~/", path)
		}
	}
	if p.Version.Minimum != "" && (len(p.Version.Args) == 0 || p.Version.Pattern == "") {
		return keyError("version", "a minimum needs args and pattern")
	}
	if since := p.InstructionFallback.Since; since != "" {
		if _, ok := parseVersion(since); !ok {
			return keyError("instructionFallback.since", "%q is not made of numbers and dots", since)
		}
		if len(p.Version.Args) == 0 || p.Version.Pattern == "" {
			return keyError("instructionFallback.since", "without version.args and version.pattern no version is known")
		}
	}
	if _, ok := parseVersion(p.Version.Minimum); p.Version.Minimum != "" && !ok {
		return keyError("version.minimum", "%q is not made of numbers and dots", p.Version.Minimum)
	}
	return nil
}

// templates lists every list of argument templates by its key.
func (p *Preset) templates() map[string]Args {
	return map[string]Args{
		"spawn.args": p.SpawnForm.Args, "resume.args": p.ResumeForm.Args, "modelArgs": p.ModelArgs,
		"outputArgs": p.OutputArgs, "nonInteractiveArgs": p.NonInteractiveArgs,
		"autoApproveArgs": p.AutoApproveArgs, "sandboxArgs": p.SandboxArgs, "account.configArgs": p.Account.ConfigArgs,
		"account.login": p.Account.Login, "account.loggedIn.status": p.Account.LoggedIn.Status,
		"mcp.args": p.MCP.Args, "hooks.args": p.Hooks.Args,
	}
}

// envTemplates lists every map of environment templates by its key.
func (p *Preset) envTemplates() map[string]map[string]string {
	return map[string]map[string]string{
		"spawn.env": p.SpawnForm.Env, "resume.env": p.ResumeForm.Env, "asRootEnv": p.AsRootEnv,
		"mcp.env": p.MCP.Env, "hooks.env": p.Hooks.Env, "shell.env": p.Shell.Env,
	}
}

func (p *Preset) checkTemplates() error {
	for key, args := range p.templates() {
		mayInclude := key == "spawn.args" || key == "resume.args"
		for _, group := range args {
			if err := checkGroup(group, mayInclude); err != nil {
				return keyError(key, "%v", err)
			}
		}
	}
	for key, env := range p.envTemplates() {
		for name, value := range env {
			if !envPattern().MatchString(name) {
				return keyError(key, "%q is no name of a variable", name)
			}
			if err := checkTemplate(value); err != nil {
				return keyError(key+"."+name, "%v", err)
			}
		}
	}
	for key, text := range map[string]string{
		"mcp.file": p.MCP.File, "mcp.template": p.MCP.Template,
		"hooks.file": p.Hooks.File, "hooks.template": p.Hooks.Template,
		"shell.file": p.Shell.File, "shell.template": p.Shell.Template,
		"stdin.file": p.Stdin.File, "stdin.template": p.Stdin.Template,
	} {
		if err := checkTemplate(text); err != nil {
			return keyError(key, "%v", err)
		}
	}
	for key, file := range map[string]string{"mcp.file": p.MCP.File, "hooks.file": p.Hooks.File, "shell.file": p.Shell.File, "stdin.file": p.Stdin.File} {
		if name, below := strings.CutPrefix(file, "{{runDir}}/"); file != "" && (!below || !filepath.IsLocal(name)) {
			return keyError(key, "%q is not below {{runDir}}/", file)
		}
	}
	return p.checkStdin()
}

// checkStdin wants a template for stdin where nothing else could carry the
// prompt, and nowhere else.
func (p *Preset) checkStdin() error {
	wanted := p.PromptMode == PromptNative && p.Driver == DriverNative
	switch {
	case wanted && (p.Stdin.File == "" || !templateUses(p.Stdin.Template, "prompt")):
		return keyError("stdin", "promptMode native needs stdin.file, and {{json prompt}} in stdin.template")
	case !wanted && p.Stdin != (StdinFile{}):
		return keyError("stdin", "it goes with promptMode native alone")
	}
	return nil
}

func (p *Preset) checkPrompt() error {
	inArgs := p.SpawnForm.Args.uses("prompt") || p.SpawnForm.Args.uses("promptFile")
	switch p.PromptMode {
	case PromptFlag, PromptArg:
		if !inArgs {
			return keyError("promptMode", "%q needs {{prompt}} or {{promptFile}} in spawn.args", p.PromptMode)
		}
	default:
		if inArgs {
			return keyError("promptMode", "%q does not go with {{prompt}} or {{promptFile}} in spawn.args", p.PromptMode)
		}
	}
	if p.SessionID.Choose == chooseUUID && !p.SpawnForm.Args.uses("sessionId") && !envUses(p.SpawnForm.Env, "sessionId") {
		return keyError("sessionId.choose", "uuid needs {{sessionId}} in spawn")
	}
	hasResume := len(p.ResumeForm.Args) > 0 || len(p.ResumeForm.Env) > 0
	switch {
	case p.ResumeStyle == ResumeNone && hasResume:
		return keyError("resumeStyle", "none does not go with resume")
	case (p.ResumeStyle == ResumeFlag || p.ResumeStyle == ResumeSubcommand) && !hasResume:
		return keyError("resumeStyle", "%q needs resume", p.ResumeStyle)
	case hasResume && inArgs != (p.ResumeForm.Args.uses("prompt") || p.ResumeForm.Args.uses("promptFile")):
		return keyError("resume.args", "the prompt must travel as it does in spawn.args")
	}
	return nil
}

func (p *Preset) checkEnv() error {
	for _, name := range p.Account.names() {
		if !envPattern().MatchString(name) {
			return keyError("account", "%q is no name of a variable", name)
		}
	}
	if err := checkNames("account.passEnv", p.Account.PassEnv); err != nil {
		return err
	}
	if err := checkNames("envStrip", p.EnvStrip); err != nil {
		return err
	}
	for when, names := range p.Account.PassEnvWhen {
		if !envPattern().MatchString(when) {
			return keyError("account.passEnvWhen", "%q is no name of a variable", when)
		}
		if err := checkNames("account.passEnvWhen", names); err != nil {
			return err
		}
	}
	return nil
}

func (p *Preset) checkRollout() error {
	r := p.Rollout
	switch {
	case r.Files == "" && r.Format == "":
	case r.Format != rolloutCodex:
		return keyError("rollout.format", "%q is not known; it is %s", r.Format, rolloutCodex)
	case !filepath.IsLocal(r.Files) || strings.Count(r.Files, sessionIDPlace) != 1:
		return keyError("rollout.files", "%q is not below the configuration directory, or does not name %s once", r.Files, sessionIDPlace)
	case len(p.Account.ConfigDir) == 0 && p.Account.ConfigHome == "":
		return keyError("rollout", "it needs account.configDir or account.configHome")
	}
	if h := p.Account.ConfigHome; h != "" && !filepath.IsLocal(h) {
		return keyError("account.configHome", "%q is not below the home", h)
	}
	return nil
}

func (p *Preset) checkSession() error {
	for _, files := range p.Account.Session.Files {
		_, err := filepath.Match(files, "")
		named := strings.Count(files, sessionIDPlace) + strings.Count(files, sessionHeadPlace)
		if err != nil || !filepath.IsLocal(files) || named != 1 {
			return keyError("account.session.files", "%q is no pattern below the configuration directory, or does not name %s or %s once", files, sessionIDPlace, sessionHeadPlace)
		}
	}
	return nil
}

// checkNames wants names of variables, with a final * for a prefix. A lone *
// would pass everything.
func checkNames(key string, names []string) error {
	for _, name := range names {
		if !envPattern().MatchString(strings.TrimSuffix(name, "*")) {
			return keyError(key, "%q is no name of a variable, nor a prefix of names with a final *", name)
		}
	}
	return nil
}

func (p *Preset) compile() error {
	var version []*regexp.Regexp
	texts := []struct {
		key  string
		from []string
		to   *[]*regexp.Regexp
	}{
		{"patterns.limit", p.Patterns.Limit, &p.compiled.errors.Limit},
		{"patterns.auth", p.Patterns.Auth, &p.compiled.errors.Auth},
		{"patterns.overload", p.Patterns.Overload, &p.compiled.errors.Overload},
		{"patterns.sessionGone", p.Patterns.SessionGone, &p.compiled.sessionGone},
	}
	for _, t := range texts {
		compiled, err := compileAll(t.from)
		if err != nil {
			return keyError(t.key, "%v", err)
		}
		*t.to = compiled
	}
	if p.Version.Pattern == "" {
		return nil
	}
	version, err := compileAll([]string{p.Version.Pattern})
	if err != nil {
		return keyError("version.pattern", "%v", err)
	}
	if version[0].NumSubexp() < 1 {
		return keyError("version.pattern", "it has no group ( ) around the version")
	}
	p.compiled.version = version[0]
	return nil
}

// compileAll compiles patterns that ignore case.
func compileAll(texts []string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, text := range texts {
		if text == "" {
			return nil, errors.New("an empty pattern matches everything")
		}
		re, err := regexp.Compile("(?i)" + text)
		if err != nil {
			return nil, err
		}
		out = append(out, re)
	}
	return out, nil
}
