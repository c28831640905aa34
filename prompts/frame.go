package prompts

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cw/internal/cw"
)

// FrameInput is a text of one agent for another one.
type FrameInput struct {
	From         string // name of the agent whose words they are
	Kind         string // cw.TextQuestion, cw.TextAnswer, or "" for any other text
	Conversation string // its id; "" for a text that belongs to none
	Question     string // of an answer: what was asked, or its beginning
	Text         string // the words, of any form
}

// Frame tells an agent the words of another one: as data, between two marks that
// hold a number drawn for this frame alone. Nothing that the words hold can close
// the frame, begin another one or be taken for a block of the prompt, and what a
// terminal would act on does not reach it. ParseFrame gives the words back as
// they were.
func Frame(in FrameInput) string {
	return frame(in, func() string { return cw.NewID() + cw.NewID() })
}

// frame is Frame with a source of numbers. It draws again until the words do not
// hold the number.
func frame(in FrameInput, draw func() string) string {
	nonce := draw()
	for strings.Contains(in.From+"\n"+in.Conversation+"\n"+in.Question+"\n"+in.Text, nonce) {
		nonce = draw()
	}
	esc := newEscaper()
	return block("agent_message", map[string]any{
		"From": esc.inline(in.From), "Asks": in.Kind == cw.TextQuestion, "Answers": in.Kind == cw.TextAnswer && in.Question != "",
		"Question": esc.inertLines(in.Question), "Conversation": esc.inert(in.Conversation),
		"Nonce": nonce, "Text": esc.inertLines(in.Text),
	})
}

// inertLines is inert with a mark before each line.
func (e escaper) inertLines(s string) string {
	return "> " + strings.ReplaceAll(e.inert(s), "\n", "\n> ")
}

var (
	frameBegin = regexp.MustCompile(`(?m)^--- begin ([a-z2-7]{24}) ---\n`)
	inertMark  = regexp.MustCompile(`⟦(U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})⟧`)
)

// ParseFrame gives the words in a frame as they were written. The error says why
// a text is no frame: its marks are not there exactly once, or a line between
// them is not quoted.
func ParseFrame(text string) (string, error) {
	begins := frameBegin.FindAllStringSubmatchIndex(text, -1)
	if len(begins) != 1 {
		return "", fmt.Errorf("the frame is opened %d times", len(begins))
	}
	nonce := text[begins[0][2]:begins[0][3]]
	end := "\n--- end " + nonce + " ---\n"
	if strings.Count(text, nonce) != 2 || strings.Count(text, end) != 1 {
		return "", errors.New("the frame is not closed once")
	}
	inside, _, _ := strings.Cut(text[begins[0][1]-1:], end)
	var lines []string
	for line := range strings.SplitSeq(inside[1:], "\n") {
		words, quoted := strings.CutPrefix(line, "> ")
		if !quoted {
			return "", errors.New("a line in the frame is not quoted")
		}
		lines = append(lines, words)
	}
	return lively(strings.Join(lines, "\n")), nil
}

// inert writes whatever does not show as itself by its number: control and format
// characters with the ones that change the direction of writing, what is not
// assigned, bytes that are no text, and the "<" of what could be read as one of
// our tags. lively is its reverse.
func (e escaper) inert(s string) string {
	var b strings.Builder
	for at := 0; at < len(s); {
		r, width := utf8.DecodeRuneInString(s[at:])
		switch {
		case r == utf8.RuneError && width == 1:
			fmt.Fprintf(&b, "⟦0x%02X⟧", s[at])
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == '⟦' || hides(r) || r == '<' && e.startsTag(s[at+1:]):
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
		default:
			b.WriteRune(r)
		}
		at += width
	}
	return b.String()
}

// hides tells whether a character is not seen, or acts on others. The two that
// only choose between text and picture of the sign before them are let through.
func hides(r rune) bool {
	chooses := r == '\ufe0e' || r == '\ufe0f'
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Variation_Selector, r) && !chooses
}

// lively gives the text that inert was given.
func lively(s string) string {
	return inertMark.ReplaceAllStringFunc(s, func(mark string) string {
		number := strings.TrimSuffix(strings.TrimPrefix(mark, "⟦"), "⟧")[2:]
		n, err := strconv.ParseUint(number, 16, 32)
		switch {
		case err != nil:
			return mark
		case strings.HasPrefix(mark, "⟦0x"):
			return string([]byte{byte(n)})
		}
		return string(rune(n))
	})
}
