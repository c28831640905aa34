package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
)

const (
	// watchEvery is the least time between two looks of a watch.
	watchEvery = time.Second
	// watchQuiet is how long a watch believes that nothing changed while no event
	// tells of anything: free space and sizes have none.
	watchQuiet = 30 * time.Second
)

// watchStatus prints a line whenever the status is another one than before, until
// ctx ends. A daemon that goes away is told of once, and waited for.
func (a *app) watchStatus(ctx context.Context, svc cw.Services) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	bell := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, err := range svc.Events(ctx, cw.EventQuery{Follow: true, Tail: true}) {
			if err != nil {
				return // without events it looks now and then
			}
			select {
			case bell <- struct{}{}:
			default:
			}
		}
	}()
	defer func() { stop(); <-done }()
	last := ""
	for {
		s, err := svc.Status(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && cw.ErrorCode(err) != cw.CodeUnreachable:
			return err
		}
		line := a.statusLine(s, err)
		if line != last {
			if err := a.printStatusLine(s, err, line); err != nil {
				return err
			}
			last = line
		}
		if err := restUntil(ctx, bell); err != nil {
			return err
		}
	}
}

// restUntil waits until the bell rings, but not shorter than watchEvery, and not
// longer than watchQuiet.
func restUntil(ctx context.Context, bell <-chan struct{}) error {
	quiet := time.After(watchQuiet)
	select {
	case <-time.After(watchEvery):
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-bell:
	case <-quiet:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// printStatusLine prints a status that was reached, or that it was not.
func (a *app) printStatusLine(s cw.DaemonStatus, failed error, line string) error {
	switch {
	case failed != nil:
		a.note("%s %s; waiting for it", a.now().Format(time.TimeOnly), line)
		return nil
	case a.json:
		return a.printJSONLine(s)
	}
	if _, err := fmt.Fprintf(a.out, "%s  %s\n", a.now().Format(time.TimeOnly), line); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	return nil
}

// statusLine is what a watch looks at: who works, what waits, and for whom.
func (a *app) statusLine(s cw.DaemonStatus, failed error) string {
	if failed != nil {
		return "the daemon does not answer"
	}
	parts := []string{fmt.Sprintf("%d of %s alive", s.AgentsAlive, count(s.Agents, "agent"))}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	if s.TasksRunning+s.TasksReady+s.TasksWaiting > 0 {
		parts = append(parts, fmt.Sprintf("tasks: %d running, %d next, %d waiting", s.TasksRunning, s.TasksReady, s.TasksWaiting))
	}
	add(s.Merges, "to be merged")
	if s.Questions > 0 {
		parts = append(parts, count(s.Questions, "question"))
	}
	if s.Checkpoints > 0 {
		parts = append(parts, count(s.Checkpoints, "checkpoint"))
	}
	if s.DiskLow {
		parts = append(parts, "the disk is low")
	}
	return strings.Join(parts, "; ")
}
