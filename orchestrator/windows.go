package orchestrator

import (
	"context"
	"slices"
	"time"

	"cw/internal/cw"
)

// windowsEvery is how often figures that did not change are stored.
const windowsEvery = time.Minute

// keepWindows stores what the output tells of the account's usage windows: an
// account that is nearly at its limit gets no new agents.
func (f *follower) keepWindows(ctx context.Context, events []cw.StreamEvent, at time.Time) {
	if told := windowsIn(events); len(told) > 0 {
		f.o.saveWindows(ctx, f.state.Run.AccountID, told, at)
	}
}

// saveWindows stores newer figures. The next ones of the kind tell them again, so
// that they cannot be stored now stops nobody.
func (o *Orchestrator) saveWindows(ctx context.Context, id cw.AccountID, told []cw.UsageWindow, at time.Time) {
	account, err := o.Store.AccountByID(ctx, id)
	if err == nil && !newWindows(account, told, at) {
		return
	}
	if err == nil {
		err = o.Store.SaveUsage(ctx, id, mergeWindows(account.Usage, told), at)
	}
	if err != nil && ctx.Err() == nil {
		o.Log.Warn("keep the use of an account", "account", id, "error", err)
	}
}

// newWindows tells whether figures are worth storing. CLIs repeat them with every
// answer.
func newWindows(a cw.Account, told []cw.UsageWindow, at time.Time) bool {
	return a.UsageAt == nil || at.Sub(*a.UsageAt) >= windowsEvery || slices.ContainsFunc(told, func(w cw.UsageWindow) bool {
		return !slices.ContainsFunc(a.Usage, func(k cw.UsageWindow) bool { return sameWindow(k, w) })
	})
}

func sameWindow(a, b cw.UsageWindow) bool {
	sameEnd := a.ResetsAt == nil && b.ResetsAt == nil || a.ResetsAt != nil && b.ResetsAt != nil && a.ResetsAt.Equal(*b.ResetsAt)
	return a.Kind == b.Kind && a.UsedPercent == b.UsedPercent && sameEnd
}

// sessionWindows stores what the session's own file tells of them, for CLIs whose
// output does not.
func (o *Orchestrator) sessionWindows(ctx context.Context, st cw.RunState, session string) {
	windows, at, err := o.readWindows(ctx, st, session)
	if err != nil && ctx.Err() == nil {
		o.Log.Debug("read the use of an account from its session", "agent", st.Agent.Alias, "error", err)
	}
	if len(windows) == 0 {
		return
	}
	if at.IsZero() {
		at = time.Now()
	}
	o.saveWindows(ctx, st.Run.AccountID, windows, at)
}

func (o *Orchestrator) readWindows(ctx context.Context, st cw.RunState, session string) (windows []cw.UsageWindow, at time.Time, err error) {
	preset, err := o.Presets.Get(providerOf(st.Run, st.Agent))
	if err != nil || preset.Rollout.Files == "" {
		return nil, at, err
	}
	a, err := o.accountOf(ctx, preset.Name, st.Run.AccountID)
	if err != nil {
		return nil, at, err
	}
	opts, err := optionsOf(st.Agent)
	if err != nil {
		return nil, at, err
	}
	return preset.RolloutWindows(configDirOf(a, opts), session)
}

// windowsIn gives the windows that events tell the use of.
func windowsIn(events []cw.StreamEvent) []cw.UsageWindow {
	var out []cw.UsageWindow
	for _, ev := range events {
		if l := ev.Limit; ev.Kind == cw.StreamLimit && l != nil && l.UsedPercent > 0 && l.Kind != "" {
			out = append(out, cw.UsageWindow{Kind: l.Kind, UsedPercent: l.UsedPercent, ResetsAt: l.Until})
		}
	}
	return out
}

// mergeWindows puts newer figures in the place of older ones of the same kind.
func mergeWindows(known, told []cw.UsageWindow) []cw.UsageWindow {
	out := slices.Clone(known)
	for _, w := range told {
		out = slices.DeleteFunc(out, func(k cw.UsageWindow) bool { return k.Kind == w.Kind })
		out = append(out, w)
	}
	return out
}
