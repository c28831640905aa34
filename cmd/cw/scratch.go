package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cw/internal/cw"
	"cw/internal/daemon"
	"cw/internal/proc"
)

// removeTries is how often a folder is removed into which a process that is
// just ending may still write.
const removeTries = 20

// scratch is a temporary folder that holds a repository, and a home with a
// daemon of its own. With the folder everything is gone.
type scratch struct {
	app  *app // reaches the daemon of the folder
	root string
	env  environ // of the daemon and of git
	link *connector
	svc  cw.Services
}

// newScratch makes the folder. a is an app of its own: it reaches the scratch
// daemon from now on.
func newScratch(a app, prefix string) (scratch, error) {
	if _, err := proc.LookPath("git", a.env["PATH"]); err != nil {
		return scratch{}, cw.Errorf(cw.CodeNotFound, "there is no git").WithHint("install git; cw doctor tells which version is needed").Because(err)
	}
	temp := a.env["TMPDIR"]
	if temp != "" {
		var err error
		if temp, err = a.abs(temp); err != nil {
			return scratch{}, err
		}
	}
	root, err := os.MkdirTemp(temp, prefix)
	if err != nil {
		return scratch{}, fmt.Errorf("make a temporary folder: %w", err)
	}
	env := a.env.without("CW_").without("GIT_")
	env["CW_HOME"] = filepath.Join(root, "home")
	env[daemon.VaultVariable] = "file" // nothing of it in the keyring
	s := scratch{app: &a, root: root, env: env}
	s.link = newConnector(env, a.note)
	a.connect, a.reach = s.link.connect, s.link.reach
	return s, nil
}

func (s *scratch) home() cw.Home { return cw.Home(s.env["CW_HOME"]) }
func (s *scratch) repo() string  { return filepath.Join(s.root, "repo") }

// open starts the daemon. One that is just starting has to be stopped, too: the
// start is not cut off by Ctrl-C.
func (s *scratch) open(ctx context.Context) (err error) {
	s.svc, err = s.link.connect(context.WithoutCancel(ctx))
	return err
}

// git runs git in the repository, with an identity of its own.
func (s *scratch) git(ctx context.Context, args ...string) (string, error) {
	env := append(s.env.list(),
		"GIT_AUTHOR_NAME=cw", "GIT_AUTHOR_EMAIL=cw@localhost",
		"GIT_COMMITTER_NAME=cw", "GIT_COMMITTER_EMAIL=cw@localhost",
		"GIT_TERMINAL_PROMPT=0")
	out, errOut, code, err := proc.Output(ctx, proc.Command{
		Argv: append([]string{"git", "-c", "core.hooksPath=/dev/null"}, args...), Env: env, Dir: s.repo(),
	})
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	if code != 0 {
		return "", cw.Errorf(cw.CodeFailed, "git %s: %s", args[0], oneLine(string(errOut)))
	}
	return string(out), nil
}

// stopAll ends the agents and then the daemon.
func (s *scratch) stopAll(ctx context.Context) error {
	if s.svc == nil { // it did not come up; perhaps it hangs
		pid, err := endDaemon(s.home())
		if err != nil || pid == 0 {
			return nil // there is none: not even its folder, mostly
		}
		return processGone(ctx, pid)
	}
	agents, err := cw.AllAgents(ctx, s.svc, cw.AgentFilter{})
	errs := []error{err}
	for _, v := range agents {
		if !v.Status.AtRest() {
			_, err := s.svc.Stop(ctx, string(v.ID), cw.StopRequest{Now: true})
			errs = append(errs, err)
		}
	}
	was, err := s.svc.Shutdown(ctx)
	if err == nil {
		err = processGone(ctx, was.PID)
	}
	return errors.Join(append(errs, err)...)
}

// remove removes the folder.
func (s *scratch) remove(ctx context.Context) error {
	for try := 1; ; try++ {
		err := os.RemoveAll(s.root)
		if err == nil {
			return nil
		}
		if try == removeTries || pause(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("remove %s: %w", s.root, err)
		}
	}
}
