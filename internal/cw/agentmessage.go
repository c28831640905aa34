package cw

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Limits of messages between agents. How many an agent may send in a minute is
// AsksPerMinute, questions to agents counted in.
const (
	MailboxMax           = 1000     // texts that wait for one agent
	MailboxBytes         = 4 << 20  // bytes of these: they are one prompt
	AgentResponseMax     = 64 << 10 // bytes of a response
	AgentThinkingMax     = 16 << 10 // bytes of the thinking beside it
	AgentToolCallsMax    = 100      // calls that are listed; all are counted
	MessageTimeout       = 300      // seconds that are waited for a response where nothing is said
	MessageTimeoutMax    = 24 * 60 * 60
	messageRequestKeyMax = 128
)

// MessageMode says whether the sender waits for the response.
type MessageMode string

// The modes of a message.
const (
	MessageSync  MessageMode = "sync"
	MessageAsync MessageMode = "async"
)

// Which agent of a definition gets a message. Any other word is an agent's id or
// name.
const (
	SessionLatest         = "latest"           // the one that was updated last
	SessionCreate         = "create"           // a new one
	SessionLatestOrCreate = "latest-or-create" // the one that was updated last, else a new one
)

// MessageStatus is what became of a message.
type MessageStatus string

// The statuses of a message.
const (
	MessageStarted  MessageStatus = "started"  // it is stored, and the agent gets it
	MessageComplete MessageStatus = "complete" // the run that had it is over
	MessageTimedOut MessageStatus = "timeout"  // that was not waited for any longer; it goes on
)

// AgentMessageRequest is a text of an agent for another one, which works on it as
// on a text of a person, but is told whose it is.
type AgentMessageRequest struct {
	// RequestKey makes the request repeatable: a second one of the same agent with
	// the same key gives the message of the first.
	RequestKey     string      `json:"requestKey,omitempty" doc:"makes the request repeatable: a second one of the same agent with the same key gives the message of the first"`
	AgentID        string      `json:"agentId" doc:"the definition of the agent, which is its mode unless somebody named another: execute, discuss, refine, plan or detail"`
	Content        string      `json:"content" doc:"the text, at most 1 MiB"`
	Session        string      `json:"session,omitempty" doc:"which agent of the definition: latest, create, latest-or-create (default), or the id or name of one"`
	Mode           MessageMode `json:"mode,omitempty" doc:"sync (default) to wait for the response, or async"`
	TimeoutSeconds int         `json:"timeoutSeconds,omitempty" doc:"how long the sender wants to wait for the response, in seconds; default 300. It ends nothing"`
}

// Complete checks a request and gives it with its defaults in place.
// CodeInvalid.
func (r AgentMessageRequest) Complete() (AgentMessageRequest, error) {
	if r.Session == "" {
		r.Session = SessionLatestOrCreate
	}
	if r.Mode == "" {
		r.Mode = MessageSync
	}
	if r.TimeoutSeconds == 0 {
		r.TimeoutSeconds = MessageTimeout
	}
	switch {
	case strings.TrimSpace(r.AgentID) == "":
		return r, Errorf(CodeInvalid, "it is not said which agent gets the message").WithHint("agentId is a definition: %s", modeNames())
	case len(r.AgentID) > messageRequestKeyMax || len(r.Session) > messageRequestKeyMax || len(r.RequestKey) > messageRequestKeyMax:
		return r, Errorf(CodeInvalid, "agentId, session or requestKey is longer than %d bytes", messageRequestKeyMax)
	case r.Mode != MessageSync && r.Mode != MessageAsync:
		return r, Errorf(CodeInvalid, "mode is %.40q", string(r.Mode)).WithHint("it is sync or async")
	case r.TimeoutSeconds < 0 || r.TimeoutSeconds > MessageTimeoutMax:
		return r, Errorf(CodeInvalid, "the timeout is %d seconds", r.TimeoutSeconds).WithHint("it is 1 to %d seconds", MessageTimeoutMax)
	case strings.TrimSpace(r.Content) == "":
		return r, Errorf(CodeInvalid, "the content is empty").WithHint("say what the agent is to do")
	}
	return r, CheckText("the content", r.Content)
}

func modeNames() string {
	names := make([]string, 0, len(Modes()))
	for _, m := range Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// AgentMessageResult tells what became of a message.
type AgentMessageResult struct {
	Mode           MessageMode     `json:"mode" doc:"sync or async"`
	Status         MessageStatus   `json:"status" doc:"started, complete or timeout"`
	AgentID        string          `json:"agentId" doc:"the definition of the agent that got it"`
	SessionID      AgentID         `json:"sessionId" doc:"id of that agent"`
	SessionName    string          `json:"sessionName" doc:"name of that agent"`
	Created        bool            `json:"created" doc:"the agent was made for it"`
	ResponseID     MessageID       `json:"responseId" doc:"names the response, also later"`
	Response       string          `json:"response,omitempty" doc:"the final word of the run that had the message, at most 64 KiB"`
	Truncated      bool            `json:"truncated,omitempty" doc:"the response is longer than that"`
	DurationMS     int64           `json:"durationMs,omitempty" doc:"how long that took from sending on, in milliseconds"`
	ToolCallCount  int             `json:"toolCallCount,omitempty" doc:"calls of tools in that run"`
	ToolCalls      []AgentToolCall `json:"toolCalls,omitempty" doc:"the first 100 of them"`
	ThinkingText   string          `json:"thinkingText,omitempty" doc:"what that run thought, as far as its CLI tells; at most 16 KiB"`
	TimeoutSeconds int             `json:"timeoutSeconds,omitempty" doc:"of a timeout: how long was waited, in seconds"`
	Message        string          `json:"message,omitempty" doc:"what else is to be known: how to get a response later, or how the run ended"`
}

// AgentToolCall is one call of a tool.
type AgentToolCall struct {
	Name       string `json:"name" doc:"the tool"`
	DurationMS int64  `json:"durationMs" doc:"how long it took, in milliseconds; 0 where that is not known"`
}

// TimedOut gives a started message as one whose response was not waited for any
// longer.
func (r AgentMessageResult) TimedOut(seconds int) AgentMessageResult {
	r.Mode, r.Status, r.TimeoutSeconds = MessageSync, MessageTimedOut, seconds
	r.Message = fmt.Sprintf("agent %s has not answered within %d seconds and goes on with the message; "+
		"wait for the response again by its responseId %s, and do not send the message again", r.SessionName, seconds, r.ResponseID)
	return r
}

// AgentMessageService is what agents tell each other with.
type AgentMessageService interface {
	// MessageAgent stores a text for another agent, which is started with it, or
	// gets it with its next run, and returns at once with the status started; the
	// mode says only whether the sender means to wait. CodeForbidden for callers
	// that are no agent; CodeInvalid; CodeNotFound where there is no such agent
	// that the caller may see; CodeRefused for oneself, an agent that only a person
	// may start again, past a limit, where a new agent is not allowed, and for
	// MessageSync when the other one waits for the caller.
	MessageAgent(ctx context.Context, req AgentMessageRequest) (AgentMessageResult, error)
	// AwaitMessage gives the response once the run that had the message is over.
	// That ctx ends changes nothing for the agent. Only the sender, and people,
	// may; nothing is learned of others' messages. CodeNotFound; CodeRefused when
	// the agent was stopped, crashed or was removed before it had the message, and
	// when it waits for the caller.
	AwaitMessage(ctx context.Context, responseID string) (AgentMessageResult, error)
}

// MessageAndWait sends a message, and where its mode is MessageSync waits for the
// response as long as the request says. A timeout is a status, no error.
func MessageAndWait(ctx context.Context, s AgentMessageService, req AgentMessageRequest) (AgentMessageResult, error) {
	req, err := req.Complete()
	if err != nil {
		return AgentMessageResult{}, err
	}
	started, err := s.MessageAgent(ctx, req)
	if err != nil || req.Mode == MessageAsync {
		return started, err
	}
	waiting, cancel := context.WithTimeout(ctx, time.Duration(req.TimeoutSeconds)*time.Second)
	defer cancel()
	done, err := s.AwaitMessage(waiting, string(started.ResponseID))
	switch {
	case err == nil:
		return done, nil
	case ctx.Err() == nil && errors.Is(waiting.Err(), context.DeadlineExceeded):
		return started.TimedOut(req.TimeoutSeconds), nil
	}
	return AgentMessageResult{}, err
}
