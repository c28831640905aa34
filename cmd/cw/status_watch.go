package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cw/internal/board/live"
	"cw/internal/cw"
)

// watchStatus prints a line whenever the status is another one than before, until
// ctx ends. A daemon that goes away is told of once, and waited for.
func (a *app) watchStatus(ctx context.Context, svc cw.Services) error {
	last := ""
	return live.Watch(ctx, svc, func(ctx context.Context) error {
		s, err := svc.Status(ctx)
		if err != nil && (ctx.Err() != nil || cw.ErrorCode(err) != cw.CodeUnreachable) {
			return err
		}
		line := a.statusLine(s, err)
		if line == last {
			return err
		}
		last = line
		if failed := a.printStatusLine(s, err, line); failed != nil {
			return failed
		}
		return err
	})
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
