package cw

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// ToolQuestion is one question of a call, in the form in which models give it.
type ToolQuestion struct {
	Header      string           `json:"header" doc:"a word or two, at most 12 characters"`
	Question    string           `json:"question" doc:"the question, at most 16 KiB"`
	Options     []QuestionOption `json:"options" doc:"2 to 4 offered answers with labels that differ; free text is always possible"`
	MultiSelect bool             `json:"multiSelect,omitempty" doc:"several options may be chosen"`
}

// PeopleRequest asks people, for a call that waits.
type PeopleRequest struct {
	// RequestKey makes the request repeatable: a second one of the same agent with
	// the same key gives the questions of the first.
	RequestKey string         `json:"requestKey,omitempty" doc:"makes the request repeatable: a second one of the same agent with the same key gives the questions of the first"`
	ToolUseID  string         `json:"toolUseId,omitempty" doc:"the call that waits, as the CLI names it"`
	Questions  []ToolQuestion `json:"questions" doc:"1 to 4 questions"`
}

// Check refuses what can never be asked, in words with which a model can mend
// it. CodeInvalid.
func (r PeopleRequest) Check() error {
	switch {
	case len(r.Questions) == 0:
		return Errorf(CodeInvalid, "there is no question").WithHint("ask 1 to %d questions at once", ToolQuestionsMax)
	case len(r.Questions) > ToolQuestionsMax:
		return Errorf(CodeInvalid, "there are %d questions, at most %d are taken at once", len(r.Questions), ToolQuestionsMax).
			WithHint("ask the most important ones first, and the others when these are answered")
	case len(r.RequestKey) > RequestKeyMax:
		return Errorf(CodeInvalid, "requestKey is longer than %d bytes", RequestKeyMax)
	case len(r.ToolUseID) > RequestKeyMax:
		return Errorf(CodeInvalid, "toolUseId is longer than %d bytes", RequestKeyMax)
	case !plainText(r.RequestKey) || !plainText(r.ToolUseID):
		return Errorf(CodeInvalid, "requestKey and toolUseId must be plain UTF-8 text")
	}
	size := 0
	for i, q := range r.Questions {
		if err := q.check(i + 1); err != nil {
			return err
		}
		size += q.size()
	}
	if size > ToolRequestMax {
		return Errorf(CodeInvalid, "the questions have %d bytes together, at most %d are taken", size, ToolRequestMax).
			WithHint("put long texts into a file in your working directory, and name it in the question")
	}
	return nil
}

// check looks at the question with that number.
func (q ToolQuestion) check(number int) error {
	invalid := func(field, format string, a ...any) *Error {
		return Errorf(CodeInvalid, "question %d: %s %s", number, field, fmt.Sprintf(format, a...))
	}
	header := utf8.RuneCountInString(q.Header)
	switch {
	case !plainText(q.Header):
		return invalid("header", "is not plain UTF-8 text")
	case strings.TrimSpace(q.Header) == "":
		return invalid("header", "is empty").WithHint("give a word or two, at most %d characters", QuestionHeaderMax)
	case header > QuestionHeaderMax:
		return invalid("header", "has %d characters, at most %d are taken", header, QuestionHeaderMax).WithHint("give a word or two")
	case !plainText(q.Question):
		return invalid("question", "is not plain UTF-8 text")
	case strings.TrimSpace(q.Question) == "":
		return invalid("question", "is empty").WithHint("say what you want to know")
	case len(q.Question) > QuestionTextMax:
		return invalid("question", "is %d bytes long, at most %d are taken", len(q.Question), QuestionTextMax).
			WithHint("put long texts into a file in your working directory, and name it in the question")
	case len(q.Options) < ToolOptionsMin || len(q.Options) > ToolOptionsMax:
		return invalid("options", "has %d entries, it must have %d to %d", len(q.Options), ToolOptionsMin, ToolOptionsMax).
			WithHint("people can always answer in their own words, so an option such as \"other\" is not needed")
	}
	return checkOptions(q.Options, invalid)
}

// checkOptions refuses options that people cannot tell from each other. invalid
// makes the error about a field.
func checkOptions(options []QuestionOption, invalid func(field, format string, a ...any) *Error) error {
	var labels []string
	for i, o := range options {
		field := fmt.Sprintf("options[%d].", i)
		label := strings.TrimSpace(o.Label)
		same := func(other string) bool { return strings.EqualFold(other, label) }
		switch {
		case !plainText(o.Label):
			return invalid(field+"label", "is not plain UTF-8 text")
		case label == "":
			return invalid(field+"label", "is empty").WithHint("give the answer in a few words")
		case utf8.RuneCountInString(label) > ToolLabelMax:
			return invalid(field+"label", "has more than %d characters", ToolLabelMax).WithHint("explain the option in its description")
		case slices.ContainsFunc(labels, same):
			return invalid(field+"label", "%.60q is the label of another option, too", label).WithHint("labels must differ in more than upper and lower case")
		case !plainText(o.Description):
			return invalid(field+"description", "is not plain UTF-8 text")
		}
		labels = append(labels, label)
	}
	return nil
}

// size is how many bytes its texts have.
func (q ToolQuestion) size() int {
	return len(q.Header) + len(q.Question) + optionsSize(q.Options)
}

func optionsSize(options []QuestionOption) int {
	n := 0
	for _, o := range options {
		n += len(o.Label) + len(o.Description)
	}
	return n
}

// Rows gives the questions as they are stored, without what the store and the
// caller decide.
func (r PeopleRequest) Rows() []Question {
	out := make([]Question, len(r.Questions))
	for i, q := range r.Questions {
		out[i] = Question{
			RequestKey: r.RequestKey, ToolUseID: r.ToolUseID, Seq: i + 1, Key: fmt.Sprintf("q%d", i+1), Source: AskedByTool,
			Header: strings.TrimSpace(q.Header), Text: strings.TrimSpace(q.Question), MultiSelect: q.MultiSelect,
			Status: QuestionOpen, Options: make([]QuestionOption, len(q.Options)),
		}
		for j, o := range q.Options {
			out[i].Options[j] = QuestionOption{Label: strings.TrimSpace(o.Label), Description: strings.TrimSpace(o.Description)}
		}
	}
	return out
}

func plainText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
