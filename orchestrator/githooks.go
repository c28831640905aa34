package orchestrator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

// gitHooks are the hooks that run when a person commits in a checkout.
type gitHooks struct {
	Dir   string   `json:"dir"` // as the value of core.hooksPath
	Names []string `json:"names"`
}

// unheard gives the folder of hooks that do not run for agents, for people and
// prompts; "" when there are none, or they do.
func (h gitHooks) unheard(file cw.ProjectFile) string {
	if h.Dir == "" || file.Hooks == cw.HooksRun {
		return ""
	}
	if filepath.IsAbs(h.Dir) {
		return ".git/hooks"
	}
	return h.Dir
}

// addHooks notes the git hooks of one project, and says when they do not run.
func (o *Orchestrator) addHooks(ctx context.Context, p *spawnPlan, pl place) {
	found := o.Repos.Hooks(ctx, pl.project, pl.checkout)
	h := gitHooks{Dir: found.Dir, Names: found.Names}
	if h.Dir == "" {
		if pl.hooks == cw.HooksRun {
			p.warnings = append(p.warnings, fmt.Sprintf("%s of %s says hooks: run, and no git hook is set up in %s", cw.ProjectFileName, pl.project.Name, orDefault(pl.checkout, "its repository")))
		}
		return
	}
	if p.options.Hooks == nil {
		p.options.Hooks = map[cw.ProjectID]gitHooks{}
	}
	p.options.Hooks[pl.project.ID] = h
	if dir := h.unheard(cw.ProjectFile{Hooks: pl.hooks}); dir != "" {
		p.warnings = append(p.warnings, fmt.Sprintf("the git hooks of %s (%s: %s) do not run when the agent commits; hooks: run in %s lets them",
			pl.project.Name, dir, strings.Join(h.Names, ", "), cw.ProjectFileName))
	}
}

// hooksThatRun gives the folder of the hooks that run when an agent commits. git
// takes one for all repositories of a process, so of several projects they run
// only when all say so and have them in the same folder.
func hooksThatRun(st cw.RunState, opts options) string {
	dir := ""
	for i, t := range st.Worktrees {
		own := ""
		if opts.around.of(t.ProjectID).Hooks == cw.HooksRun {
			own = opts.Hooks[t.ProjectID].Dir
		}
		if i > 0 && own != dir {
			return ""
		}
		dir = own
	}
	return dir
}

// hooksNotes says which hooks do not run although they are to.
func hooksNotes(st cw.RunState, opts options) (notes []string) {
	dir := hooksThatRun(st, opts)
	for _, t := range st.Worktrees {
		wanted := opts.Hooks[t.ProjectID].Dir
		switch {
		case wanted == "" || opts.around.of(t.ProjectID).Hooks != cw.HooksRun:
		case dir == "":
			notes = append(notes, fmt.Sprintf("the git hooks of %s do not run: the projects of this agent do not have them in the same folder", t.Project))
		case !filepath.IsAbs(dir):
			if _, err := os.Stat(filepath.Join(t.Path, dir)); err != nil {
				notes = append(notes, fmt.Sprintf("the git hooks of %s do not run: %s is not in the worktree; let setup in %s make it", t.Project, dir, cw.ProjectFileName))
			}
		}
	}
	return notes
}
