package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
	"cw/internal/proc"
)

//go:embed demo
var demoFiles embed.FS

const (
	// demoMax is how long the demo may take before something must be wrong.
	demoMax = 2 * time.Minute
	// demoCleanMax bounds cleaning up.
	demoCleanMax = 30 * time.Second
	// removeTries is how often a folder is removed into which a process that is
	// just ending may still write.
	removeTries = 20
)

// demoJob is one agent of the demo.
type demoJob struct {
	script string // below demo/
	goal   string
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
		Short: "See three agents at work, without a key or an account",
		Long: `See the main job within ten seconds: three agents at work in parallel in a scratch
repository, each on a branch of its own. The agents are small shell scripts that
come with cw; git is all that is needed.

Everything is in a temporary folder, with a CW_HOME and a daemon of its own. At
the end the daemon is stopped and the folder removed, also after Ctrl-C.`,
		Annotations: exits("0  every agent ended with a commit", "1  one did not", "130  Ctrl-C"),
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

// demo is one run of it.
type demo struct {
	app    *app // its narrative goes to one stream
	stdout io.Writer
	json   bool
	keep   bool
	root   string
	env    environ // of the inner daemon and of git
	link   *connector
	svc    cw.Services
	agents []cw.AgentView
}

func newDemo(outer *app, keep bool) (*demo, error) {
	if _, err := proc.LookPath("git", outer.env["PATH"]); err != nil {
		return nil, cw.Errorf(cw.CodeNotFound, "there is no git").WithHint("install git; cw doctor tells which version is needed").Because(err)
	}
	temp := outer.env["TMPDIR"]
	if temp != "" {
		var err error
		if temp, err = outer.abs(temp); err != nil {
			return nil, err
		}
	}
	root, err := os.MkdirTemp(temp, "cw-demo-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	inner := *outer
	if outer.json {
		inner.out, inner.outTTY = outer.err, outer.errTTY
	}
	shared := &lockedWriter{w: inner.out}
	inner.out, inner.err, inner.errTTY = shared, shared, inner.outTTY
	env := outer.env.without("CW_").without("GIT_")
	env["CW_HOME"] = filepath.Join(root, "home")
	link := newConnector(env, inner.note)
	inner.connect, inner.reach = link.connect, link.reach
	return &demo{
		app: &inner, stdout: outer.out, json: outer.json, keep: keep, root: root, env: env, link: link,
	}, nil
}

func (d *demo) home() cw.Home { return cw.Home(d.env["CW_HOME"]) }
func (d *demo) repo() string  { return filepath.Join(d.root, "repo") }

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
	var err error
	// A daemon that is just starting has to be stopped, too: the start is not
	// cut off by Ctrl-C.
	if d.svc, err = d.link.connect(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	d.say("Three agents are started in it at once, each in a worktree of its own:")
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

// spawn starts the agents, all at the same time.
func (d *demo) spawn(ctx context.Context) error {
	project, err := d.svc.AddProject(ctx, d.repo())
	if err != nil {
		return err
	}
	jobs := demoJobs()
	d.agents = make([]cw.AgentView, len(jobs))
	errs := make([]error, len(jobs))
	var all sync.WaitGroup
	for i, job := range jobs {
		all.Go(func() { d.agents[i], errs[i] = d.spawnOne(ctx, project, job) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i, v := range d.agents {
		d.app.printf("  %s  %s  %s\n", d.name(i), v.Branch, jobs[i].goal)
	}
	return ctx.Err()
}

func (d *demo) spawnOne(ctx context.Context, project cw.Project, job demoJob) (cw.AgentView, error) {
	body, err := demoFiles.ReadFile("demo/" + job.script)
	if err != nil {
		return cw.AgentView{}, fmt.Errorf("read the demo's files: %w", err)
	}
	path := filepath.Join(d.root, job.script)
	if err := os.WriteFile(path, body, 0o700); err != nil {
		return cw.AgentView{}, fmt.Errorf("write the demo's scripts: %w", err)
	}
	return d.svc.Spawn(context.WithoutCancel(ctx), cw.SpawnRequest{
		RequestKey: cw.NewID(), Goal: job.goal, Mode: cw.ModeExecute, Projects: []string{string(project.ID)},
		Provider: "script", Script: path, Env: daemon.ForAgent(d.home(), d.env),
	})
}

// name is an agent's name in its colour, as wide as the widest.
func (d *demo) name(i int) string {
	width := 0
	for _, v := range d.agents {
		width = max(width, len(v.Alias))
	}
	p := d.app.paint(d.app.outTTY)
	colours := []func(string) string{p.cyan, p.yellow, p.green}
	return colours[i%len(colours)](fmt.Sprintf("%-*s", width, d.agents[i].Alias))
}

// watch shows all agents together until each is at rest.
func (d *demo) watch(ctx context.Context) error {
	errs := make([]error, len(d.agents))
	last := make([]cw.AgentView, len(d.agents))
	var all sync.WaitGroup
	for i, v := range d.agents {
		f := follower{
			app: d.app, svc: d.svc, agent: v, started: d.app.now(), prefix: d.name(i) + " │ ",
			query: cw.OutputQuery{Until: cw.UntilRest},
		}
		all.Go(func() { last[i], errs[i] = f.run(ctx) })
	}
	all.Wait()
	d.agents = last
	return errors.Join(errs...)
}

// report shows the branches.
func (d *demo) report(ctx context.Context) {
	d.say("Their work, each on a branch in the scratch repository:")
	for i, v := range d.agents {
		d.app.printf("  %s  %s, %s, %s\n", d.name(i), v.Status, count(v.Commits(), "commit"), statFact(v.Stat()))
	}
	args := []string{"log", "--graph", "--oneline", "--decorate", "--branches"}
	if d.app.paint(d.app.outTTY).on {
		args = append(args, "--color=always")
	}
	if picture, err := d.git(ctx, args...); err == nil { // it is only a picture
		d.app.printf("\n  %s\n", strings.ReplaceAll(strings.TrimSpace(picture), "\n", "\n  "))
	}
	d.app.printf("\nIn a repository of yours: %s\n", `cw run "what is to be done"`)
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
		Home   string   `json:"home"`
		Repo   string   `json:"repo"`
		Agents []report `json:"agents"`
	}{Home: string(d.home()), Repo: d.repo()}
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
	if removed := removeAll(ctx, d.root); removed != nil {
		return errors.Join(err, fmt.Errorf("remove %s: %w", d.root, removed))
	}
	d.say("The daemon is stopped, and everything is removed.")
	return err
}

// stopAll ends the agents and then the daemon.
func (d *demo) stopAll(ctx context.Context) error {
	if d.svc == nil { // it did not come up; perhaps it hangs
		pid, err := endDaemon(d.home())
		if err != nil || pid == 0 {
			return nil // there is none: not even its folder, mostly
		}
		return processGone(ctx, pid)
	}
	agents, err := cw.AllAgents(ctx, d.svc, cw.AgentFilter{})
	errs := []error{err}
	for _, v := range agents {
		if !v.Status.AtRest() {
			_, err := d.svc.Stop(ctx, string(v.ID), cw.StopRequest{Now: true})
			errs = append(errs, err)
		}
	}
	was, err := d.svc.Shutdown(ctx)
	if err == nil {
		err = processGone(ctx, was.PID)
	}
	return errors.Join(append(errs, err)...)
}

func removeAll(ctx context.Context, dir string) error {
	for try := 1; ; try++ {
		err := os.RemoveAll(dir)
		if err == nil || try == removeTries || pause(ctx, 50*time.Millisecond) != nil {
			return err
		}
	}
}
