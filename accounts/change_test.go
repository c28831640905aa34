package accounts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestWhoChangedIt: the event of a change names who asked for it; what cw does by
// itself names cw.
func TestWhoChangedIt(t *testing.T) {
	r := newRig(t)
	person := cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorPerson})
	board := cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorDashboard, ID: "board"})
	_, err := r.AddAccount(person, cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work"})
	must(t, err)
	off := false
	_, err = r.SetAccount(board, "work", cw.AccountSettings{Enabled: &off})
	must(t, err)
	_, err = r.RemoveAccount(person, "work", false)
	must(t, err)
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "goes"})
	must(t, r.revise(t.Context(), a.ID, func(a *cw.Account) ([]cw.Event, error) { a.Draining = true; return nil, nil }))
	must(t, r.Tidy(t.Context()))
	for kind, want := range map[cw.EventType][]string{
		cw.EventAccountAdded:   {"person/", "cw/"}, // the second came without anybody's request
		cw.EventAccountChanged: {"dashboard/board"},
		cw.EventAccountRemoved: {"person/", "cw/"},
	} {
		var got []string
		for _, e := range r.seen(kind) {
			got = append(got, string(e.ActorKind)+"/"+e.ActorID)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s by %v, want %v", kind, got, want)
		}
	}
}

// TestNothingIsLost: a person changes an account while cw finds out something
// about it; neither takes back what the other stored.
func TestNothingIsLost(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work"})
	for i := range 60 {
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := r.SetAccount(t.Context(), "work", cw.AccountSettings{Priority: &i}); err != nil {
				t.Error(err)
			}
		})
		why := fmt.Sprint("refused ", i)
		all.Go(func() {
			if err := r.markInvalid(t.Context(), a, why); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if v, err := r.Account(t.Context(), "work"); err != nil || v.Priority != i || v.Invalid != why {
			t.Fatalf("round %d: priority %d, invalid %q, %v", i, v.Priority, v.Invalid, err)
		}
	}
}

// TestAddressOfPeopleOnly: an account's secret goes to its address, so a
// dashboard, which cannot add accounts, cannot lead one elsewhere.
func TestAddressOfPeopleOnly(t *testing.T) {
	r := newRig(t)
	r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work", BaseURL: "https://gateway.invalid"})
	elsewhere := "https://elsewhere.invalid"
	for _, kind := range []cw.ActorKind{cw.ActorDashboard, cw.ActorAgent} {
		ctx := cw.WithActor(t.Context(), cw.Actor{Kind: kind, ID: "x"})
		if _, err := r.SetAccount(ctx, "work", cw.AccountSettings{BaseURL: &elsewhere}); cw.ErrorCode(err) != cw.CodeForbidden {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if v, _ := r.Account(t.Context(), "work"); v.BaseURL != "https://gateway.invalid" {
		t.Error(v.BaseURL)
	}
	person := cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorPerson})
	if v, err := r.SetAccount(person, "work", cw.AccountSettings{BaseURL: &elsewhere}); err != nil || v.BaseURL != elsewhere {
		t.Error(v.BaseURL, err)
	}
}

// TestEnableTriesAgain: who enables an account wants it tried again.
func TestEnableTriesAgain(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work"})
	must(t, r.markInvalid(t.Context(), a, "it was refused"))
	for enabled, want := range map[bool]string{false: "it was refused", true: ""} {
		must(t, r.markInvalid(t.Context(), a, "it was refused"))
		if v, err := r.SetAccount(t.Context(), "work", cw.AccountSettings{Enabled: &enabled}); err != nil || v.Invalid != want {
			t.Errorf("enabled %v: invalid %q, %v", enabled, v.Invalid, err)
		}
	}
}

// TestRemovedWhileRenewing: an account is removed while its login is renewed; the
// new login is not left behind.
func TestRemovedWhileRenewing(t *testing.T) {
	r := newRig(t)
	a := r.expiring(false)
	var removing sync.WaitGroup
	r.Fail = func(step string) {
		if step != "refresh/answered" {
			return
		}
		removing.Go(func() {
			if _, err := r.RemoveAccount(t.Context(), "work", false); err != nil {
				t.Error(err)
			}
		})
		for there := true; there; { // its row goes first
			_, err := r.db.AccountByRef(t.Context(), string(a.ID))
			there = err == nil
		}
	}
	_, err := r.Ready(t.Context(), a)
	removing.Wait()
	if err == nil {
		t.Error("an account that is gone is ready")
	}
	if _, err := r.Vault.Get(t.Context(), a.ID); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("its secret stays: %v", err)
	}
	if _, err := os.Lstat(r.Home.AccountDir(a.ID)); err == nil {
		t.Error("its directory stays")
	}
}

// TestLeftoversGo: what a process that was killed left of a removed account's
// credentials goes, also after its directory was looked through once.
func TestLeftoversGo(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work"})
	dir := r.Home.AccountDir(a.ID)
	must(t, os.WriteFile(filepath.Join(dir, "history.jsonl"), []byte("{}\n"), 0o600))
	draft := filepath.Join(dir, "..credentials.json-123.tmp")
	must(t, os.WriteFile(draft, []byte("{}"), 0o600))
	_, err := r.RemoveAccount(t.Context(), "work", false)
	must(t, err)
	late := filepath.Join(dir, ".credentials.json")
	for _, file := range []string{draft, late} {
		if file == late {
			must(t, os.WriteFile(file, []byte("{}"), 0o600))
		}
		must(t, r.Tidy(t.Context()))
		if _, err := os.Lstat(file); err == nil {
			t.Errorf("%s stays", filepath.Base(file))
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "history.jsonl")); err != nil {
		t.Error("a session is gone")
	}
	// The vault is not asked for ever.
	counted := &countingVault{Vault: r.Vault}
	r.Vault = counted
	must(t, r.Tidy(t.Context()))
	if counted.deletes != 0 {
		t.Errorf("asked %d times more", counted.deletes)
	}
}

type countingVault struct {
	Vault

	deletes int
}

func (v *countingVault) Delete(ctx context.Context, id cw.AccountID) error {
	v.deletes++
	return v.Vault.Delete(ctx, id)
}

// lockedVault is a keyring that somebody locked, until free is set.
type lockedVault struct {
	Vault

	free bool
}

func (v *lockedVault) Delete(ctx context.Context, id cw.AccountID) error {
	if !v.free {
		return keyringTrouble(errors.New("locked"))
	}
	return v.Vault.Delete(ctx, id)
}

// TestRemovedWithALockedVault: a secret that cannot be taken away at once goes
// later.
func TestRemovedWithALockedVault(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work"})
	vault := &lockedVault{Vault: r.Vault}
	r.Vault = vault
	if _, err := r.RemoveAccount(t.Context(), "work", false); cw.ErrorCode(err) != cw.CodeFailed {
		t.Errorf("%v", err)
	}
	vault.free = true
	must(t, r.Tidy(t.Context()))
	if _, err := r.Vault.Get(t.Context(), a.ID); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("its secret stays: %v", err)
	}
	if _, err := os.Lstat(r.Home.AccountDir(a.ID)); err == nil {
		t.Error("its directory stays")
	}
}

// TestNoticesALogin: somebody logs in again to an account that could not be used,
// with its CLI alone; it is used again, and only then.
func TestNoticesALogin(t *testing.T) {
	kinds(t, func(t *testing.T, adopted bool) {
		r := newRig(t)
		a := r.expiring(adopted)
		r.server.set(func() { r.server.refresh = "another-one" })
		if _, err := r.Ready(t.Context(), a); err == nil {
			t.Fatal("it was renewed")
		}
		invalid := func() string {
			t.Helper()
			must(t, r.Tidy(t.Context()))
			v, err := r.Account(t.Context(), "work")
			must(t, err)
			return v.Invalid
		}
		if invalid() == "" {
			t.Fatal("nobody logged in, and it is used again")
		}
		r.now = r.now.Add(time.Hour) // the endpoint could be asked again
		invalid()
		if _, asked, _ := r.server.counts(); asked != 1 {
			t.Errorf("a dead login was asked for %d times", asked)
		}
		dir := r.Home.AccountDir(a.ID)
		if adopted {
			dir = a.SourceDir
		}
		must(t, os.WriteFile(filepath.Join(dir, ".credentials.json"), []byte(loginFile("at-newer-00000000", "rt-newer-00000000", r.now.Add(time.Hour))), 0o600))
		if why := invalid(); why != "" {
			t.Errorf("somebody logged in, and it is invalid: %s", why)
		}
		f, _ := formOf("claude")
		if c, err := r.load(t.Context(), a, f); err != nil || c.refresh != "rt-newer-00000000" || !isHanded(r.Home.AccountDir(a.ID), f, c) {
			t.Errorf("%+v %v", c, err)
		}
		must(t, r.markInvalid(t.Context(), a, "refused again"))
		r.now = r.now.Add(2 * time.Hour) // its token is over, and could be renewed
		r.server.set(func() { r.server.refresh = "rt-newer-00000000" })
		if invalid() == "" {
			t.Error("the same login is used again")
		}
	})
}
