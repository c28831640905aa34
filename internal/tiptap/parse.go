package tiptap

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// FromMarkdown gives the document of a Markdown text. It reads any text; bytes
// that are none are replaced. A block that the editor does not know is a raw
// block, and so is a whole text that is more than an editor can hold.
func FromMarkdown(md string) Node {
	g := newGrammar()
	return g.understand(g.cut(md)).document()
}

// clean gives a text of valid characters with \n at its line ends.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD").Replace(s)
}

// reader walks the tree of one text.
type reader struct {
	source []byte
	size   size // of what was read
	room   size
}

func newReader(source []byte) *reader { return &reader{source: source, room: room(len(source))} }

func (r *reader) over() bool { return r.size.over(r.room) }

// counted gives the node, which is counted without those in it.
func (r *reader) counted(n Node, depth int) Node {
	r.size.add(n, depth)
	return n
}

// blocks gives the blocks in a block: at least an empty paragraph.
func (r *reader) blocks(parent ast.Node, depth int) []Node {
	var out []Node
	for n := parent.FirstChild(); n != nil && !r.over(); n = n.NextSibling() {
		if depth > depthMax {
			out = append(out, r.codeBlock(r.deepText(n), "markdown", depth))
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
	r.size.parts++
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
		return []Node{r.codeBlock(r.lines(n), "", depth)}
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = oneLine(unescape(n.Info.Segment.Value(r.source)))
		}
		return []Node{r.codeBlock(r.lines(n), strings.TrimSpace(info), depth)}
	case *ast.HTMLBlock:
		return []Node{r.codeBlock(r.html(n), "html", depth)}
	case *ast.List:
		return []Node{r.list(n, depth)}
	case *ast.LinkReferenceDefinition:
		return nil
	case *east.Table:
		return []Node{r.table(n)}
	}
	if s := r.deepText(n); s != "" { // no other block is known; its text is kept all the same
		return []Node{{Type: Paragraph, Content: r.add(nil, s, nil)}}
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

func (r *reader) codeBlock(code, language string, depth int) Node {
	n := codeBlock(code, language)
	r.size.add(n, depth)
	for _, c := range n.Content {
		r.size.add(c, depth)
	}
	return n
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
