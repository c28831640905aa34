package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/store"
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

	loggedOut bool // of a provider: its CLI works, and is not logged in
}

const (
	filesNeeded  = 1024 // open files that a daemon with many agents needs
	watchesLow   = 8192 // inotify watches
	doctorWait   = 20 * time.Second
	doctorProbe  = 5 * time.Second // for the daemon to answer, for one CLI to tell its version
	watchesLimit = "/proc/sys/fs/inotify/max_user_watches"
	// watchersLow is how many programs of a user may watch files: each cw, but
	// every editor and many an agent's tool are one, too.
	watchersLow   = 64
	watchersLimit = "/proc/sys/fs/inotify/max_user_instances"
)

// Doctor looks at everything that cw needs. It starts no daemon and changes
// nothing.
func Doctor(ctx context.Context, home cw.Home, environ []string) []Check {
	ctx, cancel := context.WithTimeout(ctx, doctorWait)
	defer cancel()
	serving, running := daemonCheck(ctx, home)
	checks := []Check{gitCheck(ctx), homeCheck(home), configCheck(home, environ), serving, diskCheck(home, environ), reserveCheck(home), integrityCheck(home)}
	checks = append(checks, notifyChecks(home, environ, running)...)
	checks = append(checks, filesCheck())
	if runtime.GOOS == "linux" {
		checks = append(checks, watchesCheck(), watchersCheck(), lingerCheck(ctx))
	}
	checks = append(checks, providerChecks(ctx, home, environ, accountsKnown(ctx, home, running))...)
	return append(checks, pricesCheck(home))
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

// daemonCheck asks the daemon, and gives what it said; nil when it did not. One
// that does not answer must not use up the time of the other checks.
func daemonCheck(ctx context.Context, home cw.Home) (Check, *cw.DaemonStatus) {
	ctx, cancel := context.WithTimeout(ctx, doctorProbe)
	defer cancel()
	st, err := api.NewClient(api.ClientOptions{Socket: socketOf(home)}).Status(ctx)
	switch {
	case cw.ErrorCode(err) == cw.CodeUnreachable:
		return Check{Name: "daemon", Status: CheckOK, Detail: "not running; it starts by itself when it is needed"}, nil
	case err != nil:
		return Check{Name: "daemon", Status: CheckFail, Detail: err.Error(), Fix: orText(cw.ErrorHint(err), "cw restart; cw logs shows what it said")}, nil
	}
	return Check{Name: "daemon", Status: CheckOK, Detail: fmt.Sprintf("pid %d, version %s, %d agents running", st.PID, st.Version, st.AgentsAlive)}, &st
}

// socketOf is where the daemon of a home is reached.
func socketOf(home cw.Home) string {
	if data, err := os.ReadFile(home.SocketFile()); err == nil {
		return strings.TrimSpace(string(data))
	}
	return home.Socket()
}

// diskCheck asks for the floor that the daemon has.
func diskCheck(home cw.Home, environ []string) Check {
	settings, err := LoadSettings(ConfigSources{Home: home, Environ: environ})
	if err != nil {
		settings = DefaultSettings() // configCheck tells what is wrong with them
	}
	dir := string(home)
	space, err := floorOf(settings).Look(dir)
	for err != nil && dir != "/" { // not made yet: the folder that it will be in
		dir = parentOf(dir)
		space, err = floorOf(settings).Look(dir)
	}
	c := Check{Name: "disk", Status: CheckOK, Detail: fmt.Sprintf("%.1f GiB free; below %d MiB no agent is started", float64(space.Free)/float64(gib), space.Floor>>20)}
	if space.Low() {
		c.Status, c.Fix = CheckFail, "free some space; cw gc frees what cw keeps no longer, disk.minFree sets the floor"
	}
	return c
}

// reserveCheck looks for the space that is set aside for the state.
func reserveCheck(home cw.Home) Check {
	size, there := plainSize(home.Reserve())
	switch {
	case !there:
		return Check{Name: "reserve", Status: CheckOK, Detail: "none yet; the daemon makes it"}
	case store.ReserveWhole(home.Reserve(), size):
		return Check{Name: "reserve", Status: CheckOK, Detail: fmt.Sprintf("%d MiB for the state on a full disk", size>>20)}
	}
	return Check{Name: "reserve", Status: CheckWarn, Detail: fmt.Sprintf("only %d KiB are left for the state on a full disk", size>>10), Fix: "free some space; the daemon makes it whole by itself"}
}

// integrityCheck tells what of the databases is held against sums, and when. It
// reads none of them: a start does, and refuses what is damaged.
func integrityCheck(home cw.Home) Check {
	size, there := plainSize(filepath.Join(string(home), store.StateName))
	c := Check{Name: "integrity", Status: CheckOK}
	switch {
	case !there:
		c.Detail = "no state yet"
	case size > store.SealMax:
		c.Status = CheckWarn
		c.Detail = fmt.Sprintf("cw.db has %d MiB: beyond %d MiB a bit that the disk turned inside a value is not noticed, only damage of the structure, as it is read", size>>20, int64(store.SealMax)>>20)
		c.Fix = "keep events for less long (events.retention), and keep copies: cw backup"
	default:
		c.Detail = fmt.Sprintf("each start holds every page of cw.db (%d MiB) against its sum, and output has a sum with each piece, checked as it is read", size>>20)
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
	return openFilesCheck(lim.Cur)
}

func openFilesCheck(limit uint64) Check {
	c := Check{Name: "open files", Status: CheckOK, Detail: fmt.Sprintf("limit %d", limit)}
	if limit < filesNeeded {
		c.Status, c.Fix = CheckWarn, fmt.Sprintf("ulimit -n %d before the daemon starts", filesNeeded)
	}
	return c
}

func watchesCheck() Check {
	return inotifyCheck("file watches", watchesLimit, watchesLow, "fs.inotify.max_user_watches")
}

func watchersCheck() Check {
	return inotifyCheck("file watchers", watchersLimit, watchersLow, "fs.inotify.max_user_instances")
}

// inotifyCheck compares a limit of the kernel with what is needed.
func inotifyCheck(name, path string, least int, setting string) Check {
	data, err := os.ReadFile(path)
	if err != nil {
		return Check{Name: name, Status: CheckWarn, Detail: "their limit cannot be read; output is then read by polling"}
	}
	var n int
	if _, err := fmt.Sscan(string(data), &n); err != nil || n < least {
		return Check{Name: name, Status: CheckWarn, Detail: "limit " + strings.TrimSpace(string(data)), Fix: fmt.Sprintf("sysctl %s=%d", setting, least)}
	}
	return Check{Name: name, Status: CheckOK, Detail: fmt.Sprintf("limit %d", n)}
}

// lingerCheck asks whether processes of the user outlive a log-out.
func lingerCheck(ctx context.Context) Check {
	user := strconv.Itoa(os.Geteuid())
	argv := []string{"loginctl", "show-user", user, "--property=Linger", "--value"}
	out, _, code, err := proc.Output(ctx, proc.Command{Argv: argv, Env: os.Environ(), Dir: "/"})
	word := strings.TrimSpace(string(out))
	switch {
	case err != nil || code != 0 || word == "":
		return Check{Name: "log-out", Status: CheckOK, Detail: "no logind that would end agents when you log out"}
	case word == "yes":
		return Check{Name: "log-out", Status: CheckOK, Detail: "your processes go on when you log out"}
	}
	return Check{Name: "log-out", Status: CheckWarn, Detail: "the system may end your processes, agents too, when you log out", Fix: "loginctl enable-linger"}
}

// providerChecks looks for every provider's CLI. One that is not there is only
// a warning; that none is there is said once more.
func providerChecks(ctx context.Context, home cw.Home, environ []string, others []cw.AccountView) []Check {
	presets, problems := providers.Load(home.Providers())
	var out []Check
	for _, p := range problems {
		out = append(out, Check{Name: "provider file", Status: CheckFail, Detail: p.String(), Fix: "mend the file, or move it away; the last good preset is used meanwhile"})
	}
	var installable []providers.Preset
	for _, name := range presets.Names() {
		if p, err := presets.Get(name); err == nil && p.Command.From != providers.FromScript { // that has no CLI of its own
			installable = append(installable, p)
		}
	}
	checks := make([]Check, len(installable))
	seats := make(chan struct{}, probesAtOnce)
	var all sync.WaitGroup
	for i, p := range installable {
		seats <- struct{}{}
		all.Go(func() {
			defer func() { <-seats }()
			checks[i] = providerCheck(ctx, p, environ, others)
		})
	}
	all.Wait()
	if !slices.ContainsFunc(checks, func(c Check) bool { return c.Status == CheckOK || c.loggedOut }) {
		checks = append(checks, Check{Name: "providers", Status: CheckWarn, Detail: "no provider CLI was found; provider script works without one", Fix: "install one of those above"})
	}
	return append(out, checks...)
}

func providerCheck(ctx context.Context, p providers.Preset, environ []string, others []cw.AccountView) Check {
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
		return loginCheck(Check{Name: c.Name, Status: CheckOK, Detail: "at " + binary}, p, environ, others)
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
	return loginCheck(Check{Name: c.Name, Status: CheckOK, Detail: version + " at " + binary}, p, environ, others)
}

// loginCheck adds whether the user's own CLI is logged in, for a provider whose
// CLI works. One with other accounts that can be used needs no login of its own.
func loginCheck(c Check, p providers.Preset, environ []string, others []cw.AccountView) Check {
	l := loginOf(p, environ)
	if l.State != providers.LoginMissing || hasReady(others, p.AccountsOf()) {
		return c
	}
	c.Status, c.Detail, c.loggedOut = CheckWarn, c.Detail+"; "+l.Missing, true
	c.Fix = orText(p.LoginCommand(), "log in with it")
	if len(p.AccountNames()) > 0 {
		c.Fix += ", or cw account add --provider " + p.AccountsOf()
	}
	return c
}

// hasReady tells whether a provider has an account beside the user's own login
// that can be used.
func hasReady(all []cw.AccountView, provider string) bool {
	return slices.ContainsFunc(all, func(a cw.AccountView) bool {
		return a.Provider == provider && a.Kind != cw.AccountOwn && a.Enabled && !a.Draining && a.Ready()
	})
}

// accountsKnown asks a daemon that answers for its accounts.
func accountsKnown(ctx context.Context, home cw.Home, running *cw.DaemonStatus) []cw.AccountView {
	if running == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, doctorProbe)
	defer cancel()
	all, err := api.NewClient(api.ClientOptions{Socket: socketOf(home)}).Accounts(ctx, "")
	if err != nil {
		return nil
	}
	return all
}

// pricesCheck looks at the user's own table of prices. One that is wrong is left
// out as a whole.
func pricesCheck(home cw.Home) Check {
	file := home.Prices()
	c := Check{Name: "prices", Status: CheckOK, Detail: "those that come with cw"}
	if _, problem := providers.LoadPrices(file); problem != nil {
		c.Status, c.Detail = CheckFail, problem.String()
		c.Fix = "mend the file, then run: cw restart; until then costs are estimated by the prices that come with cw"
	} else if _, err := os.Stat(file); err == nil {
		c.Detail = "those of " + file + ", then those that come with cw"
	}
	return c
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
