package servicetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// aToken is a token of claude's form, another one each time.
func aToken() cw.Secret {
	return cw.NewSecret("sk-ant-oat01-" + strings.Repeat(cw.NewID(), 6) + "-AA")
}

// added lists the accounts that somebody added, not the users' own logins.
func added(t *testing.T, f Fixture, provider string) []string {
	t.Helper()
	all, err := f.Services.Accounts(soon(t), provider)
	ok(t, err)
	names := []string{}
	for _, a := range all {
		if a.Kind != cw.AccountOwn {
			names = append(names, a.Provider+"/"+a.Name)
		}
	}
	return names
}

// accountsCase: an account is added, found in every way, changed and removed;
// each change is an event, and nothing ever shows the secret.
func accountsCase(t *testing.T, f Fixture) {
	s, token := f.Services, aToken()
	made, err := s.AddAccount(soon(t), cw.AddAccountRequest{Email: "one@example.com", Token: token, BaseURL: "http://127.0.0.1:9"})
	ok(t, err)
	if !cw.IsID(string(made.ID)) || made.Provider != "claude" || made.Name != "one@example.com" || made.Email != made.Name ||
		made.Kind != cw.AccountToken || !made.Enabled || made.Draining || made.Invalid != "" || made.BaseURL != "http://127.0.0.1:9" ||
		made.Usage == nil || made.Agents == nil {
		t.Errorf("added %+v", made)
	}
	_, err = s.AddAccount(soon(t), cw.AddAccountRequest{Name: "key", APIKey: cw.NewSecret("sk-ant-api03-" + strings.Repeat(cw.NewID(), 7) + "AA"), Priority: 3})
	ok(t, err)
	if got := added(t, f, ""); !slices.Equal(got, []string{"claude/key", "claude/one@example.com"}) {
		t.Errorf("accounts %v, the greatest priority first", got)
	}
	if got := added(t, f, "codex"); len(got) != 0 {
		t.Errorf("accounts of codex: %v", got)
	}
	for _, ref := range []string{string(made.ID), made.Name, "claude/" + made.Name} {
		found, err := s.Account(soon(t), ref)
		ok(t, err)
		if diff := cmp.Diff(made, found); diff != "" {
			t.Errorf("%s: %s", ref, diff)
		}
	}

	off, first, name := false, 9, "work"
	set, err := s.SetAccount(soon(t), made.Name, cw.AccountSettings{Enabled: &off, Priority: &first, Name: &name})
	ok(t, err)
	if set.ID != made.ID || set.Enabled || set.Priority != 9 || set.Name != "work" || set.Email != made.Email || set.BaseURL != made.BaseURL {
		t.Errorf("changed to %+v", set)
	}
	_, err = s.Account(soon(t), made.Name)
	wantCode(t, "Account by a name that it no longer has", err, cw.CodeNotFound)

	gone, err := s.RemoveAccount(soon(t), "work", false)
	ok(t, err)
	if gone.ID != made.ID || gone.RemovedAt == nil {
		t.Errorf("removed %+v", gone)
	}
	_, err = s.Account(soon(t), string(made.ID))
	wantCode(t, "Account that was removed", err, cw.CodeNotFound)
	again, err := s.AddAccount(soon(t), cw.AddAccountRequest{Name: "work", Token: token}) // name and login are free
	ok(t, err)
	accountEventsCase(t, f, token, again)
}

func accountEventsCase(t *testing.T, f Fixture, token cw.Secret, shown ...any) {
	t.Helper()
	types := []cw.EventType{cw.EventAccountAdded, cw.EventAccountChanged, cw.EventAccountRemoved}
	var got []cw.EventType
	for _, e := range collect(t, f.Services.Events(soon(t), cw.EventQuery{Types: types})) {
		got = append(got, e.Type)
		shown = append(shown, e)
	}
	if !slices.Equal(got, []cw.EventType{types[0], types[0], types[1], types[2], types[0]}) {
		t.Errorf("events %v", got)
	}
	all, err := f.Services.Accounts(soon(t), "")
	ok(t, err)
	text, err := json.Marshal(append(shown, all))
	ok(t, err)
	if strings.Contains(string(text), token.Reveal()) || strings.Contains(string(text), token.Reveal()[20:60]) {
		t.Errorf("the secret is shown: %s", text)
	}
}

// sameLoginCase: two accounts with one name or one login are refused, naming the
// first.
func sameLoginCase(t *testing.T, f Fixture) {
	s, token := f.Services, aToken()
	first, err := s.AddAccount(soon(t), cw.AddAccountRequest{Name: "first", Token: token})
	ok(t, err)
	_, err = s.AddAccount(soon(t), cw.AddAccountRequest{Name: "first", Token: aToken()})
	wantCode(t, "AddAccount with a name that is taken", err, cw.CodeRefused)
	_, err = s.AddAccount(soon(t), cw.AddAccountRequest{Name: "second", Token: token})
	if wantCode(t, "AddAccount with a login that is there", err, cw.CodeRefused); err == nil || !strings.Contains(err.Error(), "first") {
		t.Errorf("%v does not name the first", err)
	}
	if err != nil && strings.Contains(err.Error()+cw.ErrorHint(err), token.Reveal()) {
		t.Error("the error shows the secret")
	}
	_, err = s.AddAccount(soon(t), cw.AddAccountRequest{Name: "second", Token: aToken()})
	ok(t, err)
	taken := "first"
	_, err = s.SetAccount(soon(t), "second", cw.AccountSettings{Name: &taken})
	wantCode(t, "SetAccount to a name that is taken", err, cw.CodeRefused)
	still, err := s.Account(soon(t), "first")
	ok(t, err)
	if diff := cmp.Diff(first, still); diff != "" {
		t.Errorf("the first one changed: %s", diff)
	}
}

// badAccountsCase: what is no account and no credential is refused and changes
// nothing, and no error tells what was given as a secret.
func badAccountsCase(t *testing.T, f Fixture) {
	s := f.Services
	key := cw.NewSecret("sk-ant-api03-" + strings.Repeat(cw.NewID(), 7) + "AA")
	for what, c := range map[string]struct {
		req  cw.AddAccountRequest
		code cw.Code
	}{
		"two ways":           {cw.AddAccountRequest{Name: "x", Token: aToken(), APIKey: key}, cw.CodeInvalid},
		"another's key":      {cw.AddAccountRequest{Name: "x", Token: cw.NewSecret("sk-proj-swordfish")}, cw.CodeInvalid},
		"blanks in a token":  {cw.AddAccountRequest{Name: "x", Token: cw.NewSecret("sk-ant-oat01-one sk-ant-oat01-swordfish")}, cw.CodeInvalid},
		"a bad name":         {cw.AddAccountRequest{Name: "a b", Token: aToken()}, cw.CodeInvalid},
		"a slash":            {cw.AddAccountRequest{Name: "a/b", Token: aToken()}, cw.CodeInvalid},
		"a long name":        {cw.AddAccountRequest{Name: strings.Repeat("n", cw.AccountNameMax+1), Token: aToken()}, cw.CodeInvalid},
		"no such provider":   {cw.AddAccountRequest{Name: "x", Provider: unknown, Token: aToken()}, cw.CodeNotFound},
		"no login there":     {cw.AddAccountRequest{Name: "x", ConfigDir: "/nothing/is/here"}, cw.CodeInvalid},
		"the name of no one": {cw.AddAccountRequest{Name: cw.DefaultAccountName, Token: aToken()}, cw.CodeRefused},
	} {
		_, err := s.AddAccount(soon(t), c.req)
		wantCode(t, "AddAccount, "+what, err, c.code)
		if err != nil && strings.Contains(err.Error()+cw.ErrorHint(err), "swordfish") {
			t.Errorf("%s: the error tells the secret: %v", what, err)
		}
	}
	for _, ref := range []string{unknown, cw.NewID(), "..", "ü?#%2F", "-x", "claude/" + unknown} {
		for what, act := range map[string]func() error{
			"Account": func() error { _, err := s.Account(soon(t), ref); return err },
			"SetAccount": func() error {
				on := true
				_, err := s.SetAccount(soon(t), ref, cw.AccountSettings{Enabled: &on})
				return err
			},
			"RemoveAccount": func() error { _, err := s.RemoveAccount(soon(t), ref, false); return err },
			"drain":         func() error { _, err := s.RemoveAccount(soon(t), ref, true); return err },
			"LoginAccount":  func() error { _, err := s.LoginAccount(soon(t), ref); return err },
			"FinishLogin":   func() error { _, err := s.FinishLogin(soon(t), ref); return err },
			"AccountUsage":  func() error { _, err := s.AccountUsage(soon(t), ref); return err },
			"TestAccount":   func() error { _, err := s.TestAccount(soon(t), ref); return err },
		} {
			wantCode(t, what+" "+ref, act(), cw.CodeNotFound)
		}
	}
	_, err := s.SetAccount(soon(t), unknown, cw.AccountSettings{})
	wantCode(t, "SetAccount without a setting", err, cw.CodeInvalid)
	if got := added(t, f, ""); len(got) != 0 {
		t.Errorf("there are accounts: %v", got)
	}
}
