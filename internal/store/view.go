package store

import (
	"context"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// AgentView gives an agent, found by alias or id, with everything that belongs
// to it. CodeNotFound, with the nearest alias as hint.
func (db *DB) AgentView(ctx context.Context, ref string) (cw.AgentView, error) {
	var view cw.AgentView
	err := db.query(ctx, "read agent", func(g *gorm.DB) error {
		agent, err := agentByRef(g, ref)
		if err != nil {
			return err
		}
		views, err := viewsOf(g, []cw.Agent{agent})
		if err != nil {
			return err
		}
		view = views[0]
		return nil
	})
	return view, err
}

// AgentViews gives one page of the agents that match, those that are removed
// only when the filter asks for them, and then no others. The
// number of queries does not depend on how many there are, and what belongs to
// agents is read for those of the page only. CodeInvalid as AgentFilter.Start;
// CodeNotFound when the filter names a project or an initiative that is not
// there.
func (db *DB) AgentViews(ctx context.Context, f cw.AgentFilter) (cw.Page[cw.AgentView], error) {
	start, err := f.Start()
	if err != nil {
		return cw.Page[cw.AgentView]{}, err
	}
	var page cw.Page[cw.AgentView]
	err = db.query(ctx, "list agents", func(g *gorm.DB) error {
		q, err := selectAgents(g, f)
		if err != nil {
			return err
		}
		agents, err := pageOf[cw.Agent](q, start, agentColumn(start.Field))
		if err != nil {
			return err
		}
		page.Next = agents.Next
		page.Items, err = viewsOf(g, agents.Items)
		return err
	})
	return page, err
}

// agentColumn gives the column of a field of cw.AgentList.
func agentColumn(field string) string {
	switch field {
	case "updatedAt":
		return "updated_at"
	case "name":
		return "alias"
	case "status":
		return "status"
	}
	return "created_at"
}

func selectAgents(g *gorm.DB, f cw.AgentFilter) (*gorm.DB, error) {
	q := g.Where("deleted_at IS NULL")
	if f.Removed {
		q = g.Where("deleted_at IS NOT NULL")
	}
	if len(f.Statuses) > 0 {
		q = q.Where("status IN (SELECT value FROM json_each(?))", list(f.Statuses))
	}
	if f.Project != "" {
		project, err := projectByRef(g, f.Project)
		if err != nil {
			return nil, err
		}
		q = q.Where("id IN (SELECT agent_id FROM agent_worktrees WHERE project_id = ?)", project.ID)
	}
	if f.Initiative != "" {
		i, err := initiativeByRef(g, f.Initiative)
		if err != nil {
			return nil, err
		}
		q = q.Where("initiative_id = ?", i.ID)
	}
	if f.Provider != "" {
		q = q.Where("provider = ?", f.Provider)
	}
	if f.SeenBy != "" {
		q = seenBy(q, f.SeenBy)
	}
	return q, nil
}

// viewsOf reads what belongs to agents, one query per table.
func viewsOf(g *gorm.DB, agents []cw.Agent) ([]cw.AgentView, error) {
	ids := make([]cw.AgentID, len(agents))
	for i, a := range agents {
		ids[i] = a.ID
	}
	worktrees, err := worktreesOf(g, ids)
	if err != nil {
		return nil, err
	}
	if err := addPorts(g, ids, worktrees); err != nil {
		return nil, err
	}
	runs, err := runsOf(g, ids)
	if err != nil {
		return nil, err
	}
	questions, err := openQuestionsOf(g, ids)
	if err != nil {
		return nil, err
	}
	queued, err := queuedOf(g, ids)
	if err != nil {
		return nil, err
	}
	untold, err := untoldOf(g, ids)
	if err != nil {
		return nil, err
	}
	settling, err := settlingOf(g, ids)
	if err != nil {
		return nil, err
	}
	plans, err := plansOf(g, ids)
	if err != nil {
		return nil, err
	}
	names, err := accountNames(g, agents)
	if err != nil {
		return nil, err
	}
	if err := nameClones(g, worktrees); err != nil {
		return nil, err
	}
	views := make([]cw.AgentView, len(agents))
	for i, a := range agents {
		views[i] = view(a, worktrees[a.ID], runs[a.ID], questions[a.ID])
		views[i].AccountName = names[a.AccountID]
		views[i].QueuedMessages, views[i].QueuedAnswers, views[i].Settling = queued[a.ID], untold[a.ID], settling[a.ID]
		views[i].Plan = plans[a.ID]
	}
	return views, nil
}

// nameClones tells of worktrees in remote projects where their branches are
// fetched from.
func nameClones(g *gorm.DB, worktrees map[cw.AgentID][]cw.AgentWorktree) error {
	var remotes []cw.Project
	if len(worktrees) == 0 {
		return nil
	}
	if err := g.Select("id", "git_dir").Where("remote_url <> ''").Find(&remotes).Error; err != nil {
		return err
	}
	clones := make(map[cw.ProjectID]string, len(remotes))
	for _, p := range remotes {
		clones[p.ID] = p.GitDir
	}
	for _, trees := range worktrees {
		for i := range trees {
			trees[i].FetchFrom = clones[trees[i].ProjectID]
		}
	}
	return nil
}

// accountNames gives the names of the accounts that agents use.
func accountNames(g *gorm.DB, agents []cw.Agent) (map[cw.AccountID]string, error) {
	ids := make([]cw.AccountID, len(agents))
	for i, a := range agents {
		ids[i] = a.AccountID
	}
	var rows []cw.Account
	err := g.Select("id", "name").Where("id IN (SELECT value FROM json_each(?))", list(ids)).Find(&rows).Error
	names := make(map[cw.AccountID]string, len(rows))
	for _, a := range rows {
		names[a.ID] = a.Name
	}
	for _, id := range ids { // its row is made when it is first looked at
		if _, is := defaultOf(id); is && names[id] == "" {
			names[id] = cw.DefaultAccountName
		}
	}
	return names, err
}

func runsOf(g *gorm.DB, agents []cw.AgentID) (map[cw.AgentID][]cw.Run, error) {
	var rows []cw.Run
	err := g.Where("kind = ? AND agent_id IN (SELECT value FROM json_each(?))", cw.RunAgent, list(agents)).
		Order("agent_id, session_number").Find(&rows).Error
	if err != nil {
		return nil, err
	}
	out := make(map[cw.AgentID][]cw.Run, len(agents))
	for _, r := range rows {
		out[r.AgentID] = append(out[r.AgentID], r)
	}
	return out, nil
}

func openQuestionsOf(g *gorm.DB, agents []cw.AgentID) (map[cw.AgentID][]cw.Question, error) {
	var rows []cw.Question
	err := g.Where("status = ? AND agent_id IN (SELECT value FROM json_each(?))", cw.QuestionOpen, list(agents)).
		Order("agent_id, created_at, request_id, seq").Find(&rows).Error
	if err != nil {
		return nil, err
	}
	out := make(map[cw.AgentID][]cw.Question, len(agents))
	for _, q := range rows {
		q.Options = orEmpty(q.Options)
		out[q.AgentID] = append(out[q.AgentID], q)
	}
	return out, nil
}

// view puts an agent together with what belongs to it. runs are in order; the
// process facts are those of the last, cost and usage those of all.
func view(agent cw.Agent, worktrees []cw.AgentWorktree, runs []cw.Run, questions []cw.Question) cw.AgentView {
	agent.Warnings = orEmpty(agent.Warnings)
	v := cw.AgentView{
		Agent:            agent,
		Projects:         orEmpty(worktrees),
		PendingQuestions: orEmpty(questions),
		Runs:             orEmpty(runs),
	}
	for _, r := range runs {
		v.CostUSD += r.CostUSD
		v.Usage = v.Usage.Add(r.Usage)
		v.PID, v.OutputPath, v.ExitCode = r.PID, r.OutputPath, r.ExitCode
	}
	if len(worktrees) == 1 {
		w := worktrees[0]
		v.Worktree, v.WorktreeState, v.Branch = w.Path, w.State, w.Branch
		v.BaseBranch, v.BaseCommit, v.HeadCommit = w.BaseBranch, w.BaseCommit, w.HeadCommit
	}
	return v
}
