package tiptap

import (
	"bytes"
	"strings"

	"cw/internal/cw"
)

// What an editor can hold. A text that is beyond it is one raw block, and
// is not even parsed: the parser's cost grows with the square of what it meets
// in one paragraph, and a table fills up the cells that its rows lack.
const (
	textMax  = 256 << 10 // bytes of Markdown
	partsMax = 100_000   // nodes and marks of a document
	bytesMax = 2 << 20   // of a stranger's document, as it is written
	cellsMax = 25_000    // of all tables
	stepsMax = 100 << 20 // of the parser, by the estimate of strain
	marksMax = 200       // quotes and items that begin in one line

	// blankCost is what an open block costs in an empty line, which may be one byte
	// and yet goes through all of them.
	blankCost = 40
)

// size is what a document needs.
type size struct {
	parts int // nodes and marks
	bytes int // of text and attributes, with what stands before each line
}

// room is the size that the document of a text may have: in proportion to it, so
// that references and tables do not make much of little.
func room(text int) size {
	return size{parts: min(8*text+1000, partsMax), bytes: 4*text + 64<<10}
}

func (s size) over(most size) bool { return s.parts > most.parts || s.bytes > most.bytes }

// add counts a node at a depth without those in it.
func (s *size) add(n Node, depth int) {
	s.parts += 1 + len(n.Marks)
	s.bytes += len(n.Text) + attrBytes(n.Attrs) + strings.Count(n.Text, "\n")*2*depth
	for _, m := range n.Marks {
		s.bytes += attrBytes(m.Attrs)
	}
}

func attrBytes(attrs map[string]any) int {
	sum := 0
	for _, name := range []string{"href", "title", "src", "alt", "language"} { // the editor has more, which nobody writes
		if s, ok := attrs[name].(string); ok {
			sum += len(name) + len(s)
		}
	}
	return sum
}

// fits tells whether a text is one that is worth parsing for an editor. It looks
// at each byte once.
func fits(md string) bool {
	if len(md) > textMax {
		return false
	}
	s := strain{}
	for line := range strings.Lines(md) {
		if !s.line(strings.TrimRight(line, " \t\r\n")) {
			return false
		}
	}
	s.end()
	return s.steps <= stepsMax && s.cells <= min(4*len(md)+4000, cellsMax)
}

// strain estimates from above what a text costs the parser, paragraph by
// paragraph: what opens and closes looks through the whole paragraph for its
// other half, each line looks at every open block, and a table has as many cells
// in each row as in its head.
type strain struct {
	steps, cells int
	open         int  // at most so many blocks are open
	blank        bool // the line before was one

	bytes, signs, lines, pipes int // of the paragraph
}

// line adds a line without its end; false when it alone is too much.
func (s *strain) line(line string) bool {
	lead, marks := begin(line)
	if isRule(line) {
		marks = 0
	}
	if marks > marksMax {
		return false
	}
	if line == "" || splits(line) {
		s.end()
	}
	if line == "" {
		s.steps += 1 + blankCost*s.open
		s.blank = true
		return true
	}
	// Without an empty line before it a line may go on with the paragraph of any
	// depth above it.
	if s.blank {
		s.open = 0
	}
	s.blank, s.open = false, max(s.open, lead)
	s.steps += 1 + lead + 4*marks*lead

	s.lines++
	s.bytes += len(line)
	for i := range len(line) {
		switch line[i] {
		case '[', ']', '*', '_', '~', '`', '<', '(':
			s.signs++
		}
	}
	s.pipes = max(s.pipes, strings.Count(line, "|"))
	return true
}

// end is the end of a paragraph.
func (s *strain) end() {
	s.steps += s.signs * s.bytes
	if s.pipes > 0 {
		s.cells += s.lines * (s.pipes + 1)
	}
	s.bytes, s.signs, s.lines, s.pipes = 0, 0, 0, 0
}

// begin gives the width of what may begin blocks in a line, and how many quotes
// and items that are at most.
func begin(line string) (width, marks int) {
	rest := strings.TrimLeft(line, " \t>-*+.)0123456789")
	lead := line[:len(line)-len(rest)]
	for i, b := range []byte(lead) {
		number := (b == '.' || b == ')') && i > 0 && lead[i-1] >= '0' && lead[i-1] <= '9'
		if number || strings.IndexByte(">-*+", b) >= 0 {
			marks++
		}
	}
	return len(lead) + 3*strings.Count(lead, "\t"), marks
}

// isRule tells of a line of one mark: it is one block.
func isRule(line string) bool {
	return strings.Trim(line, "- \t") == "" || strings.Trim(line, "* \t") == ""
}

// splits tells of a line that ends the paragraph above it for certain: an item
// that is not indented, or an empty line of a quote.
func splits(line string) bool {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return false
	}
	if len(rest) > 2 && strings.IndexByte("-*+", rest[0]) >= 0 && rest[1] == ' ' {
		return true
	}
	for strings.HasPrefix(rest, ">") {
		next := strings.TrimLeft(rest[1:], " ")
		if len(rest)-1-len(next) > 3 {
			return false
		}
		rest = next
	}
	return rest == ""
}

// countable refuses the JSON of more than an editor's document can have, before
// memory is taken for it.
func countable(data []byte) error {
	signs, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && bytes.IndexByte([]byte("{[,"), c) >= 0:
			signs++
		}
	}
	if signs > 8*partsMax {
		return tooBig("nodes, marks and attributes")
	}
	return nil
}

func tooBig(what string) error {
	return cw.Errorf(cw.CodeInvalid, "the document has more %s than an editor can hold", what).
		WithHint("make several pages of it, or edit it as Markdown")
}
