package cw

import (
	"context"
	"strings"
	"unicode"
)

// Forge is a kind of host that keeps repositories and the requests to merge a
// branch of them.
type Forge string

// The forges. What GitLab calls a merge request is called a pull request here.
const (
	ForgeGitHub Forge = "github"
	ForgeGitLab Forge = "gitlab"
)

// Forges lists all forges.
func Forges() []Forge { return []Forge{ForgeGitHub, ForgeGitLab} }

// Title is what people call a forge.
func (f Forge) Title() string {
	switch f {
	case ForgeGitHub:
		return "GitHub"
	case ForgeGitLab:
		return "GitLab"
	}
	return string(f)
}

// TokenVariables are the variables in which people have a token of a forge; the
// first that is set counts. As with the forges' own programs a token of them is
// for the public host alone.
func (f Forge) TokenVariables() []string {
	switch f {
	case ForgeGitHub:
		return []string{"GH_TOKEN", "GITHUB_TOKEN"}
	case ForgeGitLab:
		return []string{"GITLAB_TOKEN"}
	}
	return nil
}

// PullRequestBodyMax is the greatest length of the text of a pull request in
// bytes: GitHub takes 65,536 characters.
const PullRequestBodyMax = 60 << 10

// PullRequestRequest opens a pull request for the branch of an initiative.
type PullRequestRequest struct {
	Project string `json:"project,omitempty" doc:"the project, by id or name; it may be missing when the initiative has a branch in one alone"`
	Base    string `json:"base,omitempty" doc:"the branch at the remote that it is to be merged into; default: the one that the initiative's branch began from"`
	Title   string `json:"title,omitempty" doc:"one line; default: the initiative's name"`
	Body    string `json:"body,omitempty" doc:"Markdown, sent as it is; default: made of the goal and the summaries of tasks that are done"`
	Draft   bool   `json:"draft,omitempty" doc:"open it as a draft; one that is open already stays what it is"`
	Forge   Forge  `json:"forge,omitempty" doc:"github or gitlab; default: as the host of the remote tells"`
	// Account and BaseURL say whose token is used, and where it goes.
	Account string `json:"account,omitempty" doc:"the account whose token is used; default: the caller's token, else the first account of the forge for that host"`
	BaseURL string `json:"baseUrl,omitempty" doc:"address of a forge of one's own, for the caller's token; from a person on the socket alone"`
	// Token is the caller's own, of the environment: it is used once and never
	// stored. Of each forge, since the daemon finds out which one it is.
	GitHubToken Secret `json:"githubToken,omitzero" doc:"the caller's token for GitHub, used once and not stored; from a person on the socket alone"`
	GitLabToken Secret `json:"gitlabToken,omitzero" doc:"the caller's token for GitLab, likewise"`
	// Env is the caller's environment. Of it are used, for a person: PATH,
	// proxies and SSH_AUTH_SOCK.
	Env map[string]string `json:"env,omitempty" doc:"the caller's environment, of which PATH, proxies and SSH_AUTH_SOCK are used to reach the remote"`
}

// Token gives the caller's token for a forge; empty when there is none.
func (r PullRequestRequest) Token(f Forge) Secret {
	switch f {
	case ForgeGitHub:
		return r.GitHubToken
	case ForgeGitLab:
		return r.GitLabToken
	}
	return Secret{}
}

// Check refuses texts that no forge takes, and a forge that is none.
// CodeInvalid.
func (r PullRequestRequest) Check() error {
	switch {
	case r.Title != "" && CheckName("pull request", r.Title) != nil:
		return CheckName("pull request", r.Title)
	case len(r.Body) > PullRequestBodyMax:
		return Errorf(CodeInvalid, "the text of the pull request has %d bytes, at most %d are taken", len(r.Body), PullRequestBodyMax).
			WithHint("put what is longer into the repository, and name it")
	case strings.HasPrefix(r.Base, "-") || strings.ContainsFunc(r.Base, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }):
		return Errorf(CodeInvalid, "%.60q is no name of a branch", r.Base).WithHint("name a branch of the remote: --base main")
	case r.Forge != "":
		return oneOf("forge", r.Forge, Forges())
	}
	return nil
}

// PullRequest is an open pull request of an initiative.
type PullRequest struct {
	ProjectID ProjectID `json:"projectId" doc:"the project"`
	Project   string    `json:"project" doc:"its name"`
	Forge     Forge     `json:"forge" doc:"github or gitlab"`
	Number    int64     `json:"number" doc:"its number in the repository"`
	URL       string    `json:"url" doc:"where people look at it"`
	Title     string    `json:"title" doc:"its title, as it was sent"`
	Branch    string    `json:"branch" doc:"the initiative's branch"`
	Head      string    `json:"head" doc:"the commit of it that the remote has now"`
	Base      string    `json:"base" doc:"the branch that it is to be merged into"`
	Draft     bool      `json:"draft" doc:"it is a draft"`
	Existed   bool      `json:"existed" doc:"it was open already: its title and text are these now"`
	Pushed    bool      `json:"pushed" doc:"the branch was not at the remote yet, or was behind"`
}

// ForgeService is what faces may do at forges.
type ForgeService interface {
	// CreatePullRequest pushes the branch of an initiative to the project's remote,
	// never by force, and opens a pull request for it. One that is open already
	// gets the title and the text. People only. CodeNotFound for an initiative or
	// a project that is none, and for a repository that the token cannot see;
	// CodeInvalid when it cannot be told which project, forge or branch is meant;
	// CodeRefused while nothing is merged, when the remote's branch went another
	// way, and for a token that may not; CodeForbidden for a token or an address
	// that comes from anybody but a person on the socket; CodeFailed when the
	// remote or the forge cannot be reached.
	CreatePullRequest(ctx context.Context, initiative string, req PullRequestRequest) (PullRequest, error)
}
