package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

//go:embed demo
var demoFiles embed.FS

const (
	// demoMax is how long the demo may take before something must be wrong.
	demoMax = 2 * time.Minute
	// demoCleanMax bounds cleaning up.
	demoCleanMax = 30 * time.Second
)

type demoOptions struct {
	app  *app
	keep bool
}

func newDemoCmd(a *app, runF func(context.Context, *demoOptions) error) *cobra.Command {
	opts := &demoOptions{app: a}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See agents plan and work, without a key or an account",
		Long: `See the whole line within a minute: in a scratch repository, agents go from a goal
to tasks, and what they suggest is accepted by itself. Then agents do the tasks
side by side, each on a branch of its own. One has a question, one conflicts with
another and one fails the check: each goes on by itself until all work is on one
branch, which is brought onto main. The agents are small shell scripts that come
with cw; git is all that is needed.

Everything is in a temporary folder, with a CW_HOME and a daemon of its own. At
the end the daemon is stopped and the folder removed, also after Ctrl-C.`,
		Annotations: exits("0  every task is merged", "1  one is not, or a step did not come to its end", "130  Ctrl-C"),
		Args:        noArgs,
		RunE:        start(a, runF, demoRun, opts),
	}
	cmd.Flags().BoolVar(&opts.keep, "keep", false, "keep the folder, and print where home and repository are")
	return cmd
}

func demoRun(ctx context.Context, o *demoOptions) error {
	if home, homeErr := o.app.home(); homeErr == nil && o.app.inside(home) {
		return cw.Errorf(cw.CodeRefused, "the demo starts a daemon of its own, which an agent may not").
			WithHint("a person runs it outside of the run")
	}
	// A reader that goes away (cw demo | head) must not end the process before
	// it has cleaned up.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGPIPE)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, demoMax)
	defer cancel()
	d, err := newDemo(o.app, o.keep)
	if err != nil {
		return err
	}
	err = d.run(ctx)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		err = cw.Errorf(cw.CodeInterrupted, "interrupted")
	case ctx.Err() != nil:
		err = cw.Errorf(cw.CodeFailed, "the demo was not over after %s", demoMax).
			WithHint("look at it with cw demo --keep").Because(err)
	}
	return errors.Join(err, d.close(ctx))
}

// demo is one run of it. What its app prints goes to one stream.
type demo struct {
	scratch
	stdout io.Writer
	json   bool
	keep   bool
	// initiative and what became of it.
	initiative cw.InitiativeView
	agents     []cw.AgentView // that did the tasks
	landings   []cw.Landing
}

func newDemo(outer *app, keep bool) (*demo, error) {
	inner := *outer
	if outer.json {
		inner.out, inner.outTTY = outer.err, outer.errTTY
	}
	shared := &lockedWriter{w: inner.out}
	inner.out, inner.err, inner.errTTY = shared, shared, inner.outTTY
	s, err := newScratch(inner, "cw-demo-")
	if err != nil {
		return nil, err
	}
	return &demo{scratch: s, stdout: outer.out, json: outer.json, keep: keep}, nil
}

// say tells what happens next.
func (d *demo) say(format string, args ...any) {
	d.app.printf("%s\n", d.app.paint(d.app.outTTY).bold(fmt.Sprintf(format, args...)))
}

func (d *demo) run(ctx context.Context) error {
	d.say("A scratch repository is made in %s", d.repo())
	if err := d.makeRepo(ctx); err != nil {
		return err
	}
	d.say("A daemon of its own is started; its home is %s", d.home())
	if err := d.open(ctx); err != nil {
		return err
	}
	d.say("From a goal to a merged branch: agents suggest, and all of it is accepted here; then others do the tasks,")
	d.say("each in a worktree of its own. One of them asks, one conflicts with another, and one fails the check:")
	if err := d.plan(ctx); err != nil {
		return err
	}
	d.say("It is brought onto main:")
	if err := d.land(ctx); err != nil {
		return err
	}
	if d.json {
		if err := d.printJSON(); err != nil {
			return err
		}
	}
	d.report(ctx)
	return d.judge()
}

// names are the names of the agents as they are shown.
func (d *demo) names() []string { return agentNames(d.app.paint(d.app.outTTY), d.agents) }

// report shows the branches.
func (d *demo) report(ctx context.Context) {
	d.say("Who did it, each on a branch in the scratch repository:")
	names := d.names()
	for i, v := range d.agents {
		d.app.printf("  %s  %s, %s, %s\n", names[i], v.Status, count(v.Commits(), "commit"), statFact(v.Stat()))
	}
	args := []string{"log", "--graph", "--oneline", "--decorate", "--branches"}
	if d.app.paint(d.app.outTTY).on {
		args = append(args, "--color=always")
	}
	if picture, err := d.git(ctx, args...); err == nil { // it is only a picture
		d.app.printf("\n  %s\n", strings.ReplaceAll(strings.TrimSpace(picture), "\n", "\n  "))
	}
	d.app.printf("\nIn a repository of yours: %s\n", `cw run "what is to be done"`)
	d.app.printf("From a goal to a branch:  %s\n", `cw initiative create "NAME" --project ., and cw initiative run NAME --until execute`)
}

// judge is an error when a task is not done, or nothing was landed.
func (d *demo) judge() error {
	var errs []error
	for _, t := range d.initiative.Tasks {
		if t.Status != cw.TaskDone {
			errs = append(errs, cw.Errorf(cw.CodeFailed, "the task %q is %s", t.Name, t.Status))
		}
	}
	if len(d.landings) == 0 {
		errs = append(errs, cw.Errorf(cw.CodeFailed, "nothing was landed"))
	}
	return errors.Join(errs...)
}

func (d *demo) printJSON() error {
	out := struct {
		Home       string            `json:"home"`
		Repo       string            `json:"repo"`
		Initiative cw.InitiativeView `json:"initiative"`
		Agents     []report          `json:"agents"`
		Landings   []cw.Landing      `json:"landings"`
	}{Landings: d.landings, Home: string(d.home()), Repo: d.repo(), Initiative: d.initiative}
	for _, v := range d.agents {
		why, _ := judge(v)
		out.Agents = append(out.Agents, newReport(v, why, d.app.now().Sub(v.CreatedAt)))
	}
	return writeJSON(d.stdout, out, "  ")
}

// close ends everything that the demo started, and removes what it made.
func (d *demo) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), demoCleanMax)
	defer cancel()
	err := d.stopAll(ctx)
	if d.keep {
		d.say("The daemon is stopped. Kept: CW_HOME=%s and the repository %s", d.home(), d.repo())
		return err
	}
	if removed := d.remove(ctx); removed != nil {
		return errors.Join(err, removed)
	}
	d.say("The daemon is stopped, and everything is removed.")
	return err
}
