package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
)

const (
	// commandTime is how long a program may take before it is killed.
	commandTime = 30 * time.Second
	// perMinute is how many notifications a desktop gets in a minute; what comes
	// beyond is joined.
	perMinute = 10
	// outputMax is how much a program may say about its failure.
	outputMax = 1 << 10
)

// Exec runs a program without a shell, with what it reads from stdin, and kills
// its process group when ctx ends. It gives the first bytes of what the program
// wrote and its exit code; -1 when a signal ended it.
type Exec func(ctx context.Context, argv, env []string, stdin []byte, outputMax int) (output []byte, code int, err error)

// command shows notifications by a program on this machine.
type command struct {
	argv    []string
	environ []string
	exec    Exec
	limit   time.Duration // after which the program is killed
}

func (c *command) target() string { return c.argv[0] }

// deliver runs the program once. Events are told by stdin and by variables,
// never by arguments: what an agent wrote must not become an option.
func (c *command) deliver(ctx context.Context, n Note) error {
	stdin, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("write the notification: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	out, code, err := c.exec(bounded, c.argv, c.environOf(n), append(stdin, '\n'), outputMax)
	switch said := clean(string(out), outputMax); {
	case err == nil && code == 0: // also when everything ends now
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(bounded.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it was killed after %s%s", c.limit, prefixed(": ", said))
	case err != nil:
		return err
	default:
		return fmt.Errorf("it ended with code %d%s", code, prefixed(": ", said))
	}
}

// environOf is the daemon's environment with the notification.
func (c *command) environOf(n Note) []string {
	var env []string
	for _, entry := range c.environ {
		if name, _, _ := strings.Cut(entry, "="); name != "CW_EVENT_TYPE" && name != "CW_TITLE" && name != "CW_BODY" {
			env = append(env, entry)
		}
	}
	return append(env, "CW_EVENT_TYPE="+string(n.Type), "CW_TITLE="+clean(n.Title, titleMax), "CW_BODY="+clean(n.Body, bodyMax))
}

func (c *command) trial(ctx context.Context) cw.HookTrial {
	t := cw.HookTrial{Kind: cw.HookCommand, Target: c.target(), OK: true, Detail: "it ended with code 0"}
	if err := c.deliver(ctx, trial()); err != nil {
		t.OK, t.Detail = false, err.Error()
	}
	return t
}

// pace counts what a desktop was shown in this minute.
type pace struct {
	begin time.Time
	shown int
}

// wait is how long the next notification has to wait; 0: it may be shown, and is
// counted.
func (p *pace) wait(now time.Time) time.Duration {
	if now.Sub(p.begin) >= time.Minute {
		*p = pace{begin: now}
	}
	if p.shown >= perMinute {
		return p.begin.Add(time.Minute).Sub(now)
	}
	p.shown++
	return 0
}
