package accounts

import (
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// ownLoginsFunc scripts what shows.
type ownLoginsFunc func(provider string) OwnLogin

func (f ownLoginsFunc) OwnLogin(provider string) OwnLogin { return f(provider) }

// TestOwnLogin: list, show and test agree on a CLI that is not logged in, and a
// mark of a login that was refused goes with the next login.
func TestOwnLogin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	shows := OwnLogin{Missing: "Codex is not logged in; log in: codex login"}
	r.OwnLogins = ownLoginsFunc(func(string) OwnLogin { return shows })
	const ref = "default-codex"
	_, err := r.db.AccountByID(t.Context(), ref)
	must(t, err)

	v, err := r.Account(t.Context(), ref)
	must(t, err)
	all, err := r.Accounts(t.Context(), "codex")
	must(t, err)
	tried, err := r.TestAccount(t.Context(), ref)
	must(t, err)
	if v.NotLoggedIn != shows.Missing || len(all) != 1 || all[0].NotLoggedIn != shows.Missing || v.Ready() {
		t.Errorf("shown as %+v and %+v", v, all)
	}
	if tried.OK || tried.Unknown || tried.Text != shows.Missing || tried.LogIn != "codex login" || v.LogIn != "codex login" {
		t.Errorf("tried: %+v", tried)
	}

	// It was refused: that stands until its files change.
	must(t, r.markInvalid(t.Context(), v.Account, "the provider refused its credentials"))
	shows = OwnLogin{ChangedAt: time.Now().Add(-time.Hour)}
	if tried, err = r.TestAccount(t.Context(), ref); err != nil || tried.OK || !strings.Contains(tried.Text, "refused") {
		t.Errorf("refused, it is %+v, %v", tried, err)
	}
	must(t, r.Tidy(t.Context()))
	if v, err = r.Account(t.Context(), ref); err != nil || v.Ready() {
		t.Errorf("without a new login it is ready: %+v, %v", v, err)
	}
	shows.ChangedAt = time.Now().Add(time.Hour)
	must(t, r.Tidy(t.Context()))
	if v, err = r.Account(t.Context(), ref); err != nil || !v.Ready() {
		t.Errorf("after a new login it is %+v, %v", v, err)
	}

	shows = OwnLogin{Unknown: true}
	if tried, err = r.TestAccount(t.Context(), ref); err != nil || !tried.OK || !strings.Contains(tried.Text, "does not see") {
		t.Errorf("where nothing shows: %+v, %v", tried, err)
	}
}

// TestChooseLoggedIn: an account whose CLI is not logged in is chosen only where
// there is no other, at a limit or not.
func TestChooseLoggedIn(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	later := now.Add(time.Hour)
	own := cw.Account{ID: "own", Name: "default", Kind: cw.AccountOwn, Enabled: true, NotLoggedIn: "there is no login"}
	key := cw.Account{ID: "key", Name: "work", Kind: cw.AccountKey, Enabled: true, LastUsedAt: &now}
	atLimit := key
	atLimit.ExhaustedUntil = &later
	for name, tt := range map[string]struct {
		pool []cw.Account
		want cw.AccountID
		back bool
	}{
		"beside a key":               {[]cw.Account{own, key}, "key", false},
		"beside a key at its limit":  {[]cw.Account{own, atLimit}, "", true},
		"alone":                      {[]cw.Account{own}, "own", false},
		"beside one that is refused": {[]cw.Account{own, {ID: "bad", Kind: cw.AccountKey, Enabled: true, Invalid: "401"}}, "own", false},
	} {
		if c := Choose(tt.pool, Need{New: true}, now); c.Account.ID != tt.want || (c.Back != nil) != tt.back {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
