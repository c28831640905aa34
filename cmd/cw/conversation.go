package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// conversationWhat says in errors what a command wants.
const conversationWhat = "a conversation: its id"

func newConversationCmd(a *app) *cobra.Command {
	show := newConversationShowCmd(a, nil)
	show.ValidArgsFunction = completeConversations(a)
	return newGroupCmd("conversation", "What agents ask each other", newConversationListCmd(a, nil), show)
}

// allConversations lists all conversations that a filter selects, newest first.
func allConversations(ctx context.Context, svc cw.Services, f cw.ConversationFilter) ([]cw.ConversationView, error) {
	sort := f.Sort
	return cw.SomePages(ctx, f.Limit, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.ConversationView], error) {
		f.PageQuery, f.Sort = q, sort
		return svc.Conversations(ctx, f)
	})
}

// completeConversations offers the ids of pending conversations. It never starts
// a daemon, and offers nothing rather than an error.
func completeConversations(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeMax)
		defer cancel()
		var ids []string
		if svc, err := a.reach(ctx); err == nil {
			open, _ := allConversations(ctx, svc, cw.ConversationFilter{Statuses: []cw.ConversationStatus{cw.ConversationPending}})
			for _, c := range open {
				ids = append(ids, cobra.CompletionWithDesc(string(c.ID), between(c.From, c.To)+": "+cut(oneLine(c.Question), titleMax)))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
