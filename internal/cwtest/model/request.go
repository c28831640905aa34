package model

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Request is one request to the model, in the same shape for every protocol.
// It is read-only once received.
type Request struct {
	Protocol     string       // "anthropic", "responses", "chat" or "gemini"
	Model        string       // as asked for
	Stream       bool         // the answer is wanted as an event stream
	Session      string       // the CLI's own session id; "" when it sends none
	Dir          string       // the CLI's working directory, as it tells the model; "" when it does not
	Credential   Credential   // how the caller proved who it is
	System       string       // the system prompt
	Conversation Conversation // everything said so far, oldest first
	Tools        []string     // names of the tools on offer; those that codex offers inside a script as "tools.NAME"
	Side         string       // why this is a side request of the CLI ("no tools", "title", …); "" for the agent's own work
	Raw          []byte       // the body as received
}

// Credential is what a request was authorised with.
type Credential struct {
	Header string // "x-api-key", "x-goog-api-key" or "authorization"; "" when there was none
	Value  string // without "Bearer "
	OAuth  bool   // sent as a login, not as a key
}

// Kind says what a Message is.
type Kind string

// The kinds of messages.
const (
	KindPrompt  Kind = "prompt"  // the user's word
	KindAnswer  Kind = "answer"  // the model's own earlier turn
	KindResults Kind = "results" // what its tool calls gave
	KindNote    Kind = "note"    // added by the CLI itself: reminders, interruptions
)

// Message is one step of a conversation. Protocols mix several kinds into one
// wire message; here they are taken apart.
type Message struct {
	Kind    Kind
	Text    string       // of a prompt, an answer or a note
	Calls   []CallMade   // of an answer
	Results []ToolResult // of results
}

// CallMade is a tool call in an earlier answer.
type CallMade struct {
	ID    string
	Name  string          // as the CLI names the tool
	Input json.RawMessage // as sent
}

// ToolResult is what one tool call gave.
type ToolResult struct {
	ID     string // of the call
	Text   string
	Failed bool // a refused call, or a command with an exit code other than 0
}

// Conversation is a sequence of messages, oldest first.
type Conversation []Message

// Prompts returns all that the user said.
func (c Conversation) Prompts() []Prompt {
	var prompts []Prompt
	for _, m := range c {
		if m.Kind == KindPrompt {
			prompts = append(prompts, Prompt(m.Text))
		}
	}
	return prompts
}

// Answers returns the texts of the model's own turns; a turn of tool calls alone
// is "".
func (c Conversation) Answers() []string {
	var texts []string
	for _, m := range c {
		if m.Kind == KindAnswer {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// Notes returns what the CLI itself added.
func (c Conversation) Notes() []string {
	var texts []string
	for _, m := range c {
		if m.Kind == KindNote {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// Results returns the results of all tool calls.
func (c Conversation) Results() []ToolResult {
	var results []ToolResult
	for _, m := range c {
		results = append(results, m.Results...)
	}
	return results
}

// Prompt returns the latest thing the user said, "" when there is none.
func (r *Request) Prompt() Prompt {
	prompts := r.Conversation.Prompts()
	if len(prompts) == 0 {
		return ""
	}
	return prompts[len(prompts)-1]
}

// Earlier returns what was said before the latest prompt: empty in a fresh
// session, the earlier runs in a resumed one.
func (r *Request) Earlier() Conversation { return r.Conversation[:r.promptIndex()] }

// Current returns the conversation from the latest prompt on.
func (r *Request) Current() Conversation { return r.Conversation[r.promptIndex():] }

// Number returns which turn of the model since the latest prompt this request
// asks for, counted from 1.
func (r *Request) Number() int { return len(r.Current().Answers()) + 1 }

// Offers tells whether the CLI offers a tool of this name.
func (r *Request) Offers(tool string) bool { return slices.Contains(r.Tools, tool) }

// promptIndex is where the latest prompt begins. The notes right before it came
// with it.
func (r *Request) promptIndex() int {
	at := len(r.Conversation) - 1
	for at > 0 && r.Conversation[at].Kind != KindPrompt {
		at--
	}
	for at > 0 && r.Conversation[at-1].Kind == KindNote {
		at--
	}
	return max(at, 0)
}

// reminder is text that a CLI adds to the user's word or to a tool's result.
var reminder = regexp.MustCompile(`(?s)\s*<system-reminder>(.*?)</system-reminder>\s*`)

// What claude 2.1.197 itself puts into a conversation: as the user's word after
// an interruption and when a Stop hook holds it back, and as a pair of turns
// when a run that was broken off in the middle is resumed.
const (
	interrupted = "[Request interrupted by user"
	heldBack    = "Stop hook feedback:\n"
	goOn        = "Continue from where you left off."
	noResponse  = "No response requested."
)

// userMessages takes one text of the user apart: what the CLI added becomes
// notes, the rest a prompt.
func userMessages(text string) []Message {
	var msgs []Message
	for _, m := range reminder.FindAllStringSubmatch(text, -1) {
		msgs = append(msgs, Message{Kind: KindNote, Text: strings.TrimSpace(m[1])})
	}
	switch said := withoutReminders(text); {
	case strings.TrimSpace(said) == "":
	case strings.HasPrefix(said, interrupted), strings.HasPrefix(said, heldBack), said == goOn:
		msgs = append(msgs, Message{Kind: KindNote, Text: said})
	default:
		msgs = append(msgs, Message{Kind: KindPrompt, Text: said})
	}
	return msgs
}

// answerMessage returns a turn of the model, or a note when the CLI made it up.
func answerMessage(text string, calls []CallMade) Message {
	if text == noResponse && calls == nil {
		return Message{Kind: KindNote, Text: text}
	}
	return Message{Kind: KindAnswer, Text: text, Calls: calls}
}

func withoutReminders(text string) string { return reminder.ReplaceAllString(text, "") }

// workingDir is how CLIs tell the model where they are.
var workingDir = regexp.MustCompile(`(?im)\bworking directory: *(/.*?)\s*$`)

func findDir(system string) string {
	if m := workingDir.FindStringSubmatch(system); m != nil {
		return m[1]
	}
	return ""
}
