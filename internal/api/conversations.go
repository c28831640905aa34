package api

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"time"

	"cw/internal/cw"
)

type listConversations struct {
	PageParams

	Status []string `query:"status" doc:"only conversations with one of these statuses, separated by commas"`
	Agent  string   `query:"agent" doc:"only conversations in which this agent asks or is asked: its name or id"`
}

func (in *listConversations) filter() cw.ConversationFilter {
	f := cw.ConversationFilter{PageQuery: in.query(), Agent: in.Agent}
	for _, status := range in.Status {
		f.Statuses = append(f.Statuses, cw.ConversationStatus(status))
	}
	return f
}

type conversationRef struct {
	ID string `path:"conversation" doc:"the conversation's id"`
}

type askAgent struct {
	Body cw.AskRequest
}

type answerConversation struct {
	ID   string `path:"conversation" doc:"the conversation's id"`
	Body cw.ConversationAnswer
}

type pendingConversations struct {
	ID string `path:"id" doc:"name or id of the agent that is asked"`
}

func registerConversations(s *Server) {
	services := s.opts.Services
	handle(s, "list-conversations", func(ctx context.Context, in *listConversations) (cw.Page[cw.ConversationView], error) {
		page, err := services.Conversations(ctx, in.filter())
		page.Items = orEmpty(page.Items)
		return page, err
	})
	handle(s, "get-conversation", func(ctx context.Context, in *conversationRef) (cw.ConversationView, error) {
		return services.Conversation(ctx, in.ID)
	})
	handle(s, "ask-agent", func(ctx context.Context, in *askAgent) (cw.ConversationView, error) {
		return services.Ask(ctx, in.Body)
	})
	handle(s, "answer-conversation", func(ctx context.Context, in *answerConversation) (cw.ConversationView, error) {
		return services.AnswerConversation(ctx, in.ID, in.Body)
	})
	handleStream(s, "await-conversation", func(ctx context.Context, in *conversationRef) (frames, error) {
		return func(yield func(frame, error) bool) {
			view, err := services.AwaitConversation(ctx, in.ID)
			yield(frame{data: view}, err)
		}, nil
	})
	handleStream(s, "list-pending-conversations", func(ctx context.Context, in *pendingConversations) (frames, error) {
		return plainFrames(services.PendingConversations(ctx, in.ID)), nil
	})
}

// plainFrames sends items without an id: who comes back gets what still counts.
func plainFrames[T any](items iter.Seq2[T, error]) frames {
	return func(yield func(frame, error) bool) {
		for item, err := range items {
			if !yield(frame{data: item}, err) {
				return
			}
		}
	}
}

func conversationPath(id string) string { return "/v1/conversations/" + segment(id) }

// Ask implements cw.ConversationService. With a RequestKey it may be repeated,
// and so it goes on by itself across a restart of the daemon until ctx ends.
func (c *Client) Ask(ctx context.Context, req cw.AskRequest) (cw.ConversationView, error) {
	ask := func() (cw.ConversationView, error) {
		return call[cw.ConversationView](ctx, c, request{method: http.MethodPost, path: "/v1/conversations", body: req})
	}
	if req.RequestKey == "" {
		return ask()
	}
	return again(ctx, c, ask)
}

// AnswerConversation implements cw.ConversationService. The same answer again
// changes nothing, so it goes on by itself across a restart of the daemon until
// ctx ends.
func (c *Client) AnswerConversation(ctx context.Context, id string, a cw.ConversationAnswer) (cw.ConversationView, error) {
	return again(ctx, c, func() (cw.ConversationView, error) {
		return call[cw.ConversationView](ctx, c, request{method: http.MethodPost, path: conversationPath(id) + "/answer", body: a})
	})
}

// again repeats a call that may be repeated for as long as the daemon is away.
func again[T any](ctx context.Context, c *Client, act func() (T, error)) (T, error) {
	wait := c.wait.first
	for {
		out, err := act()
		if err == nil || ctx.Err() != nil || !isAway(err) {
			return out, err
		}
		c.opts.Log.InfoContext(ctx, "the daemon is away, calling again", "error", err)
		select {
		case <-ctx.Done():
			return out, c.trouble(ctx, ctx.Err())
		case <-time.After(wait):
		}
		wait = min(2*wait, c.wait.most)
	}
}

// isAway tells whether there was no answer, or not the whole of one, or the word
// of a daemon that ends. One that cannot be used, because it is of another
// version, is not away.
func isAway(err error) bool {
	var e *cw.Error
	return errors.As(err, &e) && e.Code == cw.CodeUnreachable && (e.Err != nil || e.Message == stoppingText)
}

// AwaitConversation implements cw.ConversationService. It goes on by itself
// across a restart of the daemon, also when none is there at first, until ctx
// ends.
func (c *Client) AwaitConversation(ctx context.Context, id string) (cw.ConversationView, error) {
	r := streamRequest{path: conversationPath(id) + "/answer", patient: true}
	for view, err := range follow(ctx, c, r, everything[cw.ConversationView]) {
		return view, err
	}
	return cw.ConversationView{}, cw.Errorf(cw.CodeInternal, "the daemon ended a stream without the answer that it is for")
}

// PendingConversations implements cw.ConversationService. It goes on by itself
// across a restart of the daemon, also when none is there at first, until ctx
// ends; a question that comes again is left out.
func (c *Client) PendingConversations(ctx context.Context, ref string) iter.Seq2[cw.PendingConversation, error] {
	fresh := func() func(cw.PendingConversation) bool {
		seen := map[cw.ConversationID]bool{}
		return func(p cw.PendingConversation) bool {
			again := seen[p.ConversationID]
			seen[p.ConversationID] = true
			return !again
		}
	}
	return follow(ctx, c, streamRequest{path: agentPath(ref) + "/conversations/pending", patient: true}, fresh)
}

// everything is a filter of a stream whose items never come again.
func everything[T any]() func(T) bool { return func(T) bool { return true } }

// Conversations implements cw.ConversationService.
func (c *Client) Conversations(ctx context.Context, f cw.ConversationFilter) (cw.Page[cw.ConversationView], error) {
	q := query{}
	q.list("status", texts(f.Statuses))
	q.text("agent", f.Agent)
	q.page(f.PageQuery)
	return call[cw.Page[cw.ConversationView]](ctx, c, request{method: http.MethodGet, path: "/v1/conversations", query: q})
}

// Conversation implements cw.ConversationService.
func (c *Client) Conversation(ctx context.Context, id string) (cw.ConversationView, error) {
	return call[cw.ConversationView](ctx, c, request{method: http.MethodGet, path: conversationPath(id)})
}
