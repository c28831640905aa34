package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"cw/accounts"
	"cw/internal/cw"
	"cw/providers"
)

// move is how an agent comes to the account of its next run.
type move struct {
	from, to cw.Account // the same when it stays
	has      string     // the provider that the agent has
	provider string     // whose CLI goes on
	away     cw.Reason  // why it leaves the first
	leaves   string     // why its session stays behind; "" when it comes along
	model    string     // with another provider: the model to ask for
	options  string     // with another provider: the agent's options from now on
}

// switches tells whether the agent goes on with another account.
func (m move) switches() bool { return m.from.ID != m.to.ID || m.has != m.provider }

// into puts the move into an intent and its run.
func (m move) into(in *cw.RunIntent, run *cw.Run) {
	in.AccountID, run.AccountID = m.to.ID, m.to.ID
	if m.provider != m.has {
		in.Provider, in.Model, in.Options = m.provider, m.model, m.options
		run.Provider, run.Model = m.provider, m.model
	}
}

// moveTo decides on the account of an agent's next run.
func (o *Orchestrator) moveTo(ctx context.Context, v cw.AgentView, w wish) (m move, err error) {
	if m.from, err = o.accountOf(ctx, v.Provider, v.AccountID); err != nil {
		return m, err
	}
	to := w.To
	if to == nil {
		if to, err = o.successorFor(ctx, v, m.from); err != nil {
			return m, err
		}
	}
	m.to, m.has, m.provider = to.Account, v.Provider, to.Provider
	if !m.switches() {
		return m, nil
	}
	m.away = orDefault(w.Away, whyAway(m.from))
	opts, err := optionsOf(v.Agent)
	if err != nil {
		return m, err
	}
	preset, err := o.Presets.Get(m.provider)
	switch {
	case err != nil:
		return m, err
	case m.provider != m.has:
		return o.toProvider(m, preset, opts)
	}
	m.leaves, err = o.staysBehind(ctx, v, preset, m.to, opts)
	return m, err
}

// toProvider completes a move to another provider. The model is one of the
// provider that is left, and its session nobody else can go on with.
func (o *Orchestrator) toProvider(m move, preset providers.Preset, opts options) (move, error) {
	opts, err := o.optionsWith(preset, opts)
	if err != nil {
		return m, err
	}
	data, err := json.Marshal(opts)
	if err != nil {
		return m, fmt.Errorf("encode options: %w", err)
	}
	m.options, m.leaves = string(data), "another provider goes on with it, "+preset.Title
	if o.defaultsFor(cw.SpawnRequest{Provider: preset.Name}, preset) {
		m.model = o.Defaults.Model
	}
	return m, nil
}

// whyAway says why an account is left, as far as it shows: a person took it out
// of service, its credentials were refused, or it is at its limit.
func whyAway(a cw.Account) cw.Reason {
	switch {
	case a.RemovedAt != nil, !a.Enabled, a.Draining:
		return cw.ReasonUser
	case a.Invalid != "":
		return cw.ReasonAuth
	}
	return cw.ReasonUsageLimit
}

// successorFor gives what an agent goes on with by itself: the account it has,
// so that its work does not jump about, unless that cannot be used. Without any
// that can be used it is the one it has all the same: the start of the run says
// what becomes of it then.
func (o *Orchestrator) successorFor(ctx context.Context, v cw.AgentView, has cw.Account) (*successor, error) {
	same := &successor{has, v.Provider}
	preset, err := o.Presets.Get(v.Provider)
	if err != nil {
		return same, nil // the launch says so
	}
	pool, err := o.poolOf(ctx, preset, nil)
	if err != nil {
		return nil, err
	}
	serves := func(a cw.Account) bool { return a.ID == has.ID && !a.Exhausted(time.Now()) }
	if slices.ContainsFunc(accounts.InService(pool, accounts.Need{}), serves) {
		return same, nil
	}
	next, _, err := o.due(ctx, v, accounts.Need{}, nil)
	switch {
	case err != nil || next != nil:
		return next, err
	case has.RemovedAt != nil: // no run may have it
		same.Account, err = o.accountOf(ctx, v.Provider, "")
	}
	return same, err
}

// staysBehind says why an agent's session cannot come along to another account;
// "" when it can, or lies where every account finds it.
func (o *Orchestrator) staysBehind(ctx context.Context, v cw.AgentView, preset providers.Preset, to cw.Account, opts options) (string, error) {
	from, err := o.sessionAccount(ctx, v, preset)
	if err != nil {
		return "", err
	}
	at, goes := configDirOf(from, opts), configDirOf(to, opts)
	switch {
	case !movable(preset), at == goes:
		return "", nil
	case len(preset.Account.Session.Files) == 0:
		return preset.Title + " keeps its sessions with the account", nil
	case at == "", goes == "":
		return "it is not known where " + preset.Title + " keeps its sessions", nil
	}
	return "", nil
}

// sessionAccount is the account in whose configuration directory an agent's
// session lies: that of the last run that began.
func (o *Orchestrator) sessionAccount(ctx context.Context, v cw.AgentView, preset providers.Preset) (cw.Account, error) {
	id := v.AccountID
	for _, r := range v.Runs {
		if r.StartedAt != nil && providerOf(r, v.Agent) == preset.Name {
			id = r.AccountID
		}
	}
	return o.accountOf(ctx, preset.Name, id)
}

// carrySession takes the session to where the run looks for it: into the
// configuration directory of its account. Nobody writes to it: the run before is
// over. A sessionLostError when it cannot be had there.
func (o *Orchestrator) carrySession(ctx context.Context, st *cw.RunState, preset providers.Preset, to cw.Account, opts options) error {
	if st.Op.Kind != cw.OpResume || st.Run.Fresh || !movable(preset) {
		return nil
	}
	view, err := o.Store.AgentView(ctx, string(st.Agent.ID))
	if err != nil {
		return fmt.Errorf("read agent: %w", err)
	}
	from, err := o.sessionAccount(ctx, view, preset)
	at, goes := configDirOf(from, opts), orDefault(opts.access.ConfigDir, configDirOf(to, opts))
	if err != nil || from.ID == to.ID || at == goes {
		return err
	}
	carried, err := preset.CarrySession(at, goes, st.Agent.SessionID)
	if err != nil {
		o.Log.Warn("take the session along", "agent", st.Agent.Alias, "to", nameOf(to), "error", err)
	}
	if !carried {
		return &sessionLostError{"its session could not be taken along to the account " + nameOf(to)}
	}
	if err := o.Store.SaveOpStep(ctx, st.Op.ID, stepOf(*st.Op, stepCarried)); err != nil {
		return fmt.Errorf("store step: %w", err)
	}
	st.Op.Step = stepOf(*st.Op, stepCarried)
	o.Fail.Hit(st.Op.Step)
	return nil
}

// switchedEvent tells that an agent goes on with another account.
func switchedEvent(a cw.Agent, run cw.Run, m move, fresh bool) cw.Event {
	session := "kept"
	if fresh {
		session = "handover"
	}
	return cw.NewEvent(cw.EventAgentAccountSwitched, cw.Actor{Kind: cw.ActorCW}, cw.AgentAccountSwitched{
		Name: a.Alias, From: m.from.ID, FromName: m.from.Name, To: m.to.ID, ToName: m.to.Name,
		FromProvider: m.has, ToProvider: m.provider, Reason: m.away, Session: session,
	}).About(a.ID, run.ID)
}
