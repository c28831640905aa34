package tiptap

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cw/internal/cw"
)

// rows is a table with one cell in each row of many columns.
func rows(columns, n int) string {
	return "|" + strings.Repeat("a|", columns) + "\n|" + strings.Repeat("-|", columns) + "\n" + strings.Repeat("|a\n", n/3)
}

func ramp(n int, line func(i int) string) string {
	var out strings.Builder
	for i := 1; out.Len() < n; i++ {
		out.WriteString(line(i))
	}
	return out.String()
}

// bombs are texts of about n bytes that cost more than their length, or become
// more, when nobody looks at them first.
func bombs(n int) map[string]string {
	row := func(s string) string { return strings.Repeat(s, n/len(s)) }
	return map[string]string{
		"table":              rows(100, n),
		"wide table":         row("|") + "\n" + row("|-"),
		"table in a quote":   "> " + strings.ReplaceAll(rows(100, n), "\n", "\n> "),
		"table in an item":   "- " + strings.ReplaceAll(rows(100, n), "\n", "\n  "),
		"links":              row("[a]("),
		"images":             row("![a]("),
		"pointed links":      row("[a](<b"),
		"titles":             row(`[a](b "c`),
		"links in lines":     row("[a](\n"),
		"after false items":  row("[a](\n    - b\n"),
		"after false quotes": row("[a](\n    > \n"),
		"after deep quotes":  row("[a](\n>     >\n"),
		"images in images":   strings.Repeat("![", n/4) + strings.Repeat("](a)", n/8),
		"unsafe in unsafe":   strings.Repeat("![", n/4) + strings.Repeat("](x:a)", n/12),
		"stars":              row("*a_ "),
		"marks in links":     row("[**a**](b)"),
		"long reference":     strings.Repeat("[a]", n/6) + "\n\n[a]: " + strings.Repeat("b", n/2),
		"few long reference": strings.Repeat("[a]\n\n", n/10) + "\n\n[a]: " + strings.Repeat("b", n/2),
		"link of many texts": "[" + strings.Repeat("a*b*", n/8) + "](" + strings.Repeat("b", n/2) + ")",
		"items":              row("- ") + "a",
		"plus items":         row("+ "),
		"mixed items":        row("- * "),
		"numbers":            row("1. "),
		"quotes":             row("> ") + "a",
		"lines of items":     row(strings.Repeat("- ", 150) + "a\n"),
		"empty lines":        strings.Repeat("- ", 150) + "a\n" + row("\n"),
		"blanks in lines":    strings.Repeat("- ", 150) + "a\n" + row(" \n"),
		"code in quotes":     strings.Repeat("> ", 150) + "a\n" + row("b\n"),
		"backticks":          ramp(n, func(i int) string { return "e" + strings.Repeat("`", i) }),
		"steps down":         ramp(n, func(i int) string { return strings.Repeat("  ", i) + "- a\n" }),
		"empty items":        row("-\n"),
		"breaks":             row("a  \n"),
		"tags":               "a " + row("<b "),
		"comments":           "a " + row("<!--"),
		"brackets":           row("["),
		"entities":           row("&amp;"),
		"addresses":          row("www.a.b "),
		"tabs":               row("\t- a\n"),
	}
}

// measure counts what a document has.
func measure(n Node, depth int) size {
	s := size{}
	s.add(n, depth)
	for _, c := range n.Content {
		inner := measure(c, depth+1)
		s.parts, s.bytes = s.parts+inner.parts, s.bytes+inner.bytes
	}
	return s
}

// small tells of a document that is more than its text allows.
func small(t testing.TB, md string, doc Node) {
	t.Helper()
	// Cells have 45 bytes of attributes, items and headings less.
	got, most := measure(doc, 0), room(len(md))
	got.parts-- // the document itself
	if got.parts > most.parts || got.bytes > 4*len(md)+64<<10+45*most.parts+len(md) {
		t.Errorf("%d bytes became %+v, more than %+v", len(md), got, most)
	}
	data, err := json.Marshal(doc)
	if err != nil || len(data) > 12*len(md)+64<<10+300*most.parts {
		t.Errorf("%d bytes became %d of JSON: %v", len(md), len(data), err)
	}
}

// TestBombs: whatever a text is, its document is not much more than it, and what
// is done for it is bounded by its length. The work is counted in what it takes
// of memory: a parser that looks through the text again and again is not begun,
// which TestFits shows.
func TestBombs(t *testing.T) {
	for _, n := range []int{2_000, 40_000, cw.BodyMax} {
		for name, md := range bombs(n) {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				var doc Node
				allocs := testing.AllocsPerRun(1, func() {
					var err error
					if doc, err = Read(t.Context(), md); err != nil {
						t.Fatal(err)
					}
				})
				if most := 40*float64(min(len(md), textMax)) + 50_000; allocs > most {
					t.Errorf("%d bytes took %.0f allocations, more than %.0f", len(md), allocs, most)
				}
				small(t, md, doc)
			})
		}
	}
}

// TestFits: what would cost the parser more than its length is not parsed, and
// what people write is.
func TestFits(t *testing.T) {
	t.Parallel()
	all := bombs(100_000)
	for _, name := range []string{
		"table", "wide table", "table in a quote", "table in an item", "links", "images", "pointed links", "titles",
		"links in lines", "after false items", "after false quotes", "after deep quotes", "images in images", "unsafe in unsafe",
		"stars", "marks in links", "long reference", "link of many texts", "items", "plus items", "mixed items", "numbers",
		"quotes", "empty lines", "blanks in lines", "backticks", "tags", "comments", "brackets",
	} {
		if all[name] == "" || fits(all[name]) {
			t.Errorf("%s: %d bytes would be parsed", name, len(all[name]))
		}
	}
	page := "# Head\n\nSome *text* with [a link](https://example.com/x_y) and `code`.\n\n"
	for name, md := range map[string]string{
		"a long page":       strings.Repeat(page, 3000),
		"a long list":       strings.Repeat("- [a link](https://example.com/x_y) and *text*\n", 4000),
		"a long table":      "| a | b | c |\n|---|---|---|\n" + strings.Repeat("| `code` | [link](https://example.com) | text |\n", 400),
		"a table of gaps":   "| a | b | c | d |\n|---|---|---|---|\n" + strings.Repeat("| |\n", 400),
		"code":              "```\n" + strings.Repeat("if a[i] == b_c { return f(x) || y }\n", 500) + "```\n",
		"a quote":           strings.Repeat("> Some *text* of a quote\n>\n", 4000),
		"a rule":            strings.Repeat("- ", 5000) + "\n",
		"lists in lists":    strings.Repeat("- a\n  - b\n    - c\n\n      text\n", 3000),
		"text in one line":  strings.Repeat("words and words ", 10_000),
		"as much as can be": strings.Repeat(strings.Repeat("words ", 20)+"\n\n", textMax/122),
	} {
		if !fits(md) {
			t.Errorf("%s: %d bytes are not parsed", name, len(md))
		} else if raws := rawsOf(FromMarkdown(md)); len(raws) > 0 {
			t.Errorf("%s: %d bytes have raw blocks: %.200q", name, len(md), raws)
		}
	}
	if fits(strings.Repeat("words ", textMax/6+1)) {
		t.Error("a longer text is parsed")
	}
}

// TestTooBig: a page beyond the bounds is one raw block, to the letter, and
// stays that on the way back.
func TestTooBig(t *testing.T) {
	for name, md := range bombs(textMax + 1000) {
		md = strings.TrimRight(md, " \n")
		if len(md) <= textMax {
			continue // it was empty lines
		}
		doc := FromMarkdown(md)
		if len(doc.Content) != 1 || doc.Content[0].Type != RawBlock || textOf(doc) != md {
			t.Errorf("%s became %s", name, doc.Content[0].Type)
		}
		if again := FromMarkdown(write(doc)); !same(doc, again) {
			t.Errorf("%s is another document the second time", name)
		}
	}
}

// TestBigDocuments: a stranger's document is refused before it is written.
func TestBigDocuments(t *testing.T) {
	text := func(s string, marks ...Mark) Node { return Node{Type: Text, Text: s, Marks: marks} }
	many := func(n Node, times int) []Node {
		out := make([]Node, times)
		for i := range out {
			out[i] = n
		}
		return out
	}
	cell := func(span int) Node {
		return Node{Type: TableCell, Attrs: map[string]any{"colspan": span}, Content: []Node{{Type: Paragraph}}}
	}
	deep := Node{Type: CodeBlock, Content: []Node{text(strings.Repeat("a\n", 20_000))}}
	for range 2*depthMax - 2 {
		deep = Node{Type: Blockquote, Content: []Node{deep}}
	}
	table := Node{Type: Table, Content: append([]Node{{Type: TableRow, Content: many(cell(1), 1000)}}, many(Node{Type: TableRow, Content: many(cell(1), 1)}, 1000)...)}
	for name, n := range map[string]Node{
		"nodes":          {Type: Paragraph, Content: many(text("a"), partsMax)},
		"marks":          {Type: Paragraph, Content: []Node{text("a", make([]Mark, partsMax)...)}},
		"text":           {Type: Paragraph, Content: []Node{text(strings.Repeat("a", bytesMax+1))}},
		"addresses":      {Type: Paragraph, Content: many(text("a", linkMark(strings.Repeat("b", 1000), "")), 3000)},
		"lines in depth": deep,
		"missing cells":  table,
		"spans":          {Type: Table, Content: []Node{{Type: TableRow, Content: many(cell(100), 300)}}},
	} {
		s, err := Markdown(Node{Type: Doc, Content: []Node{n}})
		if cw.ErrorCode(err) != cw.CodeInvalid || cw.ErrorHint(err) == "" || !strings.Contains(err.Error(), "more") {
			t.Errorf("%s: %d bytes, %v", name, len(s), err)
		}
	}
	for name, data := range map[string]string{
		"nodes": `{"type":"doc","content":[` + strings.Repeat(`{},`, 8*partsMax/2) + `{}]}`,
		"lists": `{"type":"doc","attrs":{"a":` + strings.Repeat("[", 8*partsMax) + strings.Repeat("]", 8*partsMax) + `}}`,
	} {
		if _, err := Decode([]byte(data)); cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), "more") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Brackets of the text do not count.
	data, err := json.Marshal(Node{Type: Doc, Content: []Node{text(strings.Repeat(`{[,\"`, 8*partsMax))}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(data); err != nil {
		t.Error(err)
	}
}

// TestBigDocumentsEnd: documents within the bounds are written in time that
// grows with them. Each would take minutes if its cost doubled with each level
// or grew with the square of its nodes.
func TestBigDocumentsEnd(t *testing.T) {
	blanks := make([]Node, partsMax/3)
	for i := range blanks {
		blanks[i] = Node{Type: Text, Text: " ", Marks: []Mark{{Type: []string{Bold, Italic}[i%2]}}}
	}
	tasks := Node{Type: Paragraph, Content: []Node{{Type: Text, Text: "a"}}}
	rules := Node{Type: Paragraph}
	for range depthMax {
		tasks = Node{Type: TaskList, Content: []Node{{Type: TaskItem, Content: []Node{tasks}}}}
		three := Node{Type: BulletList, Content: []Node{{Type: ListItem}}}
		for range 2 {
			three = Node{Type: BulletList, Content: []Node{{Type: ListItem, Content: []Node{three}}}}
		}
		rules = Node{Type: BulletList, Content: []Node{{Type: ListItem, Content: []Node{three}}, {Type: ListItem, Content: []Node{{Type: Paragraph}, rules}}}}
	}
	fences := ramp(500_000, func(i int) string { return "e" + strings.Repeat("`", i) })
	for name, n := range map[string]Node{
		"blanks":    {Type: Paragraph, Content: blanks},
		"tasks":     tasks,
		"rules":     rules,
		"backticks": {Type: Paragraph, Content: []Node{{Type: Text, Text: fences, Marks: []Mark{{Type: Code}}}}},
	} {
		doc := Node{Type: Doc, Content: []Node{n}}
		s, err := Markdown(doc)
		if err != nil {
			t.Fatal(name, err)
		}
		size := measure(doc, 0)
		allocs := testing.AllocsPerRun(1, func() { s = write(doc) })
		if most := 40 * float64(size.parts+1000); allocs > most {
			t.Errorf("%s: %d bytes took %.0f allocations, more than %.0f", name, len(s), allocs, most)
		}
	}
}

func FuzzSmall(f *testing.F) {
	for _, md := range bombs(300) {
		f.Add(md)
	}
	for _, md := range corpus(f) {
		f.Add(md)
	}
	f.Fuzz(func(t *testing.T, md string) {
		doc, err := Read(t.Context(), md)
		if err != nil {
			t.Fatal(err)
		}
		small(t, md, doc)
		small(t, md, FromMarkdown(write(doc)))
	})
}
