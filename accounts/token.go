package accounts

import (
	"strings"
	"unicode"

	"cw/internal/cw"
)

const (
	// secretMin and secretMax bound a token or key, in bytes.
	secretMin, secretMax = 8, 16 << 10
)

// family is whose credentials have a form of their own.
type family struct {
	name     string
	prefixes []string
	names    []string // parts of the names of variables that hold them
}

// families are told by their prefixes, the more exact ones first.
func families() []family {
	return []family{
		{"cw", []string{"cwa_", "cwd_", "cws_"}, nil},
		{"Anthropic", []string{"sk-ant-"}, []string{"ANTHROPIC", "CLAUDE"}},
		{"Google", []string{"AIza"}, []string{"GEMINI", "GOOGLE"}},
		{"GitHub", []string{"ghp_", "gho_", "ghu_", "ghs_", "github_pat_"}, []string{"GITHUB", "GH_", "COPILOT"}},
		{"GitLab", []string{"glpat-", "gloas-", "glptt-", "gldt-"}, []string{"GITLAB"}},
		{"OpenAI", []string{"sk-"}, []string{"OPENAI", "CODEX"}},
	}
}

// checkToken refuses what cannot be the long-lived token of a provider.
// CodeInvalid, with what to do; the text is in no error.
func checkToken(p Provider, token, gateway string) error {
	if p.Token == "" {
		return cw.Errorf(cw.CodeInvalid, "%s takes no token", p.Name).WithHint("%s", otherWay(p))
	}
	if strings.HasPrefix(token, "sk-ant-ort") {
		return cw.Errorf(cw.CodeInvalid, "this is a refresh token, which alone is no login").WithHint("claude setup-token prints a token; or add the directory of the login: --config-dir DIR")
	}
	if strings.HasPrefix(token, "sk-ant-api") {
		return cw.Errorf(cw.CodeInvalid, "this is an API key and no token").WithHint("add it as one: cw account add --provider %s --api-key", p.Name)
	}
	return checkSecret(p, "token", p.Token, token, gateway)
}

// checkKey refuses what cannot be an API key of a provider. CodeInvalid.
func checkKey(p Provider, key, gateway string) error {
	if p.Key == "" {
		return cw.Errorf(cw.CodeInvalid, "%s takes no API key", p.Name).WithHint("%s", otherWay(p))
	}
	if strings.HasPrefix(key, "sk-ant-oat") && p.Token != "" {
		return cw.Errorf(cw.CodeInvalid, "this is a token and no API key").WithHint("add it as one: cw account add --provider %s --token -", p.Name)
	}
	return checkSecret(p, "API key", p.Key, key, gateway)
}

// checkSecret is what a token and a key have in common. A gateway, the address
// that it is sent to when that is not the provider's own, may give out any.
func checkSecret(p Provider, what, variable, text, gateway string) error {
	again := "paste it whole, without anything around it"
	switch {
	case text == "":
		return cw.Errorf(cw.CodeInvalid, "the %s is empty", what).WithHint("%s", again)
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["):
		return cw.Errorf(cw.CodeInvalid, "this is JSON without a login of %s in it", p.Name).WithHint("%s", again)
	case strings.ContainsFunc(text, unicode.IsSpace):
		return cw.Errorf(cw.CodeInvalid, "the %s has blanks or line ends in it", what).WithHint("%s", again)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return cw.Errorf(cw.CodeInvalid, "the %s has characters in it that no %s has", what, what).WithHint("%s", again)
	case len(text) < secretMin:
		return cw.Errorf(cw.CodeInvalid, "the %s is too short to be one", what).WithHint("%s", again)
	case len(text) > secretMax:
		return cw.Errorf(cw.CodeInvalid, "the %s is longer than %d bytes", what, secretMax).WithHint("%s", again)
	}
	if is := familyOf(text); gateway == "" && is.name != "" && foreign(is, variable) {
		return cw.Errorf(cw.CodeInvalid, "this is a credential of %s, and %s wants another", is.name, p.Title).
			WithHint("name the provider that it belongs to: --provider NAME; see: cw provider list")
	}
	return nil
}

func familyOf(text string) family {
	for _, f := range families() {
		for _, prefix := range f.prefixes {
			if strings.HasPrefix(text, prefix) {
				return f
			}
		}
	}
	return family{}
}

// foreign tells whether a variable that is named after one family would get a
// credential of another. A variable that tells no family takes all but cw's.
func foreign(is family, variable string) bool {
	for _, f := range families() {
		for _, part := range f.names {
			if strings.Contains(variable, part) {
				return f.name != is.name
			}
		}
	}
	return is.name == "cw"
}

func otherWay(p Provider) string {
	switch {
	case p.Key != "":
		return "add an API key: cw account add --provider " + p.Name + " --api-key"
	case p.Token != "":
		return "add a token: cw account add --provider " + p.Name + " --token -"
	}
	return "it has the account default alone: your own login"
}
