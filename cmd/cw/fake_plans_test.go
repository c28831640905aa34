package main

import (
	"context"
	"slices"
	"time"

	"cw/internal/cw"
)

// fakePlans is what a daemon in memory keeps of initiatives: what it is asked
// to change is noted, and answered with what is there.
type fakePlans struct {
	initiatives []cw.InitiativeView
	bodies      map[cw.PageID]string
	proposals   []cw.ProposalView
	prompt      cw.PromptView
	// cast are the agents that are spawned next, as they end, one after the other.
	cast      []cw.AgentView
	asksPlans []any // changes that were asked for, and prompts
}

func (f *fakeServices) plan(method string, request any) error {
	f.asksPlans = append(f.asksPlans, request)
	return f.fails(method)
}

// enter makes the next agent of the cast, as it begins. The lock is held.
func (f *fakeServices) enter(req cw.SpawnRequest) cw.AgentView {
	end := f.cast[0]
	f.cast = f.cast[1:]
	end.Mode, end.InitiativeID, end.PhaseID = req.Mode, req.InitiativeID, req.PhaseID
	end.Definition, end.CreatedAt = string(req.Mode), epoch.Add(time.Duration(len(f.agents))*time.Second)
	begins := end
	begins.Status, begins.Reason, begins.Result, begins.PendingQuestions = cw.StatusRunning, "", "", []cw.Question{}
	f.agents = append(f.agents, begins)
	if after, ok := f.after[end.ID]; ok { // it goes on as the same agent
		after.Mode, after.InitiativeID, after.PhaseID, after.CreatedAt = end.Mode, end.InitiativeID, end.PhaseID, end.CreatedAt
		f.after[end.ID] = after
	}
	f.ends[end.ID] = end
	return begins
}

func (f *fakeServices) CreateInitiative(_ context.Context, req cw.CreateInitiativeRequest) (cw.Initiative, error) {
	i := cw.Initiative{
		ID: "iiiiiiiiiiii", Name: req.Name, Slug: cw.Slug(req.Name), Goal: req.Goal, Status: cw.InitiativeActive, RootPageID: "dddddddddddd",
		Projects: []cw.InitiativeProject{}, CreatedBy: "person", CreatedAt: epoch, UpdatedAt: epoch,
	}
	for _, p := range req.Projects {
		i.Projects = append(i.Projects, cw.InitiativeProject{ID: "pppppppppppp", Name: p})
	}
	return i, f.plan("CreateInitiative", req)
}

func (f *fakeServices) Initiatives(_ context.Context, filter cw.InitiativeFilter) (cw.Page[cw.Initiative], error) {
	var some []cw.Initiative
	for _, v := range f.initiatives {
		if (v.Status == cw.InitiativeArchived) == filter.Archived {
			in := v.Initiative
			in.Progress = &cw.Progress{Tasks: len(v.Tasks)}
			for _, t := range v.Tasks {
				if t.Status == cw.TaskDone {
					in.Progress.Done++
				}
			}
			some = append(some, in)
		}
	}
	return pageAt(some, filter.PageQuery), f.fails("Initiatives")
}

func (f *fakeServices) Initiative(_ context.Context, ref string) (cw.InitiativeView, error) {
	for _, v := range f.initiatives {
		if v.Slug == ref || string(v.ID) == ref {
			return asListed(v), f.fails("Initiative")
		}
	}
	return cw.InitiativeView{}, cw.Errorf(cw.CodeNotFound, "there is no initiative %.100q", ref).WithHint("all initiatives: cw initiative list")
}

// asListed is an initiative as it is told: without the texts of its phases and
// tasks.
func asListed(v cw.InitiativeView) cw.InitiativeView {
	v.Phases, v.Tasks = slices.Clone(v.Phases), slices.Clone(v.Tasks)
	for i := range v.Phases {
		v.Phases[i].Body = ""
	}
	for i := range v.Tasks {
		v.Tasks[i].Body = ""
	}
	return v
}

func (f *fakeServices) EditInitiative(ctx context.Context, ref string, e cw.InitiativeEdit) (cw.Initiative, error) {
	v, err := f.Initiative(ctx, ref)
	if err != nil {
		return cw.Initiative{}, err
	}
	if e.Name != nil {
		v.Name = *e.Name
	}
	if e.Archived != nil && *e.Archived {
		v.Status = cw.InitiativeArchived
	}
	return v.Initiative, f.plan("EditInitiative", e)
}

func (f *fakeServices) CreatePullRequest(ctx context.Context, initiative string, req cw.PullRequestRequest) (cw.PullRequest, error) {
	v, err := f.Initiative(ctx, initiative)
	if err != nil {
		return cw.PullRequest{}, err
	}
	return cw.PullRequest{
		ProjectID: "pppppppppppp", Project: "shop", Forge: cw.ForgeGitHub, Number: 12, URL: "https://github.com/acme/shop/pull/12", Title: v.Name,
		Branch: v.Branch, Head: "0123456789abcdef0123456789abcdef01234567", Base: "main", Draft: req.Draft, Pushed: true,
	}, f.plan("CreatePullRequest", req)
}

func (f *fakeServices) CreatePage(_ context.Context, req cw.CreatePageRequest) (cw.Document, error) {
	return cw.Document{
		ID: "eeeeeeeeeeee", InitiativeID: "iiiiiiiiiiii", ParentID: req.ParentID, Title: req.Title, Body: req.Body, Revision: 1,
		UpdatedBy: "person", CreatedAt: epoch, UpdatedAt: epoch,
	}, f.plan("CreatePage", req)
}

func (f *fakeServices) Pages(ctx context.Context, initiative string) ([]cw.Document, error) {
	v, err := f.Initiative(ctx, initiative)
	return v.Pages, err
}

func (f *fakeServices) PageByID(_ context.Context, id cw.PageID) (cw.Document, error) {
	for _, v := range f.initiatives {
		for _, d := range v.Pages {
			if d.ID == id {
				d.Body = f.bodies[id]
				return d, f.fails("PageByID")
			}
		}
	}
	return cw.Document{}, cw.Errorf(cw.CodeNotFound, "there is no page %.100q", string(id)).WithHint("see: cw page list INITIATIVE")
}

func (f *fakeServices) EditPage(ctx context.Context, id cw.PageID, e cw.PageEdit) (cw.Document, error) {
	d, err := f.PageByID(ctx, id)
	if err != nil {
		return d, err
	}
	d.Revision++
	return d, f.plan("EditPage", e)
}

func (f *fakeServices) PageDocument(ctx context.Context, id cw.PageID) (cw.EditorDocument, error) {
	d, err := f.PageByID(ctx, id)
	return cw.EditorDocument{Page: d.ID, Revision: d.Revision}, err
}

func (f *fakeServices) EditPageDocument(ctx context.Context, id cw.PageID, e cw.EditorEdit) (cw.EditorDocument, error) {
	return cw.EditorDocument{Page: id, Revision: e.Revision + 1, Document: e.Document}, f.plan("EditPageDocument", e)
}

func (f *fakeServices) RemovePage(ctx context.Context, id cw.PageID) (cw.Document, error) {
	d, err := f.PageByID(ctx, id)
	if err != nil {
		return d, err
	}
	return d, f.plan("RemovePage", id)
}

func (f *fakeServices) CreatePhase(_ context.Context, req cw.CreatePhaseRequest) (cw.Phase, error) {
	return cw.Phase{
		ID: "ffffffffffff", InitiativeID: "iiiiiiiiiiii", Name: req.Name, Body: req.Body, Status: cw.PhaseApproved, DependsOn: req.DependsOn,
		CreatedAt: epoch, UpdatedAt: epoch,
	}, f.plan("CreatePhase", req)
}

func (f *fakeServices) Phases(ctx context.Context, initiative string) ([]cw.Phase, error) {
	v, err := f.Initiative(ctx, initiative)
	return v.Phases, err
}

func (f *fakeServices) Phase(_ context.Context, id cw.PhaseID) (cw.Phase, error) {
	for _, v := range f.initiatives {
		for _, ph := range v.Phases {
			if ph.ID == id {
				return ph, f.fails("Phase")
			}
		}
	}
	return cw.Phase{}, cw.Errorf(cw.CodeNotFound, "there is no phase %.100q", string(id)).WithHint("see: cw phase list INITIATIVE")
}

func (f *fakeServices) EditPhase(ctx context.Context, id cw.PhaseID, e cw.PhaseEdit) (cw.Phase, error) {
	ph, err := f.Phase(ctx, id)
	if err != nil {
		return ph, err
	}
	if e.Status != nil {
		ph.Status = *e.Status
	}
	return ph, f.plan("EditPhase", e)
}

func (f *fakeServices) CreateTask(_ context.Context, req cw.CreateTaskRequest) (cw.Task, error) {
	return cw.Task{
		ID: "tttttttttttt", InitiativeID: "iiiiiiiiiiii", PhaseID: req.PhaseID, Name: req.Name, Body: req.Body, Type: req.Type, Size: req.Size,
		Priority: req.Priority, Paths: req.Paths, Checks: req.Checks, DependsOn: req.DependsOn, Status: cw.TaskPending, CreatedAt: epoch, UpdatedAt: epoch,
	}, f.plan("CreateTask", req)
}

func (f *fakeServices) Tasks(_ context.Context, filter cw.TaskFilter) ([]cw.Task, error) {
	for _, v := range f.initiatives {
		if v.Slug == filter.Initiative || string(v.ID) == filter.Initiative || filter.PhaseID != "" {
			return asListed(v).Tasks, f.fails("Tasks")
		}
	}
	return nil, cw.Errorf(cw.CodeNotFound, "there is no initiative %.100q", filter.Initiative)
}

func (f *fakeServices) Task(_ context.Context, id cw.TaskID) (cw.Task, error) {
	for _, v := range f.initiatives {
		for _, t := range v.Tasks {
			if t.ID == id {
				return t, f.fails("Task")
			}
		}
	}
	return cw.Task{}, cw.Errorf(cw.CodeNotFound, "there is no task %.100q", string(id)).WithHint("see: cw task list INITIATIVE")
}

func (f *fakeServices) EditTask(ctx context.Context, id cw.TaskID, e cw.TaskEdit) (cw.Task, error) {
	t, err := f.Task(ctx, id)
	if err != nil {
		return t, err
	}
	if e.Status != nil {
		t.Status = *e.Status
	}
	return t, f.plan("EditTask", e)
}

func (f *fakeServices) Proposals(_ context.Context, filter cw.ProposalFilter) (cw.Page[cw.Proposal], error) {
	var some []cw.Proposal
	for _, v := range f.proposals {
		if len(filter.Statuses) == 0 || v.Status == filter.Statuses[0] {
			some = append(some, v.Proposal)
		}
	}
	return pageAt(some, filter.PageQuery), f.fails("Proposals")
}

func (f *fakeServices) Proposal(_ context.Context, id cw.ProposalID) (cw.ProposalView, error) {
	for _, v := range f.proposals {
		if v.ID == id {
			return v, f.fails("Proposal")
		}
	}
	return cw.ProposalView{}, cw.Errorf(cw.CodeNotFound, "there is no proposal %.100q", string(id)).WithHint("see: cw proposal list")
}

func (f *fakeServices) AcceptProposals(ctx context.Context, c cw.ProposalChoice) ([]cw.Proposal, error) {
	return f.decided(ctx, "AcceptProposals", c, cw.ProposalAccepted)
}

func (f *fakeServices) DismissProposals(ctx context.Context, c cw.ProposalChoice) ([]cw.Proposal, error) {
	return f.decided(ctx, "DismissProposals", c, cw.ProposalDismissed)
}

func (f *fakeServices) decided(ctx context.Context, method string, c cw.ProposalChoice, to cw.ProposalStatus) ([]cw.Proposal, error) {
	if err := f.plan(method, c); err != nil {
		return nil, err
	}
	var out []cw.Proposal
	for _, id := range c.IDs {
		v, err := f.Proposal(ctx, id)
		if err != nil {
			return nil, err
		}
		v.Status = to
		if to == cw.ProposalAccepted {
			f.make(v.Proposal)
		}
		i := slices.IndexFunc(f.proposals, func(p cw.ProposalView) bool { return p.ID == id })
		f.proposals[i] = v
		out = append(out, v.Proposal)
	}
	return out, nil
}

// make makes the phase or task that a proposal suggests, the latter in the phase
// of its agent.
func (f *fakeServices) make(p cw.Proposal) {
	v := &f.initiatives[0]
	switch p.Target {
	case cw.TargetPhase:
		v.Phases = append(v.Phases, cw.Phase{ID: cw.PhaseID(p.TargetID), Name: p.Title, Status: cw.PhaseApproved, DependsOn: []cw.PhaseID{}})
	case cw.TargetTask:
		i := slices.IndexFunc(f.agents, func(a cw.AgentView) bool { return a.ID == p.AgentID })
		v.Tasks = append(v.Tasks, cw.Task{
			ID: cw.TaskID(p.TargetID), PhaseID: f.agents[i].PhaseID, Name: p.Title, Status: cw.TaskPending, Type: cw.TaskAuto,
			Size: cw.SizeMedium, Priority: cw.PriorityMedium, DependsOn: []cw.TaskID{},
		})
	}
}

func (f *fakeServices) Prompt(ctx context.Context, req cw.PromptRequest) (cw.PromptView, error) {
	if req.TaskID != "" {
		if _, err := f.Task(ctx, req.TaskID); err != nil {
			return cw.PromptView{}, err
		}
	}
	return f.prompt, f.plan("Prompt", req)
}
