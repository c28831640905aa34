package board

import (
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
)

// Asking are questions that a person answers in place, one after the other. They
// are sent together after the last.
type Asking struct {
	Who       string    // who asks
	Task      cw.TaskID // of a decision; "" for questions of an agent
	Questions []cw.Question
	Behind    int  // tasks that wait for the answers
	Sent      bool // the answers are on their way

	at, cursor int
	seen       bool   // the cursor is shown: somebody moved it
	chosen     []int  // options of a question that takes several, in order
	said       string // own words, until an option is taken instead
	answers    map[cw.QuestionID]string
}

// Question is the one that is asked now.
func (k *Asking) Question() cw.Question { return k.Questions[k.at] }

// Answers are all answers so far.
func (k *Asking) Answers() map[cw.QuestionID]string { return k.answers }

// Move moves the cursor over the options. It is on none before: enter pressed
// twice is no answer.
func (k *Asking) Move(by int) {
	k.said = ""
	if !k.seen && by > 0 {
		by--
	}
	k.seen = true
	k.cursor = min(max(k.cursor+by, 0), max(len(k.Question().Options)-1, 0))
}

// Pick chooses the option with a number, from 1; where several may be chosen it
// adds it, or takes it away again. It tells whether there is such an option.
func (k *Asking) Pick(number int) bool {
	if number < 1 || number > len(k.Question().Options) {
		return false
	}
	k.cursor, k.seen, k.said = number-1, true, ""
	if k.Question().MultiSelect {
		k.Toggle()
	}
	return true
}

// Toggle adds the option under the cursor to those that are chosen, or takes it
// away again, where several may be chosen.
func (k *Asking) Toggle() {
	if !k.Question().MultiSelect {
		return
	}
	if !k.seen {
		k.Move(1) // first it is shown where the cursor is
		return
	}
	k.said = ""
	if i := slices.Index(k.chosen, k.cursor); i >= 0 {
		k.chosen = slices.Delete(k.chosen, i, i+1)
		return
	}
	k.chosen = append(k.chosen, k.cursor)
	slices.Sort(k.chosen)
}

// Take answers with what is chosen, else with the option under the cursor, and
// goes to the next question. It tells whether that was the last. Own words that
// could not be sent are taken again. CodeInvalid when there is no option to take,
// and when none was chosen.
func (k *Asking) Take() (last bool, err error) {
	q := k.Question()
	if k.said != "" {
		return k.Say(k.said)
	}
	if len(q.Options) == 0 {
		return false, cw.Errorf(cw.CodeInvalid, "it offers no options").WithHint("o answers in your own words")
	}
	if !k.seen {
		return false, cw.Errorf(cw.CodeInvalid, "nothing is chosen yet").WithHint("j k or a number choose, enter sends")
	}
	chosen := k.chosen
	if len(chosen) == 0 {
		chosen = []int{k.cursor}
	}
	var labels []string
	for _, i := range chosen {
		labels = append(labels, q.Options[i].Label)
	}
	answer, err := q.Choose(labels...)
	return k.keep(answer, err)
}

// Say answers in words. CodeInvalid as Question.CheckAnswer.
func (k *Asking) Say(words string) (last bool, err error) {
	answer, err := k.Question().CheckAnswer(words)
	if last, err = k.keep(answer, err); last {
		k.said = words
	}
	return last, err
}

func (k *Asking) keep(answer string, err error) (last bool, _ error) {
	if err != nil {
		return false, err
	}
	if k.answers == nil {
		k.answers = map[cw.QuestionID]string{}
	}
	k.answers[k.Question().ID] = answer
	if k.at == len(k.Questions)-1 {
		return true, nil
	}
	k.at, k.cursor, k.seen, k.chosen, k.said = k.at+1, 0, false, nil, ""
	return false, nil
}

// title says who asks, and which of several questions it is.
func (k *Asking) title() string {
	text := flat(k.Who) + " asks"
	if len(k.Questions) > 1 {
		text += fmt.Sprintf(", %d of %d", k.at+1, len(k.Questions))
	}
	return text
}

// Whole gives the question as it was asked, to be read in a sheet.
func (k *Asking) Whole() *Sheet {
	q := k.Question()
	var b strings.Builder
	b.WriteString(q.Text + "\n")
	for i, o := range q.Options {
		fmt.Fprintf(&b, "\n%d  %s\n", i+1, o.Label)
		if o.Description != "" {
			b.WriteString("   " + o.Description + "\n")
		}
	}
	return NewSheet(k.title(), b.String(), false)
}

// inSight gives so many lines of the question: where they do not all fit, the
// options around the cursor, and above them how the question begins.
func (k *Asking) inSight(width, rows int) []line {
	all := k.lines(width)
	if len(all) <= rows || rows < 2 {
		return all[:min(len(all), max(rows, 0))]
	}
	first := len(all) - len(k.Question().Options) - 1
	text, options := all[:first], all[first:]
	if most := max(rows-2, 1); len(options) > most {
		top := window(k.cursor, 0, most, len(options))
		options = options[top : top+most]
	}
	if room := rows - len(options); room < len(text) {
		text = append(append([]line{}, text[:room-1]...), line{{" … r reads all of it", dim}})
	}
	return append(append([]line{}, text...), options...)
}

// lines draws the question and its options.
func (k *Asking) lines(width int) []line {
	q := k.Question()
	var out []line
	for text := range strings.SplitSeq(strings.TrimSpace(q.Text), "\n") {
		for _, l := range wrap(flat(text), width-2) {
			out = append(out, line{{" ", plain}, {l, bold}})
		}
	}
	if about := k.about(q); about != "" {
		out = append(out, line{{" " + about, dim}})
	}
	label := 8
	for _, o := range q.Options {
		label = max(label, min(wide(flat(o.Label)), width/2))
	}
	for i, o := range q.Options {
		bar, look := " ", plain
		if i == k.cursor && k.seen && k.said == "" {
			bar, look = "▌", bold
		}
		mark := fmt.Sprintf("%d ", i+1)
		if q.MultiSelect && slices.Contains(k.chosen, i) {
			mark = fmt.Sprintf("%d*", i+1)
		}
		out = append(out, line{{bar, work}, {mark, look}, {left(flat(o.Label), label), look}, {"  " + flat(o.Description), dim}})
	}
	if k.said != "" {
		return append(out, line{{"▌", work}, {"o ", bold}, {flat(k.said), bold}})
	}
	return append(out, line{{" o In your own words", dim}})
}

func (k *Asking) about(q cw.Question) string {
	var parts []string
	if q.Header != "" {
		parts = append(parts, flat(q.Header))
	}
	if q.MultiSelect && len(q.Options) > 0 {
		parts = append(parts, "several may be chosen")
	}
	switch {
	case k.Behind == 1:
		parts = append(parts, "1 task waits on this")
	case k.Behind > 1:
		parts = append(parts, fmt.Sprintf("%d tasks wait on this", k.Behind))
	}
	return strings.Join(parts, " · ")
}
