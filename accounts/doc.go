// Package accounts knows which credentials a run uses: the pool of accounts,
// the choice between them, their secrets at rest and how these are renewed.
//
// A secret lies in the vault (the system's keyring, else a file sealed with
// age) and nowhere else of cw's; a CLI gets it by its environment or by a
// credentials file in the account's own configuration directory, never by both.
// Tokens are renewed here alone, once for all processes: a CLI is never given
// the refresh token of an account of the pool. Logins whose form cw does not know
// (formOf) are the exception: their directory is used as it is, and their CLI
// renews them by itself.
//
// The package must not know agents, runs or how they are started. It is the
// home of go-keyring and age.
package accounts
