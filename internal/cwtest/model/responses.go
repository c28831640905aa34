package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// responses speaks OpenAI Responses as codex 0.169.0 does: over HTTPS, always
// streamed, with the whole conversation in each request (store is false).
type responses struct{}

// responsesRequest is what is read of a request body.
type responsesRequest struct {
	Model          string          `json:"model"`
	Stream         bool            `json:"stream"`
	Instructions   string          `json:"instructions"`
	Input          []responsesItem `json:"input"`
	Tools          []responsesTool `json:"tools"`
	PromptCacheKey string          `json:"prompt_cache_key"`
}

// responsesItem is one item of the conversation. Items have no common shape;
// the type says which fields hold.
type responsesItem struct {
	Type      string           `json:"type"` // message, reasoning, function_call, custom_tool_call, …_output, additional_tools
	Role      string           `json:"role"` // of a message
	Content   responsesContent `json:"content"`
	CallID    string           `json:"call_id"`
	Name      string           `json:"name"`
	Arguments string           `json:"arguments"` // JSON, of a function_call
	Input     string           `json:"input"`     // script, of a custom_tool_call
	Output    responsesContent `json:"output"`
	Tools     []responsesTool  `json:"tools"` // of additional_tools
}

// responsesTool is a tool on offer, or a namespace of tools.
type responsesTool struct {
	Type        string          `json:"type"` // function, custom, namespace
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Tools       []responsesTool `json:"tools"`
}

// responsesContent is a list of texts; on the wire it may also be one string.
type responsesContent []struct {
	Text string `json:"text"`
}

// UnmarshalJSON takes a string for one text.
func (c *responsesContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = responsesContent{{Text: text}}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return fmt.Errorf("content: %w", err)
	}
	*c = parts
	return nil
}

// text returns all texts, a line break between them.
func (c responsesContent) text() string {
	var texts []string
	for _, part := range c {
		texts = append(texts, strings.TrimSuffix(part.Text, "\n"))
	}
	return strings.Join(texts, "\n")
}

func (responses) read(r *http.Request, body []byte) (*Request, error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" {
		return nil, fmt.Errorf("the body is compressed (%s): codex must run with features.enable_request_compression=false", encoding)
	}
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if !in.Stream {
		return nil, fmt.Errorf("an answer is wanted in one piece: only streams are spoken here")
	}
	req := &Request{
		Protocol:   "responses",
		Model:      in.Model,
		Stream:     in.Stream,
		Session:    r.Header.Get("Session-Id"),
		Credential: responsesCredential(r.Header),
		System:     in.Instructions,
		Tools:      toolNames(in.Tools),
		Raw:        body,
	}
	if req.Session == "" {
		req.Session = in.PromptCacheKey
	}
	for _, item := range in.Input {
		item.addTo(req)
	}
	if len(req.Tools) == 0 {
		req.Side = "no tools"
	}
	return req, nil
}

func responsesCredential(h http.Header) Credential {
	bearer := h.Get("Authorization")
	if bearer == "" {
		return Credential{}
	}
	login := h.Get("Chatgpt-Account-Id") != "" // sent with a login alone
	return Credential{Header: "authorization", Value: strings.TrimPrefix(bearer, "Bearer "), OAuth: login}
}

// addTo adds what the item says to the request.
func (i responsesItem) addTo(r *Request) {
	switch {
	case i.Type == "additional_tools": // codex offers its tools as the first item
		r.Tools = append(r.Tools, toolNames(i.Tools)...)
	case strings.HasSuffix(i.Type, "_call"):
		r.answer().Calls = append(r.answer().Calls, i.call())
	case strings.HasSuffix(i.Type, "_output"):
		r.results().Results = append(r.results().Results, i.result())
	case i.Role == "assistant":
		m := r.answer()
		m.Text = strings.TrimPrefix(m.Text+"\n"+i.Content.text(), "\n")
	case i.Role == "user":
		r.addUser(i.Content)
	case i.Role == "developer" && len(r.Conversation) == 0:
		r.System = strings.TrimPrefix(r.System+"\n"+i.Content.text(), "\n")
	case i.Role == "developer":
		r.Conversation = append(r.Conversation, Message{Kind: KindNote, Text: i.Content.text()})
	}
}

// answer is the turn of the model that the items at hand belong to: what it
// says and calls comes as items of their own.
func (r *Request) answer() *Message { return r.last(KindAnswer) }

// results are those of the latest turn.
func (r *Request) results() *Message { return r.last(KindResults) }

// last returns the last message, a new one unless it is of this kind.
func (r *Request) last(kind Kind) *Message {
	if n := len(r.Conversation); n == 0 || r.Conversation[n-1].Kind != kind {
		r.Conversation = append(r.Conversation, Message{Kind: kind})
	}
	return &r.Conversation[len(r.Conversation)-1]
}

// ownWords begins what codex itself puts into the user's mouth: where it is,
// the instruction files, that a turn was broken off.
var ownWords = regexp.MustCompile(`^(?:<(?:environment_context|user_instructions|turn_aborted|skill)>|# AGENTS\.md instructions)`)

// cwdTag is how codex tells the model where it is.
var cwdTag = regexp.MustCompile(`<cwd>(/[^<]*)</cwd>`)

// addUser adds each text of a user's message: a note of codex, or a prompt.
func (r *Request) addUser(texts responsesContent) {
	for _, part := range texts {
		if strings.TrimSpace(part.Text) == "" {
			continue
		}
		kind := KindPrompt
		if ownWords.MatchString(part.Text) {
			kind = KindNote
			if m := cwdTag.FindStringSubmatch(part.Text); m != nil {
				r.Dir = m[1] // the latest: a resumed thread may be elsewhere
			}
		}
		r.Conversation = append(r.Conversation, Message{Kind: kind, Text: part.Text})
	}
}

// call is an earlier call. A script becomes a JSON string, as Input holds JSON.
func (i responsesItem) call() CallMade {
	input := json.RawMessage(i.Arguments)
	if !json.Valid(input) {
		input, _ = json.Marshal(i.Input) // a string always marshals
	}
	return CallMade{ID: i.CallID, Name: i.Name, Input: input}
}

// scriptHead is what codex puts above the output of a script.
var scriptHead = regexp.MustCompile(`(?s)\A(Script [^\n]*)\nWall time [^\n]*\nOutput:\n?`)

// result takes the head off a script's output. The output of a script that
// still runs keeps it: there the number to wait for is told.
func (i responsesItem) result() ToolResult {
	text := i.Output.text()
	head := scriptHead.FindStringSubmatch(text)
	if head == nil || strings.HasPrefix(head[1], "Script running") {
		return ToolResult{ID: i.CallID, Text: text}
	}
	return ToolResult{ID: i.CallID, Text: text[len(head[0]):], Failed: head[1] == "Script failed"}
}
