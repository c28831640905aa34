package cw

import (
	"context"
	"slices"
	"time"
)

// Project is a git repository that cw works on.
type Project struct {
	ID        ProjectID `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	Name      string    `json:"name" doc:"unique; the folder's name, numbered when taken"`
	Path      string    `json:"path" doc:"absolute top level of the repository; empty when it is a remote one"`
	GitDir    string    `json:"gitDir" doc:"the repository's common git directory; of a remote one, that of cw's own clone, where branches of agents are handed over"`
	RemoteURL string    `json:"remoteUrl,omitempty" doc:"URL of a remote repository; missing for one on this machine"`
	Mirror    string    `json:"mirror" doc:"name of the bare copy that agents' worktrees hang on"`
	// Policies, set by people alone.
	Stall      StallPolicy `json:"stall" doc:"what becomes of an agent that is silent for too long: event or resume"`
	AutoResume bool        `json:"autoResume" doc:"agents go on by themselves after a restart of the machine"`
	// Fallback are providers that agents go on with when all accounts of their
	// own are at their limit.
	Fallback []string `json:"fallback" gorm:"serializer:json" doc:"providers that agents go on with when every account of their own is at its limit, in order"`
	// AgentSpawn is how deep agents of the project may make agents: 0, not at all;
	// 1, those of people may; 2, those that these make may, too. At most
	// AgentSpawnMax.
	AgentSpawn int       `json:"agentSpawn" doc:"how deep agents may make agents: 0, not at all; 1, those of people may; 2, those that these make, too; at most 3"`
	CreatedAt  time.Time `json:"createdAt" doc:"when it was registered"`
	UpdatedAt  time.Time `json:"updatedAt" doc:"when its row last changed"`
}

// Remote tells whether the project is a repository that cw reaches by a URL: the
// user has no checkout of it, and its GitDir is a clone of cw's own.
func (p Project) Remote() bool { return p.RemoteURL != "" }

// Where is where the repository is, for people: its path or its URL.
func (p Project) Where() string {
	if p.Remote() {
		return p.RemoteURL
	}
	return p.Path
}

// ProjectRequest names a repository to register: by Path or by URL.
type ProjectRequest struct {
	Path string `json:"path,omitempty" doc:"absolute path of the repository, or of a folder in it"`
	URL  string `json:"url,omitempty" doc:"in place of a path: URL of a remote repository, without credentials, which cw clones; https, ssh, USER@HOST:PATH, file, and http of the same machine"`
	// Env is the caller's environment. Of it are used, for a person: PATH,
	// proxies and SSH_AUTH_SOCK.
	Env map[string]string `json:"env,omitempty" doc:"the caller's environment, of which PATH, proxies and SSH_AUTH_SOCK are used to reach a remote repository"`
}

// Check refuses a request that names no repository, or two. CodeInvalid.
func (r ProjectRequest) Check() error {
	if (r.Path == "") == (r.URL == "") {
		return Errorf(CodeInvalid, "a project is a path or a URL").WithHint("give one of them")
	}
	return nil
}

// StallPolicy says what becomes of an agent that is silent for too long.
type StallPolicy string

// The policies.
const (
	StallEvent  StallPolicy = "event"  // it is told, and the agent goes on
	StallResume StallPolicy = "resume" // it is stopped and resumed with a note, at most twice
)

// ProjectSettings changes policies of a project. What is null stays.
type ProjectSettings struct {
	Stall      *StallPolicy `json:"stall,omitempty" doc:"event or resume"`
	AutoResume *bool        `json:"autoResume,omitempty" doc:"agents go on by themselves after a restart of the machine"`
	Fallback   *[]string    `json:"fallback,omitempty" doc:"providers that agents go on with when every account of their own is at its limit, in order"`
	AgentSpawn *int         `json:"agentSpawn,omitempty" doc:"how deep agents may make agents: 0, not at all; 1, those of people may; 2, those that these make, too; at most 3"`
}

// Check refuses settings that are none, and a change of nothing. CodeInvalid.
func (s ProjectSettings) Check() error {
	switch {
	case s.Stall == nil && s.AutoResume == nil && s.Fallback == nil && s.AgentSpawn == nil:
		return Errorf(CodeInvalid, "no setting is named").WithHint("settings: stall, autoResume, fallback, agentSpawn")
	case s.Stall != nil && *s.Stall != StallEvent && *s.Stall != StallResume:
		return Errorf(CodeInvalid, "stall is %.40q", string(*s.Stall)).WithHint("it is event or resume")
	case s.AgentSpawn != nil && (*s.AgentSpawn < 0 || *s.AgentSpawn > AgentSpawnMax):
		return Errorf(CodeInvalid, "agentSpawn is %d", *s.AgentSpawn).WithHint("it is 0 (agents make none) to %d", AgentSpawnMax)
	case s.Fallback != nil:
		return checkFallback(*s.Fallback)
	}
	return nil
}

// AgentSpawnMax bounds how deep agents may make agents.
const AgentSpawnMax = 3

// fallbackMax is how many providers a project's agents may fall back to.
const fallbackMax = 16

// checkFallback refuses chains with gaps, doubles, or without an end.
func checkFallback(providers []string) error {
	if len(providers) > fallbackMax {
		return Errorf(CodeInvalid, "there are more than %d providers to fall back to", fallbackMax)
	}
	for i, name := range providers {
		if name == "" || slices.Contains(providers[:i], name) {
			return Errorf(CodeInvalid, "fallback names %.40q twice, or a provider without a name", name).WithHint("name each provider once: claude,codex")
		}
	}
	return nil
}

// ProjectList says how projects can be sorted.
func ProjectList() List {
	return List{Name: "projects", Own: "name", Times: []string{"createdAt"}, Texts: []string{"name"}}
}

// PageKey implements Keyed.
func (p Project) PageKey(field string) (key, id string) {
	if field == "createdAt" {
		return TimeKey(p.CreatedAt), string(p.ID)
	}
	return p.Name, string(p.ID)
}

// ProjectService is what faces may do with projects.
type ProjectService interface {
	// AddProject registers the repository that contains a path, or clones one
	// from a URL, which may take as long as that takes. A repository already
	// registered is returned as it is. CodeInvalid when the path is no git
	// repository that cw can work on, or the URL none that it takes; CodeFailed
	// when the remote cannot be reached.
	AddProject(ctx context.Context, req ProjectRequest) (Project, error)
	// Projects lists projects, by name unless the query says otherwise: name,
	// createdAt. CodeInvalid for a cursor or an order that is none.
	Projects(ctx context.Context, q PageQuery) (Page[Project], error)
	// Project finds one by id, name, path or URL. CodeNotFound.
	Project(ctx context.Context, ref string) (Project, error)
	// SetProject changes policies of a project. CodeNotFound, CodeInvalid.
	SetProject(ctx context.Context, ref string, s ProjectSettings) (Project, error)
	// RemoveProject forgets a project and its mirror. CodeRefused while agents
	// use it.
	RemoveProject(ctx context.Context, ref string) (Project, error)
}
