package tiptap

import (
	"slices"
	"strings"
)

// separator is what stands between two blocks that would be read as one.
const separator = "<!-- -->"

// Rewrite gives the text md with the blocks of the document. A block that is in
// the text keeps its bytes, and so does what stands between two that still follow
// each other; the others are written anew. A document that was made of md gives
// md. A node that is not known is cw.CodeInvalid, as is a document of more than
// an editor can hold.
func Rewrite(md string, doc Node) (string, error) {
	if err := acceptable(doc); err != nil {
		return "", err
	}
	g := newGrammar()
	return g.rewrite(g.understand(g.cut(md)), md, doc.Content), nil
}

func (g grammar) rewrite(had page, md string, nodes []Node) string {
	var oldKeys, newKeys []string
	for _, s := range had.blocks {
		oldKeys = append(oldKeys, key(s.node))
	}
	var kept []Node // but for empty paragraphs
	for _, n := range nodes {
		if k := key(n); k != "" {
			kept, newKeys = append(kept, n), append(newKeys, k)
		}
	}
	if slices.Equal(oldKeys, newKeys) {
		return md
	}
	w := writer{grammar: g, had: had, lineEnd: lineEnd(md)}
	from := align(oldKeys, newKeys)
	for i, n := range kept {
		w.parts = append(w.parts, part{node: n, from: from[i]})
	}
	return w.write()
}

// key is the same for blocks that are one and the same in Markdown.
func key(block Node) string { return write(Node{Type: Doc, Content: []Node{block}}) }

// align finds for each new block the old one that it is, -1 for none: first from
// both ends on, then in order, and at last wherever it was.
func align(old, now []string) []int {
	from := make([]int, len(now))
	for i := range from {
		from[i] = -1
	}
	start := 0
	for start < len(old) && start < len(now) && old[start] == now[start] {
		from[start] = start
		start++
	}
	end := 0
	for end < len(old)-start && end < len(now)-start && old[len(old)-1-end] == now[len(now)-1-end] {
		from[len(now)-1-end] = len(old) - 1 - end
		end++
	}
	places := map[string][]int{}
	for i := start; i < len(old)-end; i++ {
		places[old[i]] = append(places[old[i]], i)
	}
	last := start - 1
	for i := start; i < len(now)-end; i++ {
		free := places[now[i]]
		if len(free) == 0 {
			continue
		}
		next, _ := slices.BinarySearch(free, last+1)
		if next == len(free) {
			next = 0 // it was moved up
		}
		from[i] = free[next]
		last = max(last, from[i])
		places[now[i]] = slices.Delete(free, next, next+1)
	}
	return from
}

// lineEnd gives the line end that most lines of a text have.
func lineEnd(md string) string {
	both, lf, cr := strings.Count(md, "\r\n"), strings.Count(md, "\n"), strings.Count(md, "\r")
	switch {
	case 2*both > lf:
		return "\r\n"
	case lf == 0 && cr > 0:
		return "\r"
	}
	return "\n"
}

// writer puts a text together of old and new blocks.
type writer struct {
	grammar grammar
	had     page
	lineEnd string
	parts   []part
}

// part is a block of the new text.
type part struct {
	node Node
	from int // the old block that it is, -1 for none
	text string
}

func (w *writer) write() string {
	if len(w.parts) == 0 {
		return ""
	}
	for i := range w.parts {
		w.parts[i].text = w.textOf(i)
	}
	var out strings.Builder
	out.WriteString(w.lead())
	for i := range w.parts {
		between := ""
		if i+1 < len(w.parts) {
			between = w.between(i) // may change the text of the part
		}
		out.WriteString(w.parts[i].text)
		out.WriteString(between)
	}
	out.WriteString(w.tail())
	return out.String()
}

func (w *writer) lead() string {
	if len(w.had.blocks) > 0 {
		return w.had.lead
	}
	if strings.HasPrefix(w.had.lead, string(byteOrderMark)) {
		return string(byteOrderMark)
	}
	return ""
}

// tail is what the old text ends with.
func (w *writer) tail() string {
	if len(w.had.blocks) == 0 {
		return w.lineEnd
	}
	return w.had.blocks[len(w.had.blocks)-1].after
}

// textOf gives the text of a part: as it was, or new. Two lists that follow each
// other have different marks, for else they would be one.
func (w *writer) textOf(i int) string {
	p := w.parts[i]
	if p.from >= 0 {
		return w.had.blocks[p.from].source
	}
	text := w.fresh(p.node, false, i == 0)
	if !isList(p.node.Type) {
		return text
	}
	other := w.fresh(p.node, true, i == 0)
	apart := func(s string) (before, after bool) {
		before = i == 0 || w.safe(i-1) || w.apart(w.parts[i-1].text, s)
		after = i+1 == len(w.parts) || w.parts[i+1].from < 0 || w.apart(s, w.had.blocks[w.parts[i+1].from].source)
		return before, after
	}
	before, after := apart(text)
	if before && after {
		return text
	}
	if otherBefore, otherAfter := apart(other); otherBefore && (otherAfter || !before) {
		return other
	}
	return text
}

func (w *writer) fresh(n Node, other, first bool) string {
	text, _ := block(n, other, first)
	return strings.ReplaceAll(text, "\n", w.lineEnd)
}

// between gives what stands between a part and the next one.
func (w *writer) between(i int) string {
	p, next := &w.parts[i], w.parts[i+1]
	if p.from >= 0 && next.from == p.from+1 {
		return w.had.blocks[p.from].after
	}
	empty := w.lineEnd + w.lineEnd
	gap := empty
	switch {
	case p.from >= 0:
		gap = w.had.blocks[p.from].after
	case next.from > 0:
		gap = w.had.blocks[next.from-1].after
	}
	// A heading ends with its line, all else with an empty one.
	if gap == "" || !hasEmptyLine(gap) && p.node.Type != Heading {
		gap = empty
	}
	if w.safe(i) || w.apart(p.text, next.text) {
		return gap
	}
	if w.apart(p.text, separator) && w.apart(separator, next.text) {
		return empty + separator + empty
	}
	// What is open at the end of a text, as a fence can be, has to be closed.
	if p.node.Type != RawBlock {
		if closed := w.fresh(p.node, false, i == 0); w.apart(closed, next.text) {
			p.text = closed
		}
	}
	return gap
}

// safe tells of a part and a next one that are both new and are read as two,
// whatever is in them.
func (w *writer) safe(i int) bool {
	p, next := w.parts[i], w.parts[i+1]
	return p.from < 0 && next.from < 0 && p.node.Type != RawBlock && next.node.Type != RawBlock &&
		!(isList(p.node.Type) && isList(next.node.Type))
}

// apart tells whether two blocks with an empty line between them are read as
// they are alone.
func (w *writer) apart(a, b string) bool {
	both := w.grammar.cut(a + w.lineEnd + w.lineEnd + b).sources()
	return slices.Equal(both, append(w.grammar.cut(a).sources(), w.grammar.cut(b).sources()...))
}
