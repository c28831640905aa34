package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type conversationShowOptions struct {
	app *app
	id  string
}

func newConversationShowCmd(a *app, runF func(context.Context, *conversationShowOptions) error) *cobra.Command {
	opts := &conversationShowOptions{app: a}
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a question of an agent to another one, and its answer",
		Args:  oneArg(&opts.id, conversationWhat),
		RunE:  start(a, runF, conversationShowRun, opts),
	}
}

func conversationShowRun(ctx context.Context, o *conversationShowOptions) error {
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	c, err := svc.Conversation(ctx, o.id)
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(c)
	}
	o.app.printConversation(c)
	return nil
}

func (a *app) printConversation(c cw.ConversationView) {
	p := a.paint(a.outTTY)
	a.printf("%s  %s\n", p.bold(string(c.ID)), c.Status)
	since := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return elapsed(a.now().Sub(*t)) + " ago"
	}
	to := whoeverComes(c)
	if c.TargetKind != cw.AskedAgent {
		to += bracketed("asked as " + string(c.TargetKind) + " " + oneLine(c.TargetID))
	}
	rows := [][2]string{{"from", oneLine(c.From)}, {"to", to}, {"asked", since(&c.CreatedAt)}}
	for _, row := range [][2]string{
		{"waits", whyWaiting(c)}, {"given", since(c.DeliveredAt)}, {"answered", since(c.AnsweredAt)}, {"taken", since(c.FetchedAt)},
		{"cancelled", whyCancelled(c)},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	facts(a.out, "  ", rows)
	for _, part := range []struct{ name, text string }{{"question", c.Question}, {"answer", c.Answer}} {
		if part.text != "" {
			a.printf("\n%s\n  %s\n", p.yellow(part.name), strings.ReplaceAll(strings.TrimRight(clean(part.text), "\n"), "\n", "\n  "))
		}
	}
}

func whoeverComes(c cw.ConversationView) string {
	if c.To == "" {
		return "whoever comes"
	}
	return oneLine(c.To)
}

// whyWaiting says why a question was not given yet.
func whyWaiting(c cw.ConversationView) string {
	switch {
	case c.Status != cw.ConversationPending || c.DeliveredAt != nil:
		return ""
	case c.Reason != "":
		return oneLine(c.Reason)
	}
	return whoeverComes(c) + " has not listened yet"
}

func whyCancelled(c cw.ConversationView) string {
	if c.Status != cw.ConversationCancelled {
		return ""
	}
	return oneLine(c.Reason)
}
