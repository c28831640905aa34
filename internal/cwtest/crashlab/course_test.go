package crashlab

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// lastStep is how long a step is waited for after the end that people see: some
// come right after it.
const lastStep = 10 * time.Second

// statusWait bounds one question whether a daemon serves: one whose disk fails
// may never answer, and only the next daemon does.
const statusWait = 5 * time.Second

// name is the agent of a course.
const name = "busy-otter"

// course is one scenario with one agent, whose daemons die at given steps, one
// by one. The daemon after them lives.
type course struct {
	*person
	points []string  // steps at which a daemon is still to die
	guards string    // that are taken out of the program
	seen   []problem // that the scenario noted by itself
	// atDeath, unless nil, is called when a daemon has died and before the next
	// one is started.
	atDeath func()
	// heal, unless nil, is called once, some time after the begin.
	heal   func()
	healAt time.Time
}

func newCourse(t *testing.T, points ...string) *course {
	t.Helper()
	l := lab.New(t, binary)
	c := &course{points: points}
	c.person = &person{Lab: l, scene: newScene(l), mend: c.mend, patience: patience}
	return c
}

// begin starts the first daemon.
func (c *course) begin() {
	c.T.Helper()
	c.launch()
	c.mend()
}

func (c *course) launch() {
	c.Env = []string{fakecli.KeyVariable + "=" + c.canary, "CW_VAULT=file"}
	if c.guards != "" {
		c.Env = append(c.Env, "CW_GUARD_OFF="+c.guards)
	}
	if len(c.points) > 0 {
		c.Env = append(c.Env, "CW_FAILPOINT="+c.points[0])
	}
	c.Launch()
}

// mend starts the next daemon when the last one died, and returns when one
// serves.
func (c *course) mend() {
	c.T.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		if heal := c.heal; heal != nil && time.Now().After(c.healAt) {
			c.heal = nil
			heal()
		}
		if c.Ended(0) {
			if len(c.points) > 0 {
				c.points = c.points[1:]
			} else if !c.rough {
				c.T.Fatalf("the daemon ended by itself\n%s", tail(c.DaemonLog()))
			}
			if c.atDeath != nil {
				c.atDeath()
			}
			c.launch()
		}
		err := within(c.T.Context(), statusWait, func(ctx context.Context) error {
			_, err := c.Client().Status(ctx)
			return err
		})
		if err == nil {
			return
		}
		if time.Now().After(end) {
			c.T.Fatalf("no daemon serves: %v\n%s\n%s", err, tail(c.DaemonLog()), c.Stacks())
		}
	}
}

// need ends the test when something that must work did not.
func (c *course) need(err error) {
	c.T.Helper()
	if err != nil {
		c.T.Fatalf("%v\n%s", err, tail(c.DaemonLog()))
	}
}

// start spawns the agent.
func (c *course) start(s fakecli.Script) {
	c.T.Helper()
	_, err := c.spawn(s, name)
	c.need(err)
}

// wait waits until the agent is as wanted.
func (c *course) wait(what string, want func(cw.AgentView) bool) cw.AgentView {
	c.T.Helper()
	v, err := c.until(name, what, want)
	c.need(err)
	return v
}

// settled waits until the agent rests after that many runs and nothing of cw is
// under way for it.
func (c *course) settled(runs int) cw.AgentView {
	c.T.Helper()
	return c.wait(fmt.Sprintf("it rests after %d runs", runs), func(v cw.AgentView) bool {
		return atRest(v) && v.SessionNumber >= runs
	})
}

// writes waits until the agent's last run has written everything.
func (c *course) writes() cw.AgentView {
	c.T.Helper()
	return c.wait("it writes", func(v cw.AgentView) bool {
		return v.Status == cw.StatusRunning && slices.ContainsFunc(c.book(v).Entries, func(e fakecli.Entry) bool { return e.Pieces >= pieces })
	})
}

// book is that of an agent's last run.
func (c *course) book(v cw.AgentView) fakecli.Book {
	books, err := fakecli.ReadBooks(c.Books)
	c.need(err)
	return books[string(v.Runs[len(v.Runs)-1].ID)]
}

// finish waits for steps that come after the end that people see, and gives
// every broken invariant. A step that was not reached ends the test.
func (c *course) finish() (broken []problem) {
	c.T.Helper()
	for end := time.Now().Add(lastStep); len(c.points) > 0 && time.Now().Before(end); time.Sleep(pause) {
		c.mend()
	}
	if len(c.points) > 0 {
		c.T.Fatalf("never reached: %v\n%s", c.points, tail(c.DaemonLog()))
	}
	c.mend()
	c.look()
	return c.judge()
}

func tail(log string) string {
	const most = 4000
	if len(log) > most {
		return "…" + log[len(log)-most:]
	}
	return log
}
