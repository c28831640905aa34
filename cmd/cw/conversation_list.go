package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type conversationListOptions struct {
	app      *app
	agent    string
	statuses []string
	listing  listing
}

func newConversationListCmd(a *app, runF func(context.Context, *conversationListOptions) error) *cobra.Command {
	opts := &conversationListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List what agents ask each other, newest first",
		Example: "cw conversation list\ncw conversation list --agent brave-otter --status pending",
		Args:    noArgs,
		RunE:    start(a, runF, conversationListRun, opts),
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.agent, "agent", "", "only those in which this agent asks or is asked: `NAME` or id")
	fl.StringSliceVar(&opts.statuses, "status", nil, "only those with this `STATUS`: "+conversationStatusNames()+" or "+allStatuses+" (default: all)")
	opts.listing.flags(fl, cw.ConversationList())
	_ = cmd.RegisterFlagCompletionFunc("agent", completeAgents(a, cw.AgentFilter{})) // the flag was defined above
	return cmd
}

func conversationStatusNames() string {
	var names []string
	for _, s := range cw.ConversationStatuses() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func conversationListRun(ctx context.Context, o *conversationListOptions) error {
	a := o.app
	page, err := o.listing.query()
	if err != nil {
		return err
	}
	filter := cw.ConversationFilter{PageQuery: page, Agent: o.agent, Statuses: o.wanted()}
	if _, err := (cw.ConversationFilter{Statuses: filter.Statuses}).Start(); err != nil { // before a daemon is started for it
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	conversations, err := allConversations(ctx, svc, filter)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printJSON(append([]cw.ConversationView{}, conversations...))
	case len(conversations) == 0 && len(filter.Statuses) == 0 && o.agent == "":
		a.note("no agent has asked another one")
	case len(conversations) == 0:
		a.note("no conversations like that")
	default:
		a.printConversationList(conversations)
	}
	return nil
}

// wanted are the statuses to ask for; none means all.
func (o *conversationListOptions) wanted() []cw.ConversationStatus {
	var wanted []cw.ConversationStatus
	for _, s := range o.statuses {
		if s == allStatuses {
			return nil
		}
		wanted = append(wanted, cw.ConversationStatus(s))
	}
	return wanted
}

func (a *app) printConversationList(conversations []cw.ConversationView) {
	header := []string{"ID", "FROM", "TO", "STATUS", "AGE", "QUESTION"}
	var rows [][]string
	for _, c := range conversations {
		to := oneLine(c.To)
		if to == "" {
			to = "-"
		}
		rows = append(rows, []string{
			string(c.ID), oneLine(c.From), to, string(c.Status), elapsed(a.now().Sub(c.CreatedAt)), cut(oneLine(c.Question), titleMax),
		})
	}
	if a.outTTY {
		header, rows = fit(header, rows, a.width())
	}
	table(a.out, "", header, rows)
}
