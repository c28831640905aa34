package cw

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// MessageMax is the greatest length in bytes of one text that a person sends.
const MessageMax = 1 << 20

// Role says whose words a message holds.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
)

// Where a message comes from.
const (
	OriginPerson  = "person"
	OriginAgent   = "agent"
	OriginTrigger = "trigger"
	OriginCW      = "cw"
)

// Message is a text that goes to an agent, or its final word of a run. It may
// be hidden, never deleted.
//
// A text to an agent belongs to the run in whose prompt it is; until such a run
// is intended it has none and waits. It is delivered when that run's CLI runs:
// what a run that never started was to say is in the next prompt.
type Message struct {
	ID            MessageID  `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	AgentID       AgentID    `json:"agentId" doc:"the agent"`
	RunID         RunID      `json:"runId,omitempty" doc:"the run whose prompt it is in, or whose final word it is; missing while it waits"`
	Seq           int        `json:"seq" doc:"number for the agent, from 1"`
	Role          Role       `json:"role" doc:"user: to the agent; assistant: its own word; system"`
	Origin        string     `json:"origin" doc:"person, agent, trigger or cw"`
	Actor         string     `json:"actor,omitempty" doc:"who wrote it, where that is known"`
	SenderAgentID AgentID    `json:"senderAgentId,omitempty" doc:"the agent that wrote it"`
	Definition    string     `json:"definition,omitempty" doc:"what kind of agent it was written for"`
	Body          string     `json:"body" doc:"the text"`
	PartsJSON     string     `json:"-"`
	MetadataJSON  string     `json:"-"`
	RequestKey    string     `json:"-"` // unique for each sending agent, "" for none
	ReplyTo       MessageID  `json:"replyTo,omitempty" doc:"the message it answers"`
	QueuedAt      *time.Time `json:"queuedAt,omitempty" doc:"since when it waits, or waited, for a run; missing for a text that was written for its run"`
	DeliveredAt   *time.Time `json:"deliveredAt,omitempty" doc:"when the run that has it in its prompt was started"`
	HiddenAt      *time.Time `json:"hiddenAt,omitempty" doc:"when a person hid it"`
	CreatedAt     time.Time  `json:"createdAt" doc:"when it was written"`
}

// MessageList says how messages can be sorted.
func MessageList() List {
	return List{Name: "messages", Own: "createdAt", Times: []string{"createdAt"}}
}

// PageKey implements Keyed.
func (m Message) PageKey(string) (key, id string) { return TimeKey(m.CreatedAt), string(m.ID) }

// WhenBusy says what becomes of a text to an agent that runs.
type WhenBusy string

// What can become of it.
const (
	BusyQueue  WhenBusy = "queue"  // it is the next prompt
	BusyRefuse WhenBusy = "refuse" // CodeRefused
)

// SendRequest is a text of a person for an agent.
type SendRequest struct {
	Text     string   `json:"text" doc:"what to tell it, at most 1 MiB"`
	WhenBusy WhenBusy `json:"whenBusy,omitempty" doc:"what becomes of it while the agent runs or waits for answers: queue (default) or refuse"`
}

// Check refuses what cannot be sent. CodeInvalid.
func (r SendRequest) Check() error {
	if r.WhenBusy != "" && r.WhenBusy != BusyQueue && r.WhenBusy != BusyRefuse {
		return Errorf(CodeInvalid, "whenBusy is %.40q", string(r.WhenBusy)).WithHint("it is queue or refuse")
	}
	if strings.TrimSpace(r.Text) == "" {
		return Errorf(CodeInvalid, "the text is empty").WithHint("say what the agent is to do")
	}
	return CheckText("the text", r.Text)
}

// CheckText refuses a text to an agent that is too long, not UTF-8 or holds a
// zero byte. what names it in the error. CodeInvalid.
func CheckText(what, text string) error {
	switch {
	case len(text) > MessageMax:
		return Errorf(CodeInvalid, "%s is %d bytes long, at most %d are taken", what, len(text), MessageMax).
			WithHint("put the material into a file and name it in the text")
	case !utf8.ValidString(text):
		return Errorf(CodeInvalid, "%s is not UTF-8 text", what).WithHint("convert it, for example with iconv -t utf-8")
	case strings.ContainsRune(text, 0):
		return Errorf(CodeInvalid, "%s holds a zero byte", what).WithHint("give plain text")
	}
	return nil
}

// MessageService is what faces may do with the texts of an agent. ref is an
// alias or an id.
type MessageService interface {
	// Messages lists all texts to and from an agent, oldest first unless the
	// query says otherwise. CodeNotFound.
	Messages(ctx context.Context, ref string, q PageQuery) (Page[Message], error)
	// Send gives an agent a text. An idle one is resumed with it at once. For one
	// that runs, starts, is parked or waits for answers it is queued and is in its
	// next prompt; a run that ends idle is followed by that prompt at once.
	// CodeInvalid for an empty text. CodeRefused for an agent that crashed, was
	// stopped or removed (the hint names resume or restore), and for a busy one
	// when the request says so.
	Send(ctx context.Context, ref string, req SendRequest) (Message, error)
}
