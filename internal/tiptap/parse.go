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
// understood is kept as a code block of its Markdown, and so is a whole text
// that is more than an editor can hold.
func FromMarkdown(md string) Node {
	doc, _ := understand(clean(md))
	return doc
}

// understand gives the document of a clean text, and whether it is more than the
// text as code.
func understand(md string) (Node, bool) {
	if code, ok := codeOf(md); ok {
		return asCode(code), false
	}
	if !fits(md) {
		return asCode(md), false
	}
	doc, ok := convert(md)
	if !ok {
		return asCode(md), false
	}
	if stable(doc) {
		return doc, true
	}
	for i, block := range doc.Content {
		one := Node{Type: Doc, Content: []Node{block}}
		if !stable(one) {
			doc.Content[i] = codeBlock(strings.TrimSuffix(write(one), "\n"), "markdown")
		}
	}
	if stable(doc) {
		return doc, true
	}
	return asCode(md), false
}

// asCode keeps a whole text as code.
func asCode(md string) Node {
	return Node{Type: Doc, Content: []Node{codeBlock(strings.TrimRight(md, "\n"), "markdown")}}
}

// stable tells whether the document is the same after the way to Markdown and
// back.
func stable(doc Node) bool {
	md := write(doc)
	if !fits(md) {
		return false
	}
	again, ok := convert(md)
	return ok && same(doc, again)
}

// clean gives a text of valid characters with \n at its line ends.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD").Replace(s)
}

// reader walks the tree of one text.
type reader struct {
	source []byte
	used   map[string]bool // labels of references that something refers to
	size   size            // of what was read
	room   size
}

// convert reads the text as it is; false when its document is too big, and not
// complete then.
func convert(md string) (Node, bool) {
	r := &reader{source: []byte(md), used: map[string]bool{}, room: room(len(md))}
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
	doc := Node{Type: Doc, Content: r.blocks(root, 1)}
	return doc, !r.over()
}

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
		if html := r.html(n); depth == 1 && html != "" {
			return []Node{r.counted(Node{Type: RawBlock, Content: []Node{r.counted(Node{Type: Text, Text: html}, depth)}}, depth)}
		}
		return []Node{r.codeBlock(r.html(n), "html", depth)}
	case *ast.List:
		return []Node{r.list(n, depth)}
	case *ast.LinkReferenceDefinition:
		return r.definition(n)
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

// codeOf gives the text of which asCode made this one.
func codeOf(md string) (string, bool) {
	const info = "markdown\n"
	rest := strings.TrimLeft(md, "`")
	fence := md[:len(md)-len(rest)]
	code, ok := strings.CutPrefix(rest, info)
	code, closed := strings.CutSuffix(strings.TrimSuffix(code, "\n"), "\n"+fence)
	return code, ok && closed && len(fence) == max(3, longest(code, '`')+1)
}
