package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"sync"
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

// demoJob is one agent of the demo that does a task.
type demoJob struct {
	script string // below demo/
	task   string // its name, as detail.sh gives it
}

func demoJobs() []demoJob {
	return []demoJob{
		{"several.sh", "Let greet.sh greet several people at once"},
		{"tests.sh", "Write a test for greet.sh"},
		{"docs.sh", "Document how to use greet.sh"},
	}
}

type demoOptions struct {
	app  *app
	keep bool
}

func newDemoCmd(a *app, runF func(context.Context, *demoOptions) error) *cobra.Command {
	opts := &demoOptions{app: a}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See agents plan and work, without a key or an account",
		Long: `See the main job within half a minute: in a scratch repository, agents go from a
goal to tasks, and what they suggest is accepted by itself. Then three agents do
the tasks in parallel, each on a branch of its own. The agents are small shell
scripts that come with cw; git is all that is needed.

Everything is in a temporary folder, with a CW_HOME and a daemon of its own. At
the end the daemon is stopped and the folder removed, also after Ctrl-C.`,
		Annotations: exits("0  every task ended with a commit", "1  one did not, or a step did not come to its end", "130  Ctrl-C"),
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
	agents     []cw.AgentView // that do the tasks
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
	d.say("From a goal to tasks: in each step an agent suggests, and all of it is accepted here:")
	if err := d.plan(ctx); err != nil {
		return err
	}
	d.say("Three agents are started at once to do the tasks, each in a worktree of its own:")
	if err := d.spawn(ctx); err != nil {
		return err
	}
	d.say("This is what they do:")
	if err := d.watch(ctx); err != nil {
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

// spawn starts the agents that do the tasks, all at the same time.
func (d *demo) spawn(ctx context.Context) error {
	jobs := demoJobs()
	d.agents = make([]cw.AgentView, len(jobs))
	errs := make([]error, len(jobs))
	var all sync.WaitGroup
	for i, job := range jobs {
		all.Go(func() { d.agents[i], errs[i] = d.spawnOne(ctx, job) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i, name := range d.names() {
		d.app.printf("  %s  %s  %s\n", name, d.agents[i].Branch, jobs[i].task)
	}
	return ctx.Err()
}

func (d *demo) spawnOne(ctx context.Context, job demoJob) (cw.AgentView, error) {
	i := slices.IndexFunc(d.initiative.Tasks, func(t cw.Task) bool { return t.Name == job.task })
	if i < 0 {
		return cw.AgentView{}, cw.Errorf(cw.CodeFailed, "no agent suggested the task %q", job.task)
	}
	req := d.request(job.script)
	req.RequestKey, req.Mode, req.InitiativeID, req.TaskID = cw.NewID(), cw.ModeExecute, d.initiative.ID, d.initiative.Tasks[i].ID
	return d.svc.Spawn(context.WithoutCancel(ctx), req)
}

// watch shows all agents together until each is at rest.
func (d *demo) watch(ctx context.Context) error {
	names := d.names()
	followers := make([]*follower, len(d.agents))
	for i, v := range d.agents {
		followers[i] = &follower{
			app: d.app, svc: d.svc, agent: v, started: d.app.now(), prefix: names[i] + " │ ",
			query: cw.OutputQuery{Until: cw.UntilRest},
		}
	}
	err := followAll(ctx, followers)
	for i, f := range followers {
		d.agents[i] = f.agent
	}
	return err
}

// names are the names of the agents as they are shown.
func (d *demo) names() []string { return agentNames(d.app.paint(d.app.outTTY), d.agents) }

// report shows the branches.
func (d *demo) report(ctx context.Context) {
	d.say("Their work, each on a branch in the scratch repository:")
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
	d.app.printf("From a goal to tasks:     %s\n", `cw initiative create "NAME" --project ., and cw initiative run NAME`)
}

// judge is an error when an agent does not end with its work committed.
func (d *demo) judge() error {
	var errs []error
	for _, v := range d.agents {
		why, err := judge(v)
		switch {
		case err != nil:
			errs = append(errs, err)
		case why != exitCommitted:
			errs = append(errs, cw.Errorf(cw.CodeFailed, "%s ended without a commit", v.Alias))
		}
	}
	return errors.Join(errs...)
}

func (d *demo) printJSON() error {
	out := struct {
		Home       string            `json:"home"`
		Repo       string            `json:"repo"`
		Initiative cw.InitiativeView `json:"initiative"`
		Agents     []report          `json:"agents"`
	}{Home: string(d.home()), Repo: d.repo(), Initiative: d.initiative}
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
