package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// accountWhat is what commands about one account need.
const accountWhat = "an account: its name, PROVIDER/NAME or its id"

// secretMax is how many bytes of standard input are read for a secret.
const secretMax = 64 << 10

func newAccountCmd(a *app) *cobra.Command {
	return newGroupCmd("account", "The logins and keys that agents work with",
		newAccountAddCmd(a, nil), newAccountLoginCmd(a, nil), newAccountDiscoverCmd(a, nil), newAccountListCmd(a, nil),
		newAccountShowCmd(a, nil), newAccountUsageCmd(a, nil), newAccountTryCmd(a, nil),
		newAccountSwitchCmd(a, true, nil), newAccountSwitchCmd(a, false, nil), newAccountPriorityCmd(a, nil),
		newAccountRemoveCmd(a, nil))
}

// accountTitle names an account in full.
func accountTitle(a cw.Account) string { return oneLine(a.Provider + "/" + a.Name) }

// accountState says in a few words whether an account can be used.
func (a *app) accountState(acc cw.Account) string {
	switch {
	case acc.Invalid != "":
		return "invalid"
	case acc.NotLoggedIn != "":
		return "not logged in"
	case acc.Draining:
		return "draining"
	case !acc.Enabled:
		return "disabled"
	case acc.Exhausted(a.now()):
		return "at its limit" + until(acc.ExhaustedUntil)
	case acc.AboveWatermark(a.now(), cw.WatermarkPercent):
		return "nearly used up"
	}
	return "ready"
}

// printAccount shows one account.
func (a *app) printAccount(v cw.AccountView) {
	state := a.accountState(v.Account)
	if v.RemovedAt != nil {
		state = "removed"
	}
	a.printf("%s  %s\n", a.paint(a.outTTY).bold(accountTitle(v.Account)), state)
	facts(a.out, "  ", [][2]string{
		{"id", string(v.ID)},
		{"kind", kindFact(v.Kind)},
		{"login", oneLine(v.Email)},
		{"invalid", clean(v.Invalid)},
		{"not logged in", clean(v.NotLoggedIn)},
		{"limit", limitFact(v.Account, a.now())},
		{"priority", fmt.Sprint(v.Priority)},
		{"address", oneLine(v.BaseURL)},
		{"directory", oneLine(v.ConfigDir)},
		{"adopted from", oneLine(v.SourceDir)},
		{"agents", oneLine(strings.Join(v.Agents, ", "))},
		{"cost", costFact(v.CostUSD, v.Tokens)},
		{"last used", a.ago(v.LastUsedAt)},
		{"added", clock(v.CreatedAt)},
	})
	if len(v.Usage) > 0 {
		a.printf("  usage%s\n", bracketed(strings.TrimSpace("seen "+a.ago(v.UsageAt))))
		a.printWindows(v.Usage)
	}
}

// ago is how long a time is past; "" for none.
func (a *app) ago(t *time.Time) string {
	if t == nil {
		return ""
	}
	return elapsed(a.now().Sub(*t)) + " ago"
}

func kindFact(kind cw.AccountKind) string {
	switch kind {
	case cw.AccountOwn:
		return "own: your login in the environment"
	case cw.AccountToken:
		return "token: long-lived"
	case cw.AccountLogin:
		return "login: renewed by cw"
	case cw.AccountKey:
		return "key: an API key"
	}
	return oneLine(string(kind))
}

// limitFact says what limit an account is at.
func limitFact(a cw.Account, now time.Time) string {
	if !a.Exhausted(now) {
		return ""
	}
	what := oneLine(a.ExhaustedKind)
	if text := oneLine(a.ExhaustedText); text != "" {
		what = strings.TrimSpace(what + " (" + cut(text, summaryMax) + ")")
	}
	return strings.TrimSpace(what + until(a.ExhaustedUntil))
}

// readSecret reads a secret from standard input: on a terminal after a prompt,
// without showing what is typed. what says what it is. CodeInvalid for none.
func (a *app) readSecret(what string) (cw.Secret, error) {
	var text string
	var err error
	if a.inTTY && a.hidden != nil {
		text, err = a.hidden(what + " (it is not shown): ")
	} else {
		var data []byte
		data, err = io.ReadAll(io.LimitReader(a.in, secretMax+1))
		text = string(data)
	}
	text = strings.TrimSpace(text)
	switch {
	case err != nil:
		return cw.Secret{}, cw.Errorf(cw.CodeFailed, "the %s cannot be read", what).Because(err)
	case text == "":
		return cw.Secret{}, usagef("the %s is empty", what).WithHint("give it on stdin, for example from a file: < FILE")
	case len(text) > secretMax:
		return cw.Secret{}, usagef("the %s is longer than %s", what, size(secretMax)).WithHint("give it alone on stdin")
	}
	return cw.NewSecret(text), nil
}
