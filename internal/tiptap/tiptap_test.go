package tiptap

import (
	"encoding/json"
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestDocument tells what documents and texts are made of what.
func TestDocument(t *testing.T) {
	for _, tt := range []struct{ name, md, json, again string }{
		{"empty", "", `{"type":"doc","content":[{"type":"paragraph"}]}`, ""},
		{"marks", "a *b* **c** ~~d~~ `e`",
			`{"type":"doc","content":[{"type":"paragraph","content":[{"type":"text","text":"a "},{"type":"text","marks":[{"type":"italic"}],"text":"b"},{"type":"text","text":" "},{"type":"text","marks":[{"type":"bold"}],"text":"c"},{"type":"text","text":" "},{"type":"text","marks":[{"type":"strike"}],"text":"d"},{"type":"text","text":" "},{"type":"text","marks":[{"type":"code"}],"text":"e"}]}]}`,
			"a _b_ **c** ~~d~~ `e`\n"},
		{"in a word", "a*b*c", `{"type":"doc","content":[{"type":"paragraph","content":[{"type":"text","text":"a"},{"type":"text","marks":[{"type":"italic"}],"text":"b"},{"type":"text","text":"c"}]}]}`, "a*b*c\n"},
		{"order of marks", "***[a](u)***", `{"type":"doc","content":[{"type":"paragraph","content":[{"type":"text","marks":[{"type":"link","attrs":{"href":"u"}},{"type":"bold"},{"type":"italic"}],"text":"a"}]}]}`, "[**_a_**](u)\n"},
		{"code in bold", "**a `b`**", `{"type":"doc","content":[{"type":"rawBlock","content":[{"type":"text","text":"**a ` + "`b`" + `**"}]}]}`, "**a `b`**\n"},
		{"code in a link", "[`b`](u)", `{"type":"doc","content":[{"type":"rawBlock","content":[{"type":"text","text":"[` + "`b`" + `](u)"}]}]}`, "[`b`](u)\n"},
		{"heading", "Title\n===", `{"type":"doc","content":[{"type":"heading","attrs":{"level":1},"content":[{"type":"text","text":"Title"}]}]}`, "# Title\n"},
		{"numbers", "7. a", `{"type":"doc","content":[{"type":"orderedList","attrs":{"start":7},"content":[{"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","text":"a"}]}]}]}]}`, "7. a\n"},
		{"tasks", "- [x] a", `{"type":"doc","content":[{"type":"taskList","content":[{"type":"taskItem","attrs":{"checked":true},"content":[{"type":"paragraph","content":[{"type":"text","text":"a"}]}]}]}]}`, "- [x] a\n"},
		{"some tasks", "- [x] a\n- b", `{"type":"doc","content":[{"type":"rawBlock","content":[{"type":"text","text":"- [x] a\n- b"}]}]}`, "- [x] a\n- b\n"},
		{"code first", "- ```go\n  x\n  ```", `{"type":"doc","content":[{"type":"bulletList","content":[{"type":"listItem","content":[{"type":"paragraph"},{"type":"codeBlock","attrs":{"language":"go"},"content":[{"type":"text","text":"x"}]}]}]}]}`, "- ```go\n  x\n  ```\n"},
		{"table", "|a|\n|:-:|\n|b|", `{"type":"doc","content":[{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableHeader","attrs":{"align":"center","colspan":1,"colwidth":null,"rowspan":1},"content":[{"type":"paragraph","content":[{"type":"text","text":"a"}]}]}]},{"type":"tableRow","content":[{"type":"tableCell","attrs":{"align":"center","colspan":1,"colwidth":null,"rowspan":1},"content":[{"type":"paragraph","content":[{"type":"text","text":"b"}]}]}]}]}]}`, "| a |\n| :-: |\n| b |\n"},
		{"image", "![a](b \"c\")", `{"type":"doc","content":[{"type":"paragraph","content":[{"type":"image","attrs":{"alt":"a","src":"b","title":"c"}}]}]}`, "![a](b \"c\")\n"},
		{"blanks", "**a&nbsp;** b", `{"type":"doc","content":[{"type":"rawBlock","content":[{"type":"text","text":"**a&nbsp;** b"}]}]}`, "**a&nbsp;** b\n"},
		{"unsafe image", "![x](javascript:y)", `{"type":"doc","content":[{"type":"rawBlock","content":[{"type":"text","text":"![x](javascript:y)"}]}]}`, "![x](javascript:y)\n"},
		{"script", "<script>x</script>", `{"type":"doc","content":[{"type":"rawBlock","content":[{"type":"text","text":"\u003cscript\u003ex\u003c/script\u003e"}]}]}`, "<script>x</script>\n"},
		{"tag", "a <b>", `{"type":"doc","content":[{"type":"rawBlock","content":[{"type":"text","text":"a \u003cb\u003e"}]}]}`, "a <b>\n"},
		{"unsafe", "[x](javascript:y)", `{"type":"doc","content":[{"type":"rawBlock","content":[{"type":"text","text":"[x](javascript:y)"}]}]}`, "[x](javascript:y)\n"},
		{"unused", "[a]: /b 'c'", `{"type":"doc","content":[{"type":"rawBlock","content":[{"type":"text","text":"[a]: /b 'c'"}]}]}`, "[a]: /b 'c'\n"},
	} {
		doc := FromMarkdown(tt.md)
		got, err := json.Marshal(doc)
		if err != nil || !sameJSON(t, string(got), tt.json) {
			t.Errorf("%s: %v\ngot  %s\nwant %s", tt.name, err, got, tt.json)
		}
		if again, err := Markdown(doc); err != nil || again != tt.again {
			t.Errorf("%s: %v\ngot  %q\nwant %q", tt.name, err, again, tt.again)
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y Node
	for s, n := range map[string]*Node{a: &x, b: &y} {
		if err := json.Unmarshal([]byte(s), n); err != nil {
			t.Fatal(err)
		}
	}
	return a == b || asJSON(t, x) == asJSON(t, y)
}

// TestLastResort: a list that the reader does not read back as it wrote it is
// a raw block, and what is beside it stays.
func TestLastResort(t *testing.T) {
	const list = "-\n  -\n  0"
	g := newGrammar()
	p := g.cut(list)
	if _, ok := g.stable(newReader(p.clean).block(p.blocks[0].parsed[0], 1)[0]); ok {
		t.Fatal("it is stable by itself: this needs another text")
	}
	const md = "before\n\n" + list + "\n\nafter **it**\n"
	doc := FromMarkdown(md)
	if len(doc.Content) != 3 || doc.Content[1].Type != RawBlock || textOf(doc.Content[1]) != list || doc.Content[2].Type != Paragraph {
		t.Error(asJSON(t, doc))
	}
	secondRound(t, md)
}

// TestEditorsDocument: what only the editor has is left out, but for its text,
// and numbers that were read from JSON count.
func TestEditorsDocument(t *testing.T) {
	const page = `{"type":"doc","content":[
		{"type":"paragraph"},
		{"type":"heading","attrs":{"level":3},"content":[{"type":"text","text":"a"},{"type":"hardBreak"},{"type":"text","text":"b #"}]},
		{"type":"paragraph","content":[{"type":"text","marks":[{"type":"underline"},{"type":"bold"}],"text":" bold "},{"type":"text","marks":[{"type":"link","attrs":{"href":"javascript:x","target":"_blank"}}],"text":"evil"},{"type":"hardBreak"}]},
		{"type":"orderedList","attrs":{"start":3,"type":null},"content":[{"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","text":"- c"}]},{"type":"paragraph"}]}]},
		{"type":"bulletList","content":[{"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","text":"d"}]}]}]},
		{"type":"bulletList","content":[{"type":"listItem","content":[{"type":"paragraph","content":[{"type":"text","text":"e"}]}]}]},
		{"type":"table","content":[{"type":"tableRow","content":[{"type":"tableCell","attrs":{"colspan":2},"content":[{"type":"paragraph","content":[{"type":"text","text":"f|"}]},{"type":"paragraph","content":[{"type":"text","text":"g"}]}]}]}]}
	]}`
	const want = "### a b &#35;\n\n&#32;**bold** \\[evil](javascript:x)\n\n3. \\- c\n\n- d\n\n* e\n\n| f\\| g |  |\n| --- | --- |\n"
	var doc Node
	if err := json.Unmarshal([]byte(page), &doc); err != nil {
		t.Fatal(err)
	}
	got, err := Markdown(doc)
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	secondRound(t, got)
}

// TestDeep: blocks are inside of each other to a depth that the editor can show;
// deeper ones are raw. A line that begins more is not read at all.
func TestDeep(t *testing.T) {
	for _, tt := range []struct{ quotes, depth int }{{3, 3}, {depthMax - 1, depthMax - 1}, {60, 0}, {marksMax + 1, 0}} {
		md := strings.Repeat("> ", tt.quotes) + "deep"
		n := FromMarkdown(md + "\n").Content[0]
		depth := 0
		for n.Type == Blockquote {
			n, depth = n.Content[0], depth+1
		}
		if raw := n.Type == RawBlock; depth != tt.depth || raw != (depth == 0) || raw && textOf(n) != md {
			t.Errorf("%d quotes: %d deep, then %s %q", tt.quotes, depth, n.Type, textOf(n))
		}
	}
}

func TestRefused(t *testing.T) {
	deep := Node{Type: Paragraph}
	for range 5 * depthMax {
		deep = Node{Type: Blockquote, Content: []Node{deep}}
	}
	for name, n := range map[string]Node{
		"no document": {Type: Paragraph},
		"unknown":     {Type: Doc, Content: []Node{{Type: "iframe"}}},
		"too deep":    {Type: Doc, Content: []Node{deep}},
	} {
		if s, err := Markdown(n); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("%s: %q, %v", name, s, err)
		}
	}
}

// TestMuch: long rows of what opens something end. Each would take hours if its
// cost were more than its length.
func TestMuch(t *testing.T) {
	for _, s := range []string{">", "> ", "- ", "*a ", "[", "![", "`", "~~a ", "| a ", "<", "&", "[a](b) ", "**a**", "\\", "1. "} {
		md := strings.Repeat(s, 20_000/len(s))
		first := FromMarkdown(md)
		text, err := Markdown(first)
		if err != nil {
			t.Fatal(err)
		}
		if !same(first, FromMarkdown(text)) {
			t.Errorf("%q: the second document differs", s)
		}
	}
}
