package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// questionWhat says in errors what a command wants.
const questionWhat = "a question: its id"

func newQuestionCmd(a *app) *cobra.Command {
	group := newGroupCmd("question", "What agents ask you",
		newQuestionListCmd(a, nil), newQuestionShowCmd(a, nil), newQuestionAnswerCmd(a, nil))
	for _, cmd := range group.Commands() {
		if cmd.Name() != "list" {
			cmd.ValidArgsFunction = completeQuestions(a)
		}
	}
	return group
}

// allQuestions lists all questions that a filter selects, oldest first.
func allQuestions(ctx context.Context, svc cw.Services, f cw.QuestionFilter) ([]cw.QuestionView, error) {
	sort := f.Sort
	return cw.SomePages(ctx, f.Limit, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.QuestionView], error) {
		f.PageQuery, f.Sort = q, sort
		return svc.Questions(ctx, f)
	})
}

// completeQuestions offers the ids of open questions. It never starts a daemon,
// and offers nothing rather than an error.
func completeQuestions(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeMax)
		defer cancel()
		var ids []string
		if svc, err := a.reach(ctx); err == nil {
			open, _ := allQuestions(ctx, svc, cw.QuestionFilter{Statuses: []cw.QuestionStatus{cw.QuestionOpen}})
			for _, q := range open {
				ids = append(ids, cobra.CompletionWithDesc(string(q.ID), q.Agent+": "+cut(oneLine(q.Text), titleMax)))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
