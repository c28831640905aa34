package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type inboxOptions struct {
	app *app
	ref string
}

func newInboxCmd(a *app, runF func(context.Context, *inboxOptions) error) *cobra.Command {
	opts := &inboxOptions{app: a}
	return &cobra.Command{
		Use:   "inbox [INITIATIVE]",
		Short: "List everything that waits for you",
		Long: `List everything that waits for a person: questions, checkpoints, proposals, silent
and crashed agents, limits, work that cannot be merged, tasks that cannot go on, and
initiatives that can be landed; each with the command that deals with it. What most
tasks wait for comes first within its kind.`,
		Example: "cw inbox\ncw inbox spring-sale --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneArg(&opts.ref, initiativeWhat)(cmd, args)
		},
		ValidArgsFunction: completeInitiatives(a, false),
		RunE:              start(a, runF, inboxRun, opts),
	}
}

func inboxRun(ctx context.Context, o *inboxOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	in, err := svc.Inbox(ctx, o.ref)
	switch {
	case err != nil:
		return hintNear(ctx, svc, err, nounInitiative, o.ref)
	case a.json:
		in.Items = append([]cw.InboxItem{}, in.Items...)
		return a.printJSON(in)
	case len(in.Items) == 0:
		a.note("nothing waits for you")
		return nil
	}
	a.printInbox(in.Items, o.ref == "")
	return nil
}

func (a *app) printInbox(items []cw.InboxItem, whole bool) {
	p := a.paint(a.outTTY)
	kinds, ages, width, old := make([]string, len(items)), make([]string, len(items)), 0, 0
	for i, it := range items {
		kinds[i], ages[i] = oneLine(string(it.Kind)), elapsed(a.now().Sub(it.Since))
		if it.Count > 1 {
			kinds[i] = fmt.Sprintf("%s (%d)", kinds[i], it.Count)
		}
		width, old = max(width, utf8.RuneCountInString(kinds[i])), max(old, utf8.RuneCountInString(ages[i]))
	}
	margin := strings.Repeat(" ", width+old+2*columnGap)
	for i, it := range items {
		a.printf("%s%s%s%s%s\n", inboxColour(it.Kind)(p, pad(kinds[i], width)), gap(), p.dim(pad(ages[i], old)), gap(), oneLine(it.Text))
		if facts := inboxFacts(it, whole); facts != "" {
			a.printf("%s%s\n", margin, p.dim(facts))
		}
		if it.Hint != "" {
			a.printf("%s%s %s\n", margin, p.dim("→"), oneLine(it.Hint))
		}
		if it.Kind == cw.InboxCrashed && it.TaskID == "" {
			name := oneLine(it.Agent)
			a.printf("%s%s cw agent resume %s, or cw agent remove %s to take it off the list\n", margin, p.dim("→"), name, name)
		}
	}
}

func gap() string { return strings.Repeat(" ", columnGap) }

// inboxFacts says whom and what an item is about, and what waits for it.
func inboxFacts(it cw.InboxItem, whole bool) string {
	var parts []string
	add := func(text string) {
		if text = cut(oneLine(text), nameMax); text != "" {
			parts = append(parts, text)
		}
	}
	add(it.Agent)
	if len(it.Agents) > 1 {
		add(strings.Join(it.Agents, ", "))
	}
	for _, name := range []string{it.Task, it.Initiative} {
		if (whole || name != it.Initiative) && !strings.Contains(it.Text, name) { // some are named by their task
			add(name)
		}
	}
	switch {
	case it.Behind == 1:
		add("1 task waits for it")
	case it.Behind > 1:
		add(fmt.Sprintf("%d tasks wait for it", it.Behind))
	}
	return strings.Join(parts, " · ")
}

// inboxColour is that of the dashboard: what broke, what is held, and what waits
// for a person.
func inboxColour(k cw.InboxKind) func(paint, string) string {
	switch k {
	case cw.InboxCrashed, cw.InboxMerge:
		return paint.red
	case cw.InboxLimit, cw.InboxBlocked:
		return paint.cyan
	case cw.InboxLanding:
		return paint.green
	}
	return paint.yellow
}
