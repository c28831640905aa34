package tiptap

import (
	"regexp"
	"strings"
)

// lineOf writes what is in a paragraph, a heading or a cell.
func lineOf(nodes []Node, where place) string {
	nodes = tidy(nodes)
	w := lineWriter{where: where, nodes: nodes, ends: runEnds(nodes)}
	for i, n := range nodes {
		w.node(i, n)
	}
	w.closeTo(0)
	flank(w.pieces)
	return join(w.pieces, where)
}

// runEnds gives for each node and each of its marks where the mark ends.
func runEnds(nodes []Node) []map[string]int {
	ends := make([]map[string]int, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- {
		ends[i] = map[string]int{}
		for _, m := range nodes[i].Marks {
			ends[i][m.Type] = i + 1
			if i+1 < len(nodes) {
				if next, ok := nodes[i+1].mark(m.Type); ok && sameMark(m, next) {
					ends[i][m.Type] = ends[i+1][m.Type]
				}
			}
		}
	}
	return ends
}

type lineWriter struct {
	where  place
	nodes  []Node
	ends   []map[string]int
	open   []Mark
	signs  []string // of the open marks
	pieces []piece
}

func (w *lineWriter) node(i int, n Node) {
	keep := 0
	for keep < len(w.open) {
		m, ok := n.mark(w.open[keep].Type)
		if !ok || !sameMark(m, w.open[keep]) {
			break
		}
		keep++
	}
	w.closeTo(keep)
	if w.auto(n) {
		return
	}
	for {
		m, ok := w.next(n, i)
		if !ok {
			break
		}
		w.start(m, i)
	}
	w.write(n)
}

// next gives the mark that is to be opened: the one that lasts longest.
func (w *lineWriter) next(n Node, i int) (Mark, bool) {
	var best Mark
	found := false
	for _, m := range n.Marks {
		if m.Type == Code || (Node{Marks: w.open}).has(m.Type) {
			continue
		}
		if !found || w.ends[i][m.Type] > w.ends[i][best.Type] {
			best, found = m, true
		}
	}
	return best, found
}

func (w *lineWriter) start(m Mark, i int) {
	sign := map[string]string{Link: "[", Bold: "**", Strike: "~~", Italic: "_"}[m.Type]
	if m.Type == Italic && w.inWord(i, w.ends[i][Italic]) {
		sign = "*"
	}
	w.open, w.signs = append(w.open, m), append(w.signs, sign)
	if m.Type == Link {
		w.add(fixedPiece, sign)
		return
	}
	w.add(openPiece, sign)
}

// inWord tells whether the nodes from start to end stand in a word, where
// underscores mean nothing, and not beside stars of what is bold.
func (w *lineWriter) inWord(start, end int) bool {
	word := false
	for i := max(start-1, 0); i < min(end+1, len(w.nodes)); i++ {
		n := w.nodes[i]
		if n.has(Bold) != w.nodes[start].has(Bold) {
			return false
		}
		if n.Type != Text || i >= start && i < end {
			continue
		}
		word = word || i < start && isWord(lastRune(n.Text)) || i == end && isWord(firstRune(n.Text))
	}
	return word
}

func (w *lineWriter) closeTo(n int) {
	for len(w.open) > n {
		m, sign := w.open[len(w.open)-1], w.signs[len(w.open)-1]
		w.open, w.signs = w.open[:len(w.open)-1], w.signs[:len(w.open)-1]
		if m.Type == Link {
			w.add(fixedPiece, "]"+escapeTarget(text(m.Attrs, "href"), text(m.Attrs, "title"), w.where == inCell))
			continue
		}
		w.add(closePiece, sign)
	}
}

func (w *lineWriter) add(kind pieceKind, s string) {
	w.pieces = append(w.pieces, piece{kind: kind, s: s, link: (Node{Marks: w.open}).has(Link)})
}

func (w *lineWriter) write(n Node) {
	switch {
	case n.Type == HardBreak:
		w.add(breakPiece, "\\\n")
	case n.Type == Image:
		alt := escapeText(oneLine(strings.TrimSpace(clean(n.attr("alt")))), w.where == inCell, true)
		w.add(fixedPiece, "!["+alt+"]"+escapeTarget(address(clean(n.attr("src"))), oneLine(clean(n.attr("title"))), w.where == inCell))
	case n.has(Code):
		w.add(fixedPiece, codeSpan(n.Text, w.where == inCell))
	default:
		w.add(textPiece, n.Text)
	}
}

var (
	autoURL   = regexp.MustCompile(`^(?:https?|ftp)://[A-Za-z0-9./?#=%+,&:@~_$!'()*-]+$`)
	autoEmail = regexp.MustCompile(`^[A-Za-z0-9]+(?:[._+-][A-Za-z0-9]+)*@[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*$`)
)

// auto writes a link whose text is its address in pointed brackets.
func (w *lineWriter) auto(n Node) bool {
	m, ok := n.mark(Link)
	if !ok || n.Type != Text || (Node{Marks: w.open}).has(Link) || len(n.Marks) > 1 || text(m.Attrs, "title") != "" {
		return false
	}
	href := text(m.Attrs, "href")
	if href == n.Text && autoURL.MatchString(href) || href == "mailto:"+n.Text && autoEmail.MatchString(n.Text) {
		w.add(fixedPiece, "<"+n.Text+">")
		return true
	}
	return false
}

// codeSpan writes code in a line.
func codeSpan(s string, inTable bool) string {
	fence := strings.Repeat("`", missingRow(s))
	blank := strings.TrimLeft(s, " ") == ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || !blank && s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	if inTable {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	return fence + s + fence
}

// missingRow gives the least number of which no row of backticks is.
func missingRow(s string) int {
	rows := map[int]bool{}
	for row := range strings.FieldsFuncSeq(s, func(r rune) bool { return r != '`' }) {
		rows[len(row)] = true
	}
	n := 1
	for rows[n] {
		n++
	}
	return n
}
