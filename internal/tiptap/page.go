package tiptap

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

const byteOrderMark = '\uFEFF'

// page is a text in its blocks: written one after the other, with lead before
// and what follows each of them, they are the text to the byte.
type page struct {
	lead   string // a byte order mark, and empty lines before the first block
	blocks []segment
	clean  []byte // the text that was parsed: the nodes' positions are in it
}

// segment is a block of a page.
type segment struct {
	source string     // as it is written, without the last line end
	after  string     // that line end, and empty lines
	parsed []ast.Node // what was read there; none is a raw block
	node   Node       // what it is in the document
}

// document gives the document of a page that was understood: at least an empty
// paragraph.
func (p page) document() Node {
	if len(p.blocks) == 0 {
		return Node{Type: Doc, Content: []Node{{Type: Paragraph}}}
	}
	doc := Node{Type: Doc}
	for _, s := range p.blocks {
		doc.Content = append(doc.Content, s.node)
	}
	return doc
}

// sources gives how the blocks are written.
func (p page) sources() []string {
	var out []string
	for _, s := range p.blocks {
		out = append(out, s.source)
	}
	return out
}

// cut finds the blocks of a text. One that is more than an editor can hold is
// one block.
func (g grammar) cut(md string) page {
	p := page{}
	if rest, ok := strings.CutPrefix(md, string(byteOrderMark)); ok {
		p.lead, md = string(byteOrderMark), rest
	}
	lines := splitLines(md)
	first := 0
	for first < len(lines) && isBlank(lines[first]) {
		p.lead += lines[first]
		first++
	}
	if first == len(lines) {
		return p
	}
	starts := []int{first}
	parsed := [][]ast.Node{nil}
	if head := frontMatter(lines); head > 0 {
		for first = head; first < len(lines) && isBlank(lines[first]); first++ {
		}
		starts, parsed = append(starts, first), append(parsed, nil)
	}
	if first < len(lines) {
		if text := clean(strings.Join(lines[first:], "")); fits(text) {
			p.clean = []byte(text)
			at, nodes := topBlocks(p.clean, g.parse(p.clean))
			starts, parsed = starts[:len(starts)-1], parsed[:len(parsed)-1]
			for i := range at {
				starts, parsed = append(starts, first+at[i]), append(parsed, nodes[i])
			}
		}
	} else {
		starts, parsed = starts[:1], parsed[:1]
	}
	for i, start := range starts {
		next := len(lines)
		if i+1 < len(starts) {
			next = starts[i+1]
		}
		p.blocks = append(p.blocks, segmentOf(lines[start:next], parsed[i]))
	}
	return p
}

func segmentOf(lines []string, parsed []ast.Node) segment {
	end := len(lines)
	for end > 1 && isBlank(lines[end-1]) {
		end--
	}
	source := strings.Join(lines[:end], "")
	bare := strings.TrimRight(source, "\r\n")
	return segment{source: bare, after: source[len(bare):] + strings.Join(lines[end:], ""), parsed: parsed}
}

// topBlocks gives the line in which each block of a text begins, and what was
// read there. The first begins in the first line. Definitions of links that
// follow each other are one block; so is what has no place of its own with what
// stands before it.
func topBlocks(source []byte, root ast.Node) (lines []int, blocks [][]ast.Node) {
	line, at := 0, 0
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		starts := false
		if pos := n.Pos(); pos >= at && pos <= len(source) {
			begin := line
			for _, b := range source[at:pos] {
				if b == '\n' {
					begin++
				}
			}
			starts = begin > line && !definesOn(source, at, pos, n)
			line, at = begin, pos
		}
		if len(blocks) == 0 {
			lines, blocks = append(lines, 0), append(blocks, []ast.Node{n})
			continue
		}
		if starts {
			lines, blocks = append(lines, line), append(blocks, []ast.Node{n})
			continue
		}
		last := len(blocks) - 1
		blocks[last] = append(blocks[last], n)
	}
	if len(blocks) == 0 { // nothing was read: there is text all the same
		return []int{0}, [][]ast.Node{nil}
	}
	return lines, blocks
}

// definesOn tells of the definition of a link that follows another one without
// an empty line.
func definesOn(source []byte, at, pos int, n ast.Node) bool {
	if n.Kind() != ast.KindLinkReferenceDefinition || n.PreviousSibling() == nil || n.PreviousSibling().Kind() != n.Kind() {
		return false
	}
	between := string(source[at:pos])
	return !hasEmptyLine(between[:strings.LastIndexByte(between, '\n')+1])
}

// understand gives each block the node that the editor has for it: one that
// says the same when it is written. All else is a raw block.
func (g grammar) understand(p page) page {
	r := newReader(p.clean)
	for i, s := range p.blocks {
		var ok bool
		if p.blocks[i].node, ok = g.nodeOf(r, s.parsed); !ok {
			p.blocks[i].node = rawBlock(clean(s.source))
		}
	}
	if r.over() || acceptable(p.document()) != nil {
		return p.whole()
	}
	return p
}

// whole gives the page as one raw block.
func (p page) whole() page {
	var all strings.Builder
	for _, s := range p.blocks {
		all.WriteString(s.source + s.after)
	}
	one := segmentOf(splitLines(all.String()), nil)
	one.node = rawBlock(clean(one.source))
	return page{lead: p.lead, blocks: []segment{one}}
}

func rawBlock(text string) Node {
	return Node{Type: RawBlock, Content: []Node{{Type: Text, Text: text}}}
}

// nodeOf gives the node of what was read in one place; false when there is none
// that says the same.
func (g grammar) nodeOf(r *reader, parsed []ast.Node) (Node, bool) {
	if len(parsed) != 1 || r.over() || defines(parsed[0]) {
		return Node{}, false
	}
	before, err := g.reads(r.source, parsed[0]) // reading it changes it
	if err != nil {
		return Node{}, false
	}
	nodes := r.block(parsed[0], 1)
	if len(nodes) != 1 || r.over() {
		return Node{}, false
	}
	after, ok := g.stable(nodes[0])
	return nodes[0], ok && before == after
}

// defines tells of a block that defines what others refer to: links, footnotes.
func defines(block ast.Node) bool {
	found := false
	_ = ast.Walk(block, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		if n.Kind() == ast.KindLinkReferenceDefinition || n.Kind() == east.KindFootnote {
			found = true
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return found
}

// stable tells whether a block is the same after the way to Markdown and back,
// and what its Markdown says.
func (g grammar) stable(block Node) (says string, ok bool) {
	doc := Node{Type: Doc, Content: []Node{block}}
	md := write(doc)
	if md == "" || !fits(md) {
		return "", false
	}
	r := newReader([]byte(md))
	root := g.parse(r.source)
	says, err := g.reads(r.source, root) // reading it changes it
	if err != nil {
		return "", false
	}
	again := Node{Type: Doc, Content: r.blocks(root, 1)}
	return says, !r.over() && same(doc, again)
}

// splitLines cuts a text behind each line end, of whatever kind.
func splitLines(s string) []string {
	var out []string
	for s != "" {
		end := strings.IndexAny(s, "\r\n") + 1
		switch {
		case end == 0:
			end = len(s)
		case strings.HasPrefix(s[end-1:], "\r\n"):
			end++
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

func isBlank(line string) bool { return strings.Trim(line, " \t\r\n") == "" }

// hasEmptyLine tells of what stands between two blocks: two line ends.
func hasEmptyLine(between string) bool { return len(splitLines(between)) > 1 }

// isMeta tells of a line that YAML at the head of a page may begin with.
func isMeta(line string) bool {
	name, _, ok := strings.Cut(line, ":")
	return strings.HasPrefix(line, "#") || ok && name != "" && !strings.ContainsAny(name[:1], " \t-")
}

// frontMatter gives how many lines of YAML a text begins with, with the lines
// around it.
func frontMatter(lines []string) int {
	if len(lines) < 3 || strings.TrimRight(lines[0], " \t\r\n") != "---" || !isMeta(lines[1]) {
		return 0
	}
	for i := 2; i < len(lines); i++ {
		if end := strings.TrimRight(lines[i], " \t\r\n"); end == "---" || end == "..." {
			return i + 1
		}
	}
	return 0
}
