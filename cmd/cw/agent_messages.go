package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// messageLines is how many lines of a message are shown without --full.
const messageLines = 8

type agentMessagesOptions struct {
	app     *app
	ref     string
	full    bool
	listing listing
}

func newAgentMessagesCmd(a *app, runF func(context.Context, *agentMessagesOptions) error) *cobra.Command {
	opts := &agentMessagesOptions{app: a}
	cmd := &cobra.Command{
		Use:   "messages NAME",
		Short: "Show every text to an agent, and its final words",
		Long: `Show every text that went to an agent or waits for its next run, and the final
word of each run: prompts, answers, what you sent, what cw asked for.`,
		Args: oneArg(&opts.ref, agentWhat),
		RunE: start(a, runF, agentMessagesRun, opts),
	}
	cmd.Flags().BoolVar(&opts.full, "full", false, fmt.Sprintf("whole texts, not only their first %d lines", messageLines))
	opts.listing.flags(cmd.Flags(), cw.MessageList())
	return cmd
}

func agentMessagesRun(ctx context.Context, o *agentMessagesOptions) error {
	a := o.app
	page, err := o.listing.query()
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	agent, err := svc.Agent(ctx, o.ref)
	if err != nil {
		return err
	}
	messages, err := cw.SomePages(ctx, page.Limit, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Message], error) {
		q.Sort = page.Sort
		return svc.Messages(ctx, string(agent.ID), q)
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(append([]cw.Message{}, messages...))
	}
	if len(messages) == 0 {
		a.note("no messages yet")
	}
	sessions := map[cw.RunID]int{}
	for _, r := range agent.Runs {
		sessions[r.ID] = r.SessionNumber
	}
	for i, m := range messages {
		if i > 0 {
			a.printf("\n")
		}
		o.print(agent, m, sessions[m.RunID])
	}
	return nil
}

// print shows one message: who to whom, where it stands, its words.
func (o *agentMessagesOptions) print(agent cw.AgentView, m cw.Message, session int) {
	a := o.app
	p := a.paint(a.outTTY)
	head := fmt.Sprintf("%s to %s", m.Origin, agent.Alias)
	if m.Role == cw.RoleAssistant {
		head = agent.Alias
	}
	a.printf("%s  %s  %s\n", p.bold(oneLine(head)), clock(m.CreatedAt), p.dim(messagePlace(m, session)))
	lines := textLines(m.Body, "  ")
	if rest := len(lines) - messageLines; rest > 0 && !o.full {
		lines = append(lines[:messageLines], p.dim(fmt.Sprintf("  … %s more: --full", count(rest, "line"))))
	}
	a.printf("%s\n", strings.Join(lines, "\n"))
}

// messagePlace says where a message stands.
func messagePlace(m cw.Message, session int) string {
	var place string
	switch {
	case m.Role == cw.RoleUser && m.DeliveredAt == nil && m.HiddenAt != nil:
		place = "never delivered"
	case m.Role == cw.RoleUser && m.DeliveredAt == nil:
		place = "waits for the next run"
	case session > 0:
		place = fmt.Sprintf("run %d", session)
	}
	if m.Actor != "" {
		place = strings.TrimSpace(place + " (" + oneLine(m.Actor) + ")")
	}
	return place
}
