package main

import (
	"context"
	"maps"
	"slices"

	"cw/internal/cw"
)

// fakeLife is what a daemon in memory keeps of questions, texts, removals and
// the house.
type fakeLife struct {
	// after are the agents as they end once they went on.
	after    map[cw.AgentID]cw.AgentView
	answered []cw.QuestionView
	messages []cw.Message
	answers  []cw.AnswersRequest
	resumes  []cw.ResumeRequest
	sends    []cw.SendRequest
	garbage  cw.GCReport
	// opened are the agents whose worktrees were opened, with openNotes each.
	opened    []string
	openNotes []string
	backups   []cw.BackupRequest
	trials    []cw.HookTrial
	asked     []cw.QuestionFilter
}

// goOn lets an agent run again; it ends as after says. The lock is held.
func (f *fakeServices) goOn(i int) {
	v := &f.agents[i]
	v.Status, v.Reason, v.QueuedMessages = cw.StatusRunning, "", 0
	v.SessionNumber++
	if end, ok := f.after[v.ID]; ok {
		f.ends[v.ID] = end
	} else {
		delete(f.ends, v.ID)
	}
}

func (f *fakeServices) Resume(ctx context.Context, ref string, req cw.ResumeRequest) (cw.AgentView, error) {
	if ctx.Err() != nil {
		return cw.AgentView{}, cw.Errorf(cw.CodeInterrupted, "the call was given up").Because(ctx.Err())
	}
	if err := f.fails("Resume"); err != nil {
		return cw.AgentView{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i, err := f.find(ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	if f.agents[i].Status.Alive() {
		return cw.AgentView{}, cw.Errorf(cw.CodeRefused, "%s runs", f.agents[i].Alias).WithHint("cw agent send %s", f.agents[i].Alias)
	}
	f.resumes = append(f.resumes, req)
	f.goOn(i)
	return f.agents[i], nil
}

func (f *fakeServices) Remove(_ context.Context, ref string) (cw.AgentView, error) {
	if err := f.fails("Remove"); err != nil {
		return cw.AgentView{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i, err := f.find(ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	v := &f.agents[i]
	if v.Status.Alive() {
		return cw.AgentView{}, cw.Errorf(cw.CodeRefused, "%s runs", v.Alias).WithHint("cw agent stop %s", v.Alias)
	}
	at := epoch
	v.DeletedAt = &at
	v.Projects = slices.Clone(v.Projects)
	for j := range v.Projects {
		w := &v.Projects[j]
		if w.State == cw.WorktreePresent {
			w.State, w.Trash, w.TrashedAt = cw.WorktreeTrashed, "/home/lead/.cw/trash/"+v.Alias, &at
			w.KeepRef, w.KeepWhole = "refs/cw/keep/"+string(v.ID)+"/removed", true
		}
	}
	return *v, nil
}

func (f *fakeServices) Restore(_ context.Context, ref string) (cw.AgentView, error) {
	if err := f.fails("Restore"); err != nil {
		return cw.AgentView{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i, err := f.find(ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	v := &f.agents[i]
	v.DeletedAt = nil
	for j := range v.Projects {
		if v.Projects[j].State == cw.WorktreeTrashed {
			v.Projects[j].State = cw.WorktreePresent
		}
	}
	return *v, nil
}

func (f *fakeServices) OpenWorktree(_ context.Context, ref string) (cw.OpenedWorktree, error) {
	if err := f.fails("OpenWorktree"); err != nil {
		return cw.OpenedWorktree{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i, err := f.find(ref)
	if err != nil {
		return cw.OpenedWorktree{}, err
	}
	f.opened = append(f.opened, f.agents[i].Alias)
	return cw.OpenedOf(f.agents[i], epoch.Add(cw.HoldTime), f.openNotes), nil
}

// questions are all of them, those that are answered first. The lock is held.
func (f *fakeServices) questions() []cw.QuestionView {
	all := slices.Clone(f.answered)
	for _, v := range f.agents {
		all = append(all, viewsOf(v)...)
	}
	return all
}

func (f *fakeServices) Questions(_ context.Context, filter cw.QuestionFilter) (cw.Page[cw.QuestionView], error) {
	if err := f.fails("Questions"); err != nil {
		return cw.Page[cw.QuestionView]{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, filter)
	var out []cw.QuestionView
	for _, q := range f.questions() {
		if (len(filter.Statuses) == 0 || slices.Contains(filter.Statuses, q.Status)) && (filter.Agent == "" || filter.Agent == q.Agent) {
			out = append(out, q)
		}
	}
	return pageAt(out, filter.PageQuery), nil
}

func (f *fakeServices) Question(_ context.Context, id string) (cw.QuestionView, error) {
	if err := f.fails("Question"); err != nil {
		return cw.QuestionView{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.questions() {
		if string(q.ID) == id {
			return q, nil
		}
	}
	return cw.QuestionView{}, cw.Errorf(cw.CodeNotFound, "there is no question %q", id).WithHint("cw question list shows the open ones")
}

func (f *fakeServices) AskPeople(context.Context, cw.PeopleRequest) ([]cw.Question, error) {
	return nil, f.fails("AskPeople")
}

func (f *fakeServices) AwaitAnswers(context.Context, cw.RequestID) ([]cw.Question, error) {
	return nil, f.fails("AwaitAnswers")
}

func (f *fakeServices) Answer(_ context.Context, req cw.AnswersRequest) ([]cw.QuestionView, error) {
	if err := f.fails("Answer"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers = append(f.answers, req)
	var out []cw.QuestionView
	for _, id := range slices.Sorted(maps.Keys(req.Answers)) {
		q, ok := f.take(id)
		if !ok {
			return nil, cw.Errorf(cw.CodeRefused, "question %s is answered already: by another", id)
		}
		q.Status, q.Answer, q.AnsweredBy, q.AnsweredAt = cw.QuestionAnswered, req.Answers[id], "person", &epoch
		f.answered = append(f.answered, q)
		out = append(out, q)
	}
	return out, nil
}

// take takes an open question from its agent, which goes on when it was the
// last. The lock is held.
func (f *fakeServices) take(id cw.QuestionID) (cw.QuestionView, bool) {
	for i := range f.agents {
		v := &f.agents[i]
		for j, q := range v.PendingQuestions {
			if q.ID != id {
				continue
			}
			v.PendingQuestions = slices.Delete(slices.Clone(v.PendingQuestions), j, j+1)
			if len(v.PendingQuestions) == 0 && v.Status == cw.StatusWaitingForInput {
				f.goOn(i)
			}
			return cw.QuestionView{Question: q, Agent: v.Alias}, true
		}
	}
	return cw.QuestionView{}, false
}

func (f *fakeServices) Messages(_ context.Context, ref string, q cw.PageQuery) (cw.Page[cw.Message], error) {
	if err := f.fails("Messages"); err != nil {
		return cw.Page[cw.Message]{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.find(ref); err != nil {
		return cw.Page[cw.Message]{}, err
	}
	return pageAt(f.messages, q), nil
}

func (f *fakeServices) Send(_ context.Context, ref string, req cw.SendRequest) (cw.Message, error) {
	if err := f.fails("Send"); err != nil {
		return cw.Message{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i, err := f.find(ref)
	if err != nil {
		return cw.Message{}, err
	}
	f.sends = append(f.sends, req)
	m := cw.Message{
		ID: "mmmmmmmmmmmm", AgentID: f.agents[i].ID, Seq: 3, Role: cw.RoleUser, Origin: cw.OriginPerson, Body: req.Text, CreatedAt: epoch,
	}
	if f.agents[i].Status == cw.StatusIdle {
		f.goOn(i)
		m.RunID = "ssssssssssss"
		return m, nil
	}
	if req.WhenBusy == cw.BusyRefuse {
		return cw.Message{}, cw.Errorf(cw.CodeRefused, "%s is %s", f.agents[i].Alias, f.agents[i].Status).WithHint("send it without --no-queue")
	}
	m.QueuedAt = &epoch
	f.agents[i].QueuedMessages++
	return m, nil
}

func (f *fakeServices) MessageAgent(context.Context, cw.AgentMessageRequest) (cw.AgentMessageResult, error) {
	return cw.AgentMessageResult{}, f.fails("MessageAgent")
}

func (f *fakeServices) AwaitMessage(context.Context, string) (cw.AgentMessageResult, error) {
	return cw.AgentMessageResult{}, f.fails("AwaitMessage")
}

func (f *fakeServices) SetProject(ctx context.Context, ref string, s cw.ProjectSettings) (cw.Project, error) {
	p, err := f.Project(ctx, ref)
	if err != nil {
		return p, err
	}
	if s.Stall != nil {
		p.Stall = *s.Stall
	}
	if s.AutoResume != nil {
		p.AutoResume = *s.AutoResume
	}
	if s.Fallback != nil {
		p.Fallback = *s.Fallback
	}
	if s.AgentSpawn != nil {
		p.AgentSpawn = *s.AgentSpawn
	}
	return p, f.fails("SetProject")
}

func (f *fakeServices) CollectGarbage(_ context.Context, req cw.GCRequest) (cw.GCReport, error) {
	r := f.garbage
	r.DryRun = req.DryRun
	return r, f.fails("CollectGarbage")
}

func (f *fakeServices) TryHooks(context.Context) ([]cw.HookTrial, error) {
	return f.trials, f.fails("TryHooks")
}

func (f *fakeServices) Backup(_ context.Context, req cw.BackupRequest) (cw.BackupReport, error) {
	f.backups = append(f.backups, req)
	r := cw.BackupReport{Files: []string{req.Path}, Bytes: 3 << 20}
	if req.Logs {
		r.Files = append(r.Files, req.Path+".log")
	}
	return r, f.fails("Backup")
}
