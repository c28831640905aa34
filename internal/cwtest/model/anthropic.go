package model

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// anthropic speaks Anthropic Messages, with and without streaming.
type anthropic struct{}

// anthropicRequest is what is read of a request body.
type anthropicRequest struct {
	Model     string             `json:"model"`
	Stream    bool               `json:"stream"`
	MaxTokens int                `json:"max_tokens"`
	System    anthropicContent   `json:"system"`
	Messages  []anthropicMessage `json:"messages"`
	Tools     []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Metadata struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content anthropicContent `json:"content"`
}

// anthropicContent is a list of blocks; on the wire it may also be one string.
type anthropicContent []anthropicBlock

type anthropicBlock struct {
	Type      string           `json:"type"` // text, thinking, tool_use, tool_result, …
	Text      string           `json:"text"`
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Input     json.RawMessage  `json:"input"`
	ToolUseID string           `json:"tool_use_id"`
	Content   anthropicContent `json:"content"`
	IsError   bool             `json:"is_error"`
}

// UnmarshalJSON takes a string for one text block.
func (c *anthropicContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = anthropicContent{{Type: "text", Text: text}}
		return nil
	}
	var blocks []anthropicBlock
	if err := json.Unmarshal(data, &blocks); err != nil {
		return fmt.Errorf("message content: %w", err)
	}
	*c = blocks
	return nil
}

// text returns the texts of all text blocks, a line break between them.
func (c anthropicContent) text() string {
	var texts []string
	for _, b := range c {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (anthropic) read(r *http.Request, body []byte) (*Request, error) {
	var in anthropicRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req := &Request{
		Protocol:   "anthropic",
		Model:      in.Model,
		Stream:     in.Stream,
		Session:    anthropicSession(r, in.Metadata.UserID),
		Credential: anthropicCredential(r.Header),
		System:     in.System.text(),
		Raw:        body,
	}
	req.Dir = findDir(req.System)
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Name)
	}
	for _, m := range in.Messages {
		req.Conversation = append(req.Conversation, m.messages()...)
		if dir := findDir(m.Content.text()); m.Role == "system" && dir != "" {
			req.Dir = dir // claude 2.1.332; the latest: a resumed session may be elsewhere
		}
	}
	switch {
	case len(in.Tools) == 0:
		req.Side = "no tools"
	case in.MaxTokens == 1:
		req.Side = "warm-up"
	}
	return req, nil
}

// messages takes a wire message apart into its kinds. A "system" message in
// the middle of a conversation is the CLI's own (seen with claude 2.1.197).
func (m anthropicMessage) messages() []Message {
	switch m.Role {
	case "assistant":
		return []Message{m.answer()}
	case "user":
		return m.userMessages()
	}
	return []Message{{Kind: KindNote, Text: m.Content.text()}}
}

func (m anthropicMessage) answer() Message {
	var calls []CallMade
	for _, b := range m.Content {
		if b.Type == "tool_use" {
			calls = append(calls, CallMade{ID: b.ID, Name: b.Name, Input: b.Input})
		}
	}
	return answerMessage(m.Content.text(), calls)
}

// userMessages returns the tool results as one message, then each text as one.
func (m anthropicMessage) userMessages() []Message {
	var results []ToolResult
	var said []Message
	for _, b := range m.Content {
		switch b.Type {
		case "tool_result":
			text := withoutReminders(b.Content.text())
			results = append(results, ToolResult{ID: b.ToolUseID, Text: text, Failed: b.IsError})
		case "text":
			said = append(said, userMessages(b.Text)...)
		}
	}
	if results == nil {
		return said
	}
	return append([]Message{{Kind: KindResults, Results: results}}, said...)
}

// anthropicSession returns the session id that claude sends as a header and
// again as JSON inside metadata.user_id.
func anthropicSession(r *http.Request, userID string) string {
	if id := r.Header.Get("X-Claude-Code-Session-Id"); id != "" {
		return id
	}
	var user struct {
		SessionID string `json:"session_id"`
	}
	if json.Unmarshal([]byte(userID), &user) != nil {
		return ""
	}
	return user.SessionID
}

func anthropicCredential(h http.Header) Credential {
	if key := h.Get("X-Api-Key"); key != "" {
		return Credential{Header: "x-api-key", Value: key}
	}
	if bearer := h.Get("Authorization"); bearer != "" {
		oauth := strings.Contains(h.Get("Anthropic-Beta"), "oauth-")
		return Credential{Header: "authorization", Value: strings.TrimPrefix(bearer, "Bearer "), OAuth: oauth}
	}
	return Credential{}
}

func (anthropic) refusal(message string) Failure {
	return Failure{
		Status: http.StatusBadRequest,
		Header: http.Header{"X-Should-Retry": {"false"}},
		Body:   anthropicError("invalid_request_error", message),
	}
}

// object is a JSON object on its way out.
type object = map[string]any

func (p anthropic) write(w http.ResponseWriter, a answer) {
	w.Header().Set("Request-Id", "req_"+rand.Text())
	if a.stream {
		p.stream(newEventStream(w), a)
		return
	}
	if a.Cut {
		abort()
	}
	if a.Failure != nil { // outside a stream it can only be the whole answer
		writeJSON(w, http.StatusInternalServerError, json.RawMessage(a.Failure.Body))
		return
	}
	var content []object
	for _, b := range a.blocks() {
		content = append(content, b.whole)
	}
	msg := a.message()
	msg["content"], msg["stop_reason"] = content, a.stopReason()
	writeJSON(w, http.StatusOK, msg)
}

// untilRead is how long a caller gets to read what came before its connection
// breaks. claude forgets what it has not read by then, and tries again instead
// of ending (seen in many runs without a pause, and with one of 0.3 s under load).
const untilRead = 3 * time.Second

// stream sends the events of one message in the order of the API.
func (anthropic) stream(s eventStream, a answer) {
	s.send("message_start", object{"type": "message_start", "message": a.message()})
	s.send("ping", object{"type": "ping"})
	if a.Failure != nil {
		s.sendRaw("error", a.Failure.Body)
		return
	}
	for i, b := range a.blocks() {
		s.send("content_block_start", object{"type": "content_block_start", "index": i, "content_block": b.start})
		for _, delta := range b.deltas {
			if !a.pause(a.ChunkDelay) {
				abort()
			}
			s.send("content_block_delta", object{"type": "content_block_delta", "index": i, "delta": delta})
		}
		s.send("content_block_stop", object{"type": "content_block_stop", "index": i})
	}
	if a.Cut {
		a.pause(untilRead)
		abort()
	}
	s.send("message_delta", object{
		"type":  "message_delta",
		"delta": object{"stop_reason": a.stopReason(), "stop_sequence": nil},
		"usage": object{"output_tokens": a.usage.Output},
	})
	s.send("message_stop", object{"type": "message_stop"})
}

// message is the message before its content has come.
func (a answer) message() object {
	return object{
		"id": "msg_" + rand.Text(), "type": "message", "role": "assistant", "model": a.model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{
			"input_tokens": a.usage.Input, "output_tokens": a.usage.Output,
			"cache_creation_input_tokens": a.usage.CacheWrite, "cache_read_input_tokens": a.usage.CacheRead,
			"service_tier": "standard",
		},
	}
}

func (a answer) stopReason() string {
	if len(a.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// outBlock is one block of an answer: whole, and as it is streamed.
type outBlock struct {
	whole  object
	start  object
	deltas []object
}

func (a answer) blocks() []outBlock {
	const signature = "c2NyaXB0ZWQ=" // opaque to the CLI, which sends it back
	var blocks []outBlock
	if a.Thinking != "" {
		blocks = append(blocks, outBlock{
			whole: object{"type": "thinking", "thinking": a.Thinking, "signature": signature},
			start: object{"type": "thinking", "thinking": "", "signature": ""},
			deltas: []object{
				{"type": "thinking_delta", "thinking": a.Thinking},
				{"type": "signature_delta", "signature": signature},
			},
		})
	}
	if a.Text != "" {
		b := outBlock{whole: object{"type": "text", "text": a.Text}, start: object{"type": "text", "text": ""}}
		for _, piece := range chunks(a.Text) {
			b.deltas = append(b.deltas, object{"type": "text_delta", "text": piece})
		}
		blocks = append(blocks, b)
	}
	for _, c := range a.calls {
		blocks = append(blocks, toolBlock(c))
	}
	return blocks
}

func toolBlock(c toolCall) outBlock {
	id := "toolu_" + rand.Text()
	return outBlock{
		whole:  object{"type": "tool_use", "id": id, "name": c.name, "input": c.input},
		start:  object{"type": "tool_use", "id": id, "name": c.name, "input": object{}},
		deltas: []object{{"type": "input_json_delta", "partial_json": string(c.input)}},
	}
}
