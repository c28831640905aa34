package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/safefile"
)

// oneCommand is one command of a run, with its place in it.
type oneCommand struct {
	cw.ProjectCommand

	run    cw.Run
	number int    // from 1
	dir    string // its run directory
	cwd    string
	env    []string
	stop   <-chan struct{} // closed when its end is wanted
}

func newCommand(r cw.CommandRun, run cw.Run, i int, env []string) oneCommand {
	return oneCommand{
		ProjectCommand: r.Commands[i], run: run, number: i + 1,
		dir: filepath.Join(run.Dir, strconv.Itoa(i+1)), cwd: r.Dir, env: env, stop: r.Stop,
	}
}

// id names the command's process tree for ever.
func (c oneCommand) id() string { return string(c.run.ID) + "-" + strconv.Itoa(c.number) }

// runCommand brings one command to its end, whatever an earlier call did of it.
func (o *Orchestrator) runCommand(ctx context.Context, c oneCommand) (commandEnd, error) {
	seen, err := c.observe()
	if err != nil {
		return commandEnd{}, err
	}
	if seen.State == proc.StateFresh {
		select {
		case <-c.stop:
			return commandEnd{unwanted: true}, nil
		default:
		}
		if seen, err = o.startCommand(ctx, c); err != nil {
			if ctx.Err() != nil {
				return commandEnd{}, ctx.Err()
			}
			return commandEnd{startError: err.Error()}, nil
		}
		o.Fail.Hit("commands/started")
	}
	if seen.State.Live() {
		if err := o.saveStart(ctx, c, seen.Handle); err != nil {
			return commandEnd{}, err
		}
		if seen, err = o.awaitCommand(ctx, c, seen.Handle); err != nil {
			return commandEnd{}, err
		}
	}
	if seen.State == proc.StateLost { // its processes may live on
		if err := proc.Stop(ctx, c.dir, seen.Handle, 0); err != nil {
			return commandEnd{}, fmt.Errorf("end what is left of it: %w", err)
		}
	}
	return c.end(seen)
}

// observe looks at the command. Of one that was started the stored handle is
// believed before its directory, where the command can write.
func (c oneCommand) observe() (proc.Observation, error) {
	if h := c.handle(); h.RunID != "" {
		return proc.ObserveKnown(c.dir, h)
	}
	return observeRun(c.dir)
}

// handle is the stored one of the command, zero when the run was last known to be
// at another one.
func (c oneCommand) handle() proc.Handle {
	var h proc.Handle
	if len(c.run.Handle) > 0 && json.Unmarshal(c.run.Handle, &h) == nil && h.RunID == c.id() {
		return h
	}
	return proc.Handle{}
}

// startCommand starts a command that was never started.
func (o *Orchestrator) startCommand(ctx context.Context, c oneCommand) (proc.Observation, error) {
	if err := o.enoughDisk(); err != nil {
		return proc.Observation{}, err
	}
	meta, err := json.Marshal(cw.RunFacts{Kind: c.run.Kind, AgentID: c.run.AgentID, Binary: o.Binary, OutputPath: c.run.OutputPath})
	if err != nil {
		return proc.Observation{}, fmt.Errorf("encode run facts: %w", err)
	}
	if err := announce(c); err != nil {
		return proc.Observation{}, err
	}
	err = proc.Prepare(c.dir, proc.Spec{
		RunID: c.id(), Argv: []string{"/bin/sh", "-c", c.Run}, Dir: c.cwd,
		Stdout: c.run.OutputPath, Stderr: c.run.OutputPath, StopGrace: commandGrace, Meta: meta,
	})
	if err != nil {
		return proc.Observation{}, err
	}
	o.Fail.Hit("commands/prepared")
	return proc.Start(ctx, proc.Launch{Binary: o.Binary, Dir: c.dir, Env: c.env})
}

// announce writes into the log which command comes.
func announce(c oneCommand) error {
	f, err := safefile.OpenAppend(c.run.OutputPath)
	if err != nil {
		return fmt.Errorf("open the log of commands: %w", err)
	}
	_, err = fmt.Fprintf(f, "$ %s\n", c.Name)
	return errors.Join(err, f.Close())
}

// saveStart stores which process the run is at.
func (o *Orchestrator) saveStart(ctx context.Context, c oneCommand, h proc.Handle) error {
	handle, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode handle: %w", err)
	}
	if err := o.Store.SaveCommandStart(ctx, c.run.ID, handle, h.PID, orNow(h.StartedAt)); err != nil {
		return fmt.Errorf("store the start of a command: %w", err)
	}
	return nil
}

// awaitCommand waits for the end of a command that lives, and ends it when its
// time is over, it prints too much, or somebody wants its end.
func (o *Orchestrator) awaitCommand(ctx context.Context, c oneCommand, h proc.Handle) (proc.Observation, error) {
	type end struct {
		seen proc.Observation
		err  error
	}
	ended := make(chan end, 1)
	waiting, letGo := context.WithCancel(ctx)
	defer letGo()
	go func() {
		seen, err := proc.Wait(waiting, c.dir, h)
		ended <- end{seen, err}
	}()
	wake, stop := o.Watcher.Watch(c.run.OutputPath)
	defer stop()
	timeout := time.NewTimer(time.Until(orNow(h.StartedAt).Add(c.Timeout)))
	defer timeout.Stop()
	over, stopped := timeout.C, c.stop
	for {
		select {
		case e := <-ended:
			return e.seen, e.err
		case <-wake:
			if logSize(c.run.OutputPath) <= commandOutputMax {
				continue
			}
			wake = nil
		case <-over:
		case <-stopped:
		}
		over, stopped = nil, nil
		if err := proc.Stop(ctx, c.dir, h, commandGrace); err != nil {
			letGo()
			<-ended
			return proc.Observation{}, fmt.Errorf("stop it: %w", err)
		}
	}
}

// end reads what is known of a command that is over.
func (c oneCommand) end(seen proc.Observation) (commandEnd, error) {
	e := commandEnd{startedAt: seen.Handle.StartedAt, exit: seen.Exit, size: logSize(c.run.OutputPath)}
	if e.size > commandOutputMax {
		// Nobody writes to it any more, and what is beyond is nobody's.
		if err := os.Truncate(c.run.OutputPath, commandOutputMax); err != nil {
			return e, fmt.Errorf("cut the log of commands: %w", err)
		}
	}
	return e, nil
}

// logSize is the size of a file, 0 where there is none.
func logSize(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
