package orchestrator

import (
	"context"
	"time"

	"cw/accounts"
	"cw/internal/cw"
	"cw/providers"
)

// SpawnTask makes the agent of a task for the dispatcher, and gives it the task
// in the same transaction. CodeRefused when the task is not free any more.
func (o *Orchestrator) SpawnTask(ctx context.Context, req cw.SpawnRequest) (cw.AgentView, error) {
	req.Claim = true
	return o.spawnFor(ctx, req, nil)
}

// GoOn lets an agent look whether a text waits for it that it goes on with. It
// returns at once.
func (o *Orchestrator) GoOn(ctx context.Context, id cw.AgentID) error {
	return o.hand(ctx, func(life context.Context) { o.goOn(life, id) })
}

// TaskProvider is what is known of a provider before an agent of it is started.
type TaskProvider struct {
	Name     string
	Accounts []cw.Account // that can be used now, by priority; empty for one whose only account is the user's own
	Until    *time.Time   // when one is back; nil when that is not known, or not needed
	Limited  bool         // all accounts are at their limit
}

// TaskProvider tells whether an agent of a provider could be started now; "" is
// the provider that is taken when nobody names one. CodeNotFound and its like say
// why none can.
func (o *Orchestrator) TaskProvider(ctx context.Context, name string) (TaskProvider, error) {
	req := cw.SpawnRequest{Provider: name}
	if name == providerScript {
		req.Script = name // it is looked at when it is started
	}
	preset, err := o.findPreset(req)
	if err != nil {
		return TaskProvider{Name: name}, err
	}
	out := TaskProvider{Name: preset.Name}
	if preset.Command.From == providers.FromScript {
		return out, nil
	}
	if _, err := o.lookPath(preset, ""); err != nil {
		return out, err
	}
	pool, err := o.poolOf(ctx, preset, nil)
	if err != nil {
		return out, err
	}
	now := time.Now()
	inService := accounts.InService(pool, accounts.Need{New: true})
	for _, a := range inService {
		if !a.Exhausted(now) {
			out.Accounts = append(out.Accounts, a)
		}
	}
	out.Limited = len(out.Accounts) == 0 && len(inService) > 0
	for _, a := range inService {
		if out.Limited && a.ExhaustedUntil != nil && (out.Until == nil || a.ExhaustedUntil.Before(*out.Until)) {
			out.Until = a.ExhaustedUntil
		}
	}
	if len(inService) == 0 {
		return out, noAccountError(preset)
	}
	return out, nil
}

// LowDisk tells why no run may be started for want of space; "" when there is
// enough.
func (o *Orchestrator) LowDisk() string {
	if err := o.enoughDisk(); err != nil {
		return err.Error()
	}
	return ""
}
