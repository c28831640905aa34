package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"cw/accounts"
	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers"
)

// Accounts gives runs the credentials of accounts. It is not asked about an
// account default: its CLI finds the user's own login.
type Accounts interface {
	// Ready gives what a run with the account needs, its token renewed when it is
	// about to end. An error says why the account cannot be used now.
	Ready(ctx context.Context, a cw.Account) (cw.AccountAccess, error)
	// Refused is told that the provider refused the account's credentials, in its
	// words. renewed: there are others now, and the same account may be tried
	// again.
	Refused(ctx context.Context, id cw.AccountID, why string) (renewed bool, err error)
}

// ownLogins stands in for Accounts where there is no vault: it knows the
// accounts default alone.
type ownLogins struct{}

func (ownLogins) Ready(_ context.Context, a cw.Account) (cw.AccountAccess, error) {
	return cw.AccountAccess{}, cw.Errorf(cw.CodeFailed, "the credentials of the account %s cannot be had: there is no vault", a.Name)
}

func (ownLogins) Refused(context.Context, cw.AccountID, string) (bool, error) { return false, nil }

// loginStatusWait is how long a CLI may take to tell whether it is logged in.
const loginStatusWait = 10 * time.Second

// turnKept is how long the moment at which an account was given counts more than
// the later one at which that was stored: of agents that choose at the same time
// the stores come in any order, and would spoil the turns.
const turnKept = time.Minute

// rota hands out accounts in turn. What it gave counts as used from then on,
// before that is stored: agents that choose at the same time take different
// ones.
type rota struct {
	mu    sync.Mutex
	given map[cw.AccountID]time.Time // guarded by mu
}

func newRota() *rota { return &rota{given: map[cw.AccountID]time.Time{}} }

// choose is accounts.Choose.
func (r *rota) choose(pool []cw.Account, need accounts.Need, now time.Time) accounts.Choice {
	r.mu.Lock()
	defer r.mu.Unlock()
	pool = slices.Clone(pool)
	for i, a := range pool {
		if at, ok := r.given[a.ID]; ok && (now.Sub(at) < turnKept || a.LastUsedAt == nil || a.LastUsedAt.Before(at)) {
			pool[i].LastUsedAt = &at
		}
	}
	c := accounts.Choose(pool, need, now)
	if c.Found {
		r.given[c.Account.ID] = now
	}
	return c
}

// takeBack says that an account was not used after all.
func (r *rota) takeBack(id cw.AccountID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.given, id)
}

// poolOf gives the accounts that the provider's runs may use. Of the account
// default it tells whether the CLI is logged in, in a run with the caller's
// environment.
func (o *Orchestrator) poolOf(ctx context.Context, preset providers.Preset, callerEnv map[string]string) ([]cw.Account, error) {
	pool, err := o.Store.Accounts(ctx, preset.AccountsOf())
	if err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}
	for i, a := range pool {
		if a.Kind == cw.AccountOwn {
			pool[i].NotLoggedIn = preset.Login(o.runEnv(preset, callerEnv, nil, nil, nil)).Missing
		}
	}
	return pool, nil
}

// refuseUnusable refuses a spawn with the account default of a CLI whose login a run
// would only try again in vain: the provider refused it, and it has not changed since,
// or there is none. A person who names the account has it tried all the same.
func (o *Orchestrator) refuseUnusable(ctx context.Context, req cw.SpawnRequest, preset providers.Preset, a cw.Account, command string) error {
	if req.AccountID != "" || a.Kind != cw.AccountOwn {
		return nil
	}
	if refusedSince(a, preset.Login(o.runEnv(preset, req.Env, nil, nil, nil))) {
		return cw.Errorf(cw.CodeRefused, "the provider refused the login of %s, which has not changed since, and there is no other account of it that can be used", preset.Title).
			WithHint("%s", waysOut(preset))
	}
	return o.refuseLoggedOut(ctx, req, preset, a, command)
}

// refusedSince decides whether a login is the one that was refused. What does not lie in a
// file may be another by now.
func refusedSince(a cw.Account, l providers.Login) bool {
	return a.Invalid != "" && l.ByFile && !l.ChangedAt.After(a.UpdatedAt)
}

// waysOut says how a provider gets an account that can be used.
func waysOut(preset providers.Preset) string {
	hint := fmt.Sprintf("add an account: cw account add --provider %s; --account %s starts it all the same", preset.AccountsOf(), cw.DefaultAccountName)
	if login := preset.LoginCommand(); login != "" {
		hint = "log in: " + login + "; or " + hint
	}
	return hint
}

// refuseLoggedOut refuses a spawn with the account default of a CLI that is not
// logged in: it would only try again. The CLI itself is asked first, because the
// files may not show everything; one that cannot be asked is given the run.
func (o *Orchestrator) refuseLoggedOut(ctx context.Context, req cw.SpawnRequest, preset providers.Preset, a cw.Account, command string) error {
	args := preset.LoginStatusArgs()
	if a.NotLoggedIn == "" || len(args) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, loginStatusWait)
	defer cancel()
	out, stderr, _, err := proc.Output(limited, proc.Command{
		Argv: append([]string{command}, args...), Env: o.runEnv(preset, req.Env, nil, nil, nil), Dir: os.TempDir(),
	})
	if err != nil || !preset.SaysLoggedOut(string(out)) && !preset.SaysLoggedOut(string(stderr)) {
		return ctx.Err()
	}
	return cw.Errorf(cw.CodeRefused, "%s is not logged in, and there is no other account of it that can be used", preset.Title).
		WithHint("%s", waysOut(preset))
}

// spawnAccount chooses the account that an agent begins with: the one that was
// named, else the one that is due. Without any that can be used now it is the
// first that will be: the agent is parked then. One whose budget is spent is not
// used: CodeRefused when there is no other. note is worth a warning.
func (o *Orchestrator) spawnAccount(ctx context.Context, req cw.SpawnRequest, preset providers.Preset) (a cw.Account, note string, err error) {
	pool, err := o.poolOf(ctx, preset, req.Env)
	if err != nil {
		return a, "", err
	}
	spent, err := o.overdrawn(ctx)
	if err != nil {
		return a, "", err
	}
	if req.AccountID != "" {
		if a, err = o.namedAccount(ctx, req.AccountID, preset, pool); err == nil {
			err = spent.of(a).refuse()
		}
		return a, "", err
	}
	need := accounts.Need{New: true, Without: spent.accounts()}
	c := o.rota.choose(pool, need, time.Now())
	switch {
	case c.Found && c.AboveWatermark && c.Account.Kind != cw.AccountOwn:
		note = fmt.Sprintf("every account of %s is nearly at its limit: a window is used to %d%% or more", preset.Title, cw.WatermarkPercent)
		return c.Account, note, nil
	case c.Found:
		return c.Account, "", nil
	}
	for _, a := range accounts.InService(pool, need) {
		if c.Back != nil && a.ExhaustedUntil != nil && a.ExhaustedUntil.Equal(*c.Back) {
			return a, "", nil
		}
	}
	if err := spent.of(pool...).refuse(); err != nil {
		return a, "", err
	}
	return a, "", noAccountError(preset)
}

// noAccountError says that none will do by itself.
func noAccountError(preset providers.Preset) *cw.Error {
	return cw.Errorf(cw.CodeRefused, "there is no account of %s that can be used", preset.Title).
		WithHint("cw account list tells why; cw account enable NAME, or cw account add --provider %s", preset.AccountsOf())
}

// namedAccount finds an account that a person named, and refuses one that
// cannot be used now.
func (o *Orchestrator) namedAccount(ctx context.Context, ref string, preset providers.Preset, pool []cw.Account) (cw.Account, error) {
	i := slices.IndexFunc(pool, func(a cw.Account) bool {
		return ref == a.Name || ref == string(a.ID) || ref == a.Provider+"/"+a.Name
	})
	if i < 0 {
		a, err := o.Store.AccountByRef(ctx, ref)
		if err != nil {
			return a, err
		}
		return a, cw.Errorf(cw.CodeInvalid, "the account %s is one of %s, and the agent is to use %s", a.Name, a.Provider, preset.Name).
			WithHint("add --provider %s, or choose an account of cw account list --provider %s", a.Provider, preset.AccountsOf())
	}
	a := pool[i]
	refused := func(is string) *cw.Error { return cw.Errorf(cw.CodeRefused, "the account %s %s", a.Name, is) }
	switch {
	case a.Exhausted(time.Now()):
		return a, refused("is at its usage limit until " + shownTime(*a.ExhaustedUntil)).WithHint("leave --account out: then another one is used, or the agent waits")
	case a.Draining:
		return a, refused("is about to be removed").WithHint("choose another: cw account list")
	case !a.Enabled:
		return a, refused("is disabled").WithHint("cw account enable %s", a.Name)
	case a.Invalid != "" && a.Kind != cw.AccountOwn:
		return a, refused("cannot be used: "+a.Invalid).WithHint("cw account login %s, or cw account test %[1]s", a.Name)
	}
	return a, nil
}

// providerOfAccount fills in the provider of an account that was named without
// one.
func (o *Orchestrator) providerOfAccount(ctx context.Context, req *cw.SpawnRequest) error {
	if req.AccountID == "" || req.AccountID == cw.DefaultAccountName || req.Provider != "" || req.Script != "" {
		return nil
	}
	a, err := o.Store.AccountByRef(ctx, req.AccountID)
	if err == nil {
		req.Provider = a.Provider
	}
	if cw.ErrorCode(err) == cw.CodeInvalid { // several have one of that name: the usual provider's, else it is said then
		err = nil
	}
	return err
}

// shownTime is a time in a text for people: to the minute, where cw runs.
func shownTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// accountOf finds the account that a run uses. That of a row without one is the
// account default. One that nobody knows any more, after the state was recovered
// from an older copy, counts as removed.
func (o *Orchestrator) accountOf(ctx context.Context, provider string, id cw.AccountID) (cw.Account, error) {
	if id == "" || id == cw.DefaultAccountName {
		if p, err := o.Presets.Get(provider); err == nil {
			provider = p.AccountsOf()
		}
		id = cw.DefaultAccountID(provider)
	}
	a, err := o.Store.AccountByID(ctx, id)
	switch {
	case cw.ErrorCode(err) == cw.CodeNotFound:
		return cw.Account{ID: id, Provider: provider, Name: string(id), RemovedAt: new(time.Time)}, nil
	case err != nil:
		return a, fmt.Errorf("find the account: %w", err)
	}
	return a, nil
}

// unusableError says that a run cannot have its account.
type unusableError struct {
	reason cw.Reason // usage_limit or auth
	err    error
}

func (e *unusableError) Error() string { return e.err.Error() }
func (e *unusableError) Unwrap() error { return e.err }

// access gives what a run needs of its account. An unusableError when it cannot
// be used: it was exhausted, taken out of service or refused since it was
// chosen.
func (o *Orchestrator) access(ctx context.Context, preset providers.Preset, a cw.Account) (cw.AccountAccess, error) {
	pool, err := o.poolOf(ctx, preset, nil)
	if err != nil {
		return cw.AccountAccess{}, err
	}
	now := time.Now()
	serving := slices.ContainsFunc(accounts.InService(pool, accounts.Need{}), func(b cw.Account) bool { return b.ID == a.ID })
	switch {
	case a.Exhausted(now):
		text := "the account " + a.Name + " is at its usage limit until " + shownTime(*a.ExhaustedUntil)
		return cw.AccountAccess{}, &unusableError{cw.ReasonUsageLimit, errors.New(text + colon(a.ExhaustedText))}
	case !serving && a.Kind != cw.AccountOwn, !a.Enabled:
		return cw.AccountAccess{}, &unusableError{cw.ReasonAuth, outOfService(a)}
	case a.Kind == cw.AccountOwn:
		return cw.AccountAccess{}, nil
	}
	access, err := o.Accounts.Ready(ctx, a)
	if err != nil && ctx.Err() == nil {
		return access, &unusableError{cw.ReasonAuth, fmt.Errorf("the account %s cannot be used: %w", a.Name, err)}
	}
	return withPlace(access, preset), err
}

// outOfService says why an account is given to no run any more.
func outOfService(a cw.Account) error {
	is := "disabled"
	switch {
	case a.RemovedAt != nil:
		is = "removed"
	case a.Draining:
		is = "about to be removed"
	case a.Enabled && a.Invalid != "":
		is = "not usable: " + a.Invalid
	}
	return cw.Errorf(cw.CodeRefused, "the account %s is %s", a.Name, is).
		WithHint("cw account list shows what there is; cw account enable NAME, cw account login NAME")
}

// withPlace completes the environment of an account: it leads the CLI to the
// account's configuration directory, and is not nil, so that no credentials of
// the caller's come in.
func withPlace(access cw.AccountAccess, preset providers.Preset) cw.AccountAccess {
	env := map[string]string{}
	for name, value := range access.Env {
		env[name] = value
	}
	led := slices.ContainsFunc(preset.Account.ConfigDir, func(name string) bool { return env[name] != "" })
	if access.ConfigDir != "" && !led && len(preset.Account.ConfigDir) > 0 {
		env[preset.Account.ConfigDir[0]] = access.ConfigDir
	}
	access.Env = env
	return access
}

// configDirOf is where the CLI of an account keeps its sessions; "" when that
// is not known.
func configDirOf(a cw.Account, opts options) string {
	if a.Kind == cw.AccountOwn {
		return opts.ConfigDir
	}
	return a.ConfigDir
}

// movable tells whether the CLI can be led to a configuration directory at all.
// One that cannot keeps its sessions where it always does.
func movable(preset providers.Preset) bool {
	return len(preset.Account.ConfigDir) > 0 || len(preset.Account.ConfigArgs) > 0
}

// nameOf is an account as people know it.
func nameOf(a cw.Account) string {
	return strings.TrimSpace(orDefault(a.Name, string(a.ID)))
}
