package cw

import (
	"context"
	"time"
)

// ProjectFileName is the file of a repository that says how its worktrees are
// set up and how work is checked. It is read from commits, never from a
// worktree.
const ProjectFileName = "cw.yaml"

// Limits of a project file.
const (
	ProjectFileMax  = 64 << 10 // bytes
	PortSlotsMax    = 20       // ports of one worktree
	CheckTimeoutMax = 6 * time.Hour
	RunTextMax      = 4 << 10 // bytes
)

// ProjectFile is what cw.yaml says. Its commands run only after a person has
// trusted exactly this content.
type ProjectFile struct {
	Setup    []ProjectCommand  `json:"setup" doc:"run in a new worktree before its agent begins, in order"`
	Teardown []ProjectCommand  `json:"teardown" doc:"run in a worktree before it is removed, in order"`
	Env      map[string]string `json:"env" doc:"variables of agents, set-up, teardown and checks"`
	Ports    int               `json:"ports" doc:"free ports that each worktree gets, as CW_PORT_0, CW_PORT_1 and so on"`
	Caches   []string          `json:"caches" doc:"folders of the worktree that all worktrees of the project share"`
	Include  []string          `json:"include" doc:"patterns as in .worktreeinclude, added to that file's"`
	Checks   []ProjectCommand  `json:"checks" doc:"run at the merged commit before the branch is moved, in order"`
	Merge    MergeStrategy     `json:"merge" doc:"merge or squash"`
	// OutsidePaths is read at the branch that work is merged onto, never from the work.
	OutsidePaths OutsidePolicy `json:"outsidePaths,omitempty" doc:"what becomes of work that changed files outside the paths of its task: warn (default): it is merged, with a warning; refuse: it waits for a person"`
	Hooks        HooksPolicy   `json:"hooks,omitempty" doc:"off (default): the repository's git hooks do not run when an agent commits; run: they do"`
	Run          string        `json:"run,omitempty" doc:"how a person runs or looks at the result: shown where one is asked to, and never run by cw"`
}

// Commands tells whether the file has anything that is run, that reaches what is
// run, or that takes files of the user into a worktree.
func (f ProjectFile) Commands() bool {
	return len(f.Setup)+len(f.Teardown)+len(f.Checks)+len(f.Env)+len(f.Caches)+len(f.Include) > 0 || f.Hooks == HooksRun
}

// HooksPolicy says whether the repository's own git hooks run for agents.
type HooksPolicy string

// The policies.
const (
	HooksOff HooksPolicy = "off"
	HooksRun HooksPolicy = "run"
)

// HooksPolicies lists them.
func HooksPolicies() []HooksPolicy { return []HooksPolicy{HooksOff, HooksRun} }

// ProjectCommand is one command of a project file, run by sh -c in the worktree.
type ProjectCommand struct {
	Name    string        `json:"name" doc:"what people call it; default: the command"`
	Run     string        `json:"run" doc:"run by sh -c in the top folder"`
	Timeout time.Duration `json:"timeoutNs" doc:"after which it is stopped, in nanoseconds; default 10 minutes"`
}

// ProjectFileView is the project file of a project at a commit.
type ProjectFileView struct {
	ProjectID ProjectID   `json:"projectId" doc:"the project"`
	Project   string      `json:"project" doc:"its name"`
	Commit    string      `json:"commit" doc:"the commit that it was read from"`
	Present   bool        `json:"present" doc:"the commit has a cw.yaml"`
	Digest    string      `json:"digest,omitempty" doc:"SHA-256 of its bytes: what is trusted; without a file that of no bytes"`
	Content   string      `json:"content,omitempty" doc:"the file as it is"`
	File      ProjectFile `json:"file" doc:"what it says"`
	Problem   string      `json:"problem,omitempty" doc:"why it cannot be used; missing when it can"`
	Trusted   bool        `json:"trusted" doc:"a person has trusted exactly this content, or it has nothing to be run"`
	TrustedBy string      `json:"trustedBy,omitempty" doc:"who"`
	TrustedAt *time.Time  `json:"trustedAt,omitempty" doc:"when"`
}

// ProjectTrust is that a person trusts one content of a project's cw.yaml.
type ProjectTrust struct {
	ProjectID ProjectID `gorm:"primaryKey"`
	Digest    string    `gorm:"primaryKey"`
	TrustedBy string
	TrustedAt time.Time
}

// TrustRequest trusts the content of a project's cw.yaml.
type TrustRequest struct {
	Digest string `json:"digest" doc:"of the content that was looked at; another content is refused"`
	Ref    string `json:"ref,omitempty" doc:"branch or commit whose cw.yaml is meant, of the user's repository or of cw's copy; default: HEAD"`
	Revoke bool   `json:"revoke,omitempty" doc:"trust it no longer"`
}

// TrustService is what faces may do with project files.
type TrustService interface {
	// ProjectFile reads the project file at a ref (default HEAD of the user's
	// checkout), and tells whether it is trusted. CodeNotFound; CodeInvalid for a
	// ref that is none.
	ProjectFile(ctx context.Context, project, ref string) (ProjectFileView, error)
	// TrustProject trusts the content with this digest, or trusts it no longer.
	// People only. CodeNotFound; CodeRefused when the content is another one by
	// now, or cannot be used.
	TrustProject(ctx context.Context, project string, req TrustRequest) (ProjectFileView, error)
}

// CommandRun asks for commands of a project to be run, each by a shim in a run
// directory of its own, so that they outlive the daemon and are ended whole.
type CommandRun struct {
	ID       RunID   // chosen by the caller: the same id again takes up what was started
	Kind     RunKind // RunCheck or RunSetup
	AgentID  AgentID // whose worktree it is; "" for none
	Alias    string  // of that agent; "" for none
	Dir      string  // where they run, absolute
	Commands []ProjectCommand
	Env      map[string]string // beside the daemon's own
	Caller   map[string]string // of whoever started the agent: PATH and the like, over the daemon's
	// WorkOf is the agent whose work is checked; "": none. Its commands get what
	// it had: so many ports in the project, and the PATH of its caller.
	WorkOf    AgentID
	ProjectID ProjectID
	Ports     int
	Stop      <-chan struct{} // closed when its end is wanted: what runs of it is ended, and nothing more is started; nil: never
}

// CommandResult is how commands ended. The first that failed ends them.
type CommandResult struct {
	OK       bool   // all ended with exit code 0 in time
	Failed   string // name of the one that did not
	Reason   string // in words: "exit code 1", "stopped after 10m", "wrote more than 64 MiB"
	Outside  bool   // it failed for a reason that is not the work's: it could not be started, the machine was restarted
	ExitCode int
	Output   string // the end of what it printed, at most 16 KiB, as UTF-8
	LogPath  string // the whole of it
	Took     time.Duration
}

// WorktreePorts are the ports of one worktree: Count of them, from First on.
type WorktreePorts struct {
	AgentID   AgentID   `gorm:"primaryKey"`
	ProjectID ProjectID `gorm:"primaryKey"`
	First     int
	Count     int
}

// Numbers gives them one by one.
func (p WorktreePorts) Numbers() []int {
	ports := make([]int, 0, p.Count)
	for i := range p.Count {
		ports = append(ports, p.First+i)
	}
	return ports
}

// Has tells whether a port is one of them.
func (p WorktreePorts) Has(port int) bool { return port >= p.First && port < p.First+p.Count }
