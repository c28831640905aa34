package providers

import (
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
	"cw/providers/parsers"
)

// Preset says everything that cw knows about one provider's CLI. Its fields
// are the keys of a preset file; docs/providers.md explains each. A preset is
// read-only: copies share their lists.
type Preset struct {
	Extends string   `yaml:"extends"` // the embedded preset that this file changes
	Name    string   `yaml:"name"`
	Title   string   `yaml:"title"`
	Aliases []string `yaml:"aliases"`

	Command Executable `yaml:"command"`
	Version Version    `yaml:"version"`

	SpawnForm  Launch `yaml:"spawn"`
	ResumeForm Launch `yaml:"resume"`
	// The parts that spawn and resume have in common; a template names them.
	ModelArgs          Args `yaml:"modelArgs"`
	OutputArgs         Args `yaml:"outputArgs"`
	NonInteractiveArgs Args `yaml:"nonInteractiveArgs"`
	AutoApproveArgs    Args `yaml:"autoApproveArgs"`
	SandboxArgs        Args `yaml:"sandboxArgs"` // in their place for an agent in the CLI's sandbox

	PromptMode       PromptMode      `yaml:"promptMode"`
	Stdin            StdinFile       `yaml:"stdin"`
	ResumeStyle      ResumeStyle     `yaml:"resumeStyle"`
	ResumeBoundTo    ResumeBound     `yaml:"resumeBoundTo"`
	SessionID        SessionIDSource `yaml:"sessionId"`
	StructuredOutput bool            `yaml:"structuredOutput"`
	Parser           string          `yaml:"parser"`
	Usage            UsageScope      `yaml:"usage"`
	Driver           Driver          `yaml:"driver"`
	Signal           SignalSource    `yaml:"signal"`

	Account   Account           `yaml:"account"`
	AsRootEnv map[string]string `yaml:"asRootEnv"`
	EnvStrip  []string          `yaml:"envStrip"`

	MCP   Tools  `yaml:"mcp"`
	Hooks Wiring `yaml:"hooks"`
	Shell Shell  `yaml:"shell"`
	// InstructionFiles are the files of people's instructions that the CLI reads
	// by itself: see Reads.
	InstructionFiles []string `yaml:"instructionFiles"`
	// InstructionFallback are files that it reads where there are no others.
	InstructionFallback InstructionFallback `yaml:"instructionFallback"`
	// InstructionsAbove: it reads files of these names in every folder above, too.
	InstructionsAbove bool `yaml:"instructionsAbove"`
	// InstructionImports: what such a file names as @PATH it reads, too.
	InstructionImports bool `yaml:"instructionImports"`

	Patterns PatternTexts `yaml:"patterns"`
	Rollout  Rollout      `yaml:"rollout"`
	Patience Patience     `yaml:"patience"`
	Stop     Stop         `yaml:"stop"`
	Traps    []string     `yaml:"traps"`

	// Accepted and not used yet: what they hold is not kept.
	OneShot            any `yaml:"oneShot"`
	ToolPolicy         any `yaml:"toolPolicy"`
	AppendSystemPrompt any `yaml:"appendSystemPrompt"`
	Sampling           any `yaml:"sampling"`
	Fork               any `yaml:"fork"`
	Skills             any `yaml:"skills"`
	ContextLimit       any `yaml:"contextLimit"`

	compiled compiledPatterns
	origin   string // the file it comes from, "" when embedded
}

// Executable says how the CLI is found.
type Executable struct {
	From    CommandFrom `yaml:"from"`
	Names   []string    `yaml:"names"`   // looked up on PATH, in order
	Paths   []string    `yaml:"paths"`   // tried next; a leading ~/ is the home
	Native  []string    `yaml:"native"`  // binaries inside node_modules to be started in place of an npm wrapper
	Install string      `yaml:"install"` // the line that installs it, shown as a hint
}

// CommandFrom says where the command comes from.
type CommandFrom string

// Where a command comes from.
const (
	FromPath   CommandFrom = "path"   // an installed program
	FromScript CommandFrom = "script" // a file given for each agent
)

// Version says how to ask the CLI for its version, and what is needed.
type Version struct {
	Args    []string `yaml:"args"`    // none: it is not asked
	Pattern string   `yaml:"pattern"` // its first group is the version
	Minimum string   `yaml:"minimum"` // numbers with dots
}

// Launch is how a run is started: argv after the command, and environment.
type Launch struct {
	Args Args              `yaml:"args"`
	Env  map[string]string `yaml:"env"`
}

// PromptMode says how the prompt travels.
type PromptMode string

// The ways of a prompt.
const (
	PromptNative PromptMode = "native" // over the driver's own protocol, or as stdin's template says
	PromptFlag   PromptMode = "flag"   // behind an option, or as a file named by one
	PromptArg    PromptMode = "arg"    // as an argument of its own
	PromptStdin  PromptMode = "stdin"  // the way to prefer: any size, may begin with "-"
)

// StdinFile is what a run reads from stdin in place of the prompt itself, for a
// CLI with a protocol of its own. It comes through a pipe.
type StdinFile struct {
	File     string `yaml:"file"`     // below {{runDir}}/
	Template string `yaml:"template"` // with {{json prompt}}; a line end is added
}

// ResumeStyle says how a session goes on in a new run.
type ResumeStyle string

// The styles of resume.
const (
	ResumeNone       ResumeStyle = "none"
	ResumeFlag       ResumeStyle = "flag"
	ResumeSubcommand ResumeStyle = "subcommand"
	ResumeACP        ResumeStyle = "acp"
)

// ResumeBound says from where a session can be resumed.
type ResumeBound string

// What a session is bound to.
const (
	BoundNone ResumeBound = "none" // resumes anywhere
	BoundCwd  ResumeBound = "cwd"  // only from the same working directory
	BoundRepo ResumeBound = "repo" // from any worktree of the same repository
)

// SessionIDSource says where the session's id comes from.
type SessionIDSource struct {
	Choose string `yaml:"choose"` // uuid: cw chooses it; none
	From   string `yaml:"from"`   // where the output tells it: first-line, every-line, last-line, none
}

// UsageScope says what the CLI's count of tokens is of.
type UsageScope string

// The scopes of a count.
const (
	UsageRun     UsageScope = "run"     // of the run
	UsageSession UsageScope = "session" // of the session, earlier runs included
)

// Driver says how cw talks to the CLI.
type Driver string

// The drivers.
const (
	DriverNative Driver = "native" // a process with files
	DriverACP    Driver = "acp"    // JSON-RPC over stdio
)

// SignalSource says who writes the signal at the end of a run.
type SignalSource string

// The sources of a signal.
const (
	SignalAgent   SignalSource = "agent"   // the agent, or the script, writes signal.json
	SignalDerived SignalSource = "derived" // cw, from exit, commits and patterns
)

// Account names the variables that carry credentials.
type Account struct {
	// Of is the provider whose accounts are used: the preset's own, unless the
	// file says otherwise or extends another.
	Of        string   `yaml:"of"`
	ConfigDir []string `yaml:"configDir"`
	// ConfigHome is the configuration directory below the home when none of the
	// variables is set; "" when that is of no use to cw.
	ConfigHome string `yaml:"configHome"`
	Key        string `yaml:"key"`
	Token      string `yaml:"token"`
	BaseURL    string `yaml:"baseUrl"`
	// OtherCredentials are further variables that carry or choose credentials.
	OtherCredentials []string `yaml:"otherCredentials"`
	ConfigArgs       Args     `yaml:"configArgs"` // for CLIs that take the directory as an option
	// Login is the CLI's own way to log in, after the command: started in a
	// terminal of the user's, with the account's configuration directory.
	Login Args `yaml:"login"`
	// LoggedIn says how it shows whether the CLI is logged in.
	LoggedIn LoginTraces `yaml:"loggedIn"`
	// Session says where the CLI keeps a session, for taking it to another
	// account's configuration directory.
	Session SessionFiles `yaml:"session"`
	// PassEnv are further names that pass from the user's environment, as they
	// are or with a final * as a prefix.
	PassEnv []string `yaml:"passEnv"`
	// PassEnvWhen are names that pass only when the variable is set.
	PassEnvWhen map[string][]string `yaml:"passEnvWhen"`
}

// SessionFiles says which files a session is made of.
type SessionFiles struct {
	// Files are patterns below the configuration directory, with * and, once,
	// {{sessionId}} or {{sessionIdHead}}, its first eight characters. What they
	// find may be a directory. None: a session stays where it began.
	Files []string `yaml:"files"`
}

// Shell is a file of cw's that the CLI reads before each command of its agent's shell.
type Shell struct {
	Env      map[string]string `yaml:"env"`      // how it is made known
	File     string            `yaml:"file"`     // where it is written
	Template string            `yaml:"template"` // what is written
}

// Wiring says how a file of cw's is made known to the CLI: its hooks.
type Wiring struct {
	Style    string            `yaml:"style"`    // none, flag, env, file
	Args     Args              `yaml:"args"`     // dropped when there is no such file
	Env      map[string]string `yaml:"env"`      // dropped when there is no such file
	File     string            `yaml:"file"`     // where it is written
	Template string            `yaml:"template"` // what is written
}

// Tools says how cw's tool server is made known to the CLI, and how patient the
// CLI is with its calls.
type Tools struct {
	Style    string            `yaml:"style"`    // none, flag, env, file, acp
	Args     Args              `yaml:"args"`     // as of Wiring
	Env      map[string]string `yaml:"env"`      // as of Wiring
	File     string            `yaml:"file"`     // as of Wiring
	Template string            `yaml:"template"` // as of Wiring
	// AsksWait: a call may wait for people, for hours. Where it may not, agents
	// ask people by the signal, and the tool says so.
	AsksWait bool     `yaml:"asksWait"`
	CallMax  Duration `yaml:"callMax"` // after which the CLI gives a call up; 0: never
}

// InstructionFallback says which files of people's instructions the CLI reads in place
// of others, from a version on.
type InstructionFallback struct {
	Since string   `yaml:"since"` // numbers with dots; "": all versions
	Files []string `yaml:"files"` // of a project
	// Unless are files of a project: where there is one of them, in the project or,
	// with InstructionsAbove, above it, none of Files is read.
	Unless []string `yaml:"unless"`
}

// PatternTexts are regular expressions, applied to error events and stderr
// only.
type PatternTexts struct {
	Limit       []string `yaml:"limit"`
	Auth        []string `yaml:"auth"`
	Overload    []string `yaml:"overload"`
	SessionGone []string `yaml:"sessionGone"`
}

// Rollout says where the CLI keeps a session's own record, for facts that its
// output does not tell.
type Rollout struct {
	Files  string `yaml:"files"`  // below the configuration directory, with * and {{sessionId}}
	Format string `yaml:"format"` // codex
}

// Patience says how long silence may last before a run counts as stalled, and
// how long the CLI may try in vain before the run is ended.
type Patience struct {
	Silence     Duration `yaml:"silence"`
	ToolSilence Duration `yaml:"toolSilence"` // while a tool runs
	Retrying    Duration `yaml:"retrying"`    // with nothing but retries; 0: for ever
}

// Stop says how a run is ended.
type Stop struct {
	Signal string   `yaml:"signal"` // TERM, INT or HUP
	Grace  Duration `yaml:"grace"`  // until KILL
}

// Duration is a time.Duration that a file writes as "90s", "15m" or "1h30m".
type Duration struct{ time.Duration }

// readYAML reads a duration.
func (d *Duration) readYAML(node *yaml.Node) *Problem {
	if node.ShortTag() == "!!str" {
		var err error
		if d.Duration, err = time.ParseDuration(node.Value); err == nil {
			return nil
		}
	}
	return problemAt(node, "it is no duration; write 90s, 15m or 1h30m")
}

type compiledPatterns struct {
	version     *regexp.Regexp
	errors      parsers.Patterns
	sessionGone []*regexp.Regexp

	loginSettings map[string]*regexp.Regexp // by file; nil: it counts as soon as it is there
	loggedOut     *regexp.Regexp
}

// Origin is the file that the preset comes from, "" when it is embedded.
func (p Preset) Origin() string { return p.origin }

// CanResume tells whether a session can go on in a new run.
func (p Preset) CanResume() bool { return p.ResumeStyle != ResumeNone }

// NewSessionID chooses a session id where the CLI lets cw choose, else "".
func (p Preset) NewSessionID() string {
	if p.SessionID.Choose != chooseUUID {
		return ""
	}
	return uuid.NewString()
}

// NewReading makes a reading of a run's output, to be fed from its first byte
// on. since is the start of the run; its location is the zone of times that
// name none.
func (p Preset) NewReading(since time.Time) (*parsers.Reading, error) {
	parser, err := parsers.New(p.Parser, parsers.Options{Patterns: p.compiled.errors, Since: since})
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", p.Name, err)
	}
	return parsers.NewReading(parser), nil
}

// AccountsOf is the name of the provider whose accounts the runs use. It is
// another's for a preset that is a variant of it.
func (p Preset) AccountsOf() string { return p.Account.Of }

// CanChooseModel tells whether a run can be given a model. A script may do with
// its as it likes.
func (p Preset) CanChooseModel() bool {
	return len(p.ModelArgs) > 0 || p.Driver == DriverACP || p.Command.From == FromScript
}

// CanSandbox tells whether the CLI has a sandbox that cw can ask for.
func (p Preset) CanSandbox() bool { return len(p.SandboxArgs) > 0 }

// OwnUsage gives what a run used, from what its CLI counted and what earlier
// runs of the agent used. A count that is of the whole session has theirs in
// it, unless it is smaller: then the session began anew.
func (p Preset) OwnUsage(counted, earlier cw.Usage) cw.Usage {
	own := counted.Sub(earlier)
	if p.Usage != UsageSession || own.Least() < 0 {
		return counted
	}
	return own
}

// SessionGone tells whether an error text or stderr says that the session to
// be resumed does not exist.
func (p Preset) SessionGone(text string) bool {
	return firstMatch(p.compiled.sessionGone, text) != ""
}

// stderrJudged is how much of the end of stderr is looked at.
const stderrJudged = 64 << 10

// JudgeStderr tells from the stderr of a run that failed, and that ended at that
// time, whether it was a usage limit, refused credentials, or a session that is
// gone. Lines of the tools that the CLI ran, and of what it tried again, say
// nothing about the first two.
func (p Preset) JudgeStderr(stderr []byte, now time.Time) (limit *cw.Limit, auth, gone bool) {
	text := string(stderr[max(0, len(stderr)-stderrJudged):])
	final := parsers.FinalLines(text)
	if limit = p.JudgeLimit(final, now); limit == nil {
		auth = firstMatch(p.compiled.errors.Auth, final) != ""
	}
	return limit, auth, p.SessionGone(text)
}

// JudgeLimit gives the usage limit that an error text of that moment tells by the
// preset's patterns; nil for none.
func (p Preset) JudgeLimit(text string, now time.Time) *cw.Limit {
	line := firstMatch(p.compiled.errors.Limit, text)
	if line == "" {
		return nil
	}
	return &cw.Limit{Text: line, Until: parsers.LimitEnd(line, now)}
}
