package accounts

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"cw/internal/cw"
)

const anID = cw.AccountID("k3v7q2mzt5ha")

// vaults are all kinds, each of its own home.
func vaults(t *testing.T) map[string]Vault {
	keyring.MockInit()
	return map[string]Vault{"file": ageVault{dir: t.TempDir()}, "keyring": newKeyring(cw.NewID())}
}

func TestVaults(t *testing.T) {
	for name, v := range vaults(t) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if _, err := v.Get(ctx, anID); cw.ErrorCode(err) != cw.CodeNotFound || cw.ErrorHint(err) == "" {
				t.Errorf("nothing stored: %v", err)
			}
			for _, text := range []string{"first", "second, longer " + strings.Repeat("x", 5000)} {
				must(t, v.Set(ctx, anID, cw.NewSecret(text)))
				got, err := v.Get(ctx, anID)
				if err != nil || got.Reveal() != text {
					t.Errorf("%q %v", got.Reveal(), err)
				}
			}
			must(t, v.Delete(ctx, anID))
			must(t, v.Delete(ctx, anID))
			if _, err := v.Get(ctx, anID); cw.ErrorCode(err) != cw.CodeNotFound {
				t.Errorf("it is still there: %v", err)
			}
			for _, bad := range []cw.AccountID{"", "../x", "a/b", ".", "A", cw.AccountID(strings.Repeat("a", 200))} {
				if err := v.Set(ctx, bad, cw.NewSecret("x")); cw.ErrorCode(err) != cw.CodeInvalid {
					t.Errorf("%q: %v", bad, err)
				}
			}
		})
	}
}

// TestPiecesOfASecret: a keyring's entries are small. A secret in several is
// replaced whole or not at all, and goes whole.
func TestPiecesOfASecret(t *testing.T) {
	keyring.MockInit()
	k := newKeyring(cw.NewID())
	entry := k.home + "/" + string(anID)
	long := func(c string, n int) string { return strings.Repeat(c, n) + "!" }
	has := func(want string) {
		t.Helper()
		if got, err := k.Get(t.Context(), anID); err != nil || got.Reveal() != want {
			t.Fatalf("%d bytes %.10q, %v; want %d bytes", len(got.Reveal()), got.Reveal(), err, len(want))
		}
	}
	rest := func() (names []string) {
		for _, name := range []string{entry, pieceName(entry, "a", 0), pieceName(entry, "a", 1), pieceName(entry, "a", 2), pieceName(entry, "b", 0), pieceName(entry, "b", 1), pieceName(entry, "b", 2)} {
			if text, err := keyring.Get(keyringService, name); err == nil {
				if names = append(names, strings.TrimPrefix(name, entry)); len(text) > pieceMax {
					t.Errorf("%s has %d bytes", name, len(text))
				}
			}
		}
		return names
	}
	for _, text := range []string{long("a", pieceMax-2), long("b", pieceMax-1), long("c", pieceMax), long("d", 2*pieceMax), long("e", 3*pieceMax-1), long("f", 5), long("g", 2*pieceMax), long("h", 2*pieceMax)} {
		must(t, k.Set(t.Context(), anID, cw.NewSecret(text)))
		has(text)
		if want := max(1, (len(text)+pieceMax-1)/pieceMax+1); len(text) > pieceMax && len(rest()) != want || len(text) <= pieceMax && len(rest()) != 1 {
			t.Errorf("%d bytes are in %v", len(text), rest())
		}
	}
	// A writer was killed before the entry that counts was written.
	must(t, keyring.Set(keyringService, pieceName(entry, "a", 0), "another"))
	must(t, keyring.Set(keyringService, pieceName(entry, "b", 0), "another"))
	head, _ := keyring.Get(keyringService, entry)
	p, _ := parsePieces(head)
	must(t, keyring.Set(keyringService, pieceName(entry, p.set, 0), long("h", 2*pieceMax)[:pieceMax]))
	has(long("h", 2*pieceMax))
	must(t, keyring.Set(keyringService, pieceName(entry, p.set, 1), "torn"))
	if got, err := k.Get(t.Context(), anID); cw.ErrorCode(err) != cw.CodeFailed || !got.Empty() {
		t.Errorf("torn: %v", err)
	}
	if err := k.Set(t.Context(), anID, cw.NewSecret(long("x", pieceMax*piecesMax))); cw.ErrorCode(err) != cw.CodeFailed {
		t.Errorf("as large as any: %v", err)
	}
	must(t, k.Delete(t.Context(), anID))
	if left := rest(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestTwoHomesDoNotMix(t *testing.T) {
	keyring.MockInit()
	a, b := newKeyring(cw.NewID()), newKeyring(cw.NewID())
	must(t, a.Set(t.Context(), anID, cw.NewSecret("of a")))
	must(t, b.Set(t.Context(), anID, cw.NewSecret("of b")))
	must(t, b.Delete(t.Context(), anID))
	if got, err := a.Get(t.Context(), anID); err != nil || got.Reveal() != "of a" {
		t.Errorf("%q %v", got.Reveal(), err)
	}
}

func TestAgeFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	v := ageVault{dir: dir}
	must(t, v.Set(t.Context(), anID, cw.NewSecret("a-secret-of-some-length")))
	for name, want := range map[string]os.FileMode{".": 0o700 | os.ModeDir, "key": 0o600, string(anID) + ".age": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	file, key := filepath.Join(dir, string(anID)+".age"), filepath.Join(dir, "key")
	sealedText, _ := os.ReadFile(file)
	keyText, _ := os.ReadFile(key)
	if bytes.Contains(sealedText, []byte("a-secret")) {
		t.Error("it is not sealed")
	}
	broken := func(what, word string) {
		t.Helper()
		_, err := v.Get(t.Context(), anID)
		if cw.ErrorCode(err) != cw.CodeFailed || cw.ErrorHint(err) == "" || !strings.Contains(fmt.Sprint(err), word) || strings.Contains(fmt.Sprint(err), "AGE-SECRET") {
			t.Errorf("%s: %v", what, err)
		}
		if err := v.Set(t.Context(), anID, cw.NewSecret("another-secret")); what != "damaged" && cw.ErrorCode(err) != cw.CodeFailed {
			t.Errorf("%s: a secret was stored: %v", what, err)
		}
	}
	must(t, os.Chmod(key, 0o644))
	broken("open", "open to other users")
	must(t, os.Remove(key))
	broken("lost", "key")
	if _, err := os.Lstat(key); err == nil {
		t.Fatal("a lost key was replaced")
	}
	must(t, os.WriteFile(key, []byte("AGE-SECRET-KEY-1NONE\n"), 0o600))
	broken("another", "holds no key")
	must(t, os.WriteFile(key, keyText, 0o600))
	must(t, os.WriteFile(file, append(bytes.Clone(sealedText[:len(sealedText)-1]), sealedText[len(sealedText)-1]^1), 0o600))
	broken("damaged", "")
	must(t, os.WriteFile(file, sealedText, 0o600))
	if got, err := v.Get(t.Context(), anID); err != nil || got.Reveal() != "a-secret-of-some-length" {
		t.Errorf("%v", err)
	}
}

// TestOneKey: many that store their first secret at once make one key.
func TestOneKey(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			v := ageVault{dir: dir}
			id := cw.AccountID(fmt.Sprintf("account%d", i))
			if err := v.Set(t.Context(), id, cw.NewSecret(string(id))); err != nil {
				t.Error(err)
			}
			if got, err := v.Get(t.Context(), id); err != nil || got.Reveal() != string(id) {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestCreateOwn: of many that make a file at once one wins, and nobody sees
// another's.
func TestCreateOwn(t *testing.T) {
	for range 20 {
		path := filepath.Join(t.TempDir(), "key")
		var seen [8]string
		var all sync.WaitGroup
		for i := range seen {
			all.Go(func() {
				if err := createOwn(path, []byte(cw.NewID())); err != nil {
					t.Error(err)
				}
				text, _ := readOwn(path)
				seen[i] = string(text)
			})
		}
		all.Wait()
		for _, s := range seen {
			if s != seen[0] || s == "" {
				t.Fatalf("%q", seen)
			}
		}
	}
}

func TestOpenVault(t *testing.T) {
	home := func() cw.Home { return cw.Home(t.TempDir()) }
	var told bytes.Buffer
	log := slog.New(slog.NewTextHandler(&told, nil))
	kind := func(h cw.Home, want string) string {
		v, err := OpenVault(t.Context(), h, want, log)
		if err != nil {
			return string(cw.ErrorCode(err))
		}
		return map[bool]string{true: "file", false: "keyring"}[v == Vault(ageVault{dir: h.Secrets()})]
	}
	works, broken, forced := home(), home(), home()
	keyring.MockInit()
	if got := kind(works, ""); got != "keyring" {
		t.Error(got)
	}
	keyring.MockInitWithError(errors.New("no bus"))
	if got := kind(broken, ""); got != "file" {
		t.Error(got)
	}
	if n := strings.Count(told.String(), "\n"); n != 2 || !strings.Contains(told.String(), "no bus") {
		t.Errorf("said %d times: %s", n, told.String())
	}
	// Once chosen it stays, whatever works by now, and is not said again.
	if got := kind(works, ""); got != "keyring" {
		t.Errorf("it was switched silently: %s", got)
	}
	v, err := OpenVault(t.Context(), works, "", log)
	must(t, err)
	if _, err := v.Get(t.Context(), anID); cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(cw.ErrorHint(err), "unlock") {
		t.Errorf("a locked keyring: %v", err)
	}
	keyring.MockInit()
	if got := kind(broken, ""); got != "file" {
		t.Errorf("it was switched silently: %s", got)
	}
	if got := kind(forced, vaultFile); got != "file" {
		t.Error(got)
	}
	for _, c := range []struct {
		home cw.Home
		want string
		code cw.Code
	}{{forced, vaultKeyring, cw.CodeRefused}, {works, vaultFile, cw.CodeRefused}, {works, "drawer", cw.CodeInvalid}} {
		if got := kind(c.home, c.want); got != string(c.code) {
			t.Errorf("%s: %s", c.want, got)
		}
	}
	must(t, os.WriteFile(filepath.Join(forced.Secrets(), vaultNote), []byte("keyring ../x\n"), 0o600))
	if got := kind(forced, ""); got != string(cw.CodeFailed) {
		t.Errorf("a damaged note: %s", got)
	}
	if n := strings.Count(told.String(), "\n"); n != 2 {
		t.Errorf("said again: %s", told.String())
	}
}

// TestSilentKeyring: a keyring that does not answer holds nobody up for long,
// and the one call that hangs is the only one.
func TestSilentKeyring(t *testing.T) {
	k := newKeyring(cw.NewID())
	k.patience = 20 * time.Millisecond
	release, over := make(chan struct{}), make(chan struct{})
	hang := func(string) error { <-release; close(over); return nil }
	if err := k.call(t.Context(), anID, hang); cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(err.Error(), "does not answer") {
		t.Error(err)
	}
	second := false
	if err := k.call(t.Context(), anID, func(string) error { second = true; return nil }); cw.ErrorCode(err) != cw.CodeFailed || second {
		t.Error(err, second)
	}
	close(release)
	<-over
	for k.call(t.Context(), anID, func(string) error { return nil }) != nil {
	}
}
