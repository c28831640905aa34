package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// sideBySide is how many agents a walk lets work at once unless it is told.
const sideBySide = 2

type initiativeRunOptions struct {
	app *app
	spawnFlags
	ref          string
	from, until  string
	projects     []string
	answers      string
	yes          bool
	parallel     int
	noWaitParked bool
}

func newInitiativeRunCmd(a *app, runF func(context.Context, *initiativeRunOptions) error) *cobra.Command {
	opts := &initiativeRunOptions{app: a}
	cmd := &cobra.Command{
		Use:   "run INITIATIVE",
		Short: "Walk from the goal to tasks, with a decision of yours after each step",
		Long: `Walk the steps from a goal to tasks: discuss, refine, plan, detail. In each an agent
reads the repositories and what was decided before, and suggests: decisions,
better pages, phases, and for each phase its tasks. After each step you decide
about what it suggests, and the next one begins. With --until execute it
starts the initiative, as cw initiative start does, goes on until every task is done
and merged, and tells what happens on the way. Tasks are started by the daemon,
whether anybody watches or not.

On a terminal questions and decisions are asked in place. Elsewhere, or when you
leave, the walk ends; the same command goes on where it was, whoever answered or
decided meanwhile. --yes accepts everything that is suggested. A question is never
answered by cw itself: --answers takes answers from a file, as cw agent answer
does, each of them for one question.

A step is done when its agent is idle and every proposal of it is decided on. What
is done is not done again, unless --from names it, or an earlier step was made
anew since; what --from left out stays left out. detail has an agent for each
phase that was accepted and has no tasks yet. --from execute leaves the other steps
out, for tasks that you made by hand.`,
		Example: `cw initiative run spring-sale
cw initiative run spring-sale --until plan
cw initiative run spring-sale --yes --answers answers.json --provider codex
cw initiative run spring-sale --from plan
cw initiative run spring-sale --until execute`,
		Annotations: exits(
			"0  every step is done",
			"1  an agent crashed or was stopped, or the steps led to no phases or tasks",
			"4  the initiative is archived, or with --yes: a proposal cannot be accepted",
			"6  parked with --no-wait-parked; the agent goes on",
			"7  an agent waits for answers, proposals wait for a decision, or only you can let tasks go on",
			"130  Ctrl-C; an agent that works goes on",
		),
		Args: oneArg(&opts.ref, initiativeWhat),
		RunE: start(a, runF, initiativeRunRun, opts),
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.until, "until", string(cw.ModeDetail), "the last `STEP` to do: "+commaList(allSteps()))
	fl.StringVar(&opts.from, "from", "", "begin this `STEP` anew, and go on from there (default: where the last walk was)")
	fl.BoolVarP(&opts.yes, "yes", "y", false, "accept everything that is suggested")
	fl.StringVar(&opts.answers, "answers", "", "answer questions from this JSON `FILE`, - for stdin")
	fl.IntVar(&opts.parallel, "parallel", sideBySide, "let at most `N` agents work side by side in the step detail")
	fl.StringArrayVar(&opts.projects, "project", nil, "a repository that the agents see: `PROJECT` is a name, an id or a path; may be repeated (default: those of the initiative)")
	fl.BoolVar(&opts.noWaitParked, "no-wait-parked", false, "do not wait for an agent whose accounts are all at their limit")
	opts.defineCLI(fl)
	for _, flag := range []string{"until", "from"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(texts(allSteps()), cobra.ShellCompDirectiveNoFileComp)) // the flags were defined above
	}
	return cmd
}

func initiativeRunRun(ctx context.Context, o *initiativeRunOptions) error {
	w, err := o.walk()
	if err != nil {
		return err
	}
	if w.svc, err = o.app.connect(ctx); err != nil {
		return err
	}
	v, err := w.svc.Initiative(ctx, o.ref)
	switch {
	case err != nil:
		return hintNear(ctx, w.svc, err, nounInitiative, o.ref)
	case v.Status == cw.InitiativeArchived:
		return cw.Errorf(cw.CodeRefused, "the initiative %s is archived", oneLine(v.Slug)).
			WithHint("cw initiative archive %s --undo takes it out again", cw.ShellWord(oneLine(v.Slug)))
	}
	w.initiative = v.Initiative
	if len(v.Projects)+len(o.projects) == 0 {
		o.app.note("%[1]s has no project: its agents see no repository (cw initiative edit %[1]s --project PATH adds one)", cw.ShellWord(oneLine(v.Slug)))
	}
	if err := w.settleWork(ctx); err != nil {
		return err
	}
	return w.toTheEnd(ctx)
}

// settleWork starts an initiative whose tasks are to be done, by the agents that
// the flags name, before any of its tasks is accepted: it is started at once then.
func (w *walk) settleWork(ctx context.Context) error {
	if w.plan.until != cw.ModeExecute {
		return nil
	}
	req, now := w.request(cw.ModeExecute), w.initiative.Work
	var edit cw.WorkEdit
	if named := req.Provider != "" || req.Model != "" || req.Script != ""; named && (req.Provider != now.Provider || req.Model != now.Model || req.Script != now.Script) {
		edit.Provider, edit.Model, edit.Script = &req.Provider, &req.Model, &req.Script
	}
	if now.Hold {
		edit.Hold = new(bool)
	}
	if edit == (cw.WorkEdit{}) {
		return nil
	}
	_, err := w.svc.EditInitiative(ctx, string(w.initiative.ID), cw.InitiativeEdit{Work: &edit})
	return err
}

// walk makes a walk of the flags, without a daemon. CodeInvalid.
func (o *initiativeRunOptions) walk() (*walk, error) {
	a := o.app
	w := newWalk(a)
	var err error
	if w.plan.until, err = stepNamed("until", o.until); err != nil {
		return nil, err
	}
	if o.from != "" {
		if w.plan.from, err = stepNamed("from", o.from); err != nil {
			return nil, err
		}
		if w.plan.from == cw.ModeExecute && w.plan.until == cw.ModeDetail { // no step comes before it
			w.plan.until = cw.ModeExecute
		}
	}
	switch {
	case len(w.plan.steps()) == 0:
		return nil, usagef("--from %s comes after --until %s", o.from, o.until).WithHint("the steps are %s", commaList(allSteps()))
	case o.parallel < 1:
		return nil, usagef("--parallel %d lets no agent work", o.parallel).WithHint("give 1 or more")
	}
	w.plan.parallel, w.yes, w.noWaitParked, w.flags = o.parallel, o.yes, o.noWaitParked, o.kept()
	if o.answers != "" {
		data, err := a.readFile("--answers", o.answers, answersMax)
		if err != nil {
			return nil, err
		}
		if w.given, err = readAnswers(data); err != nil {
			return nil, err
		}
	}
	req, err := o.requestFor(a)
	if err != nil {
		return nil, err
	}
	req.Projects, err = a.projectRefs(o.projects)
	w.request = func(cw.Mode) cw.SpawnRequest { return req }
	return w, err
}

// kept are the flags that say how the walk is gone, as they were given: whoever
// goes on without them would get other agents. --from would begin its step once
// more, and answers are given once.
func (o *initiativeRunOptions) kept() []string {
	var words []string
	for _, f := range [][2]string{
		{"--provider", o.provider}, {"--model", o.model}, {"--script", o.script}, {"--sandbox", o.sandbox}, {"--account", o.account},
	} {
		if f[1] != "" {
			words = append(words, f[0], f[1])
		}
	}
	for _, project := range o.projects {
		words = append(words, "--project", project)
	}
	if o.parallel != sideBySide {
		words = append(words, "--parallel", strconv.Itoa(o.parallel))
	}
	if o.yes {
		words = append(words, "--yes")
	}
	if o.noWaitParked {
		words = append(words, "--no-wait-parked")
	}
	return words
}
