package providers

import (
	"net/url"
	"slices"
	"strings"
)

// secretWords are the parts of a variable's name that tell that it holds a
// secret. Presets list others beside them: models, files, addresses.
func secretWords() []string {
	return []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "HEADERS"}
}

// proxyNames are variables with an address in which a password may stand.
func proxyNames() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}
}

// Secrets gives the secrets in an environment, NAME=value each, that a run of
// the provider may have: what the preset names as a key or a token, and the
// passwords of proxies. They are masked in what is stored.
func (p Preset) Secrets(env []string) []string {
	var out []string
	for name, value := range parseEnv(env) {
		switch {
		case value == "":
		case name == p.Account.Key, name == p.Account.Token, p.namesSecret(name):
			out = append(out, secretsIn(name, value)...)
		case slices.Contains(proxyNames(), name):
			if u, err := url.Parse(value); err == nil && u.User != nil {
				if password, ok := u.User.Password(); ok {
					out = append(out, password)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Secrets is Preset.Secrets for all presets.
func (r *Registry) Secrets(env []string) []string {
	var out []string
	for _, p := range r.current() {
		out = append(out, p.Secrets(env)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namesSecret tells whether the preset lets a variable pass whose name says that
// it holds a secret.
func (p Preset) namesSecret(name string) bool {
	listed := named(name, p.Account.OtherCredentials) || named(name, p.Account.PassEnv)
	for _, names := range p.Account.PassEnvWhen {
		listed = listed || named(name, names)
	}
	words := strings.Split(strings.ToUpper(name), "_")
	leads := []string{"FILE", "PATH", "DIR", "URL"} // to a secret, and is none
	return listed && !slices.Contains(leads, words[len(words)-1]) && slices.ContainsFunc(words, func(w string) bool {
		return slices.ContainsFunc(secretWords(), func(s string) bool { return strings.HasSuffix(w, s) })
	})
}

// secretsIn gives a value and, of headers, what stands behind their names.
func secretsIn(name, value string) []string {
	out := []string{value}
	if !strings.HasSuffix(name, "HEADERS") {
		return out
	}
	for line := range strings.Lines(value) {
		_, text, _ := strings.Cut(line, ":")
		text = strings.TrimSpace(text)
		scheme, credential, two := strings.Cut(text, " ")
		out = append(out, text)
		if two && (strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "basic")) {
			out = append(out, strings.TrimSpace(credential))
		}
	}
	return out
}
