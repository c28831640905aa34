package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cw/accounts"
	"cw/internal/cw"
	"cw/providers"
)

// reserve is what an agent may go on with when the account of its run cannot be
// used. It is gathered before anything is decided.
type reserve struct {
	Has       successor      // what the run had
	Exhausted *cw.Exhaustion // the mark that it gets; nil: it is not at a limit
	Renewed   bool           // its credentials were renewed: it may be tried once more
	Next      *successor     // that is due; nil: there is none now
	Back      *time.Time     // without one: when the first will be; nil: none by itself
}

// successor is an account, and the provider whose CLI goes on with it.
type successor struct {
	Account  cw.Account
	Provider string
}

// failOver decides how an agent goes on whose account cannot be used: with the
// same one when its credentials were renewed, with another one, else parked
// until the first is back. One whose credentials were refused, and for which
// there is no other account, has crashed.
func failOver(e evidence, v verdict) verdict {
	r := e.Reserve
	limit := v.Reason == cw.ReasonUsageLimit
	if r == nil || !limit && v.Reason != cw.ReasonAuth {
		return v
	}
	next := &nextStep{Reason: cw.RunFailover, Why: v.Error, Away: v.Reason}
	switch {
	case r.Renewed:
		next.To, next.Why = &r.Has, joined(v.Error, "its credentials were renewed")
		v.Next = next
	case r.Next != nil:
		next.To = r.Next
		v.Next = next
	case limit || r.Back != nil:
		v.Status, v.RetryAt = cw.StatusParked, r.Back
	}
	return v
}

// awayFromAccount tells whether a verdict is about the account, and not about
// the agent.
func awayFromAccount(v verdict) bool {
	return v.Status == cw.StatusCrashed && (v.Reason == cw.ReasonUsageLimit || v.Reason == cw.ReasonAuth)
}

// reserveOf gathers what an agent may go on with. limit is what ended its run,
// nil when its credentials were refused, why in the words of its CLI.
func (o *Orchestrator) reserveOf(ctx context.Context, st cw.RunState, limit *cw.Limit, why string) (*reserve, error) {
	provider := providerOf(st.Run, st.Agent)
	a, err := o.accountOf(ctx, provider, st.Run.AccountID)
	if err != nil {
		return nil, err
	}
	view, err := o.Store.AgentView(ctx, string(st.Agent.ID))
	if err != nil {
		return nil, fmt.Errorf("read agent: %w", err)
	}
	r := &reserve{Has: successor{a, provider}}
	tried := triedInVain(view.Runs)
	if limit != nil {
		if limit.Kind == kindOverload {
			until := time.Now().Add(overloadPause(view.Runs, a.ID))
			limit.Until = &until
		}
		mark := accounts.Mark(a, *limit, time.Now())
		r.Exhausted = &mark
	} else {
		r.Renewed = o.refused(ctx, a, why, slices.Contains(tried, a.ID), o.changedSince(st, a))
		tried = append(tried, a.ID)
	}
	if r.Renewed {
		return r, nil
	}
	r.Next, r.Back, err = o.due(ctx, view, accounts.Need{Without: tried}, r.Exhausted)
	return r, err
}

// refused tells whoever holds the account's credentials that they were refused,
// and is true when there are others now. again: they were renewed for the run
// before, in vain. Those that stay refused mark the account; that they could not
// be renewed now proves nothing. The mark does not repeat what the CLI said: it
// may have shown what it was refused with. changed: the account has another login since
// the run began, and nothing is known of that.
func (o *Orchestrator) refused(ctx context.Context, a cw.Account, why string, again, changed bool) (renewed bool) {
	if changed {
		return false
	}
	if a.Kind != cw.AccountOwn && !again {
		renewed, err := o.Accounts.Refused(ctx, a.ID, why)
		if err != nil {
			o.Log.Warn("renew refused credentials", "account", a.Name, "error", err)
		}
		if renewed || err != nil {
			return renewed
		}
		if a, err = o.Store.AccountByID(ctx, a.ID); err != nil {
			return false
		}
	}
	o.setInvalid(ctx, a, mended("the provider refused its credentials", o.mendOf(a)))
	return false
}

// changedSince reports whether somebody logged in anew to the user's own CLI after a run
// began: what the provider refused was the login before.
func (o *Orchestrator) changedSince(st cw.RunState, a cw.Account) bool {
	p, err := o.Presets.Get(a.Provider)
	if err != nil || a.Kind != cw.AccountOwn || st.Run.StartedAt == nil {
		return false
	}
	l := p.Login(o.runEnv(p, nil, nil, nil, nil))
	return l.ByFile && l.ChangedAt.After(*st.Run.StartedAt)
}

// mendOf is the command with which a person logs in to an account; "" when there
// is none.
func (o *Orchestrator) mendOf(a cw.Account) string {
	p, err := o.Presets.Get(a.Provider)
	if err != nil {
		return ""
	}
	return a.LoginCommand(p.LoginCommand())
}

// setInvalid marks an account, or takes the mark away (""). The mark only
// spares runs that would fail, so that it cannot be stored is no reason to stop.
func (o *Orchestrator) setInvalid(ctx context.Context, a cw.Account, why string) {
	if (a.Invalid == "") == (why == "") {
		return
	}
	ev := cw.NewEvent(cw.EventAccountInvalid, cw.Actor{Kind: cw.ActorCW}, cw.AccountInvalid{AccountID: a.ID, Provider: a.Provider, Name: a.Name, Why: why})
	if why == "" {
		ev = cw.NewEvent(cw.EventAccountChanged, cw.Actor{Kind: cw.ActorCW}, cw.AccountChanged{AccountID: a.ID, Provider: a.Provider, Name: a.Name, Text: "the provider took its credentials again"})
	}
	if err := o.Store.SetInvalid(ctx, a.ID, why, ev); err != nil && ctx.Err() == nil {
		o.Log.Warn("mark an account", "account", a.Name, "error", err)
	}
}

// triedInVain are the accounts that were refused in the last runs of an agent,
// one after the other: they are not tried again at once.
func triedInVain(runs []cw.Run) []cw.AccountID {
	var out []cw.AccountID
	for _, r := range slices.Backward(runs) {
		switch {
		case r.EndedAt == nil:
		case r.OutcomeReason == cw.ReasonAuth:
			out = append(out, r.AccountID)
		case r.OutcomeReason != cw.ReasonUsageLimit:
			return out
		}
	}
	return out
}

// due chooses the account that an agent goes on with: one of its provider, else
// one of the providers that it may fall back to, in order; none whose budget is
// spent. mark is what is about to be stored of an account. Without any, back is
// when the first of all of them is back, nil when none of them will be by itself.
func (o *Orchestrator) due(ctx context.Context, v cw.AgentView, need accounts.Need, mark *cw.Exhaustion) (next *successor, back *time.Time, err error) {
	return o.dueBy(ctx, v, need, mark, o.rota.choose)
}

// chooser is accounts.Choose, or what does the same.
type chooser func(pool []cw.Account, need accounts.Need, now time.Time) accounts.Choice

// dueBy is due with one who chooses from each provider's accounts.
func (o *Orchestrator) dueBy(ctx context.Context, v cw.AgentView, need accounts.Need, mark *cw.Exhaustion, choose chooser) (next *successor, back *time.Time, err error) {
	presets, err := o.providersFor(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	spent, err := o.overdrawn(ctx)
	if err != nil {
		return nil, nil, err
	}
	opts, err := optionsOf(v.Agent)
	if err != nil {
		return nil, nil, err
	}
	need.Without = slices.Concat(need.Without, spent.accounts())
	for _, p := range presets {
		pool, err := o.poolOf(ctx, p, opts.Env)
		if err != nil {
			return nil, nil, err
		}
		c := choose(marked(loggedIn(pool, v.Runs), mark), need, time.Now())
		if c.Found {
			return &successor{c.Account, p.Name}, nil, nil
		}
		if c.Back != nil && (back == nil || c.Back.Before(*back)) {
			back = c.Back
		}
	}
	return nil, back, nil
}

// loggedIn gives the pool without accounts whose CLI is not logged in: an agent
// does not move to one. It goes on with one that it has had.
func loggedIn(pool []cw.Account, runs []cw.Run) []cw.Account {
	return slices.DeleteFunc(pool, func(a cw.Account) bool {
		return a.NotLoggedIn != "" && !slices.ContainsFunc(runs, func(r cw.Run) bool { return r.AccountID == a.ID })
	})
}

// marked gives the pool with a mark that is not stored yet.
func marked(pool []cw.Account, mark *cw.Exhaustion) []cw.Account {
	for i, a := range pool {
		if mark != nil && a.ID == mark.AccountID && (a.ExhaustedUntil == nil || a.ExhaustedUntil.Before(mark.Until)) {
			pool[i].ExhaustedUntil = &mark.Until
		}
	}
	return pool
}

// providersFor lists the providers that an agent may go on with: its own, the
// one that it began with, and those that all its projects name. Of these only
// such whose CLI is there, and that keep it in the sandbox that it was given.
func (o *Orchestrator) providersFor(ctx context.Context, v cw.AgentView) ([]providers.Preset, error) {
	own, err := o.Presets.Get(v.Provider)
	if err != nil {
		return nil, err
	}
	out := []providers.Preset{own}
	if own.Command.From == providers.FromScript {
		return out, nil
	}
	names, err := o.fallbacks(ctx, v)
	if err != nil {
		return nil, err
	}
	if len(v.Runs) > 0 {
		names = append([]string{v.Runs[0].Provider}, names...)
	}
	opts, err := optionsOf(v.Agent)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		p, err := o.Presets.Get(name)
		known := slices.ContainsFunc(out, func(q providers.Preset) bool { return q.Name == p.Name })
		if err == nil && !known && o.canTakeOver(p, opts) {
			out = append(out, p)
		}
	}
	return out, nil
}

// fallbacks are the providers that all projects of an agent name, in the order
// of the first.
func (o *Orchestrator) fallbacks(ctx context.Context, v cw.AgentView) ([]string, error) {
	var names []string
	for i, t := range v.Projects {
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			return nil, fmt.Errorf("find project %s: %w", t.Project, err)
		}
		if i == 0 {
			names = slices.Clone(p.Fallback)
		}
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(p.Fallback, n) })
	}
	return names, nil
}

// canTakeOver tells whether another provider can go on with an agent's work.
func (o *Orchestrator) canTakeOver(p providers.Preset, opts options) bool {
	if p.Command.From == providers.FromScript || opts.Sandbox == cw.SandboxWorkspace && !p.CanSandbox() {
		return false
	}
	_, err := o.optionsWith(p, opts)
	return err == nil
}

// optionsWith are an agent's options when it goes on with another provider.
func (o *Orchestrator) optionsWith(p providers.Preset, opts options) (options, error) {
	opts.Version, opts.Script = "", ""
	if err := o.findAgain(p, &opts); err != nil {
		return opts, err
	}
	opts.ConfigDir = p.ConfigDir(o.runEnv(p, opts.Env, nil, nil, nil))
	return opts, nil
}

// sessionLostError says that the CLI's session could not be taken to the place
// where the run looks for it.
type sessionLostError struct{ why string }

func (e *sessionLostError) Error() string { return e.why }

// withoutAccount ends a run of which nothing was started because it could not
// have its account, or its session: the agent goes on with another account, with
// a session that begins anew, or is parked. false: none of these, or the cause is
// another.
func (o *Orchestrator) withoutAccount(ctx context.Context, st cw.RunState, cause error) (done bool, err error) {
	e := evidence{Mode: st.Agent.Mode, Retries: cw.RetriesOf(st.Agent)}
	v := verdict{}
	unusable, lost := new(unusableError), new(sessionLostError)
	switch {
	case errors.As(cause, &lost):
		v = crash(cw.ReasonStartFailed, lost.why)
		v.Next = &nextStep{Reason: st.Run.Reason, Fresh: true, Why: lost.why}
	case errors.As(cause, &unusable):
		v = crash(unusable.reason, unusable.Error())
		if e.Reserve, err = o.reserveUnstarted(ctx, st, v); err != nil {
			return false, err
		}
		v = failOver(e, v)
		if v.Next != nil && st.Run.Reason == cw.RunBudget { // it is the last run still
			v.Next.Reason = cw.RunBudget
		}
	}
	if v.Next == nil && v.Status != cw.StatusParked {
		return false, nil
	}
	if o.stopWanted(ctx, st.Run.ID) {
		v = verdict{Status: cw.StatusStopped, Reason: cw.ReasonUser}
	} else {
		v.Retries = e.Retries
	}
	return true, o.endStart(ctx, st, e, v)
}

// reserveUnstarted is reserveOf for a run that was not given its account: then
// nobody at the provider was asked, and nothing is news about the account.
func (o *Orchestrator) reserveUnstarted(ctx context.Context, st cw.RunState, v verdict) (*reserve, error) {
	view, err := o.Store.AgentView(ctx, string(st.Agent.ID))
	if err != nil {
		return nil, fmt.Errorf("read agent: %w", err)
	}
	need := accounts.Need{Without: triedInVain(view.Runs)}
	if v.Reason == cw.ReasonAuth {
		need.Without = append(need.Without, st.Run.AccountID)
	}
	r := &reserve{}
	r.Next, r.Back, err = o.due(ctx, view, need, nil)
	return r, err
}
