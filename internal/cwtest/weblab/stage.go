package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

const (
	patience = 4 * time.Minute // bounds every wait; a loaded machine is slow
	look     = 20 * time.Millisecond
)

// stage is one home with its daemon and one repository. Its fields are what the
// driver is told.
type stage struct {
	Root    string   `json:"root"`    // the folder of everything
	Home    cw.Home  `json:"home"`    // CW_HOME
	Repo    string   `json:"repo"`    // a git repository with one commit
	Scripts string   `json:"scripts"` // where actors find their scripts
	Binary  string   `json:"binary"`
	Env     []string `json:"env"` // in which cw is to be run
	Log     string   `json:"log"` // what the daemons said

	daemon *exec.Cmd     // nil when none was started
	ended  chan struct{} // closed when daemon ended
}

// newStage makes a stage whose daemon is not started.
func newStage(binary string) (*stage, error) {
	if binary == "" {
		return nil, errors.New("-cw PATH is missing")
	}
	root, err := os.MkdirTemp("", "cw-web-")
	if err != nil {
		return nil, err
	}
	s := &stage{
		Root: root, Home: cw.Home(filepath.Join(root, "home")), Repo: filepath.Join(root, "shop"),
		Scripts: filepath.Join(root, "scripts"), Binary: binary, Log: filepath.Join(root, "daemon.out"),
	}
	s.Env = s.environ()
	if err := errors.Join(os.MkdirAll(s.Scripts, 0o700), s.writePresets(), s.makeRepo()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return s, nil
}

// environ is this process's environment without anything of cw's or git's.
func (s *stage) environ() []string {
	own := []string{"CW_", "GIT_", "HOME=", "EDITOR=", "VISUAL=", "BROWSER=", "DISPLAY="}
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return slices.ContainsFunc(own, func(prefix string) bool { return strings.HasPrefix(kv, prefix) })
	})
	return append(env, "CW_HOME="+string(s.Home), "HOME="+s.Root, "GIT_CONFIG_NOSYSTEM=1", "CW_VAULT=file", "NO_COLOR=1")
}

// writePresets puts actors in the place of two real CLIs, so that pages look as
// they do in use.
func (s *stage) writePresets() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Home.Providers(), 0o700); err != nil {
		return err
	}
	for name, title := range map[string]string{"claude": "Claude Code", "codex": "Codex"} {
		text := fmt.Sprintf(presetText, name, title, self, actorCommand, scriptsVariable, s.Scripts, actorCommand, scriptsVariable, s.Scripts)
		if err := os.WriteFile(filepath.Join(s.Home.Providers(), name+".yaml"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

const presetText = `name: %s
title: %s
command:
  paths: [%q]
spawn:
  args: [%q, [--session, "{{sessionId}}"]]
  env: {%s: %q}
resume:
  args: [%q, [--resume, "{{sessionId}}"]]
  env: {%s: %q}
promptMode: stdin
resumeStyle: flag
sessionId: {choose: uuid}
structuredOutput: true
parser: claude
account:
  key: ACTOR_KEY
stop:
  grace: 1s
`

func (s *stage) makeRepo() error {
	if err := os.MkdirAll(s.Repo, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.Repo, "README.md"), []byte("# Shop\n"), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "Shop Keeper"}, {"config", "user.email", "keeper@shop.invalid"},
		{"add", "-A"}, {"commit", "-q", "-m", "Open the shop"},
	} {
		git := exec.Command("git", args...)
		git.Dir, git.Env = s.Repo, s.Env
		if out, err := git.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// do carries out one order.
func (s *stage) do(what string) error {
	switch what {
	case "start":
		return s.start()
	case "kill":
		return s.end(func() error { return s.daemon.Process.Kill() })
	case "stop":
		return s.end(func() error {
			stop := exec.Command(s.Binary, "stop")
			stop.Env = s.Env
			if out, err := stop.CombinedOutput(); err != nil {
				return fmt.Errorf("cw stop: %w: %s", err, out)
			}
			return nil
		})
	}
	return fmt.Errorf("there is no order %q", what)
}

// start starts the daemon and waits until it serves.
func (s *stage) start() error {
	said, err := os.OpenFile(s.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer said.Close()
	cmd := exec.Command(s.Binary, "serve")
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.Env, s.Root, said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // ends with the daemon, which close kills
	s.daemon, s.ended = cmd, ended
	for end := time.After(patience); ; {
		if _, err := s.client().Status(context.Background()); err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("the daemon ended at its start: " + s.lastWords())
		case <-end:
			return errors.New("the daemon does not serve: " + s.lastWords())
		case <-time.After(look):
		}
	}
}

// end ends the daemon in one way or another, and waits until it is gone.
func (s *stage) end(by func() error) error {
	if s.daemon == nil {
		return errors.New("no daemon was started")
	}
	if err := by(); err != nil {
		return err
	}
	<-s.ended
	s.daemon = nil
	return nil
}

func (s *stage) client() *api.Client {
	socket := s.Home.Socket()
	if data, err := os.ReadFile(s.Home.SocketFile()); err == nil {
		socket = strings.TrimSpace(string(data))
	}
	return api.NewClient(api.ClientOptions{Socket: socket})
}

// lastWords is the end of what the daemons said.
func (s *stage) lastWords() string {
	data, err := os.ReadFile(s.Log)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-4000):])
}

// close kills everything that has this home, and removes the folder. A command
// of cw that was just begun may still start a daemon, so it looks again when the
// folder is gone.
func (s *stage) close() error {
	s.killAll()
	err := os.RemoveAll(s.Root)
	for range 20 {
		time.Sleep(look)
		s.killAll()
	}
	return errors.Join(err, os.RemoveAll(s.Root))
}

// killAll kills what has this home until nothing is left.
func (s *stage) killAll() {
	for range 100 {
		left := lab.Processes(string(s.Home))
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			lab.KillProcess(p)
		}
		time.Sleep(look)
	}
}
