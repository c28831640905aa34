package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"

	"cw/internal/cw"
	"cw/providers"
	"cw/providers/parsers"
)

// keepSessionID stores the CLI's own name of the session once it is known.
func (f *follower) keepSessionID(ctx context.Context) {
	f.mu.Lock()
	id := f.summary.SessionID
	f.mu.Unlock()
	if id == "" || id == f.state.Agent.SessionID {
		return
	}
	if err := f.o.Store.SaveSessionID(ctx, f.state.Agent.ID, id); err != nil {
		f.o.Log.Error("keep the CLI's session id", "agent", f.state.Agent.Alias, "error", err)
		return
	}
	f.state.Agent.SessionID = id
}

// askSession puts into the summary what the CLI's output cannot tell: what of a
// session's tokens is of this run, and when exactly a usage limit ends.
func (o *Orchestrator) askSession(ctx context.Context, preset providers.Preset, st cw.RunState, s *parsers.Summary) error {
	if preset.Usage == providers.UsageSession && st.Run.SessionNumber > 1 {
		view, err := o.Store.AgentView(ctx, string(st.Agent.ID))
		if err != nil {
			return fmt.Errorf("look for earlier runs: %w", err)
		}
		s.Usage, s.Models = preset.OwnUsage(s.Usage, usageBefore(view.Runs, st.Run.SessionNumber)), nil
	}
	if !s.ResultIsError && s.Limit == nil {
		return nil
	}
	var opts options
	err := json.Unmarshal([]byte(st.Agent.OptionsJSON), &opts)
	var a cw.Account
	if err == nil {
		a, err = o.accountOf(ctx, preset.Name, st.Run.AccountID)
	}
	if err == nil {
		s.Limit, err = preset.RolloutLimit(configDirOf(a, opts), orDefault(s.SessionID, st.Agent.SessionID), s.Limit)
	}
	if err != nil { // the output's word stands
		o.Log.Warn("read the session's own file", "agent", st.Agent.Alias, "error", err)
	}
	return nil
}

// providerOf is whose CLI a run used. Its agent may have gone on with another.
func providerOf(r cw.Run, a cw.Agent) string { return orDefault(r.Provider, a.Provider) }

// usageBefore sums what the runs before a session number used, as far as they
// went on with the same session of the CLI.
func usageBefore(runs []cw.Run, session int) cw.Usage {
	var sum cw.Usage
	for _, r := range runs {
		if r.SessionNumber <= session && r.Fresh {
			sum = cw.Usage{} // it began anew
		}
		if r.SessionNumber < session {
			sum = sum.Add(r.Usage)
		}
	}
	return sum
}
