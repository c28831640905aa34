package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cw/internal/cw"
	"cw/prompts"
)

// Resume implements cw.AgentService. Everything is looked at before anything is
// stored; what goes wrong after that is the status of the agent.
func (o *Orchestrator) Resume(ctx context.Context, ref string, req cw.ResumeRequest) (cw.AgentView, error) {
	if err := cw.CheckText("the text", req.Text); err != nil {
		return cw.AgentView{}, err
	}
	agent, err := o.Store.AgentByRef(ctx, ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	// From here on the caller may go away: a resume is never left half done by
	// that.
	result := make(chan error, 1)
	err = o.hand(ctx, func(life context.Context) {
		result <- o.resume(cw.WithActor(life, cw.ActorOf(ctx)), agent.ID, req)
	})
	if err != nil {
		return cw.AgentView{}, err
	}
	select {
	case err = <-result:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return cw.AgentView{}, err
	}
	return o.Agent(ctx, string(agent.ID))
}

func (o *Orchestrator) resume(ctx context.Context, id cw.AgentID, req cw.ResumeRequest) error {
	done, err := o.turns.take(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	view, err := o.Store.AgentView(ctx, string(id))
	if err != nil {
		return err
	}
	if err := mayResume(view); err != nil {
		return err
	}
	if err := o.budgetLeft(ctx, id); err != nil {
		return err
	}
	if err := o.enoughDisk(); err != nil {
		return err
	}
	kept, opts, err := o.renewOptions(view.Agent, req.Env)
	if err != nil {
		return err
	}
	next, err := o.resumeStep(ctx, view, req.Text)
	if err != nil {
		return err
	}
	if view.Status == cw.StatusParked {
		if next.To, err = o.unparkNow(ctx, view); err != nil {
			return err
		}
	}
	w := wish{Reason: next.Reason, Messages: next.Messages, To: next.To}
	if req.Fresh {
		w.Fresh, w.Why = true, freshWanted
		if w.Messages, err = o.withHandOver(ctx, view.Agent, freshWanted, view.Runs, next.Messages); err != nil {
			return err
		}
	}
	in, err := o.nextIntent(ctx, view.Agent, w)
	if err != nil {
		return err
	}
	in.From = []cw.AgentStatus{view.Status}
	used := &opts
	if in.Options == "" {
		in.Options = kept
	} else {
		used = nil // another provider goes on with it
	}
	if err := o.intend(ctx, in); err != nil {
		return err
	}
	return o.start(ctx, in.Run.ID, used)
}

// freshWanted says why a session was left that the CLI could go on with.
const freshWanted = "a person wanted a fresh session"

// mayResume says why an agent cannot be resumed by a person, and what to do
// instead.
func mayResume(v cw.AgentView) error {
	refused := func(is string) *cw.Error { return cw.Errorf(cw.CodeRefused, "agent %s %s", v.Alias, is) }
	switch {
	case v.DeletedAt != nil:
		return refused("is removed").WithHint("cw agent restore %s", v.Alias)
	case v.Status.Alive():
		return refused(fmt.Sprintf("is %s", v.Status)).WithHint("cw agent send %s \"…\" gives it a text for its next run; cw agent stop %[1]s ends this one", v.Alias)
	case v.Status == cw.StatusWaitingForInput && len(v.PendingQuestions) > 0:
		return refused(fmt.Sprintf("waits for %s", counted(len(v.PendingQuestions), "answer"))).WithHint("cw agent answer %s", v.Alias)
	}
	return nil
}

// resumeStep is what a person's resume tells the agent: what became of the
// questions that it waited for, a text, or how its last run ended.
func (o *Orchestrator) resumeStep(ctx context.Context, v cw.AgentView, text string) (intention, error) {
	next := intention{Reason: cw.RunFollowUp}
	if v.Status == cw.StatusWaitingForInput || v.Status == cw.StatusStopped {
		asked, err := o.Store.LastQuestions(ctx, v.ID)
		if err != nil {
			return next, fmt.Errorf("read the questions: %w", err)
		}
		if len(asked) > 0 && asked[0].RunID == v.Runs[len(v.Runs)-1].ID { // no run was told of them yet
			next.Messages = ownMessages([]string{prompts.Answers(answersFor(asked), notesAnswers(v.Agent))})
			if v.Status == cw.StatusWaitingForInput || answered(asked) > 0 {
				next.Reason = cw.RunAnswers
			}
		}
	}
	switch {
	case text != "":
		next.Messages = append(next.Messages, personMessage(ctx, v.ID, text, time.Now().UTC()))
	case v.QueuedMessages+v.QueuedAnswers == 0 && len(next.Messages) == 0 && everBegan(v.Runs):
		next.Messages = ownMessages([]string{prompts.GoOn(prompts.GoOnInput{How: howEnded(v.Agent)})})
	}
	return next, nil
}

// everBegan tells whether any run of an agent was started.
func everBegan(runs []cw.Run) bool {
	return slices.ContainsFunc(runs, func(r cw.Run) bool { return r.StartedAt != nil })
}

// howEnded says how an agent's last run ended, for the agent.
func howEnded(a cw.Agent) string {
	switch {
	case a.Status == cw.StatusStopped && a.Reason == cw.ReasonUser:
		return "a person stopped it"
	case a.Error != "":
		return a.Error
	case a.Status == cw.StatusIdle:
		return "you said that you were done" + colon(a.Result)
	}
	return ""
}

// start launches an intended run. The agent's turn is the caller's. opts may be
// nil: then those kept with the agent count. A failure becomes the agent's
// status.
func (o *Orchestrator) start(ctx context.Context, run cw.RunID, opts *options) error {
	st, err := o.Store.RunState(ctx, run)
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if st.Op == nil || st.Agent.Status != cw.StatusPending && st.Agent.Status != cw.StatusStarting {
		return nil // it was started, or given up
	}
	if opts == nil {
		kept, err := optionsOf(st.Agent)
		if err != nil {
			return errors.Join(err, o.failStart(ctx, st, err))
		}
		opts = &kept
	}
	err = o.launch(ctx, &st, *opts)
	if err == nil || ctx.Err() != nil {
		return err // what ctx interrupted is taken up by the next daemon
	}
	if done, endErr := o.withoutAccount(ctx, st, err); done || endErr != nil {
		return endErr
	}
	started, lookErr := o.startedAfterAll(ctx, st)
	switch {
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case started:
		return nil
	}
	return errors.Join(err, o.failStart(ctx, st, err))
}

// startAlone starts an intended run that nobody waits for: it waits for space on
// the disk, unless it was about to be started already. A stop ends the wait.
func (o *Orchestrator) startAlone(ctx context.Context, st cw.RunState) error {
	if st.Op != nil && st.Op.Step != stepOf(*st.Op, stepStarting) {
		if err := o.awaitDisk(ctx, st.Agent, func() bool { return o.stopWanted(ctx, st.Run.ID) }); err != nil {
			return err
		}
	}
	done, err := o.turns.take(ctx, st.Agent.ID)
	if err != nil {
		return err
	}
	defer done()
	if over, err := o.endUnstarted(ctx, st.Run.ID); over || err != nil {
		return err
	}
	return o.start(ctx, st.Run.ID, nil)
}

// launchNext starts a run that was intended with the end of another.
func (o *Orchestrator) launchNext(ctx context.Context, run cw.RunID) {
	st, err := o.Store.RunState(ctx, run)
	if cw.ErrorCode(err) == cw.CodeNotFound {
		return // the end that it was intended with was stored by somebody else
	}
	if err == nil {
		err = o.startAlone(ctx, st)
	}
	if err != nil && ctx.Err() == nil {
		o.Log.Error("start the next run", "agent", st.Agent.Alias, "run", run, "error", err)
	}
}
