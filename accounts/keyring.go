package accounts

import (
	"context"
	"errors"
	"time"

	"github.com/zalando/go-keyring"

	"cw/internal/cw"
)

const (
	// keyringService is the name that people see in their keyring.
	keyringService = "cw"
	// keyringPatience is how long the keyring may take for an answer: a desktop
	// that asks for a password nobody is there to type hangs for ever.
	keyringPatience = 5 * time.Second
)

// keyringVault keeps secrets in the system's keyring: the secret service on
// Linux, the keychain on macOS.
type keyringVault struct {
	home     string // names this home's entries, so that two homes do not mix
	patience time.Duration
	// turn has one place: a call that hangs keeps it, and others fail without
	// hanging, too.
	turn chan struct{}
}

func newKeyring(home string) *keyringVault {
	return &keyringVault{home: home, patience: keyringPatience, turn: make(chan struct{}, 1)}
}

// Get implements Vault.
func (k *keyringVault) Get(ctx context.Context, id cw.AccountID) (cw.Secret, error) {
	var text string
	err := k.call(ctx, id, func(entry string) (err error) {
		got, err := getEntry(entry)
		if err == nil {
			text = got
		}
		return err
	})
	if errors.Is(err, keyring.ErrNotFound) {
		return cw.Secret{}, noSecret(id)
	}
	if err != nil {
		return cw.Secret{}, err
	}
	return cw.NewSecret(text), nil
}

// Set implements Vault.
func (k *keyringVault) Set(ctx context.Context, id cw.AccountID, secret cw.Secret) error {
	return k.call(ctx, id, func(entry string) error { return setEntry(entry, secret.Reveal()) })
}

// Delete implements Vault.
func (k *keyringVault) Delete(ctx context.Context, id cw.AccountID) error {
	return k.call(ctx, id, deleteEntry)
}

// probe writes, reads and deletes an entry: only that shows that a keyring
// works.
func (k *keyringVault) probe(ctx context.Context) error {
	entry, want := cw.AccountID("probe-"+cw.NewID()), cw.NewSecret(cw.NewID())
	if err := k.Set(ctx, entry, want); err != nil {
		return err
	}
	got, err := k.Get(ctx, entry)
	if err == nil && got.Reveal() != want.Reveal() {
		err = errors.New("it gave back something else")
	}
	return errors.Join(err, k.Delete(ctx, entry))
}

// call does one call and gives up on it when the keyring is silent: the call
// goes on by itself then.
func (k *keyringVault) call(ctx context.Context, id cw.AccountID, do func(entry string) error) error {
	if err := checkID(id); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, k.patience)
	defer cancel()
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return keyringTrouble(errors.New("an earlier call still waits for it"))
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-k.turn }()
		done <- do(k.home + "/" + string(id))
	}()
	select {
	case err := <-done:
		if err == nil || errors.Is(err, keyring.ErrNotFound) {
			return err
		}
		return keyringTrouble(err)
	case <-ctx.Done():
		return keyringTrouble(errors.New("it does not answer"))
	}
}

func keyringTrouble(err error) error {
	return cw.Errorf(cw.CodeFailed, "the system's keyring cannot be used").Because(err).
		WithHint("unlock it and try again; the secrets of this home stay in it, nothing is lost")
}
