package accounts

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// onboarded keeps claude from asking a person for a colour and a login at its
// first start.
const onboarded = `{"hasCompletedOnboarding":true}`

// configJSON is what the CLI's settings of a new account hold.
func configJSON(f form) string {
	if f.config == "" {
		return ""
	}
	return onboarded
}

// prepareDir makes the account's configuration directory. Settings that are
// there stay: the CLI writes to them.
func (m *Manager) prepareDir(a cw.Account) (string, error) {
	dir, err := m.makeDir(a.ID)
	if err != nil {
		return "", err
	}
	f, _ := formOf(a.Provider)
	if f.config != "" && a.ConfigJSON != "" {
		err = createOwn(filepath.Join(dir, f.config), []byte(a.ConfigJSON+"\n"))
	}
	return dir, err
}

// hand writes the CLI's file of credentials, without the refresh token. The
// caller holds the account's lock.
func hand(dir string, f form, c credentials) error {
	if isHanded(dir, f, c) {
		return nil
	}
	path := filepath.Join(dir, f.file)
	sweepDrafts(path)
	return writeOwn(path, f.handed(c))
}

func isHanded(dir string, f form, c credentials) bool {
	has, err := readOwn(filepath.Join(dir, f.file))
	return err == nil && bytes.Equal(has, f.handed(c))
}

// setAsideSuffix is what such a file is called by then.
const setAsideSuffix = ".unused"

// setAside renames a file of credentials that an account must not have because
// its secret travels by the environment. It is not deleted: somebody logged in.
func setAside(dir string, f form) error {
	path := filepath.Join(dir, f.file)
	if f.file == "" {
		return nil
	}
	if err := os.Rename(path, path+setAsideSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writtenBack gives the login that a CLI wrote into the account's directory: by
// a login, or because it renewed one. cw writes no refresh token there, so one
// that is there is the CLI's, and newer than what cw has.
func writtenBack(ctx context.Context, dir string, f form) (login, bool) {
	l, err := f.readLogin(ctx, dir)
	return l, err == nil && l.refresh != ""
}

// isCredentials tells whether a file of an account's directory is one with
// secrets: a CLI's file of credentials, one that was set aside, or the draft of
// one that a process left which was killed.
func isCredentials(name string) bool {
	for _, file := range []string{".credentials.json", "auth.json"} {
		if name == file || name == file+setAsideSuffix || isDraft(name, file) {
			return true
		}
	}
	return false
}

// holdsCredentials tells whether a directory has such a file.
func holdsCredentials(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isCredentials(e.Name()) })
}

// dropCredentials deletes what is secret in an account's directory. It tells
// whether no run has left anything in it.
func dropCredentials(dir string) (empty bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	left := 0
	for _, e := range entries {
		switch name := e.Name(); {
		case isCredentials(name):
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return false, err
			}
		case name == ".claude.json", name == lockFile, strings.HasPrefix(name, stateFile):
		default:
			left++
		}
	}
	return left == 0, nil
}
