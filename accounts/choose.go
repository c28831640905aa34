package accounts

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

const (
	// vaultFile and vaultKeyring are the kinds of vaults, in CW_VAULT and in the
	// note.
	vaultFile, vaultKeyring = "file", "keyring"
	vaultNote               = "vault"
)

// OpenVault gives the vault of a home: the system's keyring where it works, else
// a sealed file. A vault once chosen stays, and a note in the home says which:
// secrets are in one place. want, of CW_VAULT, forces file or keyring for a home
// that has none yet; "" lets cw choose.
//
// CodeInvalid for another want; CodeRefused for one that the home does not have;
// CodeFailed when there is no vault to be had.
func OpenVault(ctx context.Context, home cw.Home, want string, log *slog.Logger) (Vault, error) {
	if want != "" && want != vaultFile && want != vaultKeyring {
		return nil, cw.Errorf(cw.CodeInvalid, "CW_VAULT is %.40q", want).WithHint("it is file or keyring; unset it to let cw choose")
	}
	dir := home.Secrets()
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, cw.Errorf(cw.CodeFailed, "there is no place for secrets").Because(err).WithHint("%s must be writable for you", home)
	}
	kind, id, err := readNote(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = choose(ctx, dir, want, log); err == nil {
			kind, id, err = readNote(dir)
		}
	}
	switch {
	case err != nil:
		return nil, cw.Errorf(cw.CodeFailed, "it cannot be told where the secrets of this home lie").Because(err).
			WithHint("look at %s", filepath.Join(dir, vaultNote))
	case want != "" && want != kind:
		return nil, cw.Errorf(cw.CodeRefused, "the secrets of this home lie in the %s, and CW_VAULT says %s", kind, want).
			WithHint("unset CW_VAULT; a vault once chosen stays")
	case kind == vaultKeyring:
		return newKeyring(id), nil
	}
	return ageVault{dir: dir}, nil
}

// choose notes a vault, unless another process was quicker, and says once which.
func choose(ctx context.Context, dir, want string, log *slog.Logger) error {
	id := cw.NewID()
	note, reason := vaultKeyring+" "+id, error(nil)
	if want == "" {
		reason = newKeyring(id).probe(ctx)
	}
	if want == vaultFile || reason != nil {
		note = vaultFile
	}
	if ctx.Err() != nil {
		return ctx.Err() // a probe that was cut short tells nothing
	}
	if err := createOwn(filepath.Join(dir, vaultNote), []byte(note+"\n")); err != nil {
		return err
	}
	switch {
	case reason != nil:
		log.Info("secrets are kept in a sealed file: the system's keyring does not work here", "folder", dir, "reason", reason)
	case want == "":
		log.Info("secrets are kept in the system's keyring")
	}
	return nil
}

// readNote tells the kind of the vault, and the name of its entries in a
// keyring.
func readNote(dir string) (kind, id string, err error) {
	text, err := readOwn(filepath.Join(dir, vaultNote))
	if err != nil {
		return "", "", err
	}
	kind, id, _ = strings.Cut(strings.TrimSpace(string(text)), " ")
	if kind != vaultFile && (kind != vaultKeyring || !cw.IsID(id)) {
		return "", "", errors.New("the note says neither file nor keyring")
	}
	return kind, id, nil
}
