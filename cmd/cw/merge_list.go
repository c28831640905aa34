package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// evidenceLines is how much of what stands in the way of a merge is shown.
const evidenceLines = 30

type mergeListOptions struct {
	app *app
	ref string
}

func newMergeListCmd(a *app, runF func(context.Context, *mergeListOptions) error) *cobra.Command {
	opts := &mergeListOptions{app: a}
	return &cobra.Command{
		Use:     "list INITIATIVE",
		Aliases: []string{"ls"},
		Short:   "List work on its way to the branch of an initiative",
		Long: `List the work of tasks on its way to the branch of an initiative, the oldest first:
that is the order in which it is merged. What stands in the way is shown below:
conflicting hunks, or the end of what a failed check printed.`,
		Args:              oneArg(&opts.ref, initiativeWhat),
		ValidArgsFunction: completeInitiatives(a, false),
		RunE:              start(a, runF, mergeListRun, opts),
	}
}

func mergeListRun(ctx context.Context, o *mergeListOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	merges, err := svc.Merges(ctx, o.ref)
	switch {
	case err != nil:
		return hintNear(ctx, svc, err, nounInitiative, o.ref)
	case a.json:
		return a.printJSON(append([]cw.Merge{}, merges...))
	case len(merges) == 0:
		a.note("no work of it was done yet: cw dispatch status %s", cw.ShellWord(oneLine(o.ref)))
		return nil
	}
	branches, err := svc.Integrations(ctx, o.ref)
	if err != nil {
		return err
	}
	v, err := svc.Initiative(ctx, o.ref)
	if err != nil {
		return err
	}
	names := map[cw.TaskID]string{}
	for _, t := range v.Tasks {
		names[t.ID] = t.Name
	}
	a.printIntegrations(branches)
	a.printMerges("", merges, names)
	a.printEvidence(merges, names)
	return nil
}

// printIntegrations tells where the branches of an initiative are.
func (a *app) printIntegrations(branches []cw.Integration) {
	rows := make([][2]string, len(branches))
	for i, b := range branches {
		text := fmt.Sprintf("%s at %s", oneLine(b.Branch), shortCommit(b.Head))
		switch {
		case b.Landed == b.Head && b.Landed != "":
			text += ", landed on " + oneLine(b.LandedOn)
		case b.Landed != "":
			text += fmt.Sprintf(", landed on %s up to %s", oneLine(b.LandedOn), shortCommit(b.Landed))
		}
		rows[i] = [2]string{oneLine(b.Project), text}
	}
	facts(a.out, "", rows)
	if len(rows) > 0 {
		a.printf("\n")
	}
}

// printMerges prints merges as a table. names are those of tasks.
func (a *app) printMerges(indent string, merges []cw.Merge, names map[cw.TaskID]string) {
	header := []string{"ID", "STATUS", "COMMIT", "TRIES", "SINCE", "TASK"}
	var rows [][]string
	for _, m := range merges {
		rows = append(rows, []string{
			string(m.TaskID), mergeStatus(m), mergedCell(m), triesCell(m), elapsed(a.now().Sub(m.QueuedAt)), cut(oneLine(names[m.TaskID]), titleMax),
		})
	}
	if a.outTTY {
		header, rows = narrow(header, rows, a.width()-len(indent), "TRIES", "COMMIT", "SINCE")
	}
	table(a.out, indent, header, rows)
}

// mergeStatus is a status with what a person wants to know about it at once.
func mergeStatus(m cw.Merge) string {
	switch {
	case m.AwaitsPerson():
		return string(m.Status) + " (waits for you)"
	case m.Wait != "":
		return string(m.Status) + " (waits)"
	}
	return string(m.Status)
}

// mergedCell gives the merged commits, one for each project.
func mergedCell(m cw.Merge) string {
	var commits []string
	for _, p := range m.Parts {
		if p.Commit != "" {
			commits = append(commits, shortCommit(p.Commit))
		}
	}
	return strings.Join(commits, ",")
}

// triesCell tells how often it went back, "" for never.
func triesCell(m cw.Merge) string {
	var parts []string
	if m.Conflicts > 0 {
		parts = append(parts, count(m.Conflicts, "conflict"))
	}
	if m.Reds > 0 {
		parts = append(parts, fmt.Sprintf("%d red", m.Reds))
	}
	return strings.Join(parts, ", ")
}

// printEvidence shows what stands in the way of work that is not merged.
func (a *app) printEvidence(merges []cw.Merge, names map[cw.TaskID]string) {
	p := a.paint(a.outTTY)
	for _, m := range merges {
		if m.Status == cw.MergeMerged || m.Status == cw.MergeDismissed || m.Evidence == "" && m.Wait == "" && !m.AwaitsPerson() {
			continue
		}
		name := cut(oneLine(names[m.TaskID]), nameMax)
		if name == "" {
			name = oneLine(string(m.TaskID))
		}
		a.printf("\n%s  %s\n", p.bold(name), p.yellow(oneLine(string(m.Status))))
		switch {
		case m.AwaitsPerson():
			a.printf("  waits for you: %s\n", verdictHint(m.TaskID))
		case m.Wait != "":
			a.printf("  waits: %s\n", oneLine(m.Wait))
		}
		a.printLastLines(p, m.Evidence)
	}
}

// printLastLines shows the end of a text, line by line.
func (a *app) printLastLines(p paint, text string) {
	text = strings.TrimRight(clean(text), "\n \t")
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if from := len(lines) - evidenceLines; from > 0 {
		a.printf("  %s\n", p.dim(fmt.Sprintf("… %d lines before; --json has all", from)))
		lines = lines[from:]
	}
	for _, line := range lines {
		a.printf("%s\n", strings.TrimRight("  | "+cut(line, lineMax), " "))
	}
}
