package tiptap

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// corpus gives every document by its name: those of testdata/corpus, and the
// examples of the CommonMark specification.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.md")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	docs := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		docs[filepath.Base(f)] = string(text)
	}
	data, err := os.ReadFile("testdata/commonmark.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct {
		Example  json.Number
		Section  string
		Markdown string
	}
	if err := json.Unmarshal(data, &examples); err != nil || len(examples) < 600 {
		t.Fatalf("%d examples: %v", len(examples), err)
	}
	for _, e := range examples {
		docs["commonmark-"+e.Example.String()+" "+e.Section] = e.Markdown
	}
	return docs
}

func asJSON(t testing.TB, n Node) string {
	t.Helper()
	out, err := json.MarshalIndent(n, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// secondRound is the promise: document and text are the same after another way
// to Markdown and back.
func secondRound(t testing.TB, md string) {
	t.Helper()
	first := FromMarkdown(md)
	text, err := Markdown(first)
	if err != nil {
		t.Fatal(err)
	}
	second := FromMarkdown(text)
	again, err := Markdown(second)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, first), asJSON(t, second); a != b {
		t.Errorf("the second document differs\n%q\n%q\n%s\n%s", md, text, a, b)
	}
	if text != again {
		t.Errorf("the second text differs\n%q\n%q\n%q", md, text, again)
	}
}

func TestSecondRound(t *testing.T) {
	for name, md := range corpus(t) {
		t.Run(name, func(t *testing.T) { secondRound(t, md) })
	}
}

// TestNoTextIsLost compares with the text of the HTML that the same parser
// gives.
func TestNoTextIsLost(t *testing.T) {
	for name, md := range corpus(t) {
		if got, want := letters(allText(t, FromMarkdown(md))), letters(htmlText(t, clean(strings.TrimPrefix(md, "\uFEFF")))); got != want && !strings.Contains(name, "deep") {
			if !contains(got, want) {
				t.Errorf("%s\n%q\ngot  %s\nwant %s", name, md, got, want)
			}
		}
	}
}

// contains tells whether all of want is in got, in order: addresses of links
// that lead nowhere are text as well.
func contains(got, want string) bool {
	rest := []rune(want)
	for _, r := range got {
		if len(rest) > 0 && r == rest[0] {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func allText(t testing.TB, n Node) string {
	if n.Type == RawBlock {
		return htmlText(t, textOf(n))
	}
	var out strings.Builder
	out.WriteString(n.Text)
	out.WriteString(n.attr("alt"))
	for _, c := range n.Content {
		out.WriteString(allText(t, c))
	}
	return out.String()
}

// asText writes raw HTML as text.
type asText struct{}

func (asText) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.Write(util.EscapeHTML(n.(*ast.RawHTML).Segments.Value(source)))
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.Write(util.EscapeHTML(n.Lines().Value(source)))
			if b := n.(*ast.HTMLBlock); b.HasClosure() {
				_, _ = w.Write(util.EscapeHTML(b.ClosureLine.Value(source)))
			}
		}
		return ast.WalkSkipChildren, nil
	})
}

func htmlText(t testing.TB, md string) string {
	t.Helper()
	var page strings.Builder
	m := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(
		renderer.WithNodeRenderers(util.Prioritized(asText{}, 1))))
	if err := m.Convert([]byte(md), &page); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	z := html.NewTokenizer(strings.NewReader(page.String()))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out.String()
		case html.TextToken:
			out.Write(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			for _, a := range token.Attr {
				if token.Data == "img" && a.Key == "alt" {
					out.WriteString(a.Val)
				}
			}
		}
	}
}

func FuzzSecondRound(f *testing.F) {
	for _, md := range corpus(f) {
		f.Add(md)
	}
	f.Fuzz(func(t *testing.T, md string) { secondRound(t, md) })
}
