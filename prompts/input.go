package prompts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
)

// DefaultManifest is where an agent finds its manifest, relative to its cwd.
const DefaultManifest = ".cw/input/manifest.json"

// AgentCommands are the cw commands that every agent can call.
func AgentCommands() []string { return []string{"id", "agent", "ask", "listen", "answer"} }

// Input is what a prompt is rendered from. Any string may hold any bytes: none
// can forge a block.
type Input struct {
	AgentID   string
	AgentName string // the alias
	// Task is what to do, as a person or a plan wrote it. When it is empty or
	// white space, the prompt has no task block and points to task.md.
	Task string
	// Projects are the repositories the agent works in. None: a standalone run,
	// told nothing of git. Several: a worktree each, in folders below Cwd.
	Projects []Project
	Cwd      string // absolute path of the agent's working directory
	Manifest string // path of the manifest; default DefaultManifest
	// Commands are the cw commands an agent can call, such as "id". A block that
	// names a command is there only when the command is.
	Commands []string
	// Tools are the tools of cw's MCP server that the agent's CLI offers it, such
	// as "listen"; none where that server is not wired in. A block that names a
	// tool is there only when the tool is.
	Tools []string
	// Checks are the commands by which the projects check themselves, if known.
	Checks []string
	// Overrides are the repository's own words for blocks.
	Overrides []Override
}

// Project is an agent's place in one repository.
type Project struct {
	Name       string
	Path       string // folder inside the cwd; used when there are several projects
	Branch     string // the agent's own
	BaseBranch string // what the branch starts from; "" for a detached base
	BaseCommit string
	DirtyFiles int // uncommitted files of the person's checkout, which the agent does not have
	// Hooks is the folder of git hooks that run when a person commits in the
	// repository, and not when an agent does; "": there are none, or they run.
	Hooks string
}

func (in Input) validate() error {
	switch {
	case in.AgentID == "" || in.AgentName == "":
		return fmt.Errorf("the agent has no id or no name")
	case in.Cwd == "":
		return fmt.Errorf("the working directory is not given")
	}
	for i, p := range in.Projects {
		if p.Name == "" || p.Branch == "" || p.BaseCommit == "" {
			return fmt.Errorf("project %d has no name, branch or base commit", i+1)
		}
		if p.Path == "" && len(in.Projects) > 1 {
			return fmt.Errorf("project %d has no path, and there are several", i+1)
		}
	}
	return nil
}

// view is an Input as templates see it: every string is text or inline, so no
// template can forget to make data harmless.
type view struct {
	AgentID   inline
	AgentName inline
	HasTask   bool
	Task      text
	Git       bool // there is a repository to work in
	Architect bool // the mode reads and suggests
	Commits   bool // what the agent makes is commits
	Several   bool // there are several, in folders below the cwd
	Projects  []viewProject
	Cwd       inline
	Manifest  inline
	Checks    []inline
	// Self is the agent's id as a word of a command.
	Self     word
	commands []string
	tools    []string
}

type viewProject struct {
	Name       inline
	Path       inline
	Branch     inline
	BaseBranch inline
	BaseCommit inline
	DirtyFiles int
	Hooks      inline
}

// Command says whether an agent can call the cw command of that name.
func (v view) Command(name string) bool { return slices.Contains(v.commands, name) }

// Tool says whether an agent has cw's tool of that name.
func (v view) Tool(name string) bool { return slices.Contains(v.tools, name) }

// TalksByTools says whether an agent talks with others by tools.
func (v view) TalksByTools() bool {
	return v.Tool(cw.ToolListen) && v.Tool(cw.ToolAnswer) && v.Tool(cw.ToolAskAgent)
}

// TalksByCommands says whether an agent can talk with others by commands.
func (v view) TalksByCommands() bool {
	return v.Command("listen") && v.Command("answer") && v.Command("ask")
}

// Talks says whether an agent can talk with others.
func (v view) Talks() bool { return v.TalksByTools() || v.TalksByCommands() }

// Listens says whether an agent has to keep a listener of its own.
func (v view) Listens() bool { return v.TalksByCommands() && !v.TalksByTools() }

func newView(in Input, architect bool, esc escaper) view {
	v := view{
		AgentID:   esc.inline(in.AgentID),
		AgentName: esc.inline(in.AgentName),
		HasTask:   strings.TrimSpace(in.Task) != "",
		Task:      esc.text(in.Task),
		Git:       len(in.Projects) > 0,
		Architect: architect,
		Commits:   len(in.Projects) > 0 && !architect,
		Several:   len(in.Projects) > 1,
		Cwd:       esc.inline(in.Cwd),
		Manifest:  esc.inline(cmp.Or(in.Manifest, DefaultManifest)),
		Self:      esc.word(in.AgentID),
		commands:  in.Commands,
		tools:     in.Tools,
	}
	for _, c := range in.Checks {
		v.Checks = append(v.Checks, esc.inline(c))
	}
	for _, p := range in.Projects {
		v.Projects = append(v.Projects, viewProject{
			Name:       esc.inline(p.Name),
			Path:       esc.inline(p.Path),
			Branch:     esc.inline(p.Branch),
			BaseBranch: esc.inline(p.BaseBranch),
			BaseCommit: esc.inline(p.BaseCommit),
			DirtyFiles: p.DirtyFiles,
			Hooks:      esc.inline(p.Hooks),
		})
	}
	return v
}
