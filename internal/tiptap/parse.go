package tiptap

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	gmtext "github.com/yuin/goldmark/text"
)

// FromMarkdown gives the document of a Markdown text. It reads any text; bytes
// that are none are replaced. A block that could not be written back as it was
// understood is kept as a code block of its Markdown.
func FromMarkdown(md string) Node {
	if tooDeep(md) && !isFenced(md) {
		return asCode(md)
	}
	doc := convert(clean(md))
	if stable(doc) {
		return doc
	}
	for i, block := range doc.Content {
		one := Node{Type: Doc, Content: []Node{block}}
		if !stable(one) {
			doc.Content[i] = codeBlock(strings.TrimSuffix(write(one), "\n"), "markdown")
		}
	}
	if stable(doc) {
		return doc
	}
	return asCode(md)
}

// asCode keeps a whole text as code.
func asCode(md string) Node {
	return Node{Type: Doc, Content: []Node{codeBlock(strings.TrimRight(clean(md), "\n"), "markdown")}}
}

// marksMax is how many quotes and items may begin in a line. What reading costs
// grows with their square.
const marksMax = 200

// tooDeep tells of a line that begins with more.
func tooDeep(md string) bool {
	for line := range strings.Lines(md) {
		start := len(line) - len(strings.TrimLeft(line, " \t>-*+.)0123456789"))
		marks := 0
		for i, b := range []byte(line[:start]) {
			number := (b == '.' || b == ')') && i > 0 && line[i-1] >= '0' && line[i-1] <= '9'
			if number || strings.IndexByte(">-*+", b) >= 0 {
				marks++
			}
		}
		// A rule of many marks is one block.
		if marks > marksMax && strings.Trim(line, "-*+ \t\r\n") != "" {
			return true
		}
	}
	return false
}

// stable tells whether the document is the same after the way to Markdown and
// back.
func stable(doc Node) bool { return same(doc, convert(write(doc))) }

// clean gives a text of valid characters with \n at its line ends.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD").Replace(s)
}

// reader walks the tree of one text.
type reader struct {
	source []byte
	used   map[string]bool // labels of references that something refers to
}

// convert reads the text as it is.
func convert(md string) Node {
	r := &reader{source: []byte(md), used: map[string]bool{}}
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gmtext.NewReader(r.source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			r.use(n.Reference)
		case *ast.Image:
			r.use(n.Reference)
		}
		return ast.WalkContinue, nil
	})
	return Node{Type: Doc, Content: r.blocks(root, 1)}
}

// blocks gives the blocks in a block: at least an empty paragraph.
func (r *reader) blocks(parent ast.Node, depth int) []Node {
	var out []Node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if depth > depthMax {
			out = append(out, codeBlock(r.deepText(n), "markdown"))
			continue
		}
		out = append(out, r.block(n, depth)...)
	}
	if len(out) == 0 {
		return []Node{{Type: Paragraph}}
	}
	return out
}

func (r *reader) block(n ast.Node, depth int) []Node {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		if content := r.inlines(n); len(content) > 0 {
			return []Node{{Type: Paragraph, Content: content}}
		}
		return nil
	case *ast.Heading:
		content := normal(joinLines(r.inlines(n)))
		return []Node{{Type: Heading, Attrs: map[string]any{"level": n.Level}, Content: content}}
	case *ast.ThematicBreak:
		return []Node{{Type: HorizontalRule}}
	case *ast.Blockquote:
		return []Node{{Type: Blockquote, Content: r.blocks(n, depth+1)}}
	case *ast.CodeBlock:
		return []Node{codeBlock(r.lines(n), "")}
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = oneLine(unescape(n.Info.Segment.Value(r.source)))
		}
		return []Node{codeBlock(r.lines(n), strings.TrimSpace(info))}
	case *ast.HTMLBlock:
		return []Node{codeBlock(r.html(n), "html")}
	case *ast.List:
		return []Node{r.list(n, depth)}
	case *ast.LinkReferenceDefinition:
		return r.definition(n)
	case *east.Table:
		return []Node{r.table(n)}
	}
	if s := r.deepText(n); s != "" { // no other block is known; its text is kept all the same
		return []Node{{Type: Paragraph, Content: []Node{{Type: Text, Text: s}}}}
	}
	return nil
}

// lines gives the text of a block that is kept verbatim, without its last line
// end.
func (r *reader) lines(n ast.Node) string {
	return strings.TrimSuffix(string(n.Lines().Value(r.source)), "\n")
}

func (r *reader) html(n *ast.HTMLBlock) string {
	s := string(n.Lines().Value(r.source))
	if n.HasClosure() {
		s += string(n.ClosureLine.Value(r.source))
	}
	return strings.TrimRight(s, "\n")
}

// deepText gives all text of a block and of those in it.
func (r *reader) deepText(n ast.Node) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.Type() == ast.TypeBlock && n.Lines() != nil {
			out.Write(n.Lines().Value(r.source))
			out.WriteByte('\n')
		}
		return ast.WalkContinue, nil
	})
	return strings.Trim(out.String(), "\n")
}

func codeBlock(code, language string) Node {
	n := Node{Type: CodeBlock, Attrs: map[string]any{"language": nil}}
	if language != "" {
		n.Attrs["language"] = language
	}
	if code != "" {
		n.Content = []Node{{Type: Text, Text: code}}
	}
	return n
}

// isFenced tells of a text that is one code block for certain, as asCode is
// written.
func isFenced(md string) bool {
	lines := strings.Split(strings.TrimSuffix(md, "\n"), "\n")
	info := strings.TrimLeft(lines[0], "`")
	fence := lines[0][:len(lines[0])-len(info)]
	last := len(lines) - 1
	if len(fence) < 3 || strings.Contains(info, "`") || last < 1 || lines[last] != fence {
		return false
	}
	for _, line := range lines[1:last] {
		if line = strings.TrimSpace(line); len(line) >= len(fence) && strings.Trim(line, "`") == "" {
			return false
		}
	}
	return true
}
