package accounts

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"cw/internal/cw"
)

// DiscoverAccounts implements cw.AccountService. Of a variable only its name is
// told, and of a login whose it is.
func (m *Manager) DiscoverAccounts(ctx context.Context, env map[string]string) ([]cw.FoundLogin, error) {
	all, err := m.Store.Accounts(ctx, "")
	if err != nil {
		return nil, err
	}
	found := []cw.FoundLogin{}
	for _, p := range m.Providers.Providers() {
		for _, dir := range m.loginDirs(p, env) {
			if l, ok := m.lookAt(ctx, p, dir, all); ok {
				found = append(found, l)
			}
		}
		for _, name := range p.credentialNames() {
			if env[name] != "" {
				found = append(found, inVariable(p, name, env[name], all))
			}
		}
	}
	return found, nil
}

// loginDirs lists where a provider's CLI may have a login, each once.
func (m *Manager) loginDirs(p Provider, env map[string]string) []string {
	var dirs []string
	for _, e := range []map[string]string{env, m.Env, nil} {
		home := m.UserHome
		if filepath.IsAbs(e["HOME"]) {
			home = e["HOME"]
		}
		if dir := p.dir(home, e); dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		in, err := filepath.Rel(m.Home.Accounts(), dir)
		return err == nil && filepath.IsLocal(in) // a login of ours
	})
}

// lookAt reads the login in a directory; false when there is none.
func (m *Manager) lookAt(ctx context.Context, p Provider, dir string, all []cw.Account) (cw.FoundLogin, bool) {
	out := cw.FoundLogin{Provider: p.Name, ConfigDir: dir}
	f, known := formOf(p.Name)
	if !known {
		return out, false // cw cannot tell whether there is a login
	}
	l, err := f.readLogin(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return out, false
	}
	if err != nil {
		out.Trouble = whyInvalid(cannotRead(dir, err))
		return out, true
	}
	out.Email, out.Account = l.email, sameLogin(all, p.Name, l.identity, dir)
	if err := m.checkUsable(l.credentials); err != nil {
		out.Trouble = whyInvalid(err)
	}
	if out.Account == "" && out.Trouble == "" {
		out.Add = "cw account add --provider " + p.Name + " --config-dir " + cw.ShellWord(dir)
	}
	return out, true
}

// inVariable tells of a variable that holds credentials.
func inVariable(p Provider, name, value string, all []cw.Account) cw.FoundLogin {
	out := cw.FoundLogin{Provider: p.Name, Variable: name, Account: sameLogin(all, p.Name, digest(value), "")}
	option, check := "--token -", checkToken
	if name == p.Key {
		option, check = "--api-key", checkKey
	}
	err := check(p, value, "")
	switch {
	case err != nil:
		out.Trouble = whyInvalid(err)
	case out.Account == "":
		out.Add = "printenv " + name + " | cw account add --provider " + p.Name + " " + option
	}
	return out
}

// sameLogin gives the name of the account that has a login, "" when none has.
func sameLogin(all []cw.Account, provider, identity, dir string) string {
	for _, a := range all {
		if a.Provider == provider && (a.Identity == identity || dir != "" && a.SourceDir == dir) {
			return a.Name
		}
	}
	return ""
}
