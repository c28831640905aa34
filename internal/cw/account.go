package cw

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// DefaultAccountName is the name of the account that is the user's own login
	// in the environment. Every provider has one, with nothing to set up.
	DefaultAccountName = "default"
	// DefaultCooldown is how long an account counts as exhausted when its CLI
	// does not tell when the limit ends.
	DefaultCooldown = time.Hour
	// WatermarkPercent is the share of a usage window above which an account
	// gets no new agents.
	WatermarkPercent = 95
	// AccountNameMax is the greatest length of an account's name in characters.
	AccountNameMax = 64
	// emailMax is the greatest length of an email address in bytes (RFC 5321).
	emailMax = 254
)

// DefaultAccountID is the id of a provider's account "default".
func DefaultAccountID(provider string) AccountID {
	return AccountID(DefaultAccountName + "-" + provider)
}

// AccountKind says what kind of credentials an account has.
type AccountKind string

// The kinds of accounts.
const (
	AccountOwn   AccountKind = "own"   // the user's own login in the environment: account default
	AccountToken AccountKind = "token" // a long-lived token without an end that is known (claude setup-token)
	AccountLogin AccountKind = "login" // a login of the CLI, with tokens that are renewed
	AccountKey   AccountKind = "key"   // an API key
)

// Account is one login or key of one provider. Its secret is not here: it lies
// in the vault (package accounts) under the account's id.
type Account struct {
	ID       AccountID   `json:"id" gorm:"primaryKey" doc:"unguessable id; default-PROVIDER for the account default"`
	Provider string      `json:"provider" doc:"whose account it is"`
	Name     string      `json:"name" doc:"unique among the accounts of the provider; the email address unless another was given"`
	Email    string      `json:"email,omitempty" doc:"whose login it is"`
	Kind     AccountKind `json:"kind" doc:"own, token, login or key"`
	// ConfigDir is the configuration directory of its CLI: accounts/<id>; "" for
	// the account default.
	ConfigDir string `json:"configDir,omitempty" doc:"the configuration directory that its CLI gets; missing for the account default"`
	// SourceDir is the directory of an adopted login: the truth about its
	// credentials stays there.
	SourceDir  string `json:"sourceDir,omitempty" doc:"the directory that an adopted login lies in"`
	BaseURL    string `json:"baseUrl,omitempty" doc:"address of the provider's API, for gateways; missing: the CLI's own"`
	ConfigJSON string `json:"-"` // what its CLI's configuration file holds beside what the CLI writes
	// Identity is a digest by which two accounts with the same login are found.
	Identity string `json:"-"`
	Priority int    `json:"priority" doc:"accounts with a greater one are used first; 0 unless set"`
	Enabled  bool   `json:"enabled" doc:"new runs may use it"`
	Draining bool   `json:"draining" doc:"it is removed when its last agent is done with it"`
	// ExhaustedUntil is when its usage limit ends; in the past it is over.
	ExhaustedUntil *time.Time `json:"exhaustedUntil" doc:"when its usage limit ends; null without one"`
	ExhaustedKind  string     `json:"exhaustedKind,omitempty" doc:"five_hour, seven_day, quota and others"`
	ExhaustedText  string     `json:"exhaustedText,omitempty" doc:"the limit in the provider's words"`
	Invalid        string     `json:"invalid,omitempty" doc:"why its credentials cannot be used; missing when they can as far as is known"`
	// NotLoggedIn is observed whenever an account is shown or chosen, for the
	// account default alone; no column has it.
	NotLoggedIn string        `json:"notLoggedIn,omitempty" gorm:"-" doc:"why your own CLI is not logged in, and the command that logs in; missing when it is, or when that cannot be known"`
	Usage       []UsageWindow `json:"usage" gorm:"serializer:json" doc:"the last known use of its windows"`
	UsageAt     *time.Time    `json:"usageAt" doc:"when that was known; null: never"`
	LastUsedAt  *time.Time    `json:"lastUsedAt" doc:"when a run was last given to it"`
	CreatedAt   time.Time     `json:"createdAt" doc:"when it was added"`
	UpdatedAt   time.Time     `json:"updatedAt" doc:"when its row last changed"`
	RemovedAt   *time.Time    `json:"removedAt,omitempty" doc:"when it was removed; its row stays for the costs"`
}

// UsageWindow is how much of a limited time is used.
type UsageWindow struct {
	Kind        string     `json:"kind" doc:"five_hour, seven_day, quota and others"`
	UsedPercent float64    `json:"usedPercent" doc:"0 to 100, more when it is overdrawn"`
	ResetsAt    *time.Time `json:"resetsAt" doc:"when it begins anew; null when that is not known"`
}

// Exhausted tells whether the account is at its usage limit at that time.
func (a Account) Exhausted(now time.Time) bool {
	return a.ExhaustedUntil != nil && a.ExhaustedUntil.After(now)
}

// AboveWatermark tells whether a window that is not over is used so far that
// the account gets no new agents.
func (a Account) AboveWatermark(now time.Time, percent float64) bool {
	return slices.ContainsFunc(a.Usage, func(w UsageWindow) bool {
		return w.UsedPercent >= percent && (w.ResetsAt == nil || w.ResetsAt.After(now))
	})
}

// Ready tells whether the account has credentials that can be used, as far as is
// known.
func (a Account) Ready() bool { return a.Invalid == "" && a.NotLoggedIn == "" }

// LoginCommand returns the command with which a person logs in to the account, given
// that of the provider's CLI; "" when there is none.
func (a Account) LoginCommand(own string) string {
	switch {
	case own == "":
	case a.Kind == AccountOwn:
		return own
	case a.Kind == AccountLogin:
		return "cw account login " + ShellWord(a.Provider+"/"+a.Name)
	}
	return ""
}

// CheckAccountName refuses names that cannot be typed or shown. CodeInvalid.
func CheckAccountName(name string) error {
	bad := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '/' || r == '\\' }
	switch {
	case name == "":
		return Errorf(CodeInvalid, "the account has no name").WithHint("name it: --name work, or --email you@example.com")
	case len([]rune(name)) > AccountNameMax:
		return Errorf(CodeInvalid, "the account's name is longer than %d characters", AccountNameMax).WithHint("choose a shorter one: --name work")
	case name[0] == '-':
		return Errorf(CodeInvalid, "the account's name %q begins as an option does", name).WithHint("choose another: --name work")
	case strings.ContainsFunc(name, bad):
		return Errorf(CodeInvalid, "the account's name %q holds blanks, slashes or control characters", name).WithHint("choose another: --name work")
	}
	return nil
}

// CheckEmail refuses what cannot be shown as an email address; "" is none.
// CodeInvalid.
func CheckEmail(email string) error {
	bad := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }
	if len(email) > emailMax || strings.ContainsFunc(email, bad) || !utf8.ValidString(email) {
		return Errorf(CodeInvalid, "%.60q is no email address", email).WithHint("write it like you@example.com")
	}
	return nil
}

// AccountView is an account with what people ask about it.
type AccountView struct {
	Account
	Agents  []string `json:"agents" doc:"names of the agents that use it now"`
	LogIn   string   `json:"logIn,omitempty" doc:"the command with which a person logs in to it; missing when there is none"`
	CostUSD float64  `json:"costUsd" doc:"cost of all its runs in US dollars"`
	Tokens  Usage    `json:"tokens" doc:"tokens of all its runs"`
}

// AddAccountRequest adds an account: exactly one of Token, APIKey and ConfigDir
// says with what; none makes an empty one for a login to come.
type AddAccountRequest struct {
	Provider  string `json:"provider,omitempty" doc:"whose account; default claude"`
	Name      string `json:"name,omitempty" doc:"default: the email address"`
	Email     string `json:"email,omitempty" doc:"whose login it is"`
	Token     Secret `json:"token,omitzero" doc:"a long-lived token, as claude setup-token prints it"`
	APIKey    Secret `json:"apiKey,omitzero" doc:"an API key"`
	ConfigDir string `json:"configDir,omitempty" doc:"absolute path of the configuration directory of an existing login"`
	BaseURL   string `json:"baseUrl,omitempty" doc:"address of the provider's API, for gateways"`
	Priority  int    `json:"priority,omitempty" doc:"accounts with a greater one are used first"`
}

// Check refuses requests that say in two ways with what, and an email address
// that is none. CodeInvalid.
func (r AddAccountRequest) Check() error {
	ways := 0
	for _, given := range []bool{!r.Token.Empty(), !r.APIKey.Empty(), r.ConfigDir != ""} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return Errorf(CodeInvalid, "an account has a token, an API key or the directory of a login, not several of them").
			WithHint("give one; add the others as accounts of their own")
	}
	return CheckEmail(strings.TrimSpace(r.Email))
}

// Check refuses a change of nothing, and a name that is none. CodeInvalid.
func (s AccountSettings) Check() error {
	switch {
	case s.Enabled == nil && s.Priority == nil && s.Name == nil && s.BaseURL == nil:
		return Errorf(CodeInvalid, "no setting is named").WithHint("settings: enabled, priority, name, baseUrl")
	case s.Name != nil:
		return CheckAccountName(*s.Name)
	}
	return nil
}

// AccountSettings changes an account. What is null stays.
type AccountSettings struct {
	Enabled  *bool   `json:"enabled,omitempty" doc:"new runs may use it"`
	Priority *int    `json:"priority,omitempty" doc:"accounts with a greater one are used first"`
	Name     *string `json:"name,omitempty" doc:"unique among the accounts of the provider"`
	BaseURL  *string `json:"baseUrl,omitempty" doc:"address of the provider's API; empty: the CLI's own"`
}

// FoundLogin is a login that was found on this machine and is no account yet.
type FoundLogin struct {
	Provider  string `json:"provider" doc:"whose login it is"`
	ConfigDir string `json:"configDir,omitempty" doc:"where it lies; missing when it is a variable"`
	Variable  string `json:"variable,omitempty" doc:"the environment variable that holds it"`
	Email     string `json:"email,omitempty" doc:"whose it is, when it tells"`
	Account   string `json:"account,omitempty" doc:"the account that has the same login already"`
	Trouble   string `json:"trouble,omitempty" doc:"why it cannot be used"`
	Add       string `json:"add,omitempty" doc:"the command that adds it"`
}

// AccountTest is what a test of an account's credentials showed.
type AccountTest struct {
	Account string `json:"account" doc:"its name"`
	OK      bool   `json:"ok" doc:"the provider took them"`
	Unknown bool   `json:"unknown" doc:"they could not be tried now, so what is wrong need not be them"`
	Text    string `json:"text" doc:"what was seen, for people"`
	LogIn   string `json:"logIn,omitempty" doc:"the command with which a person logs in to it; missing when there is none"`
}

// AccountUsage is the use of an account's windows.
type AccountUsage struct {
	Account  Account `json:"account" doc:"with its last known windows"`
	Source   string  `json:"source" doc:"endpoint, stream, session file, or none"`
	Trouble  string  `json:"trouble,omitempty" doc:"why it could not be asked now; the windows are the last known"`
	AgeNanos int64   `json:"ageNanos" doc:"how old the figures are, in nanoseconds"`
}

// LoginCommand says how a person logs in to an account: the CLI's own login is
// run in the person's terminal.
type LoginCommand struct {
	Account Account           `json:"account" doc:"the account"`
	Command []string          `json:"command" doc:"the CLI's own login"`
	Env     map[string]string `json:"env" doc:"variables that lead it to the account's configuration directory; no secret. One that is empty is to be taken away"`
}

// AccountService is what faces may do with accounts. An account is named by its
// id, its name, or PROVIDER/NAME where a name is not unique.
type AccountService interface {
	// Accounts lists the accounts of a provider, or of all ("").
	Accounts(ctx context.Context, provider string) ([]AccountView, error)
	// Account finds one. CodeNotFound, CodeInvalid for an ambiguous name.
	Account(ctx context.Context, ref string) (AccountView, error)
	// AddAccount adds one. CodeInvalid for credentials that are none, CodeRefused
	// for a name that is taken or a login that is an account already.
	AddAccount(ctx context.Context, req AddAccountRequest) (AccountView, error)
	// SetAccount changes one; who enables it has it tried again. CodeNotFound,
	// CodeInvalid; CodeRefused for a name that is taken; CodeForbidden for a base
	// URL that comes from anybody but a person on the socket.
	SetAccount(ctx context.Context, ref string, s AccountSettings) (AccountView, error)
	// RemoveAccount forgets an account and its secret. CodeRefused, naming the
	// agents, while one uses it, unless drain: then it gets no new runs and goes
	// with its last agent.
	RemoveAccount(ctx context.Context, ref string, drain bool) (AccountView, error)
	// LoginAccount tells how to log in; FinishLogin looks at what the CLI's login
	// left behind and takes it over. CodeFailed when that is nothing new.
	LoginAccount(ctx context.Context, ref string) (LoginCommand, error)
	FinishLogin(ctx context.Context, ref string) (AccountView, error)
	// DiscoverAccounts lists logins found on this machine; it adds nothing.
	// env is the caller's environment; only variables that presets name count.
	DiscoverAccounts(ctx context.Context, env map[string]string) ([]FoundLogin, error)
	// AccountUsage asks for the use of the account's windows; what cannot be
	// asked is told with its age.
	AccountUsage(ctx context.Context, ref string) (AccountUsage, error)
	// TestAccount tries the account's credentials, as far as that costs nothing.
	TestAccount(ctx context.Context, ref string) (AccountTest, error)
}

// Exhaustion says that an account is at its usage limit.
type Exhaustion struct {
	AccountID AccountID
	Until     time.Time
	Kind      string
	Text      string
}

// AccountAccess is what a run needs of an account.
type AccountAccess struct {
	// ConfigDir is the configuration directory of its CLI; "" for the account
	// default, whose CLI finds its own.
	ConfigDir string
	// Env holds the variables with its credentials and addresses; nil for the
	// account default, whose credentials come from the environment.
	Env map[string]string
}
