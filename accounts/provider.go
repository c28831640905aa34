package accounts

import (
	"path/filepath"
	"slices"
)

// Provider is what the package needs to know of a provider: the names of its
// variables and where its CLI keeps a login.
type Provider struct {
	Name  string
	Title string // for people
	// ConfigDir names the variables that lead the CLI to its configuration
	// directory; the first wins. None: it has no such variable.
	ConfigDir []string
	// ConfigHome is that directory below the user's home when no variable is
	// set; "": there is none that is of use.
	ConfigHome string
	Key        string // the variable of an API key; "": there is none
	Token      string // the variable of a long-lived token; "": there is none
	BaseURL    string // the variable of the API's address; "": there is none
	// Login is the CLI's own way to log in, command first; none: it has no such
	// command.
	Login []string
	// Forge tells that it is a host of repositories: cw itself uses its accounts,
	// and no CLI runs with them.
	Forge bool
}

// Providers finds providers. CodeNotFound for a name that is none.
type Providers interface {
	Provider(name string) (Provider, error)
	Providers() []Provider
}

// dir is the configuration directory of the user's own login; "" when it is not
// known.
func (p Provider) dir(home string, env map[string]string) string {
	for _, name := range p.ConfigDir {
		if filepath.IsAbs(env[name]) {
			return filepath.Clean(env[name])
		}
	}
	if p.ConfigHome == "" || !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, p.ConfigHome)
}

// env makes the variables that lead the CLI to a directory and an address;
// either may be "".
func (p Provider) env(dir, baseURL string) map[string]string {
	out := map[string]string{}
	if dir != "" && len(p.ConfigDir) > 0 {
		out[p.ConfigDir[0]] = dir
	}
	if baseURL != "" && p.BaseURL != "" {
		out[p.BaseURL] = baseURL
	}
	return out
}

// credentialNames lists the variables that hold a secret.
func (p Provider) credentialNames() []string {
	return slices.DeleteFunc([]string{p.Key, p.Token}, func(n string) bool { return n == "" })
}
