package cw

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of questions.
const (
	QuestionTextMax   = 16 << 10 // bytes of one question
	QuestionHeaderMax = 12       // characters of the chip
	AnswerMax         = 64 << 10 // bytes of one answer

	ToolQuestionsMax  = 4        // questions of one call
	ToolOptionsMin    = 2        // options of a question of a call
	ToolOptionsMax    = 4        // likewise
	ToolLabelMax      = 200      // characters of an option's label
	ToolRequestMax    = 64 << 10 // bytes of all texts of one call
	ToolQuestionsOpen = 20       // questions of one agent's calls that are open at once
	RequestKeyMax     = 128      // bytes of a request key
)

// How a question was asked.
const (
	AskedBySignal = "signal" // the run ended with it
	AskedByTool   = "tool"   // a call of the run waits for it
)

// WithdrawnRemoved is the reason of questions that were withdrawn because their
// agent was removed. They are asked again when it is restored.
const WithdrawnRemoved = "its agent was removed"

// WithdrawnStopped is the reason of questions that were withdrawn because a person
// stopped the agent that waited for them. Its next run is told so.
const WithdrawnStopped = "its agent was stopped"

// QuestionStatus is where a question stands.
type QuestionStatus string

// The statuses of a question.
const (
	QuestionOpen      QuestionStatus = "open"
	QuestionAnswered  QuestionStatus = "answered"
	QuestionWithdrawn QuestionStatus = "withdrawn" // its agent was removed or stopped, or nobody answered in the time that people set
)

// Question is one question of an agent to people. Questions asked at once form
// a group; the agent goes on when its group is closed.
type Question struct {
	ID          QuestionID       `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	AgentID     AgentID          `json:"agentId" doc:"the agent that asks"`
	RunID       RunID            `json:"runId" doc:"the run that asked"`
	RequestID   RequestID        `json:"requestId" doc:"the group of questions asked at once"`
	Seq         int              `json:"seq" doc:"place in the group, from 1"`
	Key         string           `json:"key" doc:"the id that the agent gave it, or its number"`
	Source      string           `json:"source" doc:"how it was asked: signal or tool"`
	ToolUseID   string           `json:"toolUseId,omitempty" doc:"the call that waits for it"`
	Header      string           `json:"header,omitempty" doc:"a word or two, for a chip"`
	Text        string           `json:"question" doc:"the question"`
	Options     []QuestionOption `json:"options" gorm:"serializer:json;column:options_json" doc:"offered answers; free text is always possible"`
	MultiSelect bool             `json:"multiSelect" doc:"several options may be chosen"`
	Status      QuestionStatus   `json:"status" doc:"where it stands"`
	Answer      string           `json:"answer,omitempty" gorm:"column:answer_json" doc:"the answer"`
	AnsweredBy  string           `json:"answeredBy,omitempty" doc:"who answered"`
	AnsweredAt  *time.Time       `json:"answeredAt,omitempty" doc:"when it was answered"`
	Reason      string           `json:"reason,omitempty" doc:"why it was withdrawn"`
	// RequestKey makes the call that asked repeatable: unique for the groups of one
	// agent, "" for questions of a signal.
	RequestKey string     `json:"-"`
	RemindedAt *time.Time `json:"remindedAt,omitempty" doc:"when it was last said that it waits"`
	// FetchedAt is when the call that asked took what became of the question, or
	// when the run was intended that is told it: what no call took before its run
	// ended is in the next prompt of the agent.
	FetchedAt *time.Time `json:"fetchedAt,omitempty" doc:"when the call that asked took the answer, or a run was intended that is told it; missing for questions of a signal"`
	CreatedAt time.Time  `json:"createdAt" doc:"when it was asked"`
}

// QuestionOption is one offered answer. Free text is always possible beside it.
type QuestionOption struct {
	Label       string `json:"label" doc:"the answer"`
	Description string `json:"description,omitempty" doc:"what it means"`
}

// QuestionView is a question as people see it.
type QuestionView struct {
	Question
	Agent string `json:"agent" doc:"name of the agent that asks"`
}

// QuestionList says how questions can be sorted.
func QuestionList() List {
	return List{Name: "questions", Own: "createdAt", Times: []string{"createdAt"}}
}

// PageKey implements Keyed.
func (q Question) PageKey(string) (key, id string) { return TimeKey(q.CreatedAt), string(q.ID) }

// QuestionStatuses lists all statuses of a question.
func QuestionStatuses() []QuestionStatus {
	return []QuestionStatus{QuestionOpen, QuestionAnswered, QuestionWithdrawn}
}

// QuestionFilter selects questions, oldest first unless it says otherwise.
type QuestionFilter struct {
	PageQuery

	Statuses []QuestionStatus `json:"statuses,omitempty"` // none: all
	Agent    string           `json:"agent,omitempty"`    // alias or id
}

// Start checks a filter. CodeInvalid for a status, a limit, an order or a
// cursor that is none.
func (f QuestionFilter) Start() (PageStart, error) {
	var known, statuses []string
	for _, s := range QuestionStatuses() {
		known = append(known, string(s))
	}
	for _, s := range f.Statuses {
		if !slices.Contains(known, string(s)) {
			return PageStart{}, errStatus(string(s), known)
		}
		statuses = append(statuses, string(s))
	}
	slices.Sort(statuses)
	return QuestionList().Start(f.PageQuery, strings.Join(slices.Compact(statuses), ","), f.Agent)
}

// Unanswered reports whether it was withdrawn for good: nobody answered in time, or
// its agent was stopped. Its agent is told so.
func (q Question) Unanswered() bool {
	return q.Status == QuestionWithdrawn && q.Reason != "" && q.Reason != WithdrawnRemoved
}

// Closed tells whether none of the questions is open.
func Closed(questions []Question) bool {
	return !slices.ContainsFunc(questions, func(q Question) bool { return q.Status == QuestionOpen })
}

// Labels are the labels of the offered answers.
func (q Question) Labels() []string {
	labels := make([]string, len(q.Options))
	for i, o := range q.Options {
		labels[i] = o.Label
	}
	return labels
}

// AnswerText is an answer for people: labels without the brackets.
func AnswerText(answer string) string {
	var labels []string
	if strings.HasPrefix(answer, "[") && json.Unmarshal([]byte(answer), &labels) == nil {
		return strings.Join(labels, ", ")
	}
	return answer
}

// AnswerText is the answer for people: labels that were chosen together stand
// beside each other.
func (q Question) AnswerText() string {
	if q.MultiSelect {
		return AnswerText(q.Answer)
	}
	return q.Answer
}

// Choose makes an answer of labels: the label itself, or for a question where
// several may be chosen a JSON array of them. CodeInvalid for a label that was
// not offered, for none, and for several where one is asked for.
func (q Question) Choose(labels ...string) (string, error) {
	switch {
	case len(labels) == 0:
		return "", q.invalid("no option is named")
	case len(labels) > 1 && !q.MultiSelect:
		return "", q.invalid(fmt.Sprintf("%d options are named, and only one may be chosen", len(labels)))
	}
	for i, l := range labels {
		if err := q.offers(l); err != nil {
			return "", err
		}
		if slices.Contains(labels[:i], l) {
			return "", q.invalid(fmt.Sprintf("the option %.60q is named twice", l))
		}
	}
	if !q.MultiSelect {
		return labels[0], nil
	}
	data, err := json.Marshal(labels)
	return string(data), err
}

// CheckAnswer gives an answer as it is stored, or says why it is none: free
// text, a label, or for a question where several may be chosen a JSON array of
// labels. CodeInvalid.
func (q Question) CheckAnswer(answer string) (string, error) {
	trimmed := strings.TrimSpace(answer)
	switch {
	case trimmed == "":
		return "", q.invalid("the answer is empty")
	case len(answer) > AnswerMax:
		return "", q.invalid(fmt.Sprintf("the answer is %d bytes long, at most %d are taken", len(answer), AnswerMax))
	case !utf8.ValidString(answer) || strings.ContainsRune(answer, 0):
		return "", q.invalid("the answer is not plain UTF-8 text")
	}
	var labels []string
	if q.MultiSelect && strings.HasPrefix(trimmed, "[") && json.Unmarshal([]byte(trimmed), &labels) == nil {
		return q.Choose(labels...)
	}
	return trimmed, nil
}

func (q Question) offers(label string) error {
	labels := q.Labels()
	if slices.Contains(labels, label) {
		return nil
	}
	if len(labels) == 0 {
		return Errorf(CodeInvalid, "question %s offers no options", q.ID).WithHint("answer in words: --text")
	}
	err := q.invalid(fmt.Sprintf("it has no option %.60q", label))
	near, ok := Nearest(label, labels)
	if i := slices.IndexFunc(labels, func(l string) bool { return strings.EqualFold(l, label) }); i >= 0 {
		near, ok = labels[i], true
	}
	if ok {
		return err.WithHint("did you mean %q? Options: %s; or answer in words: --text", near, strings.Join(labels, ", "))
	}
	return err
}

func (q Question) invalid(what string) *Error {
	err := Errorf(CodeInvalid, "question %s: %s", q.ID, what)
	if len(q.Options) == 0 {
		return err.WithHint("answer in words: --text")
	}
	return err.WithHint("options: %s; or answer in words: --text", strings.Join(q.Labels(), ", "))
}

// AnswersRequest answers questions, all or none of them.
type AnswersRequest struct {
	// Answers holds for each question free text or a label, or a JSON array of
	// labels where several may be chosen.
	Answers map[QuestionID]string `json:"answers" doc:"question id → answer: free text, a label, or a JSON array of labels where several may be chosen"`
}

// QuestionService is what agents ask people with, and what people may do with
// questions.
type QuestionService interface {
	// AskPeople stores questions of the calling agent that a call of it waits for,
	// as one group, and returns at once; AwaitAnswers waits. A second request of
	// the same agent with the same key gives the group of the first as it is now.
	// CodeForbidden for callers that are no agent; CodeInvalid as
	// PeopleRequest.Check; CodeRefused when more than ToolQuestionsOpen questions
	// would be open, and when the caller's run is over.
	AskPeople(ctx context.Context, req PeopleRequest) ([]Question, error)
	// AwaitAnswers gives a group, in order, once none of its questions is open:
	// each is answered, or withdrawn with a reason. It waits for as long as that
	// takes, across restarts of the daemon. Only the agent that asked, and people,
	// may; the former has fetched the answers with it, and may ask for them again.
	// CodeForbidden for other agents; CodeNotFound.
	AwaitAnswers(ctx context.Context, id RequestID) ([]Question, error)
	// Questions lists questions. CodeInvalid for a filter that is none.
	Questions(ctx context.Context, f QuestionFilter) (Page[QuestionView], error)
	// Question gives one by its id. CodeNotFound.
	Question(ctx context.Context, id string) (QuestionView, error)
	// Answer stores answers, all or none of them, and returns when they are
	// durable. A call that waits for them gets them. An agent at rest of which no
	// question is open any more is resumed with them, exactly once, whatever
	// becomes of the daemon. CodeNotFound for an
	// unknown question; CodeInvalid for an answer that is none; CodeRefused,
	// naming what was answered, for a question that is not open.
	Answer(ctx context.Context, req AnswersRequest) ([]QuestionView, error)
}
