package cw

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a signal.
const (
	SignalMax          = 1 << 20 // bytes of signal.json
	SignalQuestionsMax = 100     // questions in one signal
)

// SignalPath is where an agent leaves its signal, relative to its cwd.
const SignalPath = ".cw/output/signal.json"

// SignalStatus is an agent's own word on how its run ended.
type SignalStatus string

// The statuses of a signal.
const (
	SignalDone      SignalStatus = "done"
	SignalQuestions SignalStatus = "questions"
	SignalError     SignalStatus = "error"
)

// Signal is an agent's own word on how its run ended.
type Signal struct {
	Status    SignalStatus     `json:"status"`
	Result    string           `json:"result,omitempty"`
	NoChanges string           `json:"noChanges,omitempty"` // why a done needed no commit
	Error     string           `json:"error,omitempty"`
	Questions []SignalQuestion `json:"questions,omitempty"`
	// Unknown are the names of fields that cw does not know, sorted.
	Unknown []string `json:"-"`
}

// SignalQuestion is a question as an agent writes it: an object, or a plain
// string.
type SignalQuestion struct {
	ID          string           `json:"id,omitempty"`
	Text        string           `json:"question"`
	Header      string           `json:"header,omitempty"`
	Options     []QuestionOption `json:"options,omitempty"`
	MultiSelect bool             `json:"multiSelect,omitempty"`
}

// ParseSignal reads a signal. It is lenient where agents differ (unknown
// fields, plain-string questions and options, a result that is no string) and
// strict on what decides: one JSON object with a known status. The error says
// what is wrong in words that can be shown to the agent.
func ParseSignal(data []byte) (Signal, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // editors' byte order mark
	switch {
	case len(data) > SignalMax:
		return Signal{}, fmt.Errorf("it is larger than %d bytes", SignalMax)
	case len(bytes.TrimSpace(data)) == 0:
		return Signal{}, fmt.Errorf("it is empty")
	case !utf8.Valid(data):
		return Signal{}, fmt.Errorf("it is not UTF-8")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return Signal{}, fmt.Errorf("it is not one JSON object: %s", jsonTrouble(data, err))
	}
	sig := Signal{Unknown: unknownFields(fields)}
	status, ok := plainString(fields["status"])
	if !ok {
		return Signal{}, fmt.Errorf(`its "status" is missing or no string; it must be "done", "questions" or "error"`)
	}
	sig.Status = SignalStatus(status)
	sig.Result = anyText(fields["result"])
	sig.NoChanges = noChangesText(fields["noChanges"])
	sig.Error = anyText(fields["error"])
	switch sig.Status {
	case SignalDone:
		return sig, nil
	case SignalError:
		if strings.TrimSpace(sig.Error) == "" {
			sig.Error = "the agent reported an error without saying which"
		}
		return sig, nil
	case SignalQuestions:
		var err error
		sig.Questions, err = parseQuestions(fields["questions"])
		return sig, err
	}
	return Signal{}, fmt.Errorf(`its "status" is %q; it must be "done", "questions" or "error"`, status)
}

func jsonTrouble(data []byte, err error) string {
	if err != nil {
		if wrongType := new(json.UnmarshalTypeError); !errors.As(err, &wrongType) {
			return err.Error()
		}
	}
	switch bytes.TrimSpace(data)[0] {
	case '[':
		return "it is an array"
	case '"':
		return "it is a string"
	case 'n':
		return "it is null"
	}
	return "it is a plain value"
}

func unknownFields(fields map[string]json.RawMessage) []string {
	known := []string{"status", "result", "noChanges", "error", "questions"}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			out = append(out, name)
		}
	}
	return out
}

func plainString(raw json.RawMessage) (string, bool) {
	var s *string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// anyText gives a string as it is, and anything else as compact JSON: agents
// like to put objects where a sentence was asked for.
func anyText(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if s, ok := plainString(raw); ok {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// noChangesText accepts the reason, or a bare true.
func noChangesText(raw json.RawMessage) string {
	text := strings.TrimSpace(anyText(raw))
	switch text {
	case "true":
		return "no reason given"
	case "false":
		return ""
	}
	return text
}

func parseQuestions(raw json.RawMessage) ([]SignalQuestion, error) {
	var items []json.RawMessage
	if text, ok := plainString(raw); ok {
		items = []json.RawMessage{raw}
		if strings.TrimSpace(text) == "" {
			items = nil
		}
	} else if len(raw) > 0 && json.Unmarshal(raw, &items) != nil {
		return nil, fmt.Errorf(`"questions" is no array`)
	}
	if len(items) == 0 {
		return nil, fmt.Errorf(`its "status" is "questions" but "questions" is missing or empty`)
	}
	if len(items) > SignalQuestionsMax {
		return nil, fmt.Errorf(`its "questions" holds %d, at most %d are taken`, len(items), SignalQuestionsMax)
	}
	out := make([]SignalQuestion, 0, len(items))
	for i, item := range items {
		q, err := parseQuestion(item)
		if err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
		out = append(out, q)
	}
	return out, nil
}

func parseQuestion(raw json.RawMessage) (SignalQuestion, error) {
	if s, ok := plainString(raw); ok {
		return checkQuestion(SignalQuestion{Text: s})
	}
	var q struct {
		ID          json.RawMessage   `json:"id"`
		Question    string            `json:"question"`
		Text        string            `json:"text"`
		Header      string            `json:"header"`
		Options     []json.RawMessage `json:"options"`
		MultiSelect bool              `json:"multiSelect"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		return SignalQuestion{}, fmt.Errorf("it is neither a string nor a question object")
	}
	if q.Question == "" {
		q.Question = q.Text
	}
	out := SignalQuestion{ID: anyText(q.ID), Text: q.Question, Header: q.Header, MultiSelect: q.MultiSelect}
	for _, o := range q.Options {
		option, err := parseOption(o)
		if err != nil {
			return SignalQuestion{}, err
		}
		out.Options = append(out.Options, option)
	}
	return checkQuestion(out)
}

func parseOption(raw json.RawMessage) (QuestionOption, error) {
	if s, ok := plainString(raw); ok {
		return QuestionOption{Label: s}, nil
	}
	var o QuestionOption
	if json.Unmarshal(raw, &o) != nil || strings.TrimSpace(o.Label) == "" {
		return QuestionOption{}, fmt.Errorf("an option is neither a string nor an object with a label")
	}
	return o, nil
}

func checkQuestion(q SignalQuestion) (SignalQuestion, error) {
	q.Text = strings.TrimSpace(q.Text)
	if q.Text == "" {
		return q, fmt.Errorf("it has no text")
	}
	if len(q.Text) > QuestionTextMax {
		return q, fmt.Errorf("its text is longer than %d bytes", QuestionTextMax)
	}
	if r := []rune(q.Header); len(r) > QuestionHeaderMax {
		q.Header = string(r[:QuestionHeaderMax])
	}
	return q, nil
}
