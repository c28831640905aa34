package parsers

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"cw/internal/cw"
)

// The output formats.
const (
	FormatClaude = "claude" // claude's stream-json: one JSON object a line
	FormatCodex  = "codex"  // codex exec --json: one JSON object a line
	FormatLines  = "lines"  // plain text: every line is text

	FormatQwen     = "qwen"     // qwen -o stream-json: claude's lines with some of its own
	FormatCursor   = "cursor"   // cursor-agent --output-format stream-json: likewise
	FormatAmp      = "amp"      // amp --stream-json: likewise
	FormatPi       = "pi"       // pi --mode json: one JSON object a line
	FormatContinue = "continue" // cn: one JSON object at the end, or plain text

	FormatOpencode = "opencode" // opencode run --format json: one JSON object a line, as the three below
	FormatGemini   = "gemini"   // gemini -o stream-json
	FormatCopilot  = "copilot"  // copilot --output-format json
	FormatCline    = "cline"    // cline --json

	FormatAider = "aider" // aider --no-pretty: plain text with words of its own

	FormatACP = "acp" // cw acp: the lines of the driver, one JSON object a line
)

// Parser reads one format, line by line. It keeps state between lines, so that
// each run needs one of its own, fed from the run's first line on.
type Parser interface {
	// Line reads one line without its line end. The line is valid only during
	// the call. It never fails: what it does not know it counts.
	Line(line []byte) []cw.StreamEvent
	// Unknown is the number of lines that were not, or not wholly, understood.
	Unknown() int
}

// Options are what a parser may know besides the bytes.
type Options struct {
	Patterns Patterns
	// Since is the start of the run. A reset time told only as a time of day is
	// read as the first one after it, or after a later moment that the output
	// itself tells. When it is zero such a time stays unknown. Its location is
	// the zone of times that name none, for CLIs that print local time.
	Since time.Time
}

// Patterns tell error texts apart that carry no code. They are applied to
// error events and stderr only, never to what the model says.
type Patterns struct {
	Limit    []*regexp.Regexp // the account is at its usage limit
	Auth     []*regexp.Regexp // the credentials are refused
	Overload []*regexp.Regexp // later is better
}

// Formats lists the formats that New knows.
func Formats() []string {
	return []string{
		FormatClaude, FormatCodex, FormatLines,
		FormatQwen, FormatCursor, FormatAmp, FormatPi, FormatContinue,
		FormatOpencode, FormatGemini, FormatCopilot, FormatCline,
		FormatAider, FormatACP,
	}
}

// New makes a parser for a format. The error names the formats there are.
func New(format string, opts Options) (Parser, error) {
	switch format {
	case FormatClaude:
		return newClaude(opts), nil
	case FormatCodex:
		return newCodex(opts), nil
	case FormatLines:
		return &linesParser{}, nil
	case FormatQwen:
		return newQwen(opts), nil
	case FormatCursor:
		return newCursor(opts), nil
	case FormatAmp:
		return newAmp(opts), nil
	case FormatPi:
		return newPi(opts), nil
	case FormatContinue:
		return &continueParser{}, nil
	case FormatOpencode:
		return newOpencode(opts), nil
	case FormatGemini:
		return newGemini(opts), nil
	case FormatCopilot:
		return newCopilot(opts), nil
	case FormatCline:
		return newCline(opts), nil
	case FormatAider:
		return newAider(opts), nil
	case FormatACP:
		return newACP(opts), nil
	}
	return nil, fmt.Errorf("unknown output format %q; known are %s", format, strings.Join(Formats(), ", "))
}

// Bucket gives the bucket of an error text, "" when no pattern knows it. Limit
// goes before auth: "429 … check your API key plan" is a limit.
func (p Patterns) Bucket(text string) string {
	switch {
	case matches(p.Limit, text):
		return cw.BucketLimit
	case matches(p.Auth, text):
		return cw.BucketAuth
	case matches(p.Overload, text):
		return cw.BucketTransient
	}
	return ""
}

func matches(patterns []*regexp.Regexp, text string) bool {
	for _, p := range patterns {
		if p.MatchString(text) {
			return true
		}
	}
	return false
}

// validUTF8 gives the line itself when it is UTF-8, else a copy with U+FFFD in
// the place of what is not.
func validUTF8(line []byte) []byte {
	if utf8.Valid(line) {
		return line
	}
	return bytes.ToValidUTF8(line, []byte("\uFFFD"))
}

// clip shortens a text to at most max bytes, at a character's border.
func clip(text string, max int) string {
	if len(text) <= max {
		return text
	}
	cut := max
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
