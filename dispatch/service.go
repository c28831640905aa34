package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// Dispatch implements cw.DispatchService.
func (d *Dispatcher) Dispatch(ctx context.Context, initiative string) (cw.DispatchStatus, error) {
	var only cw.InitiativeID
	if initiative != "" {
		in, err := d.Store.InitiativeByRef(ctx, initiative)
		if err != nil {
			return cw.DispatchStatus{}, err
		}
		only = in.ID
	}
	w, err := d.observe(ctx)
	if err != nil {
		return cw.DispatchStatus{}, err
	}
	decision := Decide(w)
	out := cw.DispatchStatus{
		State: w.State, Pressure: decision.Pressure, Limits: w.Limits,
		Running: []cw.DispatchTask{}, Ready: []cw.DispatchTask{}, Waiting: []cw.DispatchTask{}, Merges: []cw.Merge{},
	}
	waiters := waitersOf(w.DispatchWorld)
	for _, s := range decision.Standings {
		if only != "" && s.Task.InitiativeID != only {
			continue
		}
		t := shown(w, s)
		if s.Wait == nil && !s.Ready || s.Wait != nil && (s.Wait.Code == cw.WaitPerson || s.Wait.Code == cw.WaitBlocked) {
			t.Behind = waiters.behind(s.Task.ID)
		}
		switch {
		case s.Ready:
			out.Ready = append(out.Ready, t)
		case s.Wait != nil:
			out.Waiting = append(out.Waiting, t)
		default:
			out.Running = append(out.Running, t)
		}
	}
	for _, m := range w.Merges {
		if only == "" || m.InitiativeID == only {
			out.Merges = append(out.Merges, m)
		}
	}
	all, err := d.Store.Unlanded(ctx)
	for _, in := range all {
		if only == "" || in.ID == only {
			out.Landing = append(out.Landing, in)
		}
	}
	return out, err
}

// shown is a task as faces see it.
func shown(w World, s Standing) cw.DispatchTask {
	t := s.Task
	out := cw.DispatchTask{
		ID: t.ID, Name: t.Name, InitiativeID: t.InitiativeID, PhaseID: t.PhaseID, Status: t.Status, Priority: t.Priority,
		AgentID: t.AgentID, Since: t.UpdatedAt, Wait: s.Wait, NoPaths: len(t.Paths) == 0 && t.Type != cw.TaskCheckpointDecide && t.Type != cw.TaskCheckpointAction,
	}
	for _, in := range w.Initiatives {
		if in.ID == t.InitiativeID {
			out.Initiative = in.Slug
		}
	}
	for _, a := range w.Agents {
		if a.ID == t.AgentID && a.ID != "" {
			out.Agent, out.AgentStatus = a.Alias, a.Status
		}
	}
	return out
}

// SetDispatch implements cw.DispatchService.
func (d *Dispatcher) SetDispatch(ctx context.Context, req cw.DispatchRequest) (cw.DispatchStatus, error) {
	if !slices.Contains(cw.DispatchStates(), req.State) {
		return cw.DispatchStatus{}, cw.Errorf(cw.CodeInvalid, "%.40q is no state of the dispatcher", string(req.State)).
			WithHint("it is running, paused or draining")
	}
	ev := cw.NewEvent(cw.EventDispatchChanged, cw.ActorOf(ctx), cw.DispatchChanged{State: req.State})
	if err := d.Store.SetDispatchState(ctx, req.State, ev); err != nil {
		return cw.DispatchStatus{}, err
	}
	d.Ring()
	return d.Dispatch(ctx, "")
}

// RetryTask implements cw.DispatchService.
func (d *Dispatcher) RetryTask(ctx context.Context, id cw.TaskID) (cw.Task, error) {
	t, err := d.Store.TaskByID(ctx, id)
	if err != nil {
		return t, err
	}
	waits := t.Status == cw.TaskPending && t.RetryAt != nil
	if t.Status != cw.TaskBlocked && !waits {
		return t, cw.Errorf(cw.CodeRefused, "the task %q is %s, and waits for no retry", t.Name, t.Status).WithHint("why it waits: cw dispatch status")
	}
	none := 0
	moved, err := d.Store.MoveTask(ctx, cw.TaskMove{
		ID: id, From: []cw.TaskStatus{t.Status}, OfAgent: t.AgentID, To: cw.TaskPending, Tries: &none, Setbacks: &none, RetryAt: &time.Time{},
	})
	if err == nil && !moved {
		err = cw.Errorf(cw.CodeRefused, "the task %q was changed meanwhile", t.Name).WithHint("see: cw task show %s", id)
	}
	if err != nil {
		return t, err
	}
	d.Ring()
	return d.Store.TaskByID(ctx, id)
}

// commentMax is the greatest length of what a person says of a checkpoint, in
// bytes.
const commentMax = 64 << 10

// DecideTask implements cw.DispatchService.
func (d *Dispatcher) DecideTask(ctx context.Context, id cw.TaskID, v cw.TaskVerdict) (cw.Task, error) {
	t, err := d.Store.TaskByID(ctx, id)
	if err != nil {
		return t, err
	}
	v.Comment = strings.TrimSpace(v.Comment)
	switch {
	case len(v.Comment) > commentMax:
		return t, cw.Errorf(cw.CodeInvalid, "the comment has %d bytes, at most %d are taken", len(v.Comment), commentMax).WithHint("put the rest into a page")
	case !v.Accept && v.Comment == "":
		return t, cw.Errorf(cw.CodeInvalid, "a rejection needs a comment").WithHint("say what is to be different: cw task reject %s --comment TEXT", id)
	case v.Accept && v.Comment == "" && t.Type == cw.TaskCheckpointDecide && t.Status == cw.TaskReady && len(t.Questions) == 0 && len(v.Answers) == 0:
		return t, cw.Errorf(cw.CodeInvalid, "what was decided?").WithHint("cw task done %s --comment \"what was decided\"", id)
	}
	decide := d.decideReady
	switch {
	case t.Status == cw.TaskReady && (t.Type == cw.TaskCheckpointDecide || t.Type == cw.TaskCheckpointAction):
	case t.Status == cw.TaskVerifying && t.Type == cw.TaskCheckpointVerify:
		if _, err := t.Decide(v.Answers); err != nil { // it asks nothing
			return t, err
		}
		decide = d.decideResult
	default:
		return t, cw.Errorf(cw.CodeRefused, "the task %q (%s, %s) waits for no verdict", t.Name, t.Type, t.Status).WithHint("why it waits: cw dispatch status")
	}
	if err := decide(ctx, t, v); err != nil {
		return t, err
	}
	d.Ring()
	return d.Store.TaskByID(ctx, id)
}

// decideReady closes a decision or an action.
func (d *Dispatcher) decideReady(ctx context.Context, t cw.Task, v cw.TaskVerdict) error {
	m := cw.TaskMove{ID: t.ID, From: []cw.TaskStatus{cw.TaskReady}, To: cw.TaskDone, Comment: &v.Comment, Summary: &v.Comment}
	if v.Accept {
		questions, err := t.Decide(v.Answers)
		if err != nil {
			return err
		}
		decided := cw.DecidedText(questions, v.Comment)
		m.Questions, m.Summary = questions, &decided
	} else {
		m.To, m.Summary, m.Blocked = cw.TaskBlocked, nil, &v.Comment
	}
	moved, err := d.Store.MoveTask(ctx, m)
	return changedMeanwhile(t, moved, err)
}

// decideResult lets work be merged that a person looked at, or gives it back.
func (d *Dispatcher) decideResult(ctx context.Context, t cw.Task, v cw.TaskVerdict) error {
	m, found, err := d.Store.MergeOfTask(ctx, t.ID)
	if err != nil {
		return err
	}
	if !found || m.Status != cw.MergeQueued || m.VerifiedBy != "" {
		return cw.Errorf(cw.CodeRefused, "the result of %q was decided on already", t.Name).WithHint("see: cw dispatch status")
	}
	view, err := d.Store.AgentView(ctx, string(m.AgentID))
	if err != nil {
		return err
	}
	if !v.Accept {
		x := &merging{d: d, task: t, view: view, m: m}
		return x.giveBack(ctx, backInfo{
			status: cw.MergeRed, event: cw.EventMergeRed, line: "a person did not accept the result", text: rejectedText(t, v.Comment), evidence: v.Comment,
		})
	}
	by := cw.ActorOf(ctx)
	m.VerifiedBy, m.Wait, m.WaitCode = string(by.Kind), "", ""
	if by.ID != "" {
		m.VerifiedBy += ":" + by.ID
	}
	move := cw.MergeMove{Merge: m, From: []cw.MergeStatus{cw.MergeQueued}, Task: &cw.TaskMove{ID: t.ID, From: []cw.TaskStatus{cw.TaskVerifying}, To: cw.TaskVerifying, Comment: &v.Comment}}
	if len(m.Parts) == 0 {
		now := d.Now()
		move.Merge.Status, move.Merge.MergedAt = cw.MergeMerged, &now
		move.Task.To, move.Task.Summary = cw.TaskDone, &view.Result
	}
	moved, err := d.Store.MoveMerge(ctx, move)
	return changedMeanwhile(t, moved, err)
}

func changedMeanwhile(t cw.Task, moved bool, err error) error {
	if err == nil && !moved {
		err = cw.Errorf(cw.CodeRefused, "the task %q was changed meanwhile", t.Name).WithHint("see: cw task show %s", t.ID)
	}
	return err
}

// Merges implements cw.MergeService.
func (d *Dispatcher) Merges(ctx context.Context, initiative string) ([]cw.Merge, error) {
	in, err := d.Store.InitiativeByRef(ctx, initiative)
	if err != nil {
		return nil, err
	}
	return d.Store.MergesOf(ctx, in.ID)
}

// Integrations implements cw.MergeService.
func (d *Dispatcher) Integrations(ctx context.Context, initiative string) ([]cw.Integration, error) {
	in, err := d.Store.InitiativeByRef(ctx, initiative)
	if err != nil {
		return nil, err
	}
	return d.Store.IntegrationsOf(ctx, in.ID)
}

// whichProject finds the project that a request means.
func whichProject(names []string, wanted string) (int, error) {
	if wanted == "" && len(names) == 1 {
		return 0, nil
	}
	if i := slices.Index(names, wanted); i >= 0 {
		return i, nil
	}
	list := strings.Join(names, ", ")
	if wanted == "" {
		return 0, cw.Errorf(cw.CodeInvalid, "there are changes in several projects").WithHint("name one with --project: %s", list)
	}
	return 0, cw.Errorf(cw.CodeNotFound, "there are no changes in a project %.60q", wanted).WithHint("there are some in %s", list)
}

// Land implements cw.MergeService: it is tried in all projects first, so that one
// that cannot be landed keeps the others from it.
func (d *Dispatcher) Land(ctx context.Context, initiative string, req cw.LandRequest) ([]cw.Landing, error) {
	in, err := d.Store.InitiativeByRef(ctx, initiative)
	if err != nil {
		return nil, err
	}
	if err := d.mayLand(ctx, in, req); err != nil {
		return nil, err
	}
	requests, err := d.landRequests(ctx, in, req)
	if err != nil {
		return nil, err
	}
	out := make([]cw.Landing, len(requests))
	for i, r := range requests {
		r.DryRun = true
		if out[i], err = d.Repos.Land(ctx, r); err != nil {
			return nil, err
		}
	}
	if req.DryRun {
		return out, nil
	}
	for i, r := range requests {
		if out[i], err = d.Repos.Land(ctx, r); err != nil {
			return out[:i], landedSome(err, out[:i])
		}
		d.Fail.Hit("merge/landed")
		row := r.Integration
		row.Landed, row.LandedOn = row.Head, out[i].Into
		ev := cw.NewEvent(cw.EventInitiativeLanded, cw.ActorOf(ctx), cw.InitiativeLanded{
			InitiativeID: in.ID, Slug: in.Slug, Project: out[i].Project, Into: out[i].Into, Commit: out[i].After,
		})
		if err := d.Store.LandIntegration(ctx, row, ev); err != nil {
			return out[:i+1], err
		}
	}
	d.show(ctx, in.ID) // what is landed is never ahead of the branch that it came from
	return out, nil
}

// landedSome says what is landed already when a later project could not be.
func landedSome(err error, done []cw.Landing) error {
	if len(done) == 0 {
		return err
	}
	names := make([]string, len(done))
	for i, l := range done {
		names[i] = l.Project
	}
	return cw.Errorf(cw.ErrorCode(err), "%s; it is landed in %s already", err, strings.Join(names, ", ")).WithHint("%s", cw.ErrorHint(err)).Because(err)
}

// mayLand refuses to land what is not finished, unless that is wanted.
func (d *Dispatcher) mayLand(ctx context.Context, in cw.Initiative, req cw.LandRequest) error {
	if req.Unfinished {
		return nil
	}
	state, err := d.Store.InitiativeState(ctx, in.ID)
	if err != nil {
		return err
	}
	left := 0
	for _, t := range state.Tasks {
		if t.Status != cw.TaskDone && t.Status != cw.TaskCancelled {
			left++
		}
	}
	if left == 0 {
		return nil
	}
	return cw.Errorf(cw.CodeRefused, "%d tasks of %s are not done", left, in.Slug).
		WithHint("see: cw dispatch status %s; land what is merged so far: cw merge %s --unfinished", in.Slug, in.Slug)
}

func (d *Dispatcher) landRequests(ctx context.Context, in cw.Initiative, req cw.LandRequest) ([]LandRequest, error) {
	rows, err := d.Store.IntegrationsOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	var out []LandRequest
	var names []string
	for _, row := range rows {
		if row.Head == "" || row.Head == row.BaseCommit {
			continue
		}
		names = append(names, row.Project)
		if req.Project != "" && req.Project != row.Project && req.Project != string(row.ProjectID) {
			continue
		}
		p, err := d.Store.ProjectByRef(ctx, string(row.ProjectID))
		if err != nil {
			return nil, err
		}
		out = append(out, LandRequest{
			Project: p, Integration: row, Into: req.Into, At: d.Now(),
			Message: fmt.Sprintf("Merge %s: %s\n\nInitiative: %s\n", row.Branch, oneLine(in.Name), in.Slug),
		})
	}
	switch {
	case len(names) == 0:
		return nil, cw.Errorf(cw.CodeRefused, "nothing of the initiative %s is merged yet", in.Slug).WithHint("what it waits for: cw dispatch status %s", in.Slug)
	case len(out) == 0:
		return nil, cw.Errorf(cw.CodeNotFound, "the initiative %s changed nothing in a project %.60q", in.Slug, req.Project).WithHint("it did in %s", strings.Join(names, ", "))
	}
	return out, nil
}
