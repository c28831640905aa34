package cw

import (
	"context"
	"time"
)

// ProviderView is what cw knows about one provider's CLI on this machine. A
// file of the user's that never could be read is one, too: Trouble says why, and
// nothing else is known of it.
type ProviderView struct {
	Name    string   `json:"name" doc:"of the preset; of a file that never could be read, the file's"`
	Title   string   `json:"title" doc:"for people"`
	Aliases []string `json:"aliases" doc:"other names of it"`
	Origin  string   `json:"origin" doc:"embedded, or the file it comes from"`
	// Overrides and Changes are of a preset of the user's.
	Overrides string   `json:"overrides,omitempty" doc:"the built-in preset that the file takes the place of, or changes; missing when there is none"`
	Changes   []string `json:"changes" doc:"the keys in which it differs from that one"`
	Trouble   string   `json:"trouble,omitempty" doc:"what is wrong: with its file, in which case the last good one is used, or with the program"`

	// NotLoggedIn is only told of a CLI that is there.
	NotLoggedIn string `json:"notLoggedIn,omitempty" doc:"why its CLI is not logged in, and the command that logs in; missing when it is, when that cannot be known, or when another account of it can be used"`

	Installed bool   `json:"installed" doc:"its CLI was found"`
	Command   string `json:"command,omitempty" doc:"where"`
	Version   string `json:"version,omitempty" doc:"as it told it; missing when it was not asked or did not tell in time"`
	Minimum   string `json:"minimum,omitempty" doc:"the oldest version that works"`
	Install   string `json:"install,omitempty" doc:"the line that installs it"`

	SpawnArgv  []string `json:"spawnArgv" doc:"how a first run is started, with the names of values in braces; credentials in it are hidden"`
	ResumeArgv []string `json:"resumeArgv" doc:"how a run is started that goes on with a session; empty when none can"`
	EnvNames   []string `json:"envNames" doc:"the variables that the preset sets for a run"`
	Accounts   string   `json:"accounts" doc:"the provider whose accounts are used"`
	AccountEnv []string `json:"accountEnv" doc:"the variables that carry an account"`

	Resume     string `json:"resume" doc:"how a session goes on: none, flag, subcommand or acp"`
	BoundTo    string `json:"boundTo" doc:"from where it can: none (anywhere), cwd or repo"`
	SessionID  string `json:"sessionId" doc:"where its id comes from: uuid (chosen by cw), first-line, every-line, last-line or none"`
	Prompt     string `json:"prompt" doc:"how the prompt travels: native, flag, arg or stdin"`
	Parser     string `json:"parser" doc:"the format of its output"`
	Structured bool   `json:"structured" doc:"that format tells more than text"`
	Signal     string `json:"signal" doc:"agent: it writes the signal itself; derived: cw judges by exit, commits and patterns"`
	Driver     string `json:"driver" doc:"native or acp"`
	MCP        string `json:"mcp" doc:"how MCP servers are made known to it: none, flag, env, file or acp"`
	Sandbox    bool   `json:"sandbox" doc:"it has a sandbox that cw can ask for"`

	Silence     time.Duration `json:"silenceNs" doc:"how long it may be silent before it counts as stalled, in nanoseconds"`
	ToolSilence time.Duration `json:"toolSilenceNs" doc:"the same while a tool runs"`
	Retrying    time.Duration `json:"retryingNs" doc:"how long it may try in vain before its run is ended; 0: for ever"`
	StopSignal  string        `json:"stopSignal" doc:"how a run is asked to end: TERM, INT or HUP"`
	StopGrace   time.Duration `json:"stopGraceNs" doc:"until KILL, in nanoseconds"`

	ProviderRuns

	Traps []string `json:"traps" doc:"what is known to go wrong"`
}

// ProviderRuns counts what there was of a provider so far.
type ProviderRuns struct {
	Runs         int `json:"runs" doc:"runs of agents with this provider that were started"`
	UnknownLines int `json:"unknownLines" doc:"lines of their output that cw does not know: more than before mean that the CLI's format has changed"`
}

// OriginEmbedded is the origin of a preset that is compiled in.
const OriginEmbedded = "embedded"

// The steps of a test, in order.
const (
	TryStart   = "start"      // it begins, and says something
	TryStream  = "stream"     // what it says is understood
	TryWork    = "work"       // it changes a file and commits it
	TrySignal  = "signal"     // it tells how it ended
	TrySession = "session id" // its session is known
	TryResume  = "resume"     // it goes on with the session, and knows of it
	TryStop    = "stop"       // it ends when it is asked to, with all that it started
	TryMCP     = "mcp"        // it uses the tools of a server of cw's
)

// TrySteps lists the steps of a test, in order.
func TrySteps() []string {
	return []string{TryStart, TryStream, TryWork, TrySignal, TrySession, TryResume, TryStop, TryMCP}
}

// ProviderTest is what a tiny real task showed.
type ProviderTest struct {
	Provider string         `json:"provider" doc:"the provider"`
	Command  string         `json:"command" doc:"its CLI"`
	Version  string         `json:"version" doc:"of the CLI"`
	OK       bool           `json:"ok" doc:"all that cw needs was seen"`
	Steps    []ProviderStep `json:"steps" doc:"each capability, in order"`
	CostUSD  float64        `json:"costUsd" doc:"what it cost in US dollars, as far as the CLI tells"`
	Usage    Usage          `json:"usage" doc:"tokens"`
}

// ProviderStep is one capability that was tried.
type ProviderStep struct {
	Name string        `json:"name" doc:"start, stream, work, signal, session id, resume, stop or mcp"`
	Seen bool          `json:"seen" doc:"it worked"`
	Skip bool          `json:"skip" doc:"the provider does not have it, and says so"`
	Text string        `json:"text" doc:"what was seen, for people"`
	Took time.Duration `json:"tookNs" doc:"in nanoseconds; 0 where no time was taken"`
}

// ProviderService is what faces may ask about providers.
type ProviderService interface {
	// Providers lists all presets by name, and files that cannot be read. path is
	// the caller's PATH, which says what is installed; "" is the daemon's own. Of
	// anybody but a person it is not taken: programs that are found are asked for
	// their version.
	Providers(ctx context.Context, path string) ([]ProviderView, error)
	// Provider shows one by its name or an alias. CodeNotFound.
	Provider(ctx context.Context, name, path string) (ProviderView, error)
}
