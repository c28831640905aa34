package notify

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"cw/internal/cw"
)

const (
	// titleMax and bodyMax bound the texts of a notification, in characters. The
	// data has all of it.
	titleMax = 200
	bodyMax  = 4000
)

// The types of notifications that are no events.
const (
	TypeTest cw.EventType = "notify:test" // somebody tries the hooks
	TypeMore cw.EventType = "notify:more" // several events in one
)

// Note is what people are told. Its JSON is what receivers get.
type Note struct {
	// ID is the number of the event, so that doubles can be dropped; of several
	// in one it is the last one's. 0: a trial.
	ID    int64           `json:"id"`
	Type  cw.EventType    `json:"type"`
	At    time.Time       `json:"at"`
	Agent string          `json:"agent,omitempty"` // name; "" when it is about none
	Title string          `json:"title"`           // one line
	Body  string          `json:"body"`
	Data  json.RawMessage `json:"data"` // the event's payload
}

// told is what payloads have in common with each other.
type told struct {
	Name      string    `json:"name"`
	Question  string    `json:"question"`
	Reason    cw.Reason `json:"reason"`
	Error     string    `json:"error"`
	Text      string    `json:"text"`
	Warning   string    `json:"warning"`
	Why       string    `json:"why"`
	What      string    `json:"what"`
	Title     string    `json:"title"`
	Tool      string    `json:"tool"`
	Seconds   int       `json:"seconds"`
	Questions int       `json:"questions"`
	Limit     float64   `json:"limitUsd"`
	Spent     float64   `json:"spentUsd"`
	Free      int64     `json:"freeBytes"`
	Floor     int64     `json:"floorBytes"`
	From      string    `json:"from"`
	Answer    string    `json:"answer"`
}

// noteOf says an event in words.
func noteOf(e cw.Event) Note {
	var t told
	_ = json.Unmarshal(e.Data, &t) // what cannot be read is said in general words
	title, body := wordsOf(e.Type, t)
	n := Note{ID: e.Seq, Type: e.Type, At: e.At, Title: clean(title, titleMax), Body: cut(strings.TrimSpace(body), bodyMax), Data: e.Data}
	if e.AgentID != "" {
		n.Agent = t.Name
	}
	if len(n.Data) == 0 {
		n.Data = json.RawMessage("{}")
	}
	return n
}

// wordsOf gives title and body for a type of event.
func wordsOf(of cw.EventType, t told) (title, body string) {
	switch of {
	case cw.EventQuestionRequested:
		return t.Name + " asks", t.Question
	case cw.EventQuestionReminded:
		return t.Name + " still waits for an answer", t.Question
	case cw.EventAgentWaiting:
		return t.Name + " waits for answers", fmt.Sprintf("open questions: %d", t.Questions)
	case cw.EventAgentCrashed:
		return fmt.Sprintf("%s crashed: %s", t.Name, t.Reason), t.Error
	case cw.EventAgentStopped:
		return fmt.Sprintf("%s ended: %s", t.Name, t.Reason), ""
	case cw.EventAgentStalled:
		return fmt.Sprintf("%s is silent for %s", t.Name, time.Duration(t.Seconds)*time.Second), prefixed("it uses ", t.Tool)
	case cw.EventAgentParked:
		return t.Name + " waits for an account", t.Text
	case cw.EventAgentWarning:
		return t.Name + ": a warning", t.Warning
	case cw.EventBudgetWarning:
		return "the budget of " + t.Name + " is nearly spent", fmt.Sprintf("$%.2f of $%.2f", t.Spent, t.Limit)
	case cw.EventBudgetSpent:
		return "the budget of " + t.Name + " is spent", fmt.Sprintf("$%.2f of $%.2f; its agents are asked to commit and stop", t.Spent, t.Limit)
	case cw.EventDiskLow:
		return "the disk is nearly full", fmt.Sprintf("%d MiB are free; below %d MiB no run is started", t.Free>>20, t.Floor>>20)
	case cw.EventSecurityRefused:
		return "a caller asked for what it may not", t.What
	}
	return otherWords(of, t)
}

// otherWords are those for all types that nobody wrote any for.
func otherWords(of cw.EventType, t told) (title, body string) {
	what := string(of)
	for _, info := range cw.EventTable() {
		if info.Type == of {
			what = info.Text
		}
	}
	for _, word := range []string{t.Question, t.Answer, t.Error, t.Text, t.Warning, t.Why, t.What, t.Title} {
		if word != "" {
			body = word
			break
		}
	}
	if t.Name == "" && t.From != "" {
		t.Name = t.From
	}
	return prefixed(t.Name, prefixedIf(t.Name != "", ": ", what)), body
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func prefixedIf(yes bool, prefix, text string) string {
	if !yes {
		return text
	}
	return prefix + text
}

// clean makes a text one line without anything that steers a terminal or turns
// the direction of writing.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	return cut(strings.Join(strings.Fields(text), " "), most)
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if n := len([]rune(text)); n <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// joined says in one notification what happened while there was no time for one
// each. counts are by type.
func joined(last cw.Event, counts map[cw.EventType]int) Note {
	total, parts := 0, []string(nil)
	for _, info := range cw.EventTable() { // in the order of the documents
		if n := counts[info.Type]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%s %d", info.Type, n))
		}
	}
	data, err := json.Marshal(map[string]any{"count": total, "types": counts})
	if err != nil {
		data = []byte("{}")
	}
	return Note{
		ID: last.Seq, Type: TypeMore, At: last.At, Title: fmt.Sprintf("%d more events", total), Body: strings.Join(parts, ", "), Data: data,
	}
}

// trial is a notification that tells nothing.
func trial() Note {
	return Note{
		Type: TypeTest, At: time.Now().UTC(), Title: "cw can reach you",
		Body: "This notification was asked for with cw notify test.", Data: json.RawMessage("{}"),
	}
}
