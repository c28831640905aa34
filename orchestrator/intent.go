package orchestrator

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"cw/internal/cw"
	"cw/prompts"
	"cw/providers"
)

// wish is a run that an agent is to get.
type wish struct {
	Reason   cw.RunReason
	Messages []cw.Message
	Fresh    bool   // in a session of its own; then the messages hold the hand-over
	Why      string // for people
	// To is what to go on with; nil: the account that the agent has while that can
	// be used, else the one that is due. Away is why it leaves the one it has.
	To   *successor
	Away cw.Reason
}

// nextIntent makes the intent of an agent's next run. From and Retries are the
// caller's business. A fresh run begins a session of its own, because the wish
// says so or because there is none to go on with; then a hand-over is added,
// unless the caller who wanted it fresh has given one. Whatever the reason, the
// run is told the answers that no call of an earlier one took.
func (o *Orchestrator) nextIntent(ctx context.Context, a cw.Agent, w wish) (cw.RunIntent, error) {
	view, err := o.Store.AgentView(ctx, string(a.ID))
	if err != nil {
		return cw.RunIntent{}, fmt.Errorf("read agent: %w", err)
	}
	m, err := o.moveTo(ctx, view, w)
	if err != nil {
		return cw.RunIntent{}, err
	}
	session := a.SessionID
	preset, err := o.Presets.Get(m.provider)
	if err == nil { // else the launch says so: then it is a person's business
		lacks := orDefault(noSession(preset, session, view.Runs), m.leaves)
		if lacks != "" && !w.Fresh {
			w.Fresh, w.Why = true, joined(w.Why, lacks)
			if w.Messages, err = o.withHandOver(ctx, a, lacks, view.Runs, w.Messages); err != nil {
				return cw.RunIntent{}, err
			}
		}
		if w.Fresh {
			session = preset.NewSessionID()
		} else if w.Reason == cw.RunFailover {
			w.Messages = append(w.Messages, ownMessages([]string{prompts.GoOn(prompts.GoOnInput{How: w.Why})})...)
		}
	}
	untold, err := o.Store.UntoldAnswers(ctx, a.ID)
	if err != nil {
		return cw.RunIntent{}, fmt.Errorf("read the answers that wait: %w", err)
	}
	if len(untold) > 0 {
		w.Messages = append(w.Messages, ownMessages([]string{prompts.LateAnswers(answersFor(untold))})...)
	}
	in := o.intentOf(ctx, a, w, m, session)
	for _, q := range untold {
		in.Told = append(in.Told, q.ID)
	}
	return in, nil
}

// noSession says why an agent's CLI cannot go on with its last session; "" when
// it can.
func noSession(preset providers.Preset, session string, runs []cw.Run) string {
	switch {
	case !preset.CanResume():
		return preset.Title + " cannot go on with a session"
	case !begun(runs):
		return "its session was never begun"
	case session == "":
		return "its session is not known"
	}
	return ""
}

// begun tells whether a run of the agent's present session was ever started: an
// id that was only chosen names no session.
func begun(runs []cw.Run) bool {
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].StartedAt != nil {
			return true
		}
		if runs[i].Fresh {
			return false
		}
	}
	return false
}

// withHandOver puts a hand-over before the messages, when there is anything to
// hand over.
func (o *Orchestrator) withHandOver(ctx context.Context, a cw.Agent, why string, runs []cw.Run, messages []cw.Message) ([]cw.Message, error) {
	if !everBegan(runs) {
		return messages, nil
	}
	text, err := o.handOverMessage(ctx, a, why)
	if err != nil {
		return nil, fmt.Errorf("write the hand-over: %w", err)
	}
	return append(ownMessages([]string{text}), messages...), nil
}

// intentOf puts the decisions about a run into rows.
func (o *Orchestrator) intentOf(ctx context.Context, a cw.Agent, w wish, m move, session string) cw.RunIntent {
	now := time.Now().UTC()
	number := a.SessionNumber + 1
	run := cw.Run{
		ID: cw.RunID(cw.NewID()), AgentID: a.ID, Kind: cw.RunAgent, SessionNumber: number, Reason: w.Reason, Fresh: w.Fresh,
		Provider: a.Provider, AccountID: a.AccountID, Model: a.Model, Dir: o.Home.RunDir(a.Alias, number), CreatedAt: now,
	}
	run.OutputPath = filepath.Join(run.Dir, outputFile)
	for i := range w.Messages {
		w.Messages[i].AgentID, w.Messages[i].Definition = a.ID, a.Definition
	}
	in := cw.RunIntent{
		AgentID: a.ID, Messages: w.Messages, SessionID: session,
		Op: cw.Op{
			ID: cw.OpID(cw.NewID()), Kind: cw.OpResume, Status: cw.OpIntended, AgentID: a.ID, RunID: run.ID,
			CreatedAt: now, UpdatedAt: now,
		},
	}
	m.into(&in, &run)
	in.Run = run
	if m.switches() {
		in.Events = append(in.Events, switchedEvent(a, run, m, w.Fresh))
	}
	in.Events = append(in.Events,
		cw.NewEvent(cw.EventAgentResumed, cw.ActorOf(ctx), cw.AgentResumed{
			Name: a.Alias, SessionNumber: number, Reason: w.Reason, Fresh: w.Fresh, Why: w.Why,
		}).About(a.ID, run.ID),
		startingEvent(a, run),
	)
	return in
}

func joined(texts ...string) string {
	var out string
	for _, t := range texts {
		switch {
		case t == "":
		case out == "":
			out = t
		default:
			out += "; " + t
		}
	}
	return out
}

// intend stores an intent.
func (o *Orchestrator) intend(ctx context.Context, in cw.RunIntent) error {
	if err := o.Store.IntendRun(ctx, in); err != nil {
		return fmt.Errorf("intend the run: %w", err)
	}
	o.bell.Ring(in.AgentID)
	o.Fail.Hit(stepOf(in.Op, stepIntended))
	return nil
}
