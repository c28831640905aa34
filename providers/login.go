package providers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/safefile"
)

// loginFileMax is the greatest size of a file that is looked at for a login.
const loginFileMax = 4 << 20

// LoginTraces says how it shows, without running the CLI, whether it is logged
// in. Files are named below the configuration directory; a leading ~/ is the
// home.
type LoginTraces struct {
	// Files are those in which the CLI keeps a login: a JSON object with a value
	// in it. None: it cannot be known.
	Files []string `yaml:"files"`
	// Settings are files that may choose credentials that cw does not look for,
	// each with a regular expression that matches when it does; "" matches as soon
	// as the file is there.
	Settings map[string]string `yaml:"settings"`
	// KeyringOn are the operating systems (as Go names them) on which the CLI may
	// keep its login in the system's keyring.
	KeyringOn []string `yaml:"keyringOn"`
	// Status asks the CLI itself, after the command: before a run is refused.
	Status Args `yaml:"status"`
	// LoggedOut is a regular expression on what it prints when it is not logged in.
	LoggedOut string `yaml:"loggedOut"`
}

// LoginState says whether a CLI is logged in.
type LoginState string

// The states of a login.
const (
	LoginUnknown LoginState = "unknown" // it does not show
	LoginPresent LoginState = "present" // there are credentials; whether they are good only a run shows
	LoginMissing LoginState = "missing" // there are none
)

// Login is what is known about the login of a CLI.
type Login struct {
	State LoginState
	// Missing says for people why the CLI is not logged in, and the command that
	// logs in; "" unless State is LoginMissing.
	Missing string
	// ChangedAt is when the files of the login last changed; zero without any.
	ChangedAt time.Time
	// ByFile tells that a file holds the login and that nothing else which shows takes
	// its place: another login changes that file.
	ByFile bool
}

// loginSeen is what was observed of a login. Deciding looks at nothing else.
type loginSeen struct {
	Traces    bool // the preset says where a login is kept
	Key       bool // a variable with a key or a token is set
	Other     bool // another variable that carries or chooses credentials is set
	Dir       string
	Held      bool // a file holds a login
	Unread    bool // a file is there and cannot be read, or is damaged
	Elsewhere bool // settings choose credentials that are not looked for
	Keyring   bool
}

// Login tells whether the CLI would be logged in in a run with this environment,
// as RunEnv makes it, on this machine. Nothing is started, and of a file only its
// form is looked at.
func (p Preset) Login(env []string) Login {
	seen, changed := p.seeLogin(parseEnv(env), runtime.GOOS)
	l := Login{State: judgeLogin(seen), ChangedAt: changed, ByFile: seen.Held && !seen.Key && !seen.Other && !seen.Elsewhere && !seen.Keyring}
	if l.State == LoginMissing {
		l.Missing = p.missingLogin(seen.Dir)
	}
	return l
}

// judgeLogin decides what the traces mean. What is in doubt is unknown: a CLI
// that works must not be taken for one that is not logged in.
func judgeLogin(s loginSeen) LoginState {
	switch {
	case s.Key || s.Held:
		return LoginPresent
	case !s.Traces, s.Other, s.Unread, s.Elsewhere, s.Keyring, s.Dir == "":
		return LoginUnknown
	}
	return LoginMissing
}

// missingLogin says that there is no login, and how to log in.
func (p Preset) missingLogin(dir string) string {
	text := fmt.Sprintf("%s is not logged in: there is no login in %s", p.Title, dir)
	if p.Account.Key != "" {
		text += fmt.Sprintf(", and %s is not set", p.Account.Key)
	}
	if command := p.LoginCommand(); command != "" {
		text += "; log in: " + command
	}
	return text
}

// LoginCommand is the command by which a person logs in; "" when the CLI has
// none.
func (p Preset) LoginCommand() string {
	if len(p.Account.Login) == 0 || len(p.Command.Names) == 0 {
		return ""
	}
	return strings.Join(append([]string{p.Command.Names[0]}, slices.Concat(p.Account.Login...)...), " ")
}

// LoginStatusArgs are the arguments that make the CLI itself tell whether it is
// logged in; none when it cannot.
func (p Preset) LoginStatusArgs() []string { return slices.Concat(p.Account.LoggedIn.Status...) }

// SaysLoggedOut tells whether the CLI, asked for that, said that it is not logged
// in.
func (p Preset) SaysLoggedOut(said string) bool {
	return p.compiled.loggedOut != nil && p.compiled.loggedOut.MatchString(said)
}

func (p Preset) seeLogin(env map[string]string, goos string) (loginSeen, time.Time) {
	traces := p.Account.LoggedIn
	seen := loginSeen{Traces: len(traces.Files) > 0, Keyring: slices.Contains(traces.KeyringOn, goos)}
	isSet := func(name string) bool { return name != "" && env[name] != "" }
	seen.Key = isSet(p.Account.Key) || isSet(p.Account.Token)
	seen.Other = isSet(p.Account.BaseURL) || slices.ContainsFunc(p.Account.OtherCredentials, isSet)
	var changed time.Time
	if seen.Dir = p.configDir(env); seen.Dir == "" {
		return seen, changed
	}
	for _, name := range traces.Files {
		path := loginPath(name, seen.Dir, env["HOME"])
		data, at, err := readTrace(path)
		if at.After(changed) {
			changed = at
		}
		switch held, whole := holdsLogin(data); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil || !whole:
			seen.Unread = true
		case held:
			seen.Held = true
		}
	}
	for name := range traces.Settings {
		data, _, err := readTrace(loginPath(name, seen.Dir, env["HOME"]))
		switch when := p.compiled.loginSettings[name]; {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil, when == nil, when.Match(data):
			seen.Elsewhere = true
		}
	}
	return seen, changed
}

// loginPath is where a file of a login is.
func loginPath(name, dir, home string) string {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(home, below)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// readTrace reads a plain file of the user's, and tells when it last changed: its
// content, its place (one login moved over another keeps its own time), or the link that
// leads to it, as tools that manage such files make them.
func readTrace(path string) ([]byte, time.Time, error) {
	var changed time.Time
	for _, look := range []func(string, *unix.Stat_t) error{unix.Stat, unix.Lstat} {
		var st unix.Stat_t
		if err := look(path, &st); err != nil {
			return nil, time.Time{}, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
		if at := time.Unix(st.Ctim.Unix()); at.After(changed) {
			changed = at
		}
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, changed, err
	}
	data, err := safefile.Read(target, loginFileMax)
	return data, changed, err
}

// holdsLogin tells whether a file of JSON holds any value, and whether it is
// whole. An empty one holds none.
func holdsLogin(data []byte) (held, whole bool) {
	if len(strings.TrimSpace(string(data))) == 0 {
		return false, true
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return false, false
	}
	for _, value := range fields {
		if v := strings.TrimSpace(string(value)); v != "null" && v != `""` && v != "{}" && v != "[]" {
			return true, true
		}
	}
	return false, true
}

// compileLogin compiles the expressions of account.loggedIn, and checks its
// names.
func (p *Preset) compileLogin() error {
	traces := p.Account.LoggedIn
	for _, name := range traces.Files {
		if !filepath.IsLocal(strings.TrimPrefix(name, "~/")) {
			return keyError("account.loggedIn.files", "%q is not below the configuration directory or the home", name)
		}
	}
	p.compiled.loginSettings = map[string]*regexp.Regexp{}
	for name, text := range traces.Settings {
		when, err := compileLoginPattern("account.loggedIn.settings", text)
		if err != nil {
			return err
		}
		p.compiled.loginSettings[name] = when
	}
	if (len(traces.Status) > 0) != (traces.LoggedOut != "") {
		return keyError("account.loggedIn.status", "status and loggedOut go together")
	}
	var err error
	p.compiled.loggedOut, err = compileLoginPattern("account.loggedIn.loggedOut", traces.LoggedOut)
	return err
}

func compileLoginPattern(key, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile("(?im)" + text)
	if err != nil {
		return nil, keyError(key, "%v", err)
	}
	return re, nil
}
