package accounts

import (
	"context"
	"strings"

	"cw/internal/cw"
)

// Vault keeps the secrets of accounts at rest. It is safe for concurrent use,
// by several processes too; who changes the entry of an account holds that
// account's lock.
type Vault interface {
	// Get gives what was stored for an account. CodeNotFound when nothing was;
	// CodeFailed, with what to do, while the vault is locked or damaged.
	Get(ctx context.Context, id cw.AccountID) (cw.Secret, error)
	// Set stores it, durably when it returns. CodeFailed as Get.
	Set(ctx context.Context, id cw.AccountID, secret cw.Secret) error
	// Delete forgets it; nothing that is there is no error. CodeFailed as Get.
	Delete(ctx context.Context, id cw.AccountID) error
}

// accountIDMax bounds the name of a vault's entry.
const accountIDMax = 128

// checkID refuses what cannot be the name of an entry or a directory.
func checkID(id cw.AccountID) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	if id == "" || len(id) > accountIDMax || strings.Trim(string(id), letters) != "" {
		return cw.Errorf(cw.CodeInvalid, "%.40q is no account's id", string(id))
	}
	return nil
}

func noSecret(id cw.AccountID) error {
	return cw.Errorf(cw.CodeNotFound, "there are no credentials of the account %s", id).
		WithHint("log in to it again, or remove it and add it anew; see: cw account show %s", id)
}
