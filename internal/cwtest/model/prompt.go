package model

import (
	"regexp"
	"strings"
)

// Prompt is one text that was given to the model as the user's word.
type Prompt string

// openTag is a tag that opens a block: at the start of a line, so that a tag
// named in running text opens nothing.
var openTag = regexp.MustCompile(`(?m)^<([a-z][a-z0-9_-]*)(?:[ \t][^<>\n]*)?>`)

// Tags returns the names of the prompt's top-level tagged blocks, in order. A
// tag inside a block, and one that is never closed, is not among them.
func (p Prompt) Tags() []string {
	var tags []string
	p.eachBlock(func(tag, _ string) bool {
		tags = append(tags, tag)
		return true
	})
	return tags
}

// Block returns the text inside the first top-level block named tag, without
// the white space around it, and whether there is such a block.
func (p Prompt) Block(tag string) (body string, found bool) {
	p.eachBlock(func(name, text string) bool {
		if name == tag {
			body, found = text, true
		}
		return !found
	})
	return body, found
}

// eachBlock calls yield with each top-level block until it returns false.
func (p Prompt) eachBlock(yield func(tag, body string) bool) {
	rest := string(p)
	for {
		at := openTag.FindStringSubmatchIndex(rest)
		if at == nil {
			return
		}
		tag, after := rest[at[2]:at[3]], rest[at[1]:]
		body, next, closed := cutClosing(after, tag)
		if !closed { // not a block: look on behind the tag
			rest = dropLine(after)
			continue
		}
		if !yield(tag, strings.TrimSpace(body)) {
			return
		}
		rest = dropLine(next)
	}
}

// cutClosing cuts text at the first closing tag that ends its line; one in the
// middle of a sentence closes nothing.
func cutClosing(text, tag string) (body, after string, found bool) {
	closing := "</" + tag + ">"
	for from := 0; ; {
		at := strings.Index(text[from:], closing)
		if at < 0 {
			return "", "", false
		}
		start, end := from+at, from+at+len(closing)
		line, _, _ := strings.Cut(text[end:], "\n")
		if strings.TrimSpace(line) == "" {
			return text[:start], text[end:], true
		}
		from = end
	}
}

// dropLine drops the rest of the line, so that what follows a tag on the same
// line is never taken for the start of one.
func dropLine(text string) string {
	_, after, _ := strings.Cut(text, "\n")
	return after
}
