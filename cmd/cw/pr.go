package main

import (
	"github.com/spf13/cobra"

	"cw/internal/cw"
)

func newPRCmd(a *app) *cobra.Command {
	return newGroupCmd("pr", "Pull requests of initiatives, at GitHub and GitLab", newPRCreateCmd(a, nil))
}

// printPullRequest shows a pull request. Its address comes first: it is what
// people go on with.
func (a *app) printPullRequest(pr cw.PullRequest) {
	a.printf("%s\n", oneLine(pr.URL))
	draft := "no"
	if pr.Draft {
		draft = "yes"
	}
	facts(a.out, "  ", [][2]string{
		{"title", oneLine(pr.Title)},
		{"project", oneLine(pr.Project)},
		{"branch", oneLine(pr.Branch) + " at " + short(pr.Head)},
		{"into", oneLine(pr.Base)},
		{"draft", draft},
	})
	switch {
	case !pr.Existed:
		a.note("the pull request is open; do the same again after more is merged, which brings it up to date")
	case pr.Pushed:
		a.note("it was open already; it has the new commits, and the title and text that are shown here")
	default:
		a.note("it was open already, and had these commits; it has the title and text that are shown here")
	}
}

// short is the beginning of a commit's id.
func short(commit string) string {
	return oneLine(commit[:min(len(commit), 12)])
}
