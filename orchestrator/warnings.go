package orchestrator

import (
	"fmt"

	"cw/internal/cw"
)

// workWarnings tells about work that a person would otherwise miss.
func workWarnings(e evidence) []string {
	var out []string
	for _, t := range e.Trees {
		if t.Trouble != "" {
			out = append(out, fmt.Sprintf("the worktree of %s could not be looked at, so its branch was not handed over: %s", t.Project, t.Trouble))
			continue
		}
		if t.Missing {
			out = append(out, fmt.Sprintf("the worktree of %s is gone", t.Project))
			continue
		}
		for _, note := range t.Notes {
			out = append(out, t.Project+": "+note)
		}
		if len(t.Dirty) > 0 {
			out = append(out, fmt.Sprintf("%s has %s, kept in the worktree: %s", t.Project, counted(len(t.Dirty), "uncommitted file"), some(t.Dirty)))
		}
		if len(t.Ignored) > 0 {
			out = append(out, fmt.Sprintf("%s has %s that git ignores, so its worktree stays: %s", t.Project, counted(len(t.Ignored), "file"), some(t.Ignored)))
		}
		if len(t.Reserved) > 0 {
			out = append(out, fmt.Sprintf("%s: commits touch cw's own files: %s", t.Project, some(t.Reserved)))
		}
	}
	return out
}

// emptyWarning tells that an agent that executes says that it is done, and
// there is neither a commit nor a reason.
func emptyWarning(e evidence, v verdict) []string {
	if v.Status != cw.StatusIdle || v.NoChanges != "" || !nothingCommitted(e) {
		return nil
	}
	return []string{"it says it is done, but committed nothing and gave no reason (noChanges)"}
}
