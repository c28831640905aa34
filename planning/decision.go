package planning

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"cw/artifacts"
	"cw/internal/cw"
)

// A decision is an entry of a page: below the heading "## Decisions" a heading
// with its title, a comment with its id, and its text. The comment is what it is
// known by, so that people may change everything else.
const (
	decisionsHeading = "## Decisions"
	titleHeading     = "### "
	markBegin        = "<!-- decision "
	markEnd          = " -->"
)

// titleLevel is the level of an entry's heading: its text has deeper ones only.
const titleLevel = 3

// heading is a Markdown heading that begins with number signs.
var heading = regexp.MustCompile(`^ {0,3}(#{1,6})([ \t].*)?$`)

// RecordAnswers notes answered questions of a discuss agent as decisions on the
// first page of its initiative. A question that is noted already is passed over,
// so it may be called again. Others than discuss agents note nothing.
func (m *Manager) RecordAnswers(ctx context.Context, agent cw.Agent, questions []cw.Question) error {
	if agent.Mode != cw.ModeDiscuss || agent.InitiativeID == "" {
		return nil
	}
	_, err := m.change(ctx, agent.InitiativeID, func(p *plan) error {
		first := p.page(p.Initiative.RootPageID)
		if first == nil {
			return p.noPage(p.Initiative.RootPageID)
		}
		for _, q := range questions {
			if q.Status != cw.QuestionAnswered || p.noted(string(q.ID)) {
				continue
			}
			first.Body = putDecision(first.Body, answered(q))
			first.UpdatedBy = q.AnsweredBy
		}
		return nil
	})
	return err
}

// noted tells whether the mark of a decision is on any page, also where it stands
// in the code of a page, as after a fence that was left open.
func (p *plan) noted(id string) bool {
	return slices.ContainsFunc(p.Pages, func(d cw.Document) bool {
		return d.DeletedAt == nil && strings.Contains(d.Body, markBegin+id+markEnd)
	})
}

// answered is an answer as a decision.
func answered(q cw.Question) artifacts.Decision {
	text := strings.TrimSpace(q.Text)
	title, _, _ := strings.Cut(text, "\n")
	body := "**Answer:** " + q.AnswerText()
	if title = plainTitle(title); title != text {
		body = text + "\n\n" + body
	}
	return artifacts.Decision{ID: string(q.ID), Title: title, Body: body}
}

// plainTitle makes a text a title: one line without control characters.
func plainTitle(text string) string {
	title := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)), " ")
	if runes := []rune(title); len(runes) > cw.NameMax {
		return strings.TrimSpace(string(runes[:cw.NameMax-1])) + "…"
	}
	return title
}

// decisionPage finds the page that holds a decision; nil for none.
func (p *plan) decisionPage(id string) *cw.Document {
	return find(p.Pages, func(d cw.Document) bool {
		_, there := findDecision(d.Body, id)
		return there && d.DeletedAt == nil
	})
}

// findDecision reads a decision from a page.
func findDecision(body, id string) (artifacts.Decision, bool) {
	lines := strings.Split(body, "\n")
	from, to, there := entry(lines, id)
	if !there {
		return artifacts.Decision{}, false
	}
	mark := markLine(lines, from)
	return artifacts.Decision{
		ID:    id,
		Title: strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(lines[from]), "#")),
		Body:  strings.Trim(strings.Join(lines[mark+1:to], "\n"), "\n"),
	}, true
}

// putDecision writes a decision into a page: in the place of what it was, or as
// the last one.
func putDecision(body string, d artifacts.Decision) string {
	lines := strings.Split(strings.TrimRight(body, "\n"), "\n")
	text := decisionLines(d)
	if from, to, there := entry(lines, d.ID); there {
		return joined(lines[:from], text, lines[to:])
	}
	heads := headings(lines)
	at := slices.IndexFunc(heads, func(h head) bool { return h.level == 2 && h.title == decisionsHeading[3:] })
	if at < 0 {
		return joined(closed(lines), []string{decisionsHeading}, text)
	}
	end := sectionEnd(heads, at, len(lines))
	return joined(closed(lines[:end]), text, lines[end:])
}

// dropDecision takes a decision out of a page.
func dropDecision(body, id string) string {
	lines := strings.Split(body, "\n")
	if from, to, there := entry(lines, id); there {
		return joined(lines[:from], lines[to:])
	}
	return body
}

func decisionLines(d artifacts.Decision) []string {
	text := []string{titleHeading + d.Title, "", markBegin + d.ID + markEnd, ""}
	return append(text, strings.Split(deeper(strings.Trim(d.Body, "\n")), "\n")...)
}

// joined puts pieces of a page together, with one blank line between them.
func joined(pieces ...[]string) string {
	var texts []string
	for _, lines := range pieces {
		if text := strings.Trim(strings.Join(lines, "\n"), "\n"); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n") + "\n"
}

// entry finds the lines of a decision: from its heading to the next heading
// that is not deeper.
func entry(lines []string, id string) (from, to int, there bool) {
	heads := headings(lines)
	for i, h := range heads {
		if h.level != titleLevel {
			continue
		}
		if mark := markLine(lines, h.line); mark > 0 && strings.TrimSpace(lines[mark]) == markBegin+id+markEnd {
			return h.line, sectionEnd(heads, i, len(lines)), true
		}
	}
	return 0, 0, false
}

// markLine is the first line below a heading that is not blank; 0 for none.
func markLine(lines []string, heading int) int {
	for i := heading + 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "" {
			return i
		}
	}
	return 0
}

// sectionEnd is the line where what belongs to a heading ends.
func sectionEnd(heads []head, at, end int) int {
	for _, h := range heads[at+1:] {
		if h.level <= heads[at].level {
			return h.line
		}
	}
	return end
}

// head is a heading of a page.
type head struct {
	line  int
	level int
	title string
}

// headings finds the headings of a text that are none of its code.
func headings(lines []string) []head {
	var out []head
	fence := ""
	for i, line := range lines {
		if fence = fenced(fence, line); fence != "" {
			continue
		}
		if m := heading.FindStringSubmatch(strings.TrimSuffix(line, "\r")); m != nil {
			out = append(out, head{line: i, level: len(m[1]), title: strings.TrimSpace(strings.TrimRight(strings.TrimSpace(m[2]), "#"))})
		}
	}
	return out
}

// fenced gives the fence that is open after a line; "" for none. A fence is
// closed by one of the same kind that is at least as long.
func fenced(open, line string) string {
	text := strings.TrimLeft(strings.TrimRight(line, " \t\r"), " ")
	if len(line)-len(strings.TrimLeft(line, " ")) > 3 {
		return open
	}
	for _, mark := range []string{"`", "~"} {
		run := text[:len(text)-len(strings.TrimLeft(text, mark))]
		switch {
		case len(run) < 3:
			continue
		case open == "" && (mark == "~" || !strings.Contains(text[len(run):], "`")):
			return run
		case open != "" && strings.HasPrefix(run, open) && len(run) == len(text):
			return ""
		}
	}
	return open
}

// deeper pushes the headings of a text below the title of an entry, so that
// they do not end it, and closes a fence that is left open.
func deeper(body string) string {
	lines := strings.Split(body, "\n")
	for _, h := range headings(lines) {
		if h.level <= titleLevel {
			lines[h.line] = strings.Repeat("#", min(h.level+titleLevel, 6)) + strings.TrimLeft(strings.TrimLeft(lines[h.line], " "), "#")
		}
	}
	return strings.Join(closed(lines), "\n")
}

// closed closes a fence that lines leave open: what follows would be its code.
func closed(lines []string) []string {
	fence := ""
	for _, line := range lines {
		fence = fenced(fence, line)
	}
	if fence == "" {
		return lines
	}
	return append(slices.Clone(lines), fence)
}
