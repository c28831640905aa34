package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// samplesKept is how long samples of the use of an account's windows are kept.
const samplesKept = 30 * 24 * time.Hour

// accountsOrder is how accounts are listed.
const accountsOrder = "provider, priority DESC, name, id"

// Accounts gives the accounts of a provider that are not removed, by priority
// and name. The account default of the provider is made when it is not there;
// for all providers ("") nothing is made.
func (db *DB) Accounts(ctx context.Context, provider string) ([]cw.Account, error) {
	if provider != "" {
		if err := db.haveDefault(ctx, provider); err != nil {
			return nil, err
		}
	}
	accounts := []cw.Account{}
	err := db.query(ctx, "list accounts", func(g *gorm.DB) error {
		return selectAccounts(g, provider).Find(&accounts).Error
	})
	for i := range accounts {
		accounts[i].Usage = orEmpty(accounts[i].Usage)
	}
	return accounts, err
}

func selectAccounts(g *gorm.DB, provider string) *gorm.DB {
	g = g.Where("removed_at IS NULL").Order(accountsOrder)
	if provider != "" {
		g = g.Where("provider = ?", provider)
	}
	return g
}

// haveDefault makes the account default of a provider unless it is there. Who
// only looks waits for no writer.
func (db *DB) haveDefault(ctx context.Context, provider string) error {
	there := false
	err := db.query(ctx, "find account", func(g *gorm.DB) (err error) {
		there, err = one(g, &cw.Account{}, "id = ?", cw.DefaultAccountID(provider))
		return err
	})
	if err != nil || there {
		return err
	}
	return db.change(ctx, "make the account default", func(t *tx) error {
		_, err := t.account(cw.DefaultAccountID(provider))
		return err
	})
}

// AccountByRef finds an account that is not removed by id, name or
// PROVIDER/NAME. CodeNotFound; CodeInvalid for a name that several providers
// have.
func (db *DB) AccountByRef(ctx context.Context, ref string) (cw.Account, error) {
	var a cw.Account
	err := db.query(ctx, "find account", func(g *gorm.DB) (err error) {
		a, err = accountByRef(g, ref)
		return err
	})
	return a, err
}

// accountByRef prefers an id to a name.
func accountByRef(g *gorm.DB, ref string) (cw.Account, error) {
	var found []cw.Account
	provider, name, split := strings.Cut(ref, "/")
	switch {
	case split:
		g = g.Where("provider = ? AND name = ?", provider, name)
	default:
		g = g.Where("id = ? OR name = ?", ref, ref)
	}
	if err := g.Where("removed_at IS NULL").Order("provider").Find(&found).Error; err != nil {
		return cw.Account{}, err
	}
	if i := slices.IndexFunc(found, func(a cw.Account) bool { return string(a.ID) == ref }); i >= 0 {
		found = found[i : i+1]
	}
	switch len(found) {
	case 0:
		return cw.Account{}, cw.Errorf(cw.CodeNotFound, "there is no account %.100q", ref).WithHint("see: cw account list")
	case 1:
		found[0].Usage = orEmpty(found[0].Usage)
		return found[0], nil
	}
	var choice []string
	for _, a := range found {
		choice = append(choice, a.Provider+"/"+a.Name)
	}
	return cw.Account{}, cw.Errorf(cw.CodeInvalid, "several providers have an account %q", ref).
		WithHint("say which: %s", strings.Join(choice, ", "))
}

// AccountByID finds an account, a removed one too. The account default of a
// provider is made when it is not there. CodeNotFound.
func (db *DB) AccountByID(ctx context.Context, id cw.AccountID) (a cw.Account, err error) {
	if provider, is := defaultOf(id); is {
		if err := db.haveDefault(ctx, provider); err != nil {
			return a, err
		}
	}
	err = db.query(ctx, "find account", func(g *gorm.DB) error {
		found, err := one(g, &a, "id = ?", id)
		if err == nil && !found {
			err = noAccount(id)
		}
		a.Usage = orEmpty(a.Usage)
		return err
	})
	return a, err
}

// defaultOf gives the provider of an account default, and tells whether the id
// is of one.
func defaultOf(id cw.AccountID) (provider string, is bool) {
	provider, is = strings.CutPrefix(string(id), string(cw.DefaultAccountID("")))
	return provider, is && provider != ""
}

func noAccount(id cw.AccountID) error {
	return cw.Errorf(cw.CodeNotFound, "there is no account %.100q", string(id)).WithHint("see: cw account list")
}

// AddAccount stores a new account. CodeInvalid for a name that is none;
// CodeRefused for one that is taken or kept for the account default, and for a
// login that is an account already, naming it.
func (db *DB) AddAccount(ctx context.Context, a cw.Account, e cw.Event) error {
	return db.change(ctx, "add account", func(t *tx) error {
		if err := t.checkAccount(a); err != nil {
			return err
		}
		if err := t.Create(&a).Error; err != nil {
			return err
		}
		return t.emit(e)
	})
}

// checkAccount refuses an account that cannot stand beside the others.
func (t *tx) checkAccount(a cw.Account) error {
	if err := cw.CheckAccountName(a.Name); err != nil {
		return err
	}
	isDefault := a.ID == cw.DefaultAccountID(a.Provider)
	if _, like := defaultOf(cw.AccountID(a.Name)); !isDefault && (like || a.Name == cw.DefaultAccountName) {
		return cw.Errorf(cw.CodeRefused, "the name %s is kept for your own login", a.Name).
			WithHint("choose another: --name work")
	}
	if isDefault && a.Name != cw.DefaultAccountName {
		return cw.Errorf(cw.CodeRefused, "the account %s is your own login and keeps its name", cw.DefaultAccountName)
	}
	var other cw.Account
	taken, err := one(t.DB, &other, "provider = ? AND name = ? AND id <> ? AND removed_at IS NULL", a.Provider, a.Name, a.ID)
	if err != nil {
		return err
	}
	if taken {
		return cw.Errorf(cw.CodeRefused, "%s has an account %s already", a.Provider, a.Name).
			WithHint("choose another name: --name; see: cw account list")
	}
	same, err := one(t.DB, &other, "provider = ? AND identity = ? AND identity <> '' AND id <> ? AND removed_at IS NULL", a.Provider, a.Identity, a.ID)
	if err != nil {
		return err
	}
	if same {
		return cw.Errorf(cw.CodeRefused, "this login is the account %s already", other.Name).
			WithHint("two accounts with one login would share one limit; see: cw account show %s", other.Name)
	}
	return nil
}

// accountColumns are what SetAccount stores: the facts about limits and use are
// not among them.
func accountColumns() []string {
	return []string{
		"name", "email", "kind", "config_dir", "source_dir", "base_url", "config_json", "identity",
		"priority", "enabled", "draining", "invalid",
	}
}

// SetAccount stores what a person may change of an account, and what its
// credentials tell; the facts about limits and use stay as they are.
// CodeNotFound, also for a removed one; CodeInvalid and CodeRefused as
// AddAccount.
func (db *DB) SetAccount(ctx context.Context, a cw.Account, events ...cw.Event) error {
	return db.change(ctx, "set account", func(t *tx) error {
		if err := t.checkAccount(a); err != nil {
			return err
		}
		columns := accountColumns()
		changed := t.Model(&cw.Account{}).Where("id = ? AND removed_at IS NULL", a.ID).Select(columns[0], columns[1:]).Updates(&a)
		if err := orMissing(changed, "account", string(a.ID)); err != nil {
			return err
		}
		return t.emit(events...)
	})
}

// accountUsers gives the names of the agents that use accounts and are not at
// rest, by account.
func accountUsers(g *gorm.DB) (map[cw.AccountID][]string, error) {
	var rows []cw.Agent
	busy := slices.DeleteFunc(cw.AgentStatuses(), cw.AgentStatus.AtRest)
	err := g.Select("alias", "account_id", "provider").
		Where("deleted_at IS NULL AND status IN (SELECT value FROM json_each(?))", list(busy)).Order("created_at, id").Find(&rows).Error
	users := map[cw.AccountID][]string{}
	for _, a := range rows {
		id := accountOf(a.Provider, a.AccountID)
		users[id] = append(users[id], a.Alias)
	}
	return users, err
}

// RemoveAccount marks an account as removed; its row stays for the costs, its
// budget goes. CodeNotFound; CodeRefused for an account default, and while
// agents that are not at rest use it, naming them.
func (db *DB) RemoveAccount(ctx context.Context, id cw.AccountID, e cw.Event) error {
	return db.change(ctx, "remove account", func(t *tx) error {
		var a cw.Account
		found, err := one(t.DB, &a, "id = ? AND removed_at IS NULL", id)
		switch {
		case err != nil:
			return err
		case !found:
			return noAccount(id)
		case a.Kind == cw.AccountOwn:
			return cw.Errorf(cw.CodeRefused, "the account %s is your own login and cannot be removed", a.Name).
				WithHint("to keep agents from it: cw account disable %s/%s", a.Provider, a.Name)
		}
		users, err := accountUsers(t.DB)
		if err != nil {
			return err
		}
		if names := users[id]; len(names) > 0 {
			return cw.Errorf(cw.CodeRefused, "the account %s is used by %s", a.Name, naming(names)).
				WithHint("stop them, or let it go with its last agent: cw account remove --drain %s", a.Name)
		}
		if err := t.Model(&a).Updates(map[string]any{"removed_at": t.now, "enabled": false, "draining": false}).Error; err != nil {
			return err
		}
		if err := t.Where("scope = ? AND scope_id = ?", cw.BudgetAccount, id).Delete(&cw.Budget{}).Error; err != nil {
			return err
		}
		return t.emit(e)
	})
}

// SaveUsage stores the use of an account's windows, and a sample of each.
// Figures that are older than those that are stored change nothing.
// CodeNotFound.
func (db *DB) SaveUsage(ctx context.Context, id cw.AccountID, windows []cw.UsageWindow, at time.Time) error {
	at = at.UTC()
	return db.change(ctx, "save usage", func(t *tx) error {
		a, err := t.account(id)
		if err != nil || a.UsageAt != nil && a.UsageAt.After(at) {
			return err
		}
		a.Usage, a.UsageAt = orEmpty(windows), &at
		if err := t.Model(&a).Select("usage", "usage_at").Updates(&a).Error; err != nil {
			return err
		}
		for _, w := range windows {
			err := t.Exec("INSERT INTO usage_samples (account_id, kind, used_percent, resets_at, at) VALUES (?, ?, ?, ?, ?)",
				id, w.Kind, w.UsedPercent, w.ResetsAt, at).Error
			if err != nil {
				return fmt.Errorf("store a sample: %w", err)
			}
		}
		return t.Exec("DELETE FROM usage_samples WHERE account_id = ? AND at < ?", id, at.Add(-samplesKept)).Error
	})
}

// SetInvalid stores why an account's credentials cannot be used; "" that they
// can. The event is stored only when that is news. CodeNotFound.
func (db *DB) SetInvalid(ctx context.Context, id cw.AccountID, why string, e cw.Event) error {
	return db.change(ctx, "mark account", func(t *tx) error {
		a, err := t.account(id)
		if err != nil || a.Invalid == why {
			return err
		}
		if err := t.Model(&a).Updates(map[string]any{"invalid": why}).Error; err != nil {
			return err
		}
		if e.Type == "" {
			return nil
		}
		return t.emit(e)
	})
}

// ParkedAgents gives the agents that are parked and not removed, oldest first.
func (db *DB) ParkedAgents(ctx context.Context) ([]cw.Agent, error) {
	agents := []cw.Agent{}
	err := db.query(ctx, "find parked agents", func(g *gorm.DB) error {
		return g.Where("status = ? AND deleted_at IS NULL", cw.StatusParked).Order("created_at, id").Find(&agents).Error
	})
	for i := range agents {
		agents[i].Warnings = orEmpty(agents[i].Warnings)
	}
	return agents, err
}

// AccountViews is Accounts with the agents that use each now, and the costs of
// all its runs.
func (db *DB) AccountViews(ctx context.Context, provider string) ([]cw.AccountView, error) {
	accounts, err := db.Accounts(ctx, provider)
	if err != nil {
		return nil, err
	}
	views := make([]cw.AccountView, len(accounts))
	err = db.query(ctx, "read accounts", func(g *gorm.DB) error {
		users, err := accountUsers(g)
		if err != nil {
			return err
		}
		costs, err := costRows(g, cw.CostQuery{By: cw.CostByAccount}, "[]")
		if err != nil {
			return err
		}
		for i, a := range accounts {
			views[i] = cw.AccountView{Account: a, Agents: orEmpty(users[a.ID])}
			at := slices.IndexFunc(costs, func(c cw.CostRow) bool { return c.Key == string(a.ID) })
			if at >= 0 {
				views[i].CostUSD, views[i].Tokens = costs[at].CostUSD, costs[at].Usage
			}
		}
		return nil
	})
	return views, err
}
