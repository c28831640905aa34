package store

import (
	"fmt"
	"strings"

	"cw/internal/cw"
)

// initiativeTables are the tables of initiatives and of what belongs to them,
// each after those that it refers to.
func initiativeTables() []string {
	return []string{
		"initiatives", "initiative_projects", "pages", "phases", "phase_dependencies", "tasks", "task_dependencies", "proposals",
		"integrations", "merges",
	}
}

// initiativeMends are the statements that make whole initiatives out of what was
// read from a damaged file. People wrote what is in them, so a row that was lost
// and can be told from others is made again, and only what then belongs to
// nothing is left out.
func initiativeMends(sure bool) []string {
	out := []string{
		// An initiative, from its first page.
		`INSERT INTO initiatives (id, name, slug, goal, status, root_page_id, created_by, created_at, updated_at)
			SELECT initiative_id, title, 'recovered-' || initiative_id, body, 'active', id, updated_by, created_at, updated_at FROM pages
			WHERE parent_id = '' AND deleted_at IS NULL AND initiative_id NOT IN (SELECT id FROM initiatives) ON CONFLICT DO NOTHING`,
		// A first page, from its initiative.
		`INSERT INTO pages (id, initiative_id, title, body, created_at, updated_at)
			SELECT root_page_id, id, name, goal, created_at, updated_at FROM initiatives WHERE root_page_id NOT IN (SELECT id FROM pages)`,
		`UPDATE pages SET parent_id = (SELECT root_page_id FROM initiatives WHERE id = pages.initiative_id)
			WHERE parent_id <> '' AND parent_id NOT IN (SELECT id FROM pages) AND initiative_id IN (SELECT id FROM initiatives)`,
		// A phase, from its tasks.
		`INSERT INTO phases (id, initiative_id, name, status, created_at, updated_at)
			SELECT phase_id, initiative_id, 'a phase that was lost', 'draft', MIN(created_at), MAX(updated_at) FROM tasks
			WHERE phase_id NOT IN (SELECT id FROM phases) GROUP BY phase_id`,
	}
	for _, table := range []string{"initiative_projects", "integrations", "merges", "proposals", "pages", "tasks", "phases"} {
		out = append(out, "DELETE FROM "+table+" WHERE initiative_id NOT IN (SELECT id FROM initiatives)")
	}
	for _, noun := range []string{"phase", "task"} {
		out = append(out, fmt.Sprintf("DELETE FROM %[1]s_dependencies WHERE %[1]s_id NOT IN (SELECT id FROM %[1]ss) OR depends_on NOT IN (SELECT id FROM %[1]ss)", noun))
	}
	out = append(out, "DELETE FROM merges WHERE task_id NOT IN (SELECT id FROM tasks)")
	if sure {
		return out
	}
	return append(out,
		unknownStatus("merges", cw.MergeQueued, cw.MergeChecking, cw.MergeConflicted, cw.MergeRed, cw.MergeMerged, cw.MergeDismissed),
		unknownStatus("initiatives", cw.InitiativeActive, cw.InitiativeArchived),
		unknownStatus("phases", cw.PhaseDraft, cw.PhaseApproved, cw.PhaseRunning, cw.PhaseDone, cw.PhaseArchived),
		unknownStatus("tasks", cw.TaskDraft, cw.TaskStatuses()...),
		unknownStatus("proposals", cw.ProposalOpen, cw.ProposalStatuses()...))
}

// unknownStatus gives what has a status that is none the first one.
func unknownStatus[T ~string](table string, first T, others ...T) string {
	known := []string{"'" + string(first) + "'"}
	for _, s := range others {
		known = append(known, "'"+string(s)+"'")
	}
	return "UPDATE " + table + " SET status = " + known[0] + " WHERE status NOT IN (" + strings.Join(known, ", ") + ")"
}
