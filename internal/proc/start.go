package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// startTimeout bounds how long Start waits for the shim.
	startTimeout = 30 * time.Second
	// startPoll is how often Start looks when another shim is at it.
	startPoll = 10 * time.Millisecond
	// shimCommand is the first argument of the program that runs a shim.
	shimCommand = "shim"
)

// Launch says with what a prepared run is started.
type Launch struct {
	// Binary is the program whose `shim DIR` calls RunShim; absolute.
	Binary string
	// Dir is the run directory; absolute.
	Dir string
	// Env is the whole environment of shim and command; CW_RUN is added.
	Env []string
}

// ErrNotStarted says that the shim ended, killed or by itself, before it started the
// command.
var ErrNotStarted = errors.New("the shim ended without starting it")

// Start starts `Binary shim Dir` detached and waits, at most 30 s, until the
// command runs or the run is over. It never starts a run twice, since the shim
// decides: on a run that was started before it only observes.
//
// A command that cannot be started is no error but an Exit with StartError.
// An error beside StateFresh means that nothing was started and that it may be
// tried again. When ctx ends, Start lets go and the run goes on.
func Start(ctx context.Context, l Launch) (Observation, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	obs, err := Observe(l.Dir)
	if err != nil {
		return obs, err
	}
	var said string
	if obs.State == StateFresh {
		if said, err = l.startShim(ctx); err != nil {
			return obs, fmt.Errorf("start run %s: %w", l.Dir, err)
		}
	}
	obs, err = awaitStarted(ctx, l.Dir)
	if err != nil {
		return obs, fmt.Errorf("start run %s: %w", l.Dir, err)
	}
	if obs.State == StateFresh {
		return obs, fmt.Errorf("start run %s: %w: %s", l.Dir, ErrNotStarted, said)
	}
	return obs, nil
}

// startShim starts the shim and waits until it closes its stdout: it does so
// when the command runs, and the system does when the shim dies. What it wrote
// there is why it could not begin.
func (l Launch) startShim(ctx context.Context) (said string, err error) {
	spec, err := ReadSpec(l.Dir)
	if err != nil {
		return "", err
	}
	log, err := openAppend(filepath.Join(l.Dir, shimLogName))
	if err != nil {
		return "", err
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	shim := Detached{
		Binary: l.Binary,
		Args:   []string{shimCommand, l.Dir},
		Env:    withVariable(l.Env, RunVariable, spec.RunID),
	}
	_, err = shim.start(w, log)
	w.Close()
	if err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })()
	b, err := io.ReadAll(io.LimitReader(r, maxRecord))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ctx.Err()
	}
	return strings.TrimSpace(string(b)), err
}

// awaitStarted looks until the run is no longer starting. It has to look more
// than once only when a shim of somebody else is at it.
func awaitStarted(ctx context.Context, dir string) (Observation, error) {
	for {
		obs, err := Observe(dir)
		if err != nil || obs.State != StateStarting {
			return obs, err
		}
		if err := sleep(ctx, startPoll); err != nil {
			return obs, err
		}
	}
}

// withVariable is env with name set to value.
func withVariable(env []string, name, value string) []string {
	out := make([]string, 0, len(env)+1)
	for _, entry := range env {
		if !strings.HasPrefix(entry, name+"=") {
			out = append(out, entry)
		}
	}
	return append(out, name+"="+value)
}
