package prompts

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// resumeBlocks are what an agent can be told when it gets another run. Which of
// them come, and how often, depends on why it does.
func resumeBlocks() []Block {
	return []Block{
		{Tag: "hand_over", Order: 10, Source: "resume/hand_over.md", MaxLen: 1000},
		{Tag: "answers", Order: 20, Source: "resume/answers.md", MaxLen: 900},
		{Tag: "follow_up", Order: 30, Source: "resume/follow_up.md", MaxLen: 50},
		{Tag: "agent_message", Order: 35, Source: "resume/agent_message.md", MaxLen: 1000},
		{Tag: "missing_signal", Order: 40, Source: "resume/missing_signal.md", MaxLen: 600},
		{Tag: "malformed_files", Order: 45, Source: "resume/malformed_files.md", MaxLen: 600},
		{Tag: "commit_work", Order: 50, Source: "resume/commit_work.md", MaxLen: 900},
		{Tag: "nothing_committed", Order: 60, Source: "resume/nothing_committed.md", MaxLen: 500},
		{Tag: "handed_back", Order: 65, Source: "resume/handed_back.md", MaxLen: 600},
		{Tag: "go_on", Order: 70, Source: "resume/go_on.md", MaxLen: 400},
		{Tag: "stalled", Order: 80, Source: "resume/stalled.md", MaxLen: 600},
		{Tag: "rebooted", Order: 90, Source: "resume/rebooted.md", MaxLen: 400},
		{Tag: "budget_spent", Order: 95, Source: "resume/budget_spent.md", MaxLen: 700},
		{Tag: "own_plan", Order: 97, Source: "resume/own_plan.md", MaxLen: 600},
		{Tag: "new_run", Order: 100, Source: "resume/new_run.md", MaxLen: 400},
	}
}

// resumed is the name of the table of these blocks.
const resumed = "resume"

// HandOverTag is the tag of the block that begins a hand-over.
const HandOverTag = "hand_over"

// MissingSignalInput says what is wrong with the signal of the last run.
type MissingSignalInput struct {
	Trouble string // why it could not be read
	Raw     string // what stood there; "" for nothing
	Path    string // where it is looked for, absolute; "" leaves that out
}

// MissingSignal asks for the signal that the last run did not leave.
func MissingSignal(in MissingSignalInput) string {
	esc := newEscaper()
	return block("missing_signal", map[string]any{
		"Trouble": esc.inline(strings.TrimRight(in.Trouble, ".")), "Raw": esc.quote(in.Raw), "Path": esc.inline(in.Path),
	})
}

// MalformedFiles tells an architect which of its files could not be read, and why.
func MalformedFiles(problems []string) string {
	return block("malformed_files", map[string]any{"Problems": newEscaper().inlines(problems)})
}

// CommitWork asks to commit what an agent left in the folders of projects, and
// to take files that belong to cw out of its commits. Without any it says so in
// general.
func CommitWork(dirs, reserved []string) string {
	esc := newEscaper()
	return block("commit_work", map[string]any{"Dirs": esc.folders(dirs), "Reserved": esc.inlines(reserved)})
}

// NothingCommitted asks to commit something, or to say why nothing was needed.
func NothingCommitted() string { return block("nothing_committed", nil) }

// HandedBack tells an agent why its work is not merged, and what it is to do. What
// is quoted there must be marked already.
func HandedBack(text string) string {
	return block("handed_back", map[string]any{"Text": newEscaper().text(strings.TrimSpace(text))})
}

// GoOnInput says how the last run ended.
type GoOnInput struct {
	How string // for people; "" when nothing is to be said
}

// GoOn tells an agent to go on, when a person resumed it without a word.
func GoOn(in GoOnInput) string {
	return block("go_on", map[string]any{"How": newEscaper().quote(in.How)})
}

// Stalled tells an agent that it was ended for its silence. 0 minutes: it is
// not known for how long; tool may be empty.
func Stalled(minutes int, tool string) string {
	return block("stalled", map[string]any{"Minutes": minutes, "Tool": newEscaper().inline(tool)})
}

// Rebooted tells an agent that the machine was restarted under it.
func Rebooted() string { return block("rebooted", nil) }

// BudgetSpent asks an agent to commit what it has and to end. why names the
// budget; it may be empty.
func BudgetSpent(why string) string {
	return block("budget_spent", map[string]any{"Why": newEscaper().text(why)})
}

// AnsweredQuestion is a question of an agent with the answer of a person.
type AnsweredQuestion struct {
	Header   string
	Question string
	Answer   string // "" when the question was withdrawn
	// Unanswered is why it was withdrawn without an answer; "": by its agent's
	// removal.
	Unanswered string
	// AskAgain says that the agent was stopped before anybody could answer.
	AskAgain bool
}

// Answers tells an agent what it had asked for. noted says that cw has written the
// answers on the page of its initiative.
func Answers(questions []AnsweredQuestion, noted bool) string {
	return answers(questions, false, noted)
}

// LateAnswers tells an agent what became of questions that a call of it asked
// and did not take before its run ended.
func LateAnswers(questions []AnsweredQuestion) string { return answers(questions, true, false) }

func answers(questions []AnsweredQuestion, late, noted bool) string {
	type view struct {
		Number           int
		Header           inline
		Unanswered       inline
		AskAgain         bool
		Question, Answer text
	}
	esc := newEscaper()
	views := make([]view, len(questions))
	answered, askAgain := false, false
	for i, q := range questions {
		views[i] = view{
			Number: i + 1, Header: esc.inline(q.Header), Unanswered: esc.inline(q.Unanswered), AskAgain: q.AskAgain,
			Question: esc.quote(q.Question), Answer: esc.quote(q.Answer),
		}
		answered, askAgain = answered || q.Answer != "", askAgain || q.AskAgain
	}
	return block("answers", map[string]any{
		"Questions": views, "Late": late, "Answered": answered, "Told": late && !askAgain, "Noted": noted && answered,
	})
}

// FollowUp is what a person wrote to an agent after its goal.
func FollowUp(words string) string {
	return block("follow_up", map[string]any{"Text": newEscaper().text(words)})
}

// HandOverInput is what a session has to know of the one before it. Whoever
// makes it bounds its length.
type HandOverInput struct {
	Why      string // the last session is not continued
	Texts    []HandOverText
	Log      string // the end of what it said and did
	Progress string // its notebook
	Git      bool   // it works in a repository
}

// HandOverText is something that was said to an agent, or by it.
type HandOverText struct {
	From string // who said it, and when: "A person, before run 2"
	Text string
}

// HandOver tells a new session of a CLI what the one before it did, when that
// is not continued.
func HandOver(in HandOverInput) string {
	type view struct{ From, Text text }
	esc := newEscaper()
	views := make([]view, len(in.Texts))
	for i, t := range in.Texts {
		views[i] = view{From: esc.text(t.From), Text: esc.quote(t.Text)}
	}
	return block(HandOverTag, map[string]any{
		"Why": esc.text(in.Why), "Texts": views, "Log": esc.quote(in.Log), "Progress": esc.quote(in.Progress), "Git": in.Git,
	})
}

// PlanInput is an agent's own plan that is not finished.
type PlanInput struct {
	Title    string
	Done, Of int        // steps that are over, and all of them
	Steps    []PlanStep // those that are shown
	Left     int        // steps that are over and not shown
	Native   bool       // it is the CLI's own list
}

// PlanStep is one step of it.
type PlanStep struct{ ID, Status, Title string }

// Plan reminds an agent of its own plan.
func Plan(in PlanInput) string {
	type view struct{ ID, Status, Title inline }
	esc := newEscaper()
	steps := make([]view, len(in.Steps))
	for i, s := range in.Steps {
		steps[i] = view{ID: esc.inline(s.ID), Status: esc.inline(s.Status), Title: esc.inline(s.Title)}
	}
	return block("own_plan", map[string]any{
		"Title": esc.inline(in.Title), "Done": in.Done, "Of": in.Of, "Steps": steps, "Left": in.Left, "Native": in.Native,
	})
}

// NewRun is what every run after the first one must know. It comes last.
func NewRun() string { return block("new_run", nil) }

// block renders one block of resumeBlocks with its tags. The templates are part
// of the program and render whatever the data is, which a test shows.
func block(tag string, data any) string {
	for _, b := range slices.Concat(resumeBlocks(), reminderBlocks()) {
		if b.Tag != tag {
			continue
		}
		body, err := renderBody(b.Source, data)
		if err != nil {
			panic(fmt.Sprintf("render block %s: %v", tag, err))
		}
		b.Body = strings.TrimRight(body, "\n")
		return join([]Block{b})
	}
	panic("there is no block " + tag)
}

// quote makes long data harmless and marks each line of it, so that it cannot
// be taken for the words around it. What is no text (invalid UTF-8, control
// characters) is shown as U+FFFD. Empty stays empty.
func (e escaper) quote(s string) text {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	s = strings.Trim(s, "\n")
	if strings.TrimSpace(s) == "" {
		return ""
	}
	return text("> " + strings.ReplaceAll(e.escape(s), "\n", "\n> "))
}

func (e escaper) inlines(list []string) []inline {
	out := make([]inline, len(list))
	for i, s := range list {
		out[i] = e.inline(s)
	}
	return out
}

// folders are inlines that end with a slash.
func (e escaper) folders(list []string) []inline {
	out := make([]inline, len(list))
	for i, s := range list {
		out[i] = e.inline(strings.TrimRight(s, "/") + "/")
	}
	return out
}
