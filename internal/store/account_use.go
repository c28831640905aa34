package store

import (
	"cmp"
	"time"

	"cw/internal/cw"
)

// sameLimit is how much later a mark must be to be told again: agents that fail
// at once guess slightly different times for the same limit.
const sameLimit = time.Minute

// account reads one inside a transaction, a removed one too; an account default
// that is not there is made. CodeNotFound.
func (t *tx) account(id cw.AccountID) (cw.Account, error) {
	var a cw.Account
	found, err := one(t.DB, &a, "id = ?", id)
	if err != nil || found {
		return a, err
	}
	provider, is := defaultOf(id)
	if !is {
		return a, noAccount(id)
	}
	a = cw.Account{ID: id, Provider: provider, Name: cw.DefaultAccountName, Kind: cw.AccountOwn, Enabled: true, Usage: []cw.UsageWindow{}}
	return a, t.Create(&a).Error
}

// accountOf gives the account of a run: none that is named is the provider's
// default, and so is one of an earlier cw that had no others.
func accountOf(provider string, id cw.AccountID) cw.AccountID {
	if id == "" || id == cw.DefaultAccountName {
		return cw.DefaultAccountID(provider)
	}
	return id
}

// useAccount stores that a run is given to an account. With firm a removed
// account is refused (CodeRefused), and one that does not exist (CodeNotFound);
// without, the run finds out when it is started: the end of the run before must
// be stored whatever became of an account.
func (t *tx) useAccount(id cw.AccountID, firm bool) error {
	a, err := t.account(id)
	if err != nil {
		return inNext(err, firm)
	}
	if a.RemovedAt != nil && firm {
		return cw.Errorf(cw.CodeRefused, "the account %s was removed meanwhile", a.Name).WithHint("see: cw account list")
	}
	return t.Model(&cw.Account{}).Where("id = ?", id).Updates(map[string]any{"last_used_at": t.now}).Error
}

// inNext lets pass that there is no such account, unless that is refused.
func inNext(err error, firm bool) error {
	if !firm && cw.ErrorCode(err) == cw.CodeNotFound {
		return nil
	}
	return err
}

// exhaust marks an account as at its limit, if there is such an account. A later
// mark stays; account:exhausted is told when the mark is new, or later by more
// than guesses differ.
func (t *tx) exhaust(e *cw.Exhaustion) error {
	if e == nil {
		return nil
	}
	a, err := t.account(e.AccountID)
	if err != nil {
		return inNext(err, false)
	}
	until := e.Until.UTC()
	had := a.Exhausted(t.now)
	if had && !until.After(*a.ExhaustedUntil) {
		return nil
	}
	tell := !had || until.Sub(*a.ExhaustedUntil) > sameLimit
	err = t.Model(&cw.Account{}).Where("id = ?", a.ID).Updates(map[string]any{
		"exhausted_until": until, "exhausted_kind": e.Kind, "exhausted_text": e.Text,
	}).Error
	if err != nil || !tell {
		return err
	}
	return t.emit(cw.NewEvent(cw.EventAccountExhausted, cw.Actor{Kind: cw.ActorCW}, cw.AccountExhausted{
		AccountID: a.ID, Provider: a.Provider, Name: a.Name, Until: until, Kind: e.Kind, Text: e.Text,
	}))
}

// orAgents gives what a run names, else what its agent has.
func orAgents(run *cw.Run, agent cw.Agent) {
	run.Provider = cmp.Or(run.Provider, agent.Provider)
	run.AccountID = accountOf(run.Provider, cmp.Or(run.AccountID, agent.AccountID))
	run.Model = cmp.Or(run.Model, agent.Model)
}
