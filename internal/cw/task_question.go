package cw

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of the questions of a decision.
const (
	TaskQuestionsMax    = 20       // questions of one task
	TaskOptionsMax      = 20       // offered answers of one of them
	TaskQuestionsBytes  = 32 << 10 // of all their texts: they stand in the head of the task's file
	TaskQuestionIDMax   = 40       // bytes of what one is called
	taskQuestionNameMax = 60       // characters of a question in an error
)

// TaskQuestion is one thing that a decision asks a person, in the form in which
// agents ask, and the answer once it was given.
type TaskQuestion struct {
	ID          string           `json:"id,omitempty" doc:"what it is called: a word of letters, digits, - and _, that no other question of the task has; default q1, q2 …"`
	Header      string           `json:"header,omitempty" doc:"a word or two, at most 12 characters"`
	Text        string           `json:"question" doc:"the question"`
	Options     []QuestionOption `json:"options,omitempty" doc:"offered answers; free text is always possible"`
	MultiSelect bool             `json:"multiSelect,omitempty" doc:"several options may be chosen"`
	Answer      string           `json:"answer,omitempty" doc:"the answer: free text, a label, or a JSON array of labels where several may be chosen; missing before, and given with the verdict alone"`
}

// Question gives it as one that an agent asks, for everything that shows and
// answers those.
func (q TaskQuestion) Question() Question {
	return Question{
		ID: QuestionID(q.ID), Key: q.ID, Header: q.Header, Text: q.Text, Options: q.Options, MultiSelect: q.MultiSelect,
		Status: QuestionOpen, Answer: q.Answer,
	}
}

// FilledQuestions gives questions without blanks around their texts, each with
// what it is called; nil for none.
func FilledQuestions(questions []TaskQuestion) []TaskQuestion {
	if len(questions) == 0 {
		return nil
	}
	out := slices.Clone(questions)
	for i := range out {
		q := &out[i]
		if q.ID = strings.TrimSpace(q.ID); q.ID == "" {
			q.ID = fmt.Sprintf("q%d", i+1)
		}
		q.Header, q.Text = strings.TrimSpace(q.Header), strings.TrimSpace(q.Text)
		if q.Options = slices.Clone(q.Options); len(q.Options) == 0 {
			q.Options = nil
		}
		for j := range q.Options {
			o := &q.Options[j]
			o.Label, o.Description = strings.TrimSpace(o.Label), strings.TrimSpace(o.Description)
		}
	}
	return out
}

// Unanswered gives questions without their answers.
func Unanswered(questions []TaskQuestion) []TaskQuestion {
	out := slices.Clone(questions)
	for i := range out {
		out[i].Answer = ""
	}
	return out
}

// checkQuestions refuses questions that nobody could answer, and any of a task
// that is no decision. What is checked is as FilledQuestions gives it.
func checkQuestions(t Task) error {
	switch {
	case len(t.Questions) == 0:
		return nil
	case t.Type != TaskCheckpointDecide:
		return Errorf(CodeInvalid, "a task of type %s asks no questions", t.Type).
			WithHint("only a decision does: its type is %s", TaskCheckpointDecide)
	case len(t.Questions) > TaskQuestionsMax:
		return Errorf(CodeInvalid, "the decision asks %d questions, at most %d are taken", len(t.Questions), TaskQuestionsMax).
			WithHint("make another decision of the rest")
	}
	size := 0
	var ids []string
	for i, q := range t.Questions {
		if err := q.check(i + 1); err != nil {
			return err
		}
		same := func(other string) bool { return strings.EqualFold(other, q.ID) }
		if slices.ContainsFunc(ids, same) {
			return Errorf(CodeInvalid, "two questions of the decision are called %.60q", q.ID).WithHint("give each one an id of its own")
		}
		ids = append(ids, q.ID)
		size += len(q.Header) + len(q.Text) + optionsSize(q.Options)
	}
	if size > TaskQuestionsBytes {
		return Errorf(CodeInvalid, "the questions of the decision have %d bytes together, at most %d are taken", size, TaskQuestionsBytes).
			WithHint("put what is to be known into the text of the task")
	}
	return nil
}

// check looks at the question with that number.
func (q TaskQuestion) check(number int) error {
	invalid := func(field, format string, a ...any) *Error {
		return Errorf(CodeInvalid, "question %d: %s %s", number, field, fmt.Sprintf(format, a...))
	}
	switch {
	case !isQuestionID(q.ID):
		return invalid("id", "is %.60q", q.ID).WithHint("it is a word of letters, digits, - and _, at most %d", TaskQuestionIDMax)
	case !plainText(q.Header) || strings.ContainsAny(q.Header, "\r\n"):
		return invalid("header", "is no line of plain UTF-8 text")
	case len([]rune(q.Header)) > QuestionHeaderMax:
		return invalid("header", "has more than %d characters", QuestionHeaderMax).WithHint("give a word or two, or none")
	case !plainText(q.Text):
		return invalid("question", "is not plain UTF-8 text")
	case strings.TrimSpace(q.Text) == "":
		return invalid("question", "is empty").WithHint("say what is to be decided")
	case len(q.Text) > QuestionTextMax:
		return invalid("question", "is %d bytes long, at most %d are taken", len(q.Text), QuestionTextMax).
			WithHint("put what is to be known into the text of the task")
	case len(q.Options) > TaskOptionsMax:
		return invalid("options", "has %d entries, at most %d are taken", len(q.Options), TaskOptionsMax)
	case q.MultiSelect && len(q.Options) == 0:
		return invalid("multiSelect", "has no options to choose from").WithHint("offer some, or let the answer be free text")
	}
	return checkOptions(q.Options, invalid)
}

// isQuestionID tells whether a question can be called that: what a person types
// before the = of an answer.
func isQuestionID(id string) bool {
	if id == "" || len(id) > TaskQuestionIDMax {
		return false
	}
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		default:
			return false
		}
	}
	return id[0] != '-'
}

// CheckAnswer gives an answer as it is stored: as Question.CheckAnswer, and an
// answer that is exactly a label is that option. CodeInvalid.
func (q TaskQuestion) CheckAnswer(answer string) (string, error) {
	as := q.Question()
	if slices.Contains(as.Labels(), answer) {
		return q.Choose(answer)
	}
	stored, err := as.CheckAnswer(answer)
	return stored, q.hinted(err)
}

// Choose makes an answer of labels, as Question.Choose. CodeInvalid.
func (q TaskQuestion) Choose(labels ...string) (string, error) {
	answer, err := q.Question().Choose(labels...)
	return answer, q.hinted(err)
}

// hinted says what can be answered, whatever is wrong with an answer.
func (q TaskQuestion) hinted(err error) error {
	switch {
	case err == nil:
		return nil
	case len(q.Options) == 0:
		return Errorf(CodeInvalid, "%s", err).WithHint("answer in words")
	}
	return Errorf(CodeInvalid, "%s", err).WithHint("options: %s; or words of yours", strings.Join(q.Question().Labels(), ", "))
}

// Decide gives the questions of a decision with the answers of a verdict: all of
// them, or it says which are missing and what can be answered. CodeInvalid for a
// missing answer, for one that is none and for one to a question that is not
// asked. A task without questions takes no answer.
func (t Task) Decide(answers map[string]string) ([]TaskQuestion, error) {
	out := Unanswered(t.Questions)
	left := maps.Clone(answers)
	var open []TaskQuestion
	for i, q := range out {
		answer, given := left[q.ID]
		if !given {
			open = append(open, q)
			continue
		}
		delete(left, q.ID)
		var err error
		if out[i].Answer, err = q.CheckAnswer(answer); err != nil {
			return nil, err
		}
	}
	switch {
	case len(left) > 0 && len(out) == 0:
		return nil, Errorf(CodeInvalid, "the task %q asks no questions", t.Name).WithHint("say it with --comment, in place of an answer")
	case len(left) > 0:
		return nil, errNotAsked(t, slices.Min(slices.Collect(maps.Keys(left))))
	case len(open) > 0:
		return nil, errUnanswered(t, open)
	}
	return out, nil
}

// errNotAsked says what is asked in place of a question that is not.
func errNotAsked(t Task, id string) *Error {
	ids := make([]string, len(t.Questions))
	for i, q := range t.Questions {
		ids[i] = q.ID
	}
	err := Errorf(CodeInvalid, "the task %q does not ask %.60q", t.Name, id)
	near, ok := Nearest(id, ids)
	if i := slices.IndexFunc(ids, func(known string) bool { return strings.EqualFold(known, id) }); i >= 0 {
		near, ok = ids[i], true
	}
	if ok {
		return err.WithHint("did you mean %s? It asks %s", near, strings.Join(ids, ", "))
	}
	return err.WithHint("it asks %s", strings.Join(ids, ", "))
}

// errUnanswered names the questions that are open, and how they are answered.
func errUnanswered(t Task, open []TaskQuestion) *Error {
	names := make([]string, len(open))
	ways := make([]string, len(open))
	for i, q := range open {
		names[i] = fmt.Sprintf("%s (%s)", q.ID, shortLine(q.Text, taskQuestionNameMax))
		ways[i] = "--answer " + q.ID + "=ANSWER"
	}
	return Errorf(CodeInvalid, "not answered: %s", strings.Join(names, ", ")).
		WithHint("cw task show %[1]s shows the options; cw task done %[1]s %[2]s", t.ID, strings.Join(ways, " "))
}

// DecidedText says what was decided, for those who read on: each question with
// its answer, and what the person said beside.
func DecidedText(questions []TaskQuestion, comment string) string {
	var parts []string
	for _, q := range questions {
		parts = append(parts, fmt.Sprintf("%s: %s\n%s", q.ID, shortLine(q.Text, QuestionTextMax), q.Question().AnswerText()))
	}
	if comment = strings.TrimSpace(comment); comment != "" {
		parts = append(parts, comment)
	}
	return strings.Join(parts, "\n\n")
}

// shortLine is a text on one line of at most so many characters.
func shortLine(text string, most int) string {
	line := strings.Join(strings.Fields(text), " ")
	if r := []rune(line); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return line
}
