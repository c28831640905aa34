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

type askPeople struct {
	Body cw.PeopleRequest
}

type requestRef struct {
	ID string `path:"request" doc:"the requestId that the questions have in common"`
}

func registerQuestions(s *Server) {
	services := s.opts.Services
	handle(s, "ask-people", func(ctx context.Context, in *askPeople) (cw.Page[cw.Question], error) {
		asked, err := services.AskPeople(ctx, in.Body)
		return cw.Page[cw.Question]{Items: orEmpty(asked)}, err
	})
	handleStream(s, "await-answers", func(ctx context.Context, in *requestRef) (frames, error) {
		return once(func() (cw.Page[cw.Question], error) {
			group, err := services.AwaitAnswers(ctx, cw.RequestID(in.ID))
			return cw.Page[cw.Question]{Items: orEmpty(group)}, err
		}), nil
	})
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

// AskPeople implements cw.QuestionService. Where no answer came it is not known
// whether the questions were stored: with a key the same request may be made
// again.
func (c *Client) AskPeople(ctx context.Context, req cw.PeopleRequest) ([]cw.Question, error) {
	page, err := call[cw.Page[cw.Question]](ctx, c, request{method: http.MethodPost, path: "/v1/questions", body: req})
	return page.Items, err
}

// AwaitAnswers implements cw.QuestionService. It waits on by itself across a
// restart of the daemon.
func (c *Client) AwaitAnswers(ctx context.Context, id cw.RequestID) ([]cw.Question, error) {
	path := "/v1/questions/requests/" + segment(string(id)) + "/answers"
	page, err := awaitOne[cw.Page[cw.Question]](ctx, c, streamRequest{path: path})
	return page.Items, err
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
