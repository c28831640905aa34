package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cw/internal/cw"
)

// taskWhat says in errors what a command wants.
const taskWhat = "a task: its id"

func newTaskCmd(a *app) *cobra.Command {
	return newGroupCmd("task", "The tasks of an initiative",
		newTaskCreateCmd(a, nil), newTaskListCmd(a, nil), newTaskShowCmd(a, nil), newTaskEditCmd(a, nil),
		newTaskEndCmd(a, cw.TaskDone, nil), newTaskRejectCmd(a, nil), newTaskEndCmd(a, cw.TaskCancelled, nil), newTaskDiffCmd(a, nil))
}

// taskFlags are the flags that task create and task edit have in common.
type taskFlags struct {
	body      optionalText
	paths     []string
	checks    []string
	dependsOn []string
	kind      optionalText
	size      optionalText
	priority  optionalText
	questions optionalText
}

func (f *taskFlags) define(fl *pflag.FlagSet) {
	bodyFlag(fl, &f.body)
	fl.StringArrayVar(&f.paths, "path", nil, "a `GLOB` of the paths that it may touch; may be given more than once")
	fl.StringArrayVar(&f.checks, "check", nil, "a `TEXT` that says how to see that it is done; may be given more than once")
	fl.StringSliceVar(&f.dependsOn, "depends-on", nil, "the `ID` of a task that comes before it, or several with commas")
	questionsFlag(fl, &f.questions)
	fl.Var(&f.kind, "type", "who does it: `TYPE` is "+commaList(cw.TaskTypes()))
	fl.Var(&f.size, "size", "how much work it is: `SIZE` is "+commaList(cw.TaskSizes()))
	fl.Var(&f.priority, "priority", "what comes first: `PRIORITY` is "+commaList(cw.TaskPriorities()))
}

// check refuses flags that want the same thing.
func (f *taskFlags) check() error {
	if f.body.String() == stdinName && f.questions.String() == stdinName {
		return usagef("--body and --questions cannot both be read from stdin").WithHint("put one of them into a file")
	}
	return nil
}

// printTask shows a task without its text.
func (a *app) printTask(t cw.Task) {
	p := a.paint(a.outTTY)
	a.printf("%s  %s\n", p.bold(oneLine(t.Name)), taskColour(t.Status)(p, oneLine(string(t.Status))))
	facts(a.out, "  ", [][2]string{
		{"id", string(t.ID)},
		{"phase", string(t.PhaseID)},
		{"type", oneLine(string(t.Type))},
		{"size", oneLine(string(t.Size))},
		{"priority", oneLine(string(t.Priority))},
		{"after", oneLine(commaList(t.DependsOn))},
		{"paths", lines(t.Paths)},
		{"checks", lines(t.Checks)},
		{"asks", oneLine(questionIDs(t))},
		{"agent", agentOfTask(t)},
		{"warning", outsideFact(t)},
		{"failed", failedFact(t)},
		{"you said", clean(t.Comment)},
		{"done", clean(t.Summary)},
		{"changed", clock(t.UpdatedAt)},
	})
}

// questionIDs names what a decision asks.
func questionIDs(t cw.Task) string {
	ids := make([]string, len(t.Questions))
	for i, q := range t.Questions {
		ids[i] = q.ID
	}
	return strings.Join(ids, ", ")
}

// agentOfTask names the agent of a task, and how many were started for it.
func agentOfTask(t cw.Task) string {
	if t.Starts < 2 {
		return string(t.AgentID)
	}
	return string(t.AgentID) + fmt.Sprintf(" (agent number %d of this task)", t.Starts)
}

// outsideFact says what was changed outside the paths of a task.
func outsideFact(t cw.Task) string {
	if t.Outside == nil {
		return ""
	}
	return oneLine(t.Outside.Text())
}

// failedFact says what failed last, and when the task is started again.
func failedFact(t cw.Task) string {
	text := strings.TrimRight(clean(t.Blocked), "\n \t")
	switch {
	case t.RetryAt != nil:
		return strings.TrimSpace(text + "\nit is started again after " + clock(*t.RetryAt))
	case t.Status == cw.TaskBlocked:
		return text + "\nit is tried again with cw dispatch retry " + oneLine(string(t.ID))
	}
	return text
}

// lines writes one clean line for each text.
func lines(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = oneLine(t)
	}
	return strings.Join(out, "\n")
}

// editTasks changes tasks one after the other and shows them.
func (a *app) editTasks(ctx context.Context, refs []string, e cw.TaskEdit) ([]cw.Task, error) {
	return a.eachTask(ctx, refs, func(ctx context.Context, svc cw.Services, id cw.TaskID) (cw.Task, error) {
		return svc.EditTask(ctx, id, e)
	})
}

// eachTask does something with tasks, one after the other, and shows them.
func (a *app) eachTask(ctx context.Context, refs []string, act func(context.Context, cw.Services, cw.TaskID) (cw.Task, error)) ([]cw.Task, error) {
	svc, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	done := []cw.Task{}
	for _, ref := range refs {
		t, err := act(ctx, svc, cw.TaskID(ref))
		if err != nil {
			return done, hintNear(ctx, svc, err, nounTask, ref)
		}
		done = append(done, t)
		if !a.json {
			a.printTask(t)
		}
	}
	return done, nil
}
