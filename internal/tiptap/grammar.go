package tiptap

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"cw/internal/cw"
)

// grammar is the Markdown that pages are read with: that of GitHub, with
// footnotes. It is made once for a text, and parses and renders parts of it.
type grammar struct{ markdown goldmark.Markdown }

func newGrammar() grammar {
	return grammar{goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(
			parser.WithBlockParsers(util.Prioritized(noteParser{extension.NewFootnoteBlockParser()}, 999)), // before paragraphs
			parser.WithInlineParsers(util.Prioritized(noteRefParser{}, 101)),                               // before links
		),
		goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(noteRenderer{}, 500))),
	)}
}

func (g grammar) parse(source []byte) ast.Node {
	return g.markdown.Parser().Parse(gmtext.NewReader(source))
}

// reads returns what a node says, without how it is laid out.
func (g grammar) reads(source []byte, n ast.Node) (string, error) {
	var page bytes.Buffer
	if err := g.markdown.Renderer().Render(&page, source, n); err != nil {
		return "", err
	}
	return said(page.String()), nil
}

// noteParser reads the text of a footnote as a block where it stands. Goldmark's
// own parser moves it to the end.
type noteParser struct{ parser.BlockParser }

// Close implements parser.BlockParser.
func (noteParser) Close(ast.Node, gmtext.Reader, parser.Context) {}

// noteRefText finds a reference to a footnote at the beginning of a text. What
// goes on with a bracket may be a link.
var noteRefText = cw.Pattern(`^\[\^[^\s\[\]\\` + "`" + `*_~<&|]+\](?:[^(]|$)`)

func noteRefLength(s string) int {
	m := noteRefText().FindString(s)
	for i := range len(m) {
		if m[i] == ']' {
			return i + 1
		}
	}
	return 0
}

type noteRefParser struct{}

// Trigger implements parser.InlineParser.
func (noteRefParser) Trigger() []byte { return []byte{'['} }

// Parse implements parser.InlineParser.
func (noteRefParser) Parse(_ ast.Node, block gmtext.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if len(line) < 4 || line[1] != '^' {
		return nil
	}
	length := noteRefLength(string(line))
	if length == 0 {
		return nil
	}
	n := east.NewFootnoteLink(0)
	n.AppendChild(n, ast.NewTextSegment(segment.WithStop(segment.Start+length)))
	block.Advance(length)
	return n
}

// noteRenderer tells references to footnotes from text that looks like them.
type noteRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (noteRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(east.KindFootnoteLink, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString("<sup>")
		} else {
			_, _ = w.WriteString("</sup>")
		}
		return ast.WalkContinue, nil
	})
}
