package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"cw/internal/cw"
)

// childExit is the exit code of a command that a person ran by cw, and that said
// itself what was wrong: it is passed on without a word.
type childExit int

func (e childExit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// openWorktree has the worktree of an agent brought back, and says where it is
// and what is worth knowing about it.
func (a *app) openWorktree(ctx context.Context, svc cw.Services, ref string) (cw.OpenedWorktree, error) {
	opened, err := svc.OpenWorktree(ctx, ref)
	if err != nil {
		return opened, err
	}
	p := a.paint(a.errTTY)
	on := ""
	if opened.Branch != "" {
		on = ", on " + opened.Branch
	}
	a.note("%s  %s%s", opened.Name, opened.Path, on)
	for _, note := range opened.Notes {
		a.note("%s", note)
	}
	if opened.Working() {
		fmt.Fprintln(a.err, p.yellow(fmt.Sprintf("%s is %s: both of you change the same files; cw agent stop %[1]s ends it first", opened.Name, opened.Status)))
	}
	return opened, nil
}

// inWorktree runs a command of a person's in an opened worktree, and keeps that
// open until the command ends. The command has the caller's environment without
// cw's words to agents. An exit code other than 0 is a childExit.
func (a *app) inWorktree(ctx context.Context, svc cw.Services, opened cw.OpenedWorktree, command []string) error {
	env := a.env.without("CW_")
	if home := a.env["CW_HOME"]; home != "" {
		env["CW_HOME"] = home // cw in there is this cw
	}
	// Ctrl-C is for the command: it decides when this ends.
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var renewal sync.WaitGroup
	renewal.Go(func() { renewWorktree(renewing, svc, opened) })
	err := a.within(opened.Path, command, env.list())
	stop()
	renewal.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return childExit(endOf(exit))
	case err != nil:
		return cw.Errorf(cw.CodeFailed, "%s cannot be started", oneLine(command[0])).Because(err).
			WithHint("SHELL=/bin/sh cw agent shell %s; or cd %s", cw.ShellWord(opened.Name), cw.ShellWord(opened.Path))
	}
	return nil
}

// endOf is the exit code of a command, or what a shell makes of the signal that ended it.
func endOf(exit *exec.ExitError) int {
	if status, is := exit.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

// renewWorktree keeps a worktree open until ctx ends. A daemon that is away is
// asked again; it leaves what was open for a while after it is back.
func renewWorktree(ctx context.Context, svc cw.Services, opened cw.OpenedWorktree) {
	ticks := time.NewTicker(cw.HoldRenew)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			_, _ = svc.OpenWorktree(ctx, string(opened.AgentID)) // the next try follows
		}
	}
}
