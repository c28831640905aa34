package cw_test

import (
	"errors"
	"strings"
	"testing"

	"cw/internal/cw"
)

func TestNewID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 10_000 {
		id := cw.NewID()
		if !cw.IsID(id) || len(id) != cw.IDLength {
			t.Fatalf("%q is no id", id)
		}
		if seen[id] {
			t.Fatalf("%q came twice", id)
		}
		seen[id] = true
	}
}

func FuzzIsID(f *testing.F) {
	for _, s := range []string{"k3v7q2mzt5ha", "", "K3V7Q2MZT5HA", "../../etc/pas", "k3v7q2mzt5h\n", "k3v7q2mzt51a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !cw.IsID(s) {
			return
		}
		if len(s) != cw.IDLength || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz234567") != "" {
			t.Errorf("%q is taken for an id", s)
		}
	})
}

func TestToken(t *testing.T) {
	t.Parallel()
	a, b := cw.NewToken(), cw.NewToken()
	if a == b || !strings.HasPrefix(a, "cwa_") || len(a) < 50 {
		t.Errorf("tokens %q and %q", a, b)
	}
	if h := cw.HashToken(a); len(h) != 64 || strings.Contains(h, a[4:12]) || h != cw.HashToken(a) || h == cw.HashToken(b) {
		t.Errorf("hash %q", h)
	}
}

func TestValidAlias(t *testing.T) {
	t.Parallel()
	good := []string{"brave-otter", "a", "fix-2", "x9", "brave-otter-12"}
	bad := []string{
		"", "-x", "x-", "x--y", "../x", "x/y", "X", "9x", "x y", "x\n", ".git", "x.lock",
		"k3v7q2mzt5ha", strings.Repeat("a", 41), "ä", "x\x00",
	}
	for _, s := range good {
		if err := cw.ValidAlias(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range bad {
		if err := cw.ValidAlias(s); cw.ErrorCode(err) != cw.CodeInvalid || cw.ErrorHint(err) == "" {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestNewAlias(t *testing.T) {
	t.Parallel()
	free := func(string) (bool, error) { return false, nil }
	alias, err := cw.NewAlias(free)
	if err != nil || cw.ValidAlias(alias) != nil {
		t.Errorf("%q, %v", alias, err)
	}
	// When every plain pair is taken, numbers go on.
	onlyNumbered := func(a string) (bool, error) { return strings.Count(a, "-") < 2, nil }
	if alias, err = cw.NewAlias(onlyNumbered); err != nil || cw.ValidAlias(alias) != nil {
		t.Errorf("%q, %v", alias, err)
	}
	broken := errors.New("no database")
	if _, err = cw.NewAlias(func(string) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
