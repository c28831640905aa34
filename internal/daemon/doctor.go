package daemon

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers"
	"cw/worktree"
)

// CheckStatus says how a check came out.
type CheckStatus string

// The outcomes of a check.
const (
	CheckOK   CheckStatus = "ok"
	CheckWarn CheckStatus = "warn" // works, with a limit to know
	CheckFail CheckStatus = "fail" // does not work until something is done
)

// Check is one finding about the machine.
type Check struct {
	Name   string      `json:"name"`
	Status CheckStatus `json:"status"`
	Detail string      `json:"detail"`
	Fix    string      `json:"fix,omitempty"` // what to do
}

const (
	diskLow      = 1 << 30 // free bytes below which doctor warns
	filesNeeded  = 1024    // open files that a daemon with many agents needs
	watchesLow   = 8192    // inotify watches
	doctorWait   = 20 * time.Second
	doctorProbe  = 5 * time.Second // for one CLI to tell its version
	watchesLimit = "/proc/sys/fs/inotify/max_user_watches"
)

// Doctor looks at everything that cw needs. It starts no daemon and changes
// nothing.
func Doctor(ctx context.Context, home cw.Home, environ []string) []Check {
	ctx, cancel := context.WithTimeout(ctx, doctorWait)
	defer cancel()
	checks := []Check{gitCheck(ctx), homeCheck(home), configCheck(home, environ), daemonCheck(ctx, home), diskCheck(home)}
	checks = append(checks, filesCheck())
	if runtime.GOOS == "linux" {
		checks = append(checks, watchesCheck())
	}
	return append(checks, providerChecks(ctx, home, environ)...)
}

func gitCheck(ctx context.Context) Check {
	version, err := worktree.New(worktree.Options{}).GitVersion(ctx)
	if err != nil {
		return Check{Name: "git", Status: CheckFail, Detail: err.Error(), Fix: orText(cw.ErrorHint(err), "install git "+worktree.MinGit+" or newer")}
	}
	return Check{Name: "git", Status: CheckOK, Detail: version}
}

func homeCheck(home cw.Home) Check {
	c := Check{Name: "CW_HOME", Status: CheckOK, Detail: string(home)}
	if _, err := os.Stat(string(home)); os.IsNotExist(err) {
		c.Detail += " (made at the first start)"
		return c
	}
	if err := checkHome(string(home)); err != nil {
		c.Status, c.Detail, c.Fix = CheckFail, err.Error(), cw.ErrorHint(err)
	}
	return c
}

func configCheck(home cw.Home, environ []string) Check {
	if _, err := LoadSettings(ConfigSources{Home: home, Environ: environ}); err != nil {
		return Check{Name: "configuration", Status: CheckFail, Detail: err.Error(), Fix: cw.ErrorHint(err)}
	}
	return Check{Name: "configuration", Status: CheckOK, Detail: home.Config()}
}

func daemonCheck(ctx context.Context, home cw.Home) Check {
	socket := home.Socket()
	if data, err := os.ReadFile(home.SocketFile()); err == nil {
		socket = strings.TrimSpace(string(data))
	}
	st, err := api.NewClient(api.ClientOptions{Socket: socket}).Status(ctx)
	switch {
	case cw.ErrorCode(err) == cw.CodeUnreachable:
		return Check{Name: "daemon", Status: CheckOK, Detail: "not running; it starts by itself when it is needed"}
	case err != nil:
		return Check{Name: "daemon", Status: CheckFail, Detail: err.Error(), Fix: orText(cw.ErrorHint(err), "cw restart; cw logs shows what it said")}
	}
	return Check{Name: "daemon", Status: CheckOK, Detail: fmt.Sprintf("pid %d, version %s, %d agents running", st.PID, st.Version, st.AgentsAlive)}
}

func diskCheck(home cw.Home) Check {
	dir := string(home)
	free, known := freeBytes(dir)
	for !known && dir != "/" { // not made yet: the folder that it will be in
		dir = parentOf(dir)
		free, known = freeBytes(dir)
	}
	c := Check{Name: "disk", Status: CheckOK, Detail: fmt.Sprintf("%.1f GiB free", float64(free)/(1<<30))}
	if free < diskLow {
		c.Status, c.Fix = CheckWarn, "free some space: every agent has a worktree of its own"
	}
	return c
}

func parentOf(dir string) string {
	if i := strings.LastIndexByte(dir, '/'); i > 0 {
		return dir[:i]
	}
	return "/"
}

func filesCheck() Check {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return Check{Name: "open files", Status: CheckWarn, Detail: err.Error()}
	}
	c := Check{Name: "open files", Status: CheckOK, Detail: fmt.Sprintf("limit %d", lim.Cur)}
	if lim.Cur < filesNeeded {
		c.Status, c.Fix = CheckWarn, fmt.Sprintf("ulimit -n %d before the daemon starts", filesNeeded)
	}
	return c
}

func watchesCheck() Check {
	data, err := os.ReadFile(watchesLimit)
	if err != nil {
		return Check{Name: "file watches", Status: CheckWarn, Detail: "their limit cannot be read; output is then read by polling"}
	}
	var n int
	if _, err := fmt.Sscan(string(data), &n); err != nil || n < watchesLow {
		return Check{Name: "file watches", Status: CheckWarn, Detail: "limit " + strings.TrimSpace(string(data)), Fix: fmt.Sprintf("sysctl fs.inotify.max_user_watches=%d", watchesLow)}
	}
	return Check{Name: "file watches", Status: CheckOK, Detail: fmt.Sprintf("limit %d", n)}
}

// providerChecks looks for every provider's CLI. One that is not there is only
// a warning; that none is there is said once more.
func providerChecks(ctx context.Context, home cw.Home, environ []string) []Check {
	presets, problems := providers.Load(home.Providers())
	var out []Check
	for _, p := range problems {
		out = append(out, Check{Name: "provider file", Status: CheckFail, Detail: p.String(), Fix: "mend the file, or move it away; the last good preset is used meanwhile"})
	}
	found := 0
	for _, name := range presets.Names() {
		p, err := presets.Get(name)
		if err != nil || p.Command.From == providers.FromScript {
			continue // no CLI of its own
		}
		c := providerCheck(ctx, p, environ)
		if c.Status == CheckOK {
			found++
		}
		out = append(out, c)
	}
	if found == 0 {
		out = append(out, Check{Name: "providers", Status: CheckWarn, Detail: "no provider CLI was found; provider script works without one", Fix: "install one of those above"})
	}
	return out
}

func providerCheck(ctx context.Context, p providers.Preset, environ []string) Check {
	// One CLI that hangs must not use up the time of the others.
	ctx, cancel := context.WithTimeout(ctx, doctorProbe)
	defer cancel()
	c := Check{Name: "provider " + p.Name, Status: CheckWarn, Fix: p.Command.Install}
	binary, err := p.Find(variable(environ, "PATH"), variable(environ, "HOME"))
	if err != nil {
		c.Detail = "not installed"
		return c
	}
	if len(p.Version.Args) == 0 { // run bare it would begin to work
		return Check{Name: c.Name, Status: CheckOK, Detail: "at " + binary}
	}
	out, _, code, err := proc.Output(ctx, proc.Command{Argv: append([]string{binary}, p.Version.Args...), Env: environ, Dir: os.TempDir()})
	if err != nil || code != 0 {
		c.Detail = fmt.Sprintf("%s does not tell its version (exit code %d)", binary, code)
		return c
	}
	version, err := p.CheckVersion(string(out))
	if err != nil {
		c.Status, c.Detail, c.Fix = CheckFail, err.Error(), orText(cw.ErrorHint(err), p.Command.Install)
		return c
	}
	return Check{Name: c.Name, Status: CheckOK, Detail: version + " at " + binary}
}

func variable(environ []string, name string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
