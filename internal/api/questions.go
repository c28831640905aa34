package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type listQuestions struct {
	PageParams

	Status []string `query:"status" doc:"only questions with one of these statuses, separated by commas"`
	Agent  string   `query:"agent" doc:"only questions of this agent: its name or id"`
}

func (in *listQuestions) filter() cw.QuestionFilter {
	f := cw.QuestionFilter{PageQuery: in.query(), Agent: in.Agent}
	for _, status := range in.Status {
		f.Statuses = append(f.Statuses, cw.QuestionStatus(status))
	}
	return f
}

type questionRef struct {
	ID string `path:"id" doc:"the question's id"`
}

type answerQuestions struct {
	Body cw.AnswersRequest
}

func registerQuestions(s *Server) {
	services := s.opts.Services
	handle(s, "list-questions", func(ctx context.Context, in *listQuestions) (cw.Page[cw.QuestionView], error) {
		page, err := services.Questions(ctx, in.filter())
		page.Items = orEmpty(page.Items)
		return page, err
	})
	handle(s, "get-question", func(ctx context.Context, in *questionRef) (cw.QuestionView, error) {
		return services.Question(ctx, in.ID)
	})
	// A list has one form everywhere, so these are a page, too.
	handle(s, "answer-questions", func(ctx context.Context, in *answerQuestions) (cw.Page[cw.QuestionView], error) {
		answered, err := services.Answer(ctx, in.Body)
		return cw.Page[cw.QuestionView]{Items: orEmpty(answered)}, err
	})
}

// Questions implements cw.QuestionService.
func (c *Client) Questions(ctx context.Context, f cw.QuestionFilter) (cw.Page[cw.QuestionView], error) {
	q := query{}
	q.list("status", texts(f.Statuses))
	q.text("agent", f.Agent)
	q.page(f.PageQuery)
	return call[cw.Page[cw.QuestionView]](ctx, c, request{method: http.MethodGet, path: "/v1/questions", query: q})
}

// Question implements cw.QuestionService.
func (c *Client) Question(ctx context.Context, id string) (cw.QuestionView, error) {
	return call[cw.QuestionView](ctx, c, request{method: http.MethodGet, path: "/v1/questions/" + segment(id)})
}

// Answer implements cw.QuestionService.
func (c *Client) Answer(ctx context.Context, req cw.AnswersRequest) ([]cw.QuestionView, error) {
	page, err := call[cw.Page[cw.QuestionView]](ctx, c, request{method: http.MethodPost, path: "/v1/answers", body: req})
	return page.Items, err
}
