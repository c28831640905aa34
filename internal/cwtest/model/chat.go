package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// chat speaks OpenAI Chat Completions, with and without streaming, as opencode,
// qwen, copilot, cline and cn do.
type chat struct{}

// chatRequest is what is read of a request body.
type chatRequest struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Messages []chatMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

type chatMessage struct {
	Role       string      `json:"role"` // system, developer, user, assistant, tool
	Content    chatContent `json:"content"`
	ToolCalls  []chatCall  `json:"tool_calls"`   // of an assistant
	ToolCallID string      `json:"tool_call_id"` // of a tool
}

type chatCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // JSON
	} `json:"function"`
}

// chatContent is a list of texts; on the wire it may also be one string.
type chatContent []string

// UnmarshalJSON takes a string for one text. Parts that are no text are left
// out.
func (c *chatContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = chatContent{text}
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return fmt.Errorf("content: %w", err)
	}
	*c = nil
	for _, part := range parts {
		if part.Type == "text" {
			*c = append(*c, part.Text)
		}
	}
	return nil
}

func (c chatContent) text() string { return strings.Join(c, "\n") }

func (chat) read(r *http.Request, body []byte) (*Request, error) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req := &Request{
		Protocol:   "chat",
		Model:      in.Model,
		Stream:     in.Stream,
		Credential: chatCredential(r.Header),
		Raw:        body,
	}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Function.Name)
	}
	for _, m := range in.Messages {
		m.addTo(req)
	}
	return req, req.judge()
}

func chatCredential(h http.Header) Credential {
	token := h.Get("Authorization")
	if token == "" {
		return Credential{}
	}
	return Credential{Header: "authorization", Value: strings.TrimPrefix(token, "Bearer ")}
}

// addTo adds what the message says to the request.
func (m chatMessage) addTo(r *Request) {
	switch m.Role {
	case "assistant":
		r.Conversation = append(r.Conversation, answerMessage(m.Content.text(), m.calls()))
	case "tool":
		results := r.results()
		results.Results = append(results.Results, commandResult(m.ToolCallID, m.Content.text()))
	case "user":
		for _, text := range m.Content {
			r.addSaid(text)
		}
	default: // system, developer
		r.addSystem(m.Content.text())
	}
}

func (m chatMessage) calls() []CallMade {
	var calls []CallMade
	for _, c := range m.ToolCalls {
		input := json.RawMessage(c.Function.Arguments)
		if !json.Valid(input) {
			input, _ = json.Marshal(c.Function.Arguments) // a string always marshals
		}
		calls = append(calls, CallMade{ID: c.ID, Name: c.Function.Name, Input: input})
	}
	return calls
}
