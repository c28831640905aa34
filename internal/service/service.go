package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

// mark is in the first lines of every definition that cw made.
const mark = "Made by cw service install"

// Options say which daemon the service runs, and where.
type Options struct {
	OS       string  // runtime.GOOS
	Home     cw.Home // of cw
	UserHome string  // $HOME
	Config   string  // $XDG_CONFIG_HOME, may be empty
	UID      int     // of the user
	Binary   string  // absolute path of cw, where it stays
	Path     string  // PATH of the daemon: agents' CLIs are found in it
	Temp     string  // the directory for temporary files; a program in it is refused. May be empty
	// Run runs a command of the service manager to its end and gives what it
	// printed. The error is of one that could not be run or that failed.
	Run func(ctx context.Context, argv ...string) (string, error)
	// EndDaemon, when it is set, is called just before the service is started: a
	// daemon that runs would keep it from starting.
	EndDaemon func(ctx context.Context) error
}

// State is how the service is.
type State struct {
	Manager   string `json:"manager"`         // systemd or launchd
	Name      string `json:"name"`            // of the unit or the job
	File      string `json:"file"`            // its definition
	Installed bool   `json:"installed"`       // the definition is there and was made by cw
	Foreign   bool   `json:"foreign"`         // something else has the name
	Running   bool   `json:"running"`         // as the manager says
	Lingers   bool   `json:"lingers"`         // it goes on when the user logs out
	Hint      string `json:"hint,omitempty"`  // what to do about what is missing
	Trouble   string `json:"error,omitempty"` // why the manager does not say
}

// manager is what differs between systemd and launchd.
type manager interface {
	file() (name, path string)
	definition() string
	reachable(ctx context.Context) error
	start(ctx context.Context) error
	stop(ctx context.Context) error
	look(ctx context.Context, s *State)
}

func managerOf(o Options) (manager, error) {
	switch o.OS {
	case "linux":
		return systemd{o}, nil
	case "darwin":
		return launchd{o}, nil
	}
	return nil, cw.Errorf(cw.CodeRefused, "there is no service for %s", o.OS).WithHint("start the daemon with cw serve")
}

// Install writes the definition and starts the service, now and at every login.
// It may be repeated. CodeRefused when something else has the
// name, or cw is where it does not stay; CodeFailed when the service manager
// does not do its part.
func Install(ctx context.Context, o Options) (State, error) {
	m, err := managerOf(o)
	if err != nil {
		return State{}, err
	}
	if err := checkBinary(o.Binary, o.Temp); err != nil {
		return State{}, err
	}
	if err := checkText(o); err != nil {
		return State{}, err
	}
	if err := m.reachable(ctx); err != nil {
		return State{}, err
	}
	_, path := m.file()
	if err := checkForeign(path); err != nil {
		return State{}, err
	}
	if err := write(path, m.definition()); err != nil {
		return State{}, cw.Errorf(cw.CodeFailed, "the service cannot be written to %s", path).WithHint("check the permissions of its folder").Because(err)
	}
	if o.EndDaemon != nil {
		if err := o.EndDaemon(ctx); err != nil {
			return State{}, err
		}
	}
	if err := m.start(ctx); err != nil {
		return State{}, err
	}
	return Status(ctx, o)
}

// Remove ends the service and deletes its definition. Agents run on. One that is
// not there is no error. CodeRefused when it was not made by cw.
func Remove(ctx context.Context, o Options) (State, error) {
	m, err := managerOf(o)
	if err != nil {
		return State{}, err
	}
	_, path := m.file()
	if err := checkForeign(path); err != nil {
		return State{}, err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return Status(ctx, o)
	}
	if err := m.reachable(ctx); err != nil {
		return State{}, err
	}
	if err := m.stop(ctx); err != nil {
		return State{}, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return State{}, cw.Errorf(cw.CodeFailed, "%s cannot be removed", path).WithHint("remove it by hand").Because(err)
	}
	return Status(ctx, o)
}

// Status tells how the service is, and changes nothing.
func Status(ctx context.Context, o Options) (State, error) {
	m, err := managerOf(o)
	if err != nil {
		return State{}, err
	}
	s := State{}
	s.Name, s.File = m.file()
	ours, there := owner(s.File)
	s.Installed, s.Foreign = ours, there && !ours
	m.look(ctx, &s)
	return s, nil
}

// owner tells whether a definition was made by cw, and whether there is one.
func owner(path string) (ours, there bool) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false, err == nil
	}
	data, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(data[:min(len(data), 512)]), mark), true
}

func checkForeign(path string) error {
	if ours, there := owner(path); there && !ours {
		return cw.Errorf(cw.CodeRefused, "%s was not made by cw", path).WithHint("cw leaves it as it is; move it away, or go on using it")
	}
	return nil
}

// checkBinary refuses a program that will be gone at the next start.
func checkBinary(path, temp string) error {
	info, err := os.Stat(path)
	switch {
	case !filepath.IsAbs(path) || err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o100 == 0:
		return cw.Errorf(cw.CodeRefused, "there is no program at %q that a service could start", path).
			WithHint("put cw in its place, for example ~/.local/bin/cw, and run it from there")
	case strings.Contains(path, string(filepath.Separator)+"go-build") || temp != "" && strings.HasPrefix(path, filepath.Clean(temp)+string(filepath.Separator)):
		return cw.Errorf(cw.CodeRefused, "cw is in a temporary folder: %s", path).
			WithHint("build it with go build ./cmd/cw, put it for example into ~/.local/bin, and run it from there")
	}
	return nil
}

// checkText refuses what no line of a definition can hold.
func checkText(o Options) error {
	for text, odd := range map[string]string{string(o.Home): "\n\r\x00", o.Binary: "\n\r\x00$", o.Path: "\n\r\x00"} {
		if strings.ContainsAny(text, odd) {
			return cw.Errorf(cw.CodeInvalid, "the path %q cannot stand in a service", text).WithHint("choose a path without line ends and dollar signs")
		}
	}
	return nil
}

// write replaces a file whole or not at all.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".cw-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// suffix tells homes apart: none for the usual one.
func (o Options) suffix() string {
	if string(o.Home) == filepath.Join(o.UserHome, ".cw") {
		return ""
	}
	sum := sha256.Sum256([]byte(o.Home))
	return "-" + hex.EncodeToString(sum[:4])
}

// failed is the error of a command of the service manager.
func failed(err error, said string, argv ...string) error {
	return cw.Errorf(cw.CodeFailed, "%s failed: %s", strings.Join(argv, " "), strings.TrimSpace(said)).
		WithHint("run it by hand to see more; without a service, cw serve or any command starts the daemon").Because(fmt.Errorf("%w", err))
}
