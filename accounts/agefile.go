package accounts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"cw/internal/cw"
)

const (
	ageKeyFile = "key"
	ageSuffix  = ".age"
)

// ageVault keeps each secret in a file of its own, sealed with a key that lies
// beside it. That keeps secrets out of copies of single files and of searches;
// who can read the whole folder can read them.
type ageVault struct{ dir string }

// Get implements Vault.
func (v ageVault) Get(_ context.Context, id cw.AccountID) (cw.Secret, error) {
	if err := checkID(id); err != nil {
		return cw.Secret{}, err
	}
	sealed, err := readOwn(v.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return cw.Secret{}, noSecret(id)
	}
	if err != nil {
		return cw.Secret{}, v.trouble(err)
	}
	key, err := v.key()
	if err != nil {
		return cw.Secret{}, v.trouble(err)
	}
	plain, err := age.Decrypt(bytes.NewReader(sealed), key)
	if err != nil {
		return cw.Secret{}, v.trouble(err)
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		return cw.Secret{}, v.trouble(err)
	}
	return cw.NewSecret(string(text)), nil
}

// Set implements Vault.
func (v ageVault) Set(_ context.Context, id cw.AccountID, secret cw.Secret) error {
	if err := checkID(id); err != nil {
		return err
	}
	key, err := v.key()
	if errors.Is(err, fs.ErrNotExist) {
		key, err = v.makeKey()
	}
	if err != nil {
		return v.trouble(err)
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, key.Recipient())
	if err == nil {
		_, err = io.WriteString(w, secret.Reveal())
		err = errors.Join(err, w.Close())
	}
	if err == nil {
		sweepDrafts(v.path(id))
		err = writeOwn(v.path(id), sealed.Bytes())
	}
	if err != nil {
		return v.trouble(err)
	}
	return nil
}

// Delete implements Vault.
func (v ageVault) Delete(_ context.Context, id cw.AccountID) error {
	if err := checkID(id); err != nil {
		return err
	}
	if err := os.Remove(v.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return v.trouble(err)
	}
	return nil
}

func (v ageVault) path(id cw.AccountID) string { return filepath.Join(v.dir, string(id)+ageSuffix) }

// key reads the key. One that others can read is refused.
func (v ageVault) key() (*age.X25519Identity, error) {
	path := filepath.Join(v.dir, ageKeyFile)
	text, err := readOwn(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is open to other users (mode %04o)", path, info.Mode().Perm())
	}
	key, err := age.ParseX25519Identity(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s holds no key", path) // age's own text could quote the file
	}
	return key, nil
}

// makeKey makes the key, unless another process was quicker. While there are
// sealed files a lost key is not replaced: they could never be read again.
func (v ageVault) makeKey() (*age.X25519Identity, error) {
	if err := os.MkdirAll(v.dir, dirMode); err != nil {
		return nil, err
	}
	if sealed, _ := filepath.Glob(filepath.Join(v.dir, "*"+ageSuffix)); len(sealed) > 0 {
		if key, err := v.key(); err == nil {
			return key, nil // made meanwhile
		}
		return nil, fmt.Errorf("its key %s is gone, and %d files are sealed with it", filepath.Join(v.dir, ageKeyFile), len(sealed))
	}
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	if err := createOwn(filepath.Join(v.dir, ageKeyFile), []byte(key.String()+"\n")); err != nil {
		return nil, err
	}
	return v.key()
}

func (v ageVault) trouble(err error) error {
	return cw.Errorf(cw.CodeFailed, "the secrets in %s cannot be used", v.dir).Because(err).
		WithHint("the folder must be yours alone, with its key as cw made it: chmod -R go= %s", v.dir)
}
