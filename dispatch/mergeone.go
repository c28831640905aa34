package dispatch

import (
	"context"
	"fmt"
	"time"

	"cw/internal/cw"
)

// merging is one merge on its way.
type merging struct {
	d    *Dispatcher
	in   cw.Initiative
	task cw.Task
	view cw.AgentView
	m    cw.Merge
	rows map[cw.ProjectID]cw.Integration
	proj map[cw.ProjectID]cw.Project
	gone <-chan struct{} // closed when nobody wants its checks any more
}

// mergeOne brings the work of one task onto the branch of its initiative: try the
// merge, check exactly that commit, move the branch. Each step is stored before
// the next, and every one may be repeated: a crash leaves the branch before or
// after.
func (d *Dispatcher) mergeOne(ctx context.Context, in cw.Initiative, t cw.Task, m cw.Merge, gone <-chan struct{}) error {
	view, err := d.Store.AgentView(ctx, string(m.AgentID))
	if err != nil {
		return err
	}
	if t, err = d.Store.TaskByID(ctx, t.ID); err != nil || t.Status != cw.TaskVerifying && t.Status != cw.TaskMerging {
		return err
	}
	x := &merging{d: d, in: in, task: t, view: view, m: m, rows: map[cw.ProjectID]cw.Integration{}, proj: map[cw.ProjectID]cw.Project{}, gone: gone}
	for _, part := range m.Parts {
		if x.proj[part.ProjectID], err = d.Store.ProjectByRef(ctx, string(part.ProjectID)); err != nil {
			return err
		}
		x.rows[part.ProjectID], err = d.integration(ctx, in, part.ProjectID)
		if cw.ErrorCode(err) == cw.CodeRefused { // somebody moved it elsewhere
			return personError{err}
		}
		if err != nil {
			return err
		}
	}
	if err := x.looked(ctx); err != nil {
		return err
	}
	if err := x.withinPaths(ctx); err != nil {
		return err
	}
	conflicts, err := x.try(ctx)
	if err != nil {
		return err
	}
	if len(conflicts) > 0 {
		return x.conflicted(ctx, conflicts)
	}
	if may, err := x.mayCheck(ctx); err != nil || !may {
		return err
	}
	if err := x.checking(ctx); err != nil {
		return err
	}
	for i := range x.m.Parts {
		done, err := x.check(ctx, i)
		if err != nil || !done {
			return err
		}
	}
	if x.task.Status != cw.TaskMerging { // else its branches are moved in part
		if state, err := d.Store.DispatchState(ctx); err != nil || state == cw.DispatchPaused {
			return err // it is checked, and goes on from here
		}
	}
	return x.finish(ctx)
}

// looked refuses work that contains other work at which a person is to look first:
// an agent may merge the branch of another one.
func (x *merging) looked(ctx context.Context) error {
	all, err := x.d.Store.MergesOf(ctx, x.in.ID)
	if err != nil {
		return err
	}
	for _, other := range all {
		over := other.Status == cw.MergeMerged || other.Status == cw.MergeDismissed
		if other.ID == x.m.ID || !other.Verify || other.VerifiedBy != "" || over {
			continue
		}
		holds, err := x.holds(ctx, other)
		if err != nil {
			return err
		}
		if !holds {
			continue
		}
		t, err := x.d.Store.TaskByID(ctx, other.TaskID)
		if err != nil {
			return err
		}
		return personError{cw.Errorf(cw.CodeRefused, "the work contains that of %q, at which nobody has looked yet", t.Name).WithHint("look at it: cw task show %s", t.ID)}
	}
	return nil
}

// holds tells whether the work contains that of another task in any project.
func (x *merging) holds(ctx context.Context, other cw.Merge) (bool, error) {
	for _, part := range x.m.Parts {
		for _, o := range other.Parts {
			if o.ProjectID != part.ProjectID || o.Head == "" {
				continue
			}
			if brings, err := x.brings(ctx, part, o.Head); err != nil || brings {
				return brings, err
			}
		}
	}
	return false, nil
}

// brings tells whether a part has a commit that the branch does not have.
func (x *merging) brings(ctx context.Context, part cw.MergePart, commit string) (bool, error) {
	p := x.proj[part.ProjectID]
	in, err := x.d.Repos.Contains(ctx, p, part.Head, commit)
	if err != nil || !in {
		return false, err
	}
	has, err := x.d.Repos.Contains(ctx, p, x.rows[part.ProjectID].Head, commit)
	return err == nil && !has, err
}

// try merges each part in memory with the branch as it is now. A part whose
// branch was moved already counts as it is; one that was, and whose branch is
// somewhere else by now, begins anew.
func (x *merging) try(ctx context.Context) (map[string][]cw.MergeConflict, error) {
	conflicts := map[string][]cw.MergeConflict{}
	for i := range x.m.Parts {
		part := &x.m.Parts[i]
		head := x.rows[part.ProjectID].Head
		if part.Commit != "" && part.Commit == head {
			part.Applied, part.Checked = true, true
			continue
		}
		part.Applied = false
		strategy, err := x.strategy(ctx, part, head)
		if err != nil {
			return nil, err
		}
		r, err := x.d.Repos.Merge(ctx, MergeRequest{
			Project: x.proj[part.ProjectID], Onto: head, Head: part.Head, Strategy: strategy,
			Message: commitMessage(x.task, x.in, x.view), At: x.m.QueuedAt,
		})
		if err != nil {
			return nil, fmt.Errorf("merge %s into %s of %s: %w", part.Head, x.in.Branch(), part.Project, err)
		}
		switch {
		case len(r.Conflicts) > 0:
			conflicts[part.Project] = r.Conflicts
		case r.UpToDate:
			part.Onto, part.Commit, part.Applied, part.Checked = head, head, true, true
		case r.Commit != part.Commit:
			part.Onto, part.Commit, part.Checked, part.CheckRun = head, r.Commit, false, ""
		}
	}
	return conflicts, nil
}

// strategy is what the project file at the branch's head says.
func (x *merging) strategy(ctx context.Context, part *cw.MergePart, head string) (cw.MergeStrategy, error) {
	f, err := x.d.Repos.File(ctx, x.proj[part.ProjectID], head)
	if err != nil || f.Problem != "" || f.File.Merge == "" {
		return cw.MergeCommit, err
	}
	return f.File.Merge, nil
}

// checking stores what is going to be checked.
func (x *merging) checking(ctx context.Context) error {
	from := x.m.Status
	if from == cw.MergeChecking {
		return x.save(ctx, cw.MergeMove{})
	}
	x.m.Status, x.m.Wait, x.m.WaitCode = cw.MergeChecking, "", ""
	return x.saveFrom(ctx, from, cw.MergeMove{Events: []cw.Event{mergeEvent(cw.EventMergeChecking, x.m, x.task, x.view.Alias, "")}})
}

func (x *merging) save(ctx context.Context, m cw.MergeMove) error {
	return x.saveFrom(ctx, x.m.Status, m)
}

func (x *merging) saveFrom(ctx context.Context, from cw.MergeStatus, m cw.MergeMove) error {
	m.Merge, m.From = x.m, []cw.MergeStatus{from}
	moved, err := x.d.Store.MoveMerge(ctx, m)
	if err == nil && !moved {
		err = goneError{cw.Errorf(cw.CodeRefused, "the merge of %q was changed meanwhile", x.task.Name).WithHint("see: cw task show %s", x.task.ID)}
	}
	return err
}

// check runs the project's checks at exactly the merged commit. done is false
// when the merge is not to go on now.
func (x *merging) check(ctx context.Context, i int) (done bool, err error) {
	part := &x.m.Parts[i]
	if part.Checked {
		return true, nil
	}
	p := x.proj[part.ProjectID]
	f, err := x.file(ctx, *part)
	if err != nil {
		return false, err
	}
	if len(f.File.Checks) > 0 {
		result, err := x.run(ctx, p, part, f.File)
		if err != nil {
			return false, err
		}
		switch {
		case result.Outside:
			return false, cw.Errorf(cw.CodeFailed, "the check %q could not be run: %s", result.Failed, result.Reason)
		case !result.OK:
			return false, x.red(ctx, p, result)
		}
	}
	part.Checked = true
	x.d.Fail.Hit("merge/checked")
	return true, x.save(ctx, cw.MergeMove{})
}

// uncheckedOnly refuses work that takes the checks of a project away: without
// them nothing has to be trusted any more, and that would be a way around both.
// It is merged when a person has trusted just that content, or that there is none.
func (x *merging) uncheckedOnly(ctx context.Context, p cw.Project, part cw.MergePart, f cw.ProjectFileView) error {
	if len(f.File.Checks) > 0 || f.TrustedAt != nil {
		return nil
	}
	was, err := x.d.Repos.File(ctx, p, part.Onto)
	if err != nil || len(was.File.Checks) == 0 {
		return err
	}
	return personError{cw.Errorf(cw.CodeRefused, "the work takes the checks of %s away", p.Name).
		WithHint("when that is wanted: cw project trust %s --ref %s; else send it back: cw agent resume %s \"leave the checks in cw.yaml\"", p.Name, part.Commit, x.view.Alias)}
}

// mayCheck looks whether all checks may be run, before anything says that they
// are. Work after which cw.yaml cannot be used is as good as red: it goes back,
// and may is false.
func (x *merging) mayCheck(ctx context.Context) (may bool, err error) {
	for _, part := range x.m.Parts {
		if part.Checked {
			continue
		}
		f, err := x.file(ctx, part)
		if err != nil {
			return false, err
		}
		p := x.proj[part.ProjectID]
		if f.Problem != "" {
			return false, x.red(ctx, p, cw.CommandResult{Failed: cw.ProjectFileName, Reason: f.Problem, Output: f.Problem})
		}
		if err := x.uncheckedOnly(ctx, p, part, f); err != nil {
			return false, err
		}
	}
	return true, nil
}

// file is the project file at the merged commit. What it says may be run, unless
// it has a problem.
func (x *merging) file(ctx context.Context, part cw.MergePart) (cw.ProjectFileView, error) {
	p := x.proj[part.ProjectID]
	f, err := x.d.Repos.File(ctx, p, part.Commit)
	if err == nil && f.Problem == "" && !f.Trusted {
		err = personError{cw.Errorf(cw.CodeRefused, "the work changes cw.yaml of %s, and nobody has trusted what its commands are then", p.Name).
			WithHint("look at it and trust it: cw project trust %s --ref %s", p.Name, part.Commit)}
	}
	return f, err
}

// run runs the checks in a checkout of the merged commit, which is there for
// nothing else. The run is stored first: a daemon that dies finds it again.
func (x *merging) run(ctx context.Context, p cw.Project, part *cw.MergePart, f cw.ProjectFile) (cw.CommandResult, error) {
	select {
	case x.d.slots <- struct{}{}:
		defer func() { <-x.d.slots }()
	case <-x.gone:
		return cw.CommandResult{}, x.unwanted()
	case <-ctx.Done():
		return cw.CommandResult{}, ctx.Err()
	}
	root := x.d.scratchOf(x.m, *part)
	all, err := x.checkouts(ctx, part, f)
	if err != nil {
		return cw.CommandResult{}, err
	}
	dir := all[0].folder(root)
	if part.CheckRun == "" {
		part.CheckRun = cw.RunID(cw.NewID())
		if err := x.unplace(ctx, root, all); err != nil {
			return cw.CommandResult{}, fmt.Errorf("clear the checkout of the checks: %w", err)
		}
		if err := x.save(ctx, cw.MergeMove{}); err != nil {
			return cw.CommandResult{}, err
		}
		// The branch may have moved on while a check went on that a daemon left.
		if err := x.d.Agents.EndChecks(ctx, x.d.wantedChecks); err != nil {
			return cw.CommandResult{}, err
		}
	}
	if err := x.place(ctx, root, all); err != nil {
		return cw.CommandResult{}, err
	}
	x.d.Fail.Hit("merge/scratch")
	result, err := x.d.Agents.RunCommands(ctx, cw.CommandRun{
		ID: part.CheckRun, Kind: cw.RunCheck, Dir: dir, Commands: commandsOf(all), Env: variablesOf(all), Stop: x.gone,
		WorkOf: x.m.AgentID, ProjectID: p.ID, Ports: f.Ports,
	})
	if err != nil {
		return result, fmt.Errorf("run the checks of %s: %w", p.Name, err)
	}
	changed, err := x.d.Repos.Changed(ctx, p, dir, part.Commit)
	if err == nil && len(changed) > 0 {
		x.d.Log.Warn("a check changed files of the repository; that is thrown away", "project", p.Name, "task", x.task.ID, "files", len(changed))
	}
	if err := x.unplace(ctx, root, all); err != nil {
		x.d.Log.Warn("take the checkout of the checks away", "folder", root, "error", err)
	}
	select {
	case <-x.gone:
		return result, x.unwanted()
	default:
	}
	if result.Outside {
		part.CheckRun = "" // another run
	}
	return result, nil
}

// unwanted says that nobody waits for the merge any more.
func (x *merging) unwanted() error {
	return goneError{fmt.Errorf("the work on %q goes another way", x.task.Name)}
}

// noCheckout says what to do where the merged commit cannot be checked out: it
// needs a submodule that the user's repository does not have. One that the work
// brings is not known in the user's own checkout.
func (x *merging) noCheckout(p cw.Project, err error) error {
	if cw.ErrorCode(err) != cw.CodeInvalid || p.Remote() {
		return fmt.Errorf("make the checkout of the checks: %w", err)
	}
	return cw.Errorf(cw.CodeInvalid, "make the checkout of the checks: %v", err).
		WithHint("%s; when the work brings it, on its branch agent/%s; or send it back: cw agent resume %[2]s TEXT", cw.ErrorHint(err), x.view.Alias).Because(err)
}

// conflicted gives work back that does not go together with the branch.
func (x *merging) conflicted(ctx context.Context, found map[string][]cw.MergeConflict) error {
	state, err := x.d.Store.InitiativeState(ctx, x.in.ID)
	if err != nil {
		return err
	}
	line := conflictLine(found)
	text := conflictText(x.task, x.in.Branch(), found, touching(state.Tasks, found, x.in.Projects))
	x.m.Conflicts++
	return x.giveBack(ctx, backInfo{
		status: cw.MergeConflicted, event: cw.EventMergeConflicted, times: x.m.Conflicts, line: line, text: text, evidence: text,
	})
}

// touching are the tasks that are done and name paths that conflict: whose intent
// is on the branch already.
func touching(tasks []cw.Task, found map[string][]cw.MergeConflict, projects []cw.InitiativeProject) []cw.Task {
	var out []cw.Task
	for _, t := range tasks {
		if t.Status != cw.TaskDone {
			continue
		}
		touches := false
		for project, conflicts := range found {
			for _, c := range conflicts {
				for _, glob := range globsIn(t.Paths, project, projects) {
					touches = touches || Overlap(glob, c.Path)
				}
			}
		}
		if touches || len(t.Paths) == 0 {
			out = append(out, t)
		}
	}
	if n := len(out); n > shownMax {
		out = out[n-shownMax:]
	}
	return out
}

// red gives work back with which a check fails.
func (x *merging) red(ctx context.Context, p cw.Project, r cw.CommandResult) error {
	x.m.Reds++
	return x.giveBack(ctx, backInfo{
		status: cw.MergeRed, event: cw.EventMergeRed, times: x.m.Reds, line: fmt.Sprintf("the check %q fails: %s", r.Failed, r.Reason),
		text: redText(x.task, x.in.Branch(), p.Name, r), evidence: fmt.Sprintf("%s: %s\n%s", r.Failed, r.Reason, r.Output),
	})
}

// backInfo is why work goes back, and how often it did.
type backInfo struct {
	status               cw.MergeStatus
	event                cw.EventType
	times                int
	line, text, evidence string
}

// giveBack returns work to its agent, or, when that was done often enough or
// there is no such agent any more, leaves it to a person. The text for the agent
// is stored in the same transaction: it goes on by itself.
func (x *merging) giveBack(ctx context.Context, b backInfo) error {
	from := x.m.Status
	if x.task.Status == cw.TaskMerging { // a crash before the branch was moved, and somebody else moved it
		if _, err := x.d.Store.MoveTask(ctx, cw.TaskMove{ID: x.task.ID, From: []cw.TaskStatus{cw.TaskMerging}, To: cw.TaskVerifying}); err != nil {
			return err
		}
	}
	x.m.Status, x.m.Wait, x.m.WaitCode, x.m.VerifiedBy = b.status, "", "", ""
	x.m.Evidence = b.evidence
	for i := range x.m.Parts {
		part := &x.m.Parts[i]
		part.Onto, part.Commit, part.Checked, part.CheckRun, part.Applied = "", "", false, "", false
	}
	move := cw.MergeMove{Events: []cw.Event{mergeEvent(b.event, x.m, x.task, x.view.Alias, b.line)}}
	person := ""
	switch {
	case x.view.DeletedAt != nil:
		person = x.view.Alias + " was removed"
	case x.view.Status != cw.StatusIdle:
		person = fmt.Sprintf("%s is %s", x.view.Alias, x.view.Status)
	case b.times > x.d.Conflicts:
		person = fmt.Sprintf("%s was asked %d times", x.view.Alias, b.times-1)
	}
	if person == "" {
		now := x.d.Now()
		move.Task = &cw.TaskMove{ID: x.task.ID, From: []cw.TaskStatus{cw.TaskVerifying}, To: cw.TaskRunning, Blocked: &b.line}
		move.Message = &cw.Message{
			ID: cw.MessageID(cw.NewID()), AgentID: x.m.AgentID, Role: cw.RoleUser, Origin: cw.OriginCW, Definition: x.view.Definition, Body: b.text, CreatedAt: now, QueuedAt: &now,
		}
	} else {
		why := fmt.Sprintf("%s; %s\n%s", b.line, person, b.evidence)
		move.Task = &cw.TaskMove{ID: x.task.ID, From: []cw.TaskStatus{cw.TaskVerifying}, To: cw.TaskBlocked, Blocked: &why, RetryAt: &time.Time{}}
		move.Events = append(move.Events, blockedEvent(x.task, why))
	}
	if err := x.saveFrom(ctx, from, move); err != nil {
		return err
	}
	x.d.Fail.Hit("merge/given-back")
	if person == "" {
		return x.d.Agents.GoOn(ctx, x.m.AgentID)
	}
	return nil
}

// finish moves the branches, and stores that they were. Between the two a crash
// leaves the branch moved: try sees that, and nothing is done twice.
func (x *merging) finish(ctx context.Context) error {
	if x.task.Status == cw.TaskVerifying {
		if err := x.save(ctx, cw.MergeMove{Task: &cw.TaskMove{ID: x.task.ID, From: []cw.TaskStatus{cw.TaskVerifying}, To: cw.TaskMerging}}); err != nil {
			return err
		}
		x.task.Status = cw.TaskMerging
		x.d.Fail.Hit("merge/intended")
	}
	now := x.d.Now()
	var rows []cw.Integration
	for i := range x.m.Parts {
		part := &x.m.Parts[i]
		row := x.rows[part.ProjectID]
		if !part.Applied {
			if err := x.d.Repos.Move(ctx, x.proj[part.ProjectID], row, part.Onto, part.Commit); err != nil {
				return x.stepBack(ctx, err)
			}
			part.Applied = true
			row.Head = part.Commit
			x.d.Fail.Hit("merge/moved")
		}
		rows = append(rows, row)
	}
	x.m.Status, x.m.MergedAt, x.m.Wait, x.m.WaitCode, x.m.Evidence = cw.MergeMerged, &now, "", "", ""
	summary := x.view.Result
	if x.task.Comment != "" && x.m.Verify {
		summary += "\n\nA person said: " + x.task.Comment
	}
	err := x.saveFrom(ctx, cw.MergeChecking, cw.MergeMove{
		Integrations: rows, Events: []cw.Event{mergeEvent(cw.EventMergeMerged, x.m, x.task, x.view.Alias, "")},
		Task: &cw.TaskMove{ID: x.task.ID, From: []cw.TaskStatus{cw.TaskMerging}, To: cw.TaskDone, Summary: &summary, Blocked: new(string)},
	})
	if err != nil {
		return err
	}
	x.d.Fail.Hit("merge/stored")
	x.d.showSoon(ctx, x.in.ID)
	return nil
}

// stepBack lets a merge be tried anew whose branch somebody moved between its
// check and its end.
func (x *merging) stepBack(ctx context.Context, cause error) error {
	for _, p := range x.m.Parts {
		if p.Applied {
			return cause // the rest of it follows
		}
	}
	_, err := x.d.Store.MoveTask(ctx, cw.TaskMove{ID: x.task.ID, From: []cw.TaskStatus{cw.TaskMerging}, To: cw.TaskVerifying})
	if err != nil {
		return err
	}
	return cause
}
