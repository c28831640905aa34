package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// errTimeUp is the cause of a context that --timeout ended.
var errTimeUp = errors.New("the time given is over")

type runOptions struct {
	app *app
	spawnFlags
	repo         string
	project      string
	wait, detach bool
	timeout      time.Duration
	noWaitParked bool
}

func newRunCmd(a *app, runF func(context.Context, *runOptions) error) *cobra.Command {
	opts := &runOptions{app: a}
	cmd := &cobra.Command{
		Use:   "run GOAL",
		Short: "Give one agent a goal, and get a branch",
		Long: `Start an agent in a git repository, show what it does, and report its branch.

The agent works in a worktree of its own, on the branch agent/NAME. Your files,
your branches and your index are not touched; at the end the branch is in your
repository, or in cw's clone of a remote one. Ctrl-C only stops watching: the
agent goes on.

The goal is one argument, in quotes, or - to read it from stdin. After -- it may
begin with a hyphen. Several words are taken as a goal only on a terminal, and
after a question. What the agent does is shown on stderr, the report on stdout.

It ends when the agent is at rest, after all that cw does by itself: an agent
that forgot to tell how it ended, or left work uncommitted, is asked once more,
but for one of --provider script: that is done when it exits with 0.
On a terminal its questions are asked in place, and it goes on with your
answers; elsewhere they are printed with their ids, and the exit code is 7. An
agent that asks while it runs waits for the answers, and goes on by itself.`,
		Example: `cw run "make the tests of the parser pass"
cw run -C ~/src/site --base main "add a page that lists all releases"
cw run --provider script --script ./codemod.sh "rename Foo to Bar"
cw run --json - < goal.md`,
		Annotations: exits(
			"0  idle: the work is committed, or the agent says that nothing was to be done",
			"1  crashed, stopped, or ended with work that is not committed or not handed over",
			"6  --timeout is over, or parked with --no-wait-parked; the agent goes on",
			"7  the agent waits for answers",
			"130  Ctrl-C; the agent goes on",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if opts.wait && opts.detach {
				return usagef("--wait and --detach exclude each other").WithHint("--wait is the default; --detach returns once the agent runs")
			}
			if opts.repo != "" && opts.project != "" {
				return usagef("-C and --project exclude each other").WithHint("-C names a folder, --project a registered repository")
			}
			return anyArgs(&opts.words)(cmd, args)
		},
		RunE: start(a, runF, runRun, opts),
	}
	opts.define(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&opts.repo, "repo", "C", "", "a `PATH` in the repository (default: the working directory)")
	fl.StringVar(&opts.project, "project", "", "in place of -C: the registered repository `PROJECT`, by name, id, path or URL")
	fl.BoolVar(&opts.wait, "wait", false, "wait for the end (the default)")
	fl.BoolVar(&opts.detach, "detach", false, "print the agent's name and return once it runs")
	fl.DurationVar(&opts.timeout, "timeout", 0, "stop waiting after this `TIME`, like 30m (default: never)")
	fl.BoolVar(&opts.noWaitParked, "no-wait-parked", false, "do not wait for an agent whose accounts are all at their limit")
	return cmd
}

func runRun(ctx context.Context, o *runOptions) error {
	a := o.app
	if o.timeout < 0 {
		return usagef("--timeout %s is negative", o.timeout)
	}
	req, err := o.request(ctx, a)
	if err != nil {
		return err
	}
	project, err := o.where()
	if err != nil {
		return err
	}
	req.Projects = []string{project}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	started := a.now()
	agent, err := a.spawn(ctx, svc, req)
	if err != nil {
		return err
	}
	if o.detach {
		return a.leave(agent)
	}
	w := watch{
		app: a, svc: svc, agent: agent, started: started, gitDir: o.repo,
		query:   cw.OutputQuery{Until: cw.UntilRest},
		timeout: o.timeout, noWaitParked: o.noWaitParked,
	}
	return w.toTheEnd(ctx)
}

// where is the project to work in.
func (o *runOptions) where() (string, error) {
	if o.project != "" {
		return o.app.projectRef(o.project)
	}
	return o.app.abs(o.repo)
}

// leave prints the name of an agent that nobody waits for.
func (a *app) leave(agent cw.AgentView) error {
	if a.json {
		return a.printJSON(newReport(agent, exitDetached, 0))
	}
	a.printf("%s\n", agent.Alias)
	a.note("it works on; watch it with cw agent attach %s", agent.Alias)
	return nil
}

// watch follows an agent to its end and reports.
type watch struct {
	app          *app
	svc          cw.Services
	agent        cw.AgentView
	query        cw.OutputQuery
	started      time.Time
	gitDir       string // -C, for the commands that are proposed; "": it is looked up
	timeout      time.Duration
	noWaitParked bool
	messages     bool // what is on stdin is sent, line by line, and ends what is watched
	talks        bool // so is what is typed at a terminal
}

func (w watch) toTheEnd(ctx context.Context) error {
	follow, cancel := ctx, context.CancelFunc(func() {})
	if w.timeout > 0 {
		follow, cancel = context.WithTimeoutCause(ctx, w.timeout, errTimeUp)
	}
	defer cancel()
	w.app.header(w.agent)
	agent, err := w.follow(follow)
	why, verdict := judge(agent)
	rests := agent.Status.AtRest() || callWaits(agent) // until somebody acts
	switch {
	case err == nil, rests && errors.Is(err, io.EOF): // Ctrl-D at a question
	case errors.Is(context.Cause(follow), errTimeUp) && !rests:
		why, verdict = exitTimeout, cw.Errorf(cw.CodeTimeout, "%s still works after %s, and goes on", agent.Alias, w.timeout).
			WithHint("watch it with cw agent attach %s, end it with cw agent stop %s", agent.Alias, agent.Alias)
	case errors.Is(context.Cause(follow), errTimeUp): // at a question
	case ctx.Err() != nil && rests:
		verdict = cw.Errorf(cw.CodeInterrupted, "you left; nothing was answered, and %s waits", agent.Alias).
			WithHint("cw agent answer %s asks again", agent.Alias)
	case ctx.Err() != nil:
		why, verdict = exitDetached, cw.Errorf(cw.CodeInterrupted, "you left; %s goes on", agent.Alias).
			WithHint("come back with cw agent attach %s, end it with cw agent stop %s", agent.Alias, agent.Alias)
	case cw.ErrorCode(err) == cw.CodeUnreachable:
		return cw.Errorf(cw.CodeUnreachable, "%s cannot be watched any more", agent.Alias).
			WithHint("it may be running on: cw agent list; watch it again with cw agent attach %s", agent.Alias).Because(err)
	default:
		return err
	}
	return w.report(ctx, agent, why, verdict)
}

// report prints where watching ended. verdict decides the exit code.
func (w watch) report(ctx context.Context, agent cw.AgentView, why string, verdict *cw.Error) error {
	a := w.app
	report := newReport(agent, why, a.now().Sub(w.started))
	if a.json {
		if err := a.printJSON(report); err != nil {
			return err
		}
	} else if agent.Status.AtRest() || agent.Status == cw.StatusParked || why == exitWaiting {
		logIn := w.logIn(ctx, agent)
		a.printReport(report.unsaid(w.agent.Warnings), logIn, w.commits(ctx, agent), w.repository(ctx, agent))
		if agent.Status == cw.StatusCrashed {
			because := agent.Error
			if a.outTTY && a.errTTY { // the report has just said it in the same place
				because = ""
			}
			verdict = crashed(agent, because, logIn)
		}
	}
	if verdict != nil {
		return verdict
	}
	return nil
}

// logIn is the command with which a person logs in to the account of an agent whose
// credentials were refused; "" for any other agent, and when there is none.
func (w watch) logIn(ctx context.Context, agent cw.AgentView) string {
	if agent.Status != cw.StatusCrashed || agent.Reason != cw.ReasonAuth {
		return ""
	}
	accounts, _ := w.svc.Accounts(ctx, "") // without them the error names it all the same
	for _, acc := range accounts {
		if acc.ID == agent.AccountID {
			return acc.LogIn
		}
	}
	return ""
}

// follow shows what the agent does until it is at rest, or a call of it waits
// for people. Where a person can be asked, its questions are asked in place, and
// it goes on with the answers.
func (w watch) follow(ctx context.Context) (cw.AgentView, error) {
	f := follower{
		app: w.app, svc: w.svc, agent: w.agent, query: w.query, started: w.started, noWaitParked: w.noWaitParked, atQuestions: true,
	}
	keys := w.app.newAsker()
	f.talk = w.talker(keys.in)
	for {
		agent, err := f.run(ctx)
		if err == nil {
			var more bool
			if more, err = f.talk.more(ctx, agent); more {
				continue
			}
		}
		if err != nil || len(agent.PendingQuestions) == 0 || !w.app.asks() {
			return agent, err
		}
		answers, err := keys.askAll(ctx, viewsOf(agent))
		if err != nil {
			return agent, err
		}
		if f.agent, err = w.app.answerFor(ctx, w.svc, agent, answers); err != nil {
			return agent, err
		}
	}
}

// commits lists what the agent committed. The report is complete without the
// list, so an error only leaves it out.
func (w watch) commits(ctx context.Context, agent cw.AgentView) []cw.Commit {
	if agent.Commits() == 0 || len(agent.Projects) != 1 {
		return nil
	}
	d, err := w.svc.Diff(ctx, string(agent.ID), cw.DiffRequest{Stat: true})
	if err != nil {
		return nil
	}
	return d.Commits
}

// repository is where git has to be told to work so that the commands that are
// proposed act in the repository of the agent's project; "" for here. They are
// shown without it when the project cannot be asked for.
func (w watch) repository(ctx context.Context, agent cw.AgentView) string {
	if w.gitDir != "" || len(agent.Projects) != 1 {
		return w.gitDir
	}
	p, err := w.svc.Project(ctx, string(agent.Projects[0].ProjectID))
	if err != nil || p.Remote() || inRepository(w.app.dir, p.Path) {
		return ""
	}
	return p.Path
}

// inRepository reports whether git works in the repository with the top level top
// when it is run in dir: dir is in it, and in no other repository inside it.
func inRepository(dir, top string) bool {
	if dir == "" {
		return false // it is gone
	}
	dir, top = realPath(dir), realPath(top)
	for dir != top {
		above := filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || above == dir {
			return false
		}
		dir = above
	}
	return true
}

// realPath is a path without links, or as it is when it cannot be followed.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// watchNext watches an agent from its next run on, and reports.
func (a *app) watchNext(ctx context.Context, svc cw.Services, before cw.AgentView, began time.Time) error {
	agent, err := svc.Agent(ctx, string(before.ID))
	if err != nil {
		return err
	}
	w := watch{
		app: a, svc: svc, agent: agent, started: began,
		query: cw.OutputQuery{Session: before.SessionNumber + 1, Until: cw.UntilRest},
	}
	return w.toTheEnd(ctx)
}
