package providers

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// defaultPath is the PATH of a run when nobody has one.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// callerNames lists what a run takes from the environment of the person who
// started it. A final * is a prefix.
func callerNames() []string {
	return []string{
		"PATH", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLORTERM", "TMPDIR",
		"USER", "LOGNAME", "SHELL", "SSH_AUTH_SOCK",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "all_proxy", "no_proxy",
		// What a proxy that looks into TLS makes necessary.
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	}
}

// strippedNames lists what never passes, whatever a preset says: cw's own
// names, an outer agent's marks, and everything that leads git elsewhere.
func strippedNames() []string {
	return []string{
		"CW_*", "GIT_*",
		"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT",
		"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_CI", "CODEX_SANDBOX*",
	}
}

// EnvInput is what the environment of a run is made of.
type EnvInput struct {
	Preset Preset
	// Caller is the environment of the person who asked for the run, as
	// NAME=value; nil when nobody did, then the daemon's is taken.
	Caller []string
	Daemon []string // the daemon's own environment
	Home   string   // the user's home
	BinDir string   // the directory of cw's own binary, first on PATH
	// Account holds the credentials of an account. nil is the account default:
	// credentials come from the caller, else from the daemon.
	Account map[string]string
	// Project holds what the project's cw.yaml sets: over the caller's, under all
	// that decides how the CLI works and who pays for it.
	Project map[string]string
	Command map[string]string // of the Command: what the preset adds
	CW      map[string]string // CW_TOKEN, CW_RUN and what else the engine gives
}

// RunEnv makes the whole environment of a run, sorted. Nothing passes that is
// not named: not by callerNames, not by the preset, not by the input's maps.
func RunEnv(in EnvInput) []string {
	caller, daemon := parseEnv(in.Caller), parseEnv(in.Daemon)
	if in.Caller == nil {
		caller = daemon
	}
	env := pick(caller, callerNames())
	maps.Copy(env, in.Preset.passed(caller, daemon, in.Account))
	project := maps.Clone(in.Project)
	drop(project, slices.Concat([]string{"PATH", "HOME", "LD_*", "DYLD_*"}, in.Preset.Account.names(), in.Preset.Account.PassEnv))
	maps.Copy(env, project)
	drop(env, append(strippedNames(), in.Preset.EnvStrip...))
	env["PATH"] = runPath(in.BinDir, env["PATH"], daemon["PATH"])
	if in.Home != "" {
		env["HOME"] = in.Home
	}
	maps.Copy(env, in.Command)
	maps.Copy(env, gitEnv())
	maps.Copy(env, in.CW)
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// FromCaller picks what a run of any of the presets may take from the
// environment of the person who starts it. Which of it a run gets RunEnv decides
// for the preset of the run.
func (r *Registry) FromCaller(caller map[string]string) map[string]string {
	env := pick(caller, callerNames())
	for _, p := range r.current() {
		own := p.passed(caller, map[string]string{}, nil)
		drop(own, p.EnvStrip)
		maps.Copy(env, own)
	}
	drop(env, strippedNames())
	return env
}

// CommandEnv makes the whole environment of a project's commands, sorted: what
// the daemon has, without cw's own names, an outer agent's marks, what leads git
// elsewhere and the credentials of every provider, which are none of a project's
// business; and extra over all that.
func (r *Registry) CommandEnv(daemon []string, extra map[string]string) []string {
	env := parseEnv(daemon)
	drop(env, strippedNames())
	for _, p := range r.current() {
		drop(env, p.EnvStrip)
		drop(env, append([]string{p.Account.Key, p.Account.Token, p.Account.BaseURL}, p.Account.OtherCredentials...))
	}
	env["PATH"] = runPath("", env["PATH"])
	maps.Copy(env, gitEnv())
	maps.Copy(env, extra)
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// passed gives what passes for the provider. The caller's value wins over the
// daemon's. Credentials and the address they are sent to win as a set, and an
// account's as a set over both: a key of one must not go to an address of
// another.
func (p Preset) passed(caller, daemon, account map[string]string) map[string]string {
	both := maps.Clone(daemon)
	maps.Copy(both, caller)
	env := pick(both, p.Account.PassEnv)
	credentials := account
	if account == nil {
		credentials = pick(caller, p.Account.names())
	}
	if account == nil && len(credentials) == 0 {
		credentials = pick(daemon, p.Account.names())
	}
	maps.DeleteFunc(env, func(name, _ string) bool { return named(name, p.Account.names()) })
	maps.Copy(env, credentials)
	for when, names := range p.Account.PassEnvWhen {
		if env[when] != "" {
			maps.Copy(env, pick(both, names))
		}
	}
	return env
}

// names lists the variables that carry credentials or say where they lie.
func (a Account) names() []string {
	var out []string
	for _, name := range slices.Concat(a.ConfigDir, []string{a.Key, a.Token, a.BaseURL}, a.OtherCredentials) {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// gitEnv keeps git from asking, opening an editor, and signing. Signing is
// switched off by configuration in the environment: it wins over the user's
// files and needs no file of ours.
func gitEnv() map[string]string {
	return map[string]string{
		"GIT_TERMINAL_PROMPT": "0",
		"GIT_EDITOR":          "true",
		"GIT_CONFIG_COUNT":    "2",
		"GIT_CONFIG_KEY_0":    "commit.gpgSign",
		"GIT_CONFIG_VALUE_0":  "false",
		"GIT_CONFIG_KEY_1":    "tag.gpgSign",
		"GIT_CONFIG_VALUE_1":  "false",
	}
}

// GitConfig gives the variables that set one more key of git's configuration for
// a run. They win over all files, as those of gitEnv do.
func GitConfig(key, value string) map[string]string {
	n := gitEnv()["GIT_CONFIG_COUNT"]
	count, _ := strconv.Atoi(n)
	return map[string]string{"GIT_CONFIG_COUNT": strconv.Itoa(count + 1), "GIT_CONFIG_KEY_" + n: key, "GIT_CONFIG_VALUE_" + n: value}
}

// runPath puts cw's directory first, once.
func runPath(binDir string, candidates ...string) string {
	path := defaultPath
	for _, c := range candidates {
		if c != "" {
			path = c
			break
		}
	}
	if binDir == "" {
		return path
	}
	dirs := []string{binDir}
	for _, dir := range filepath.SplitList(path) {
		if dir != binDir {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// parseEnv reads NAME=value lines; the last one of a name counts, as in exec.
func parseEnv(list []string) map[string]string {
	out := make(map[string]string, len(list))
	for _, item := range list {
		if name, value, ok := strings.Cut(item, "="); ok && name != "" {
			out[name] = value
		}
	}
	return out
}

func pick(env map[string]string, names []string) map[string]string {
	out := map[string]string{}
	for name, value := range env {
		if named(name, names) {
			out[name] = value
		}
	}
	return out
}

func drop(env map[string]string, names []string) {
	maps.DeleteFunc(env, func(name, _ string) bool { return named(name, names) })
}

// named tells whether a name is in the list, in which a final * is a prefix.
func named(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		if prefix, ok := strings.CutSuffix(n, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return name == n
	})
}
