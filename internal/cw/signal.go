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
	uniqueIDs(out)
	return out, nil
}

// uniqueIDs makes ids that are given twice different, so that each question can be
// answered by its own: the second q1 becomes q1-2.
func uniqueIDs(questions []SignalQuestion) {
	taken := map[string]bool{}
	for _, q := range questions {
		taken[q.ID] = true
	}
	given := map[string]bool{}
	for i, q := range questions {
		if q.ID == "" {
			continue
		}
		id := q.ID
		for n := 2; given[q.ID] && (id == q.ID || taken[id]); n++ {
			id = fmt.Sprintf("%s-%d", q.ID, n)
		}
		given[id], taken[id] = true, true
		questions[i].ID = id
	}
}

func parseQuestion(raw json.RawMessage) (SignalQuestion, error) {
	if s, ok := plainString(raw); ok {
		return checkQuestion(SignalQuestion{Text: s})
	}
	var q map[string]json.RawMessage
	if err := json.Unmarshal(raw, &q); err != nil || q == nil {
		return SignalQuestion{}, fmt.Errorf("it is neither a string nor a question object")
	}
	out := SignalQuestion{
		ID:          anyText(firstField(q, "id", "key")),
		Text:        anyText(firstField(q, "question", "text", "prompt", "title", "message")),
		Header:      anyText(firstField(q, "header")),
		MultiSelect: looseBool(firstField(q, "multiSelect", "multi_select", "multiselect", "multiple")),
	}
	for _, o := range looseList(firstField(q, "options", "choices")) {
		option, err := parseOption(o)
		if err != nil {
			return SignalQuestion{}, err
		}
		out.Options = append(out.Options, option)
	}
	return checkQuestion(out)
}

// firstField gives the first of the named fields that holds anything.
func firstField(fields map[string]json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		if raw := fields[name]; strings.TrimSpace(anyText(raw)) != "" {
			return raw
		}
	}
	return nil
}

// looseBool reads true, "true", "yes" and 1 as true, and all else as false.
func looseBool(raw json.RawMessage) bool {
	switch strings.ToLower(strings.TrimSpace(anyText(raw))) {
	case "true", "yes", "1":
		return true
	}
	return false
}

// looseList gives the items of an array, the fields of an object as objects of
// one value and its label, and anything else as the only item.
func looseList(raw json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	var fields map[string]json.RawMessage
	switch {
	case len(raw) == 0:
	case json.Unmarshal(raw, &items) == nil:
	case json.Unmarshal(raw, &fields) == nil && fields != nil:
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			item, err := json.Marshal(map[string]json.RawMessage{"value": quotedText(name), "text": fields[name]})
			if err == nil {
				items = append(items, item)
			}
		}
	default:
		items = []json.RawMessage{raw}
	}
	return items
}

func quotedText(text string) json.RawMessage {
	data, _ := json.Marshal(text) // a string can always be written
	return data
}

// parseOption reads an option as models write them: a text or another plain value,
// or an object whose label may have another name.
func parseOption(raw json.RawMessage) (QuestionOption, error) {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil || o == nil {
		label := strings.TrimSpace(anyText(raw))
		if label == "" {
			return QuestionOption{}, fmt.Errorf("an option is empty")
		}
		return QuestionOption{Label: label}, nil
	}
	label := firstField(o, "label", "text", "title", "name", "option", "value", "id", "key")
	if label == nil {
		return QuestionOption{}, fmt.Errorf("an option is neither a string nor an object with a label")
	}
	return QuestionOption{
		Label:       strings.TrimSpace(anyText(label)),
		Description: anyText(firstField(o, "description", "detail", "explanation")),
	}, nil
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
