package cw

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// SocketPathMax is the longest path of a unix socket that works everywhere
// (104 bytes on macOS, 108 on Linux, both with a final zero).
const SocketPathMax = 103

// Home is the folder that holds everything of cw: $CW_HOME, by default ~/.cw.
// Its methods are the one place that knows the layout; but for Made they only join names.
type Home string

// Bin is the folder of the binaries that runs use.
func (h Home) Bin() string { return filepath.Join(string(h), "bin") }

// Binary is the copy of one build, so that runs do not depend on where cw was
// started from.
func (h Home) Binary(buildID string) string { return filepath.Join(h.Bin(), buildID, "cw") }

// RunState is the folder of the daemon's own small files.
func (h Home) RunState() string { return filepath.Join(string(h), "run") }

// Socket is the daemon's socket, unless that path is too long.
func (h Home) Socket() string { return filepath.Join(h.RunState(), "cw.sock") }

// SocketFile holds the path of the socket really used.
func (h Home) SocketFile() string { return filepath.Join(h.RunState(), "socket") }

// DoorFile holds the address at which the dashboard was opened, for later daemons.
func (h Home) DoorFile() string { return filepath.Join(h.RunState(), "http") }

// Handover is the page that leads a browser to the dashboard with a code; name
// tells one from another.
func (h Home) Handover(name string) string {
	return filepath.Join(h.RunState(), "open-"+name+".html")
}

// DaemonLock is the file whose lock makes a daemon the only one.
func (h Home) DaemonLock() string { return filepath.Join(h.RunState(), "daemon.lock") }

// DaemonLog is the daemon's log.
func (h Home) DaemonLog() string { return filepath.Join(string(h), "daemon.log") }

// Config is the file of settings.
func (h Home) Config() string { return filepath.Join(string(h), "config.yaml") }

// Repos is the folder of cw's own mirrors.
func (h Home) Repos() string { return filepath.Join(string(h), "repos") }

// Providers is the folder of the user's presets.
func (h Home) Providers() string { return filepath.Join(string(h), "providers") }

// Prices is the user's file of list prices, before those that come with cw.
func (h Home) Prices() string { return filepath.Join(string(h), "prices.yaml") }

// Accounts is the folder of the accounts' configuration directories.
func (h Home) Accounts() string { return filepath.Join(string(h), "accounts") }

// AccountDir is the configuration directory of an account's CLI.
func (h Home) AccountDir(id AccountID) string { return filepath.Join(h.Accounts(), string(id)) }

// Secrets is the folder of the vault: what it is, and its files when it has any.
func (h Home) Secrets() string { return filepath.Join(string(h), "secrets") }

// Runs is the folder of all run directories.
func (h Home) Runs() string { return filepath.Join(string(h), "runs") }

// RunDir is the directory of one run.
func (h Home) RunDir(alias string, session int) string {
	return filepath.Join(h.Runs(), alias, strconv.Itoa(session))
}

// CommandDir is the directory of a run of a project's commands, with one of each
// command in it, numbered from 1.
func (h Home) CommandDir(kind RunKind, id RunID) string {
	return filepath.Join(h.Runs(), string(kind)+"-"+string(id))
}

// Caches is the folder of what the worktrees of a project share.
func (h Home) Caches(id ProjectID) string { return filepath.Join(string(h), "caches", string(id)) }

// Worktree is the worktree of an agent with one project; it is its cwd.
func (h Home) Worktree(alias string) string {
	return filepath.Join(string(h), ".cw-worktrees", "agent", alias)
}

// Workdir is the folder of an agent with several projects, a worktree each, or
// with none.
func (h Home) Workdir(alias string) string {
	return filepath.Join(string(h), "agent-workdirs", alias)
}

// Workspace is the cwd of an agent without a project.
func (h Home) Workspace(alias string) string { return filepath.Join(h.Workdir(alias), "workspace") }

// Backups is the folder of the daemon's own copies of the databases.
func (h Home) Backups() string { return filepath.Join(string(h), "backups") }

// Reserve is a file that only takes space: it is given up when the disk is
// full, so that the state can still be written.
func (h Home) Reserve() string { return filepath.Join(h.RunState(), "reserve") }

// Damaged is the folder of databases that were found damaged and moved aside.
func (h Home) Damaged() string { return filepath.Join(string(h), "damaged") }

// Trash is the folder of removed worktrees.
func (h Home) Trash() string { return filepath.Join(string(h), "trash") }

// Checks holds the checkouts in which merged commits are checked. Nobody's work
// is in there.
func (h Home) Checks() string { return filepath.Join(string(h), ".cw-worktrees", "checks") }

// Removal is a file that is there while cw uninstall removes the home, also after that
// was interrupted.
func (h Home) Removal() string { return filepath.Join(string(h), "uninstalling") }

// Database is the file of the state.
func (h Home) Database() string { return filepath.Join(string(h), "cw.db") }

// Made reports whether the folder was made a home by cw: a daemon has locked it, it
// has a database, or its removal has begun. A name alone, such as bin, says nothing.
func (h Home) Made() bool {
	for _, path := range []string{h.Database(), h.DaemonLock(), h.Removal()} {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// Holds reports whether an entry of the home folder, by its name, was put there by cw
// or is read by it: everything but what somebody keeps there for other ends.
func (h Home) Holds(name string) bool {
	for _, path := range []string{
		h.Bin(), h.RunState(), h.DaemonLog(), h.Config(), h.Repos(), h.Providers(), h.Prices(), h.Accounts(), h.Secrets(),
		h.Runs(), h.Removal(), h.Backups(), h.Damaged(), h.Trash(), filepath.Dir(h.Checks()), filepath.Dir(h.Workdir("x")), filepath.Dir(h.Caches("x")),
	} {
		if filepath.Base(path) == name {
			return true
		}
	}
	for _, begin := range []string{"cw.db", "log.db", filepath.Base(h.DaemonLog())} {
		if rest, ok := strings.CutPrefix(name, begin); ok && (rest == "" || rest[0] == '-' || rest[0] == '.') {
			return true
		}
	}
	return false
}
