package cw

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ActivityVerb is what a running agent does this second, in a word.
type ActivityVerb string

// The verbs.
const (
	VerbThink    ActivityVerb = "think"
	VerbSay      ActivityVerb = "say"
	VerbRun      ActivityVerb = "run"    // a command
	VerbRead     ActivityVerb = "read"   // a file
	VerbEdit     ActivityVerb = "edit"   // a part of a file
	VerbWrite    ActivityVerb = "write"  // a whole file
	VerbSearch   ActivityVerb = "search" // in files, or the web
	VerbFetch    ActivityVerb = "fetch"  // a page of the web
	VerbPlan     ActivityVerb = "plan"
	VerbAsk      ActivityVerb = "ask"      // people, or another agent
	VerbDelegate ActivityVerb = "delegate" // to an agent of the CLI's own
	VerbUse      ActivityVerb = "use"      // another tool
)

// ActivityVerbs lists all verbs.
func ActivityVerbs() []ActivityVerb {
	return []ActivityVerb{
		VerbThink, VerbSay, VerbRun, VerbRead, VerbEdit, VerbWrite, VerbSearch, VerbFetch, VerbPlan, VerbAsk, VerbDelegate, VerbUse,
	}
}

// SubjectMax is the greatest length of an activity's subject in bytes.
const SubjectMax = 200

// Activity is what a running agent does now.
type Activity struct {
	State     ActivityState `json:"state" doc:"busy, retrying, stalled or error"`
	Verb      ActivityVerb  `json:"verb,omitempty" doc:"what it does; missing before its first output"`
	Subject   string        `json:"subject,omitempty" doc:"the command, the path, what is searched or the first line of what it says: one line of at most 200 bytes, without anything that a terminal or a page would act on"`
	Since     *time.Time    `json:"since,omitempty" doc:"when it began to do that"`
	Tool      string        `json:"tool,omitempty" doc:"that it uses"`
	Attempt   int           `json:"attempt,omitempty" doc:"of what is tried again, from 1"`
	NextRetry *time.Time    `json:"nextRetry,omitempty" doc:"when it is tried again"`
	Bucket    string        `json:"bucket,omitempty" doc:"of an error: tool, transient, limit, auth or abort"`
	LastAt    *time.Time    `json:"lastAt,omitempty" doc:"of its last output"`
}

// Differs tells whether an agent does something else now. More output alone,
// and a later time of the same retry, is no difference.
func (a Activity) Differs(b Activity) bool {
	return a.State != b.State || a.Tool != b.Tool || a.Attempt != b.Attempt || a.Bucket != b.Bucket ||
		a.Verb != b.Verb || a.Subject != b.Subject
}

// terminalSequence is what a terminal acts on: CSI, OSC and two-byte sequences.
var terminalSequence = Pattern(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])`)

// Subject makes one line of at most SubjectMax bytes of the first line of a text
// that has something to read: no sequence for terminals, no control character
// and none that is not seen or turns the direction.
func Subject(text string) string {
	for line := range strings.Lines(text) {
		line = line[:min(len(line), 16*SubjectMax)] // the rest is not shown, however long it is
		line = terminalSequence().ReplaceAllString(strings.ToValidUTF8(line, ""), "")
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Z)
		}), " ")
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Cf, unicode.Bidi_Control, unicode.Co, unicode.Cs) {
				return -1
			}
			return r
		}, line))
		if line != "" {
			return clipSubject(line)
		}
	}
	return ""
}

func clipSubject(line string) string {
	const more = "…"
	if len(line) <= SubjectMax {
		return line
	}
	end := SubjectMax - len(more)
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + more
}
