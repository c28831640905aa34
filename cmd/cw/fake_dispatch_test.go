package main

import (
	"context"
	"slices"

	"cw/internal/cw"
)

// fakeDispatch is what a daemon in memory keeps of the dispatcher and of merges.
type fakeDispatch struct {
	dispatch     cw.DispatchStatus
	dispatchPlan cw.DispatchPlan
	merges       []cw.Merge
	branches     []cw.Integration
	landed       []cw.Landing
	// turns happen one after the other, each before a status is asked for.
	turns []func()
	inbox cw.Inbox
	// asksDispatch are changes and differences that were asked for.
	asksDispatch []any
}

func (f *fakeServices) steer(method string, request any) error {
	f.mu.Lock()
	f.asksDispatch = append(f.asksDispatch, request)
	f.mu.Unlock()
	return f.fails(method)
}

// known is an error for an initiative that is none. "" is all of them.
func (f *fakeServices) known(ref string) error {
	if ref == "" {
		return nil
	}
	_, err := f.Initiative(context.Background(), ref)
	return err
}

func (f *fakeServices) Dispatch(_ context.Context, ref string) (cw.DispatchStatus, error) {
	if len(f.turns) > 0 {
		turn := f.turns[0]
		f.turns = f.turns[1:]
		turn()
	}
	if err := f.known(ref); err != nil {
		return cw.DispatchStatus{}, err
	}
	return f.dispatch, f.fails("Dispatch")
}

func (f *fakeServices) Inbox(_ context.Context, ref string) (cw.Inbox, error) {
	if err := f.known(ref); err != nil {
		return cw.Inbox{}, err
	}
	return f.inbox, f.fails("Inbox")
}

func (f *fakeServices) DispatchPlan(_ context.Context, ref string) (cw.DispatchPlan, error) {
	if err := f.known(ref); err != nil {
		return cw.DispatchPlan{}, err
	}
	return f.dispatchPlan, f.fails("DispatchPlan")
}

func (f *fakeServices) SetDispatch(_ context.Context, req cw.DispatchRequest) (cw.DispatchStatus, error) {
	f.dispatch.State = req.State
	return f.dispatch, f.steer("SetDispatch", req)
}

func (f *fakeServices) RetryTask(ctx context.Context, id cw.TaskID) (cw.Task, error) {
	t, err := f.Task(ctx, id)
	if err != nil {
		return cw.Task{}, err
	}
	t.Status = cw.TaskPending
	return t, f.steer("RetryTask", id)
}

func (f *fakeServices) DecideTask(ctx context.Context, id cw.TaskID, v cw.TaskVerdict) (cw.Task, error) {
	t, err := f.Task(ctx, id)
	if err != nil {
		return cw.Task{}, err
	}
	if t.Status = cw.TaskRunning; v.Accept {
		if t.Questions, err = t.Decide(v.Answers); err != nil {
			return cw.Task{}, err
		}
		t.Status, t.Summary = cw.TaskDone, cw.DecidedText(t.Questions, v.Comment)
	}
	return t, f.steer("DecideTask", v)
}

func (f *fakeServices) Merges(_ context.Context, ref string) ([]cw.Merge, error) {
	if err := f.known(ref); err != nil {
		return nil, err
	}
	return slices.Clone(f.merges), f.fails("Merges")
}

func (f *fakeServices) Integrations(_ context.Context, ref string) ([]cw.Integration, error) {
	if err := f.known(ref); err != nil {
		return nil, err
	}
	return f.branches, f.fails("Integrations")
}

func (f *fakeServices) Land(_ context.Context, ref string, req cw.LandRequest) ([]cw.Landing, error) {
	if err := f.known(ref); err != nil {
		return nil, err
	}
	return f.landed, f.steer("Land", req)
}

func (f *fakeServices) TaskDiff(ctx context.Context, id cw.TaskID, req cw.DiffRequest) (cw.Diff, error) {
	if _, err := f.Task(ctx, id); err != nil {
		return cw.Diff{}, err
	}
	return f.difference(string(id), req), f.steer("TaskDiff", req)
}

func (f *fakeServices) InitiativeDiff(_ context.Context, ref string, req cw.DiffRequest) (cw.Diff, error) {
	if err := f.known(ref); err != nil {
		return cw.Diff{}, err
	}
	return f.difference(ref, req), f.steer("InitiativeDiff", req)
}

func (f *fakeServices) difference(of string, req cw.DiffRequest) cw.Diff {
	d := f.diffs[of]
	if req.Stat {
		d.Patch = ""
	}
	return d
}
