package tiptap

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// odd are pages that are written in ways that the editor has no word for.
var odd = map[string]string{
	"front matter":        "---\ntitle: A page\ntags: [a, b]\n---\n\n# A page\n\ntext\n",
	"front matter only":   "---\ntitle: x\n...\n",
	"front matter tight":  "---\n# note\na: 1\n\nb: 2\n---\n# Head\ntext\n",
	"no front matter":     "---\n\ntext\n\n---\n\nmore\n",
	"footnotes":           "A note[^1] and [^long][^1].\n\n[^1]: Short.\n[^long]: First.\n\n    Second with `code`.\n\nEnd.\n",
	"lazy footnote":       "a[^1]\n[^1]: one\ntwo\n\nthree\n",
	"CRLF":                "# Head\r\n\r\nline one\r\nline two\r\n\r\n* a\r\n* b\r\n\r\n<b>x</b> y\r\n",
	"CR":                  "# Head\r\rtext\r\r- a\r- b\r",
	"mixed line ends":     "a\r\nb\n\nc\r\r\nd\n",
	"inline HTML":         "a <b>bold</b> word<br/>\nnext\n\nplain\n",
	"HTML blocks":         "<details>\n<summary>s</summary>\n\n* in\n\n</details>\n\n<!-- a\n\nb -->\ntext\n",
	"open comment":        "text\n\n<!-- never closed\n\nmore\n",
	"definitions":         "[one][a], [two], ![img][b]\n\n[a]: /u 'title'\n[two]: <http://example.com/x y>\n\n[b]: i.png\nafter\n",
	"definition in list":  "- a\n\n  [r]: /u\n\n[x][r]\n",
	"tables":              "a | b | c\n:-- |:-:| --:\n1 | `x\\|y` | \n2\n3 | 4 | 5 | 6\n\nText\n| one |\n|-|\n",
	"nested lists":        "1) one\n   * a\n\n     ```go\n     x := 1\n     ```\n   * b\n\n     | t |\n     |---|\n     | 1 |\n2) two\n\n\n10. ten\n",
	"tight and loose":     "* a\n* b\n\n\n* c\n\n+ d\n+ e\n- f\n\n  g\n",
	"setext":              "Title\n=====\nSub *it*\n---\ntext\n\nTwo\nlines\n===\n",
	"fences":              "~~~~ruby {x=1}\n~~~\n~~~~\n````\n```\n````\n\n    indented\n\n\ttab\n",
	"open fence":          "text\n\n```sh\nls\n\n",
	"emphasis":            "*a* _b_ **c** __d__ ***e*** ~f~ ~~g~~\n\n**a `code`** and [`code`](u)\n",
	"hard breaks":         "one  \ntwo\\\nthree   \nfour\n\nend  \n",
	"trailing space":      "# Head   \n\ntext \t\n  \n\t\n- a  \n- b\t\n   \n",
	"no final newline":    "# Head #\n\nlast",
	"decisions":           "# Page\n\n## Decisions\n\n### Which store?\n\n<!-- decision k3v7q2mzt5ha -->\n\n**Answer:** that one\n<!-- decision k3v7q2mzt5hb -->\n",
	"task lists":          "* [ ] open\n* [X] done\n  * [x] below\n\ntext\n\n- [ ] a\n- no box\n\n1. [x] one\n",
	"entities":            "&copy; &amp; &lt;b&gt; &#35; &nbsp;x &unknown; \\* \\[a]\n\n&#32;a\n",
	"tabs":                "-\ta\n\n\tb\n-\tc\n\n\n1.\tx\n\n>\tq\n",
	"BOM":                 "\uFEFF# Head\n\ntext\n",
	"BOM and front":       "\uFEFF---\na: b\n---\ntext",
	"BOM twice":           "\uFEFF\uFEFFtext\n",
	"no UTF-8":            "# H\xe9ad\n\nca\xff\xfef\xc3\n\n- a\x00b\n",
	"control":             "\f\n\x0b\n\u00a0\n\u2028\na\x01\n",
	"blank":               " \n\t\n\r\n",
	"only BOM":            "\uFEFF",
	"leading lines":       "\n \n   text\n   more\n",
	"rules":               "***\n* * *\n___\n- - -\n",
	"lists after lists":   "* a\n- a\n+ a\n\n1. b\n2) b\n",
	"same blocks":         "***\n\na\n\n---\n\na\n\n___\n",
	"other markup":        "::: note\nx\n:::\n\n$$\na_b\n$$\n\nTerm\n: Text\n\n[[wiki]] ==m== {#id}\n",
	"quotes":              "> a\nlazy\n> > b\n>\n> - c\n>c\n\n> d\n",
	"addresses":           "<http://a.example> http://b.example/x_y www.c.example a@b.example\n[x](javascript:y)\n",
	"code after list":     "- a\n\n<!-- -->\n\n    code\n",
	"deep":                strings.Repeat("> ", 60) + "deep\n\ntext\n",
	"beyond":              strings.Repeat("> ", 300) + "deep\n\n\n# Head\r\n",
	"deep numbered lists": "1. a\n   1. b\n      1. c\n\n         d\n\n2. e\n",
}

// fromEditor gives the document as it comes from an editor, which says more of
// its nodes.
func fromEditor(t testing.TB, doc Node) Node {
	t.Helper()
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(`{"href":`, `{"target":"_blank","rel":"noopener","class":null,"href":`, `{"start":`, `{"type":null,"start":`).Replace(string(data))
	out, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func rewrite(t testing.TB, md string, blocks ...Node) string {
	t.Helper()
	out, err := Rewrite(md, Node{Type: Doc, Content: blocks})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// keepsBytes is the promise: a document that is stored unchanged is the same
// text to the byte; where a block was changed, removed or added, all others are
// as they were.
func keepsBytes(t testing.TB, md string) {
	t.Helper()
	doc := fromEditor(t, FromMarkdown(md))
	if got := rewrite(t, md, doc.Content...); got != md {
		t.Fatalf("the text changed\n%q\n%q", md, got)
	}
	g := newGrammar()
	p := g.cut(md)
	all := p.lead
	for _, s := range p.blocks {
		all += s.source + s.after
	}
	if all != md {
		t.Fatalf("the blocks are not the text\n%q\n%q", md, all)
	}
	p = g.understand(p)
	fresh := Node{Type: Paragraph, Content: []Node{{Type: Text, Text: "fresh words"}}}
	for i := range min(len(p.blocks), 12) {
		if got, want := rewrite(t, md, slices.Replace(slices.Clone(doc.Content), i, i+1, fresh)...), p.blocks; !holds(got, p.lead, want[:i], "fresh words", want[i+1:]) {
			t.Errorf("block %d was changed\n%q\n%q", i, md, got)
		}
		if got := rewrite(t, md, slices.Insert(slices.Clone(doc.Content), i, fresh)...); !holds(got, p.lead, p.blocks[:i], "fresh words", p.blocks[i:]) {
			t.Errorf("before block %d one was added\n%q\n%q", i, md, got)
		}
		// Of two blocks that say the same nobody knows which one was removed.
		if got := rewrite(t, md, slices.Delete(slices.Clone(doc.Content), i, i+1)...); len(p.blocks) > 1 && !twice(p.blocks, i) && !holds(got, p.lead, p.blocks[:i], "", p.blocks[i+1:]) {
			t.Errorf("block %d was removed\n%q\n%q", i, md, got)
		}
	}
}

func twice(blocks []segment, i int) bool {
	return slices.ContainsFunc(blocks[:i], func(s segment) bool { return key(s.node) == key(blocks[i].node) }) ||
		slices.ContainsFunc(blocks[i+1:], func(s segment) bool { return key(s.node) == key(blocks[i].node) })
}

// holds tells whether a text is made of blocks as they were written, with a new
// one between them. Only a fence that was open at the end may be closed.
func holds(got, lead string, before []segment, fresh string, after []segment) bool {
	rest, ok := strings.CutPrefix(got, lead)
	for i, s := range before {
		if !ok {
			return false
		}
		if rest, ok = strings.CutPrefix(rest, s.source); ok && i+1 < len(before) {
			rest, ok = strings.CutPrefix(rest, s.after)
		}
	}
	between := func() { // without a separator
		if _, after, found := strings.Cut(rest, separator); found && strings.TrimSpace(rest[:len(rest)-len(after)-len(separator)]) == "" {
			rest = after
		}
	}
	if fresh != "" && ok {
		between()
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), fresh)
	}
	for i, s := range after {
		if !ok {
			return false
		}
		if i == 0 {
			if !strings.HasPrefix(strings.TrimSpace(s.source), separator) {
				between()
			}
			at := strings.Index(rest, s.source)
			ok = at >= 0 && strings.TrimSpace(rest[:max(at, 0)]) == ""
			if rest = rest[max(at, 0):]; !ok {
				return false
			}
		}
		if rest, ok = strings.CutPrefix(rest, s.source); ok && i+1 < len(after) {
			rest, ok = strings.CutPrefix(rest, s.after)
		}
	}
	return ok && strings.TrimSpace(rest) == ""
}

func TestKeepsBytes(t *testing.T) {
	t.Parallel()
	for name, md := range odd {
		t.Run(name, func(t *testing.T) { keepsBytes(t, md) })
	}
	for name, md := range corpus(t) {
		t.Run(name, func(t *testing.T) { keepsBytes(t, md) })
	}
}

func FuzzKeepsBytes(f *testing.F) {
	for _, md := range odd {
		f.Add(md)
	}
	for _, md := range corpus(f) {
		f.Add(md)
	}
	f.Fuzz(func(t *testing.T, md string) { keepsBytes(t, md) })
}

// TestBlocksAreFound: what a block is does not hang on what stands around it, but
// for what it refers to.
func TestBlocksAreFound(t *testing.T) {
	t.Parallel()
	g := newGrammar()
	texts := corpus(t)
	for name, md := range odd {
		texts[name] = md
	}
	for name, md := range texts {
		p := g.understand(g.cut(md))
		for i, s := range p.blocks {
			alone := FromMarkdown(string(byteOrderMark) + s.source + s.after).Content
			if s.node.Type == RawBlock || len(alone) == 1 && same(alone[0], s.node) {
				continue
			}
			if strings.ContainsAny(s.source, "[") && strings.Contains(md, "]:") {
				continue
			}
			t.Errorf("%s: block %d %q is %s\nand alone %s", name, i, s.source, asJSON(t, s.node), asJSON(t, Node{Content: alone}))
		}
	}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	para := func(s string) Node { return Node{Type: Paragraph, Content: []Node{{Type: Text, Text: s}}} }
	bullets := func(s string) Node {
		return Node{Type: BulletList, Content: []Node{{Type: ListItem, Content: []Node{para(s)}}}}
	}
	raw := rawBlock
	for _, tt := range []struct {
		name, md string
		blocks   []Node
		want     string
	}{
		{"nothing", "a\n", nil, ""},
		{"from nothing", "", []Node{para("a"), para("b")}, "a\n\nb\n"},
		{"from blank lines", "\uFEFF \n\n", []Node{para("a")}, "\uFEFFa\n"},
		{"empty paragraphs", "*a*", []Node{{Type: Paragraph}, {Type: Paragraph, Content: []Node{{Type: Text, Text: "a", Marks: []Mark{{Type: Italic}}}}}}, "*a*"},
		{"after the last line", "*a*", []Node{para("b")}, "b"},
		{"line ends", "*a*\r\nb\r\n", []Node{para("c"), raw("<b>\nd")}, "c\r\n\r\n<b>\r\nd\r\n"},
		{"a tight heading stays tight", "Head\n===\n*b*\n", []Node{{Type: Heading, Attrs: map[string]any{"level": 1}, Content: []Node{{Type: Text, Text: "Head"}}}, para("c")}, "Head\n===\nc\n"},
		{"moved", "__a__\n\n\nb\n", []Node{para("b"), {Type: Paragraph, Content: []Node{{Type: Text, Text: "a", Marks: []Mark{{Type: Bold}}}}}}, "b\n\n__a__\n"},
		{"lists apart", "- a\n\ntext\n\n* c\n", []Node{bullets("a"), bullets("b")}, "- a\n\n* b\n"},
		{"lists between lists", "- a\n\ntext\n\n- c\n", []Node{bullets("a"), bullets("b"), bullets("c")}, "- a\n\n* b\n\n- c\n"},
		{"lists that meet", "- a\n\ntext\n\n- c\n", []Node{bullets("a"), bullets("c")}, "- a\n\n<!-- -->\n\n- c\n"},
		{"the first of two lists", "* a\n- b\n", []Node{bullets("x"), bullets("b")}, "* x\n\n- b\n"},
		{"code that meets a list", "text\n\n    code\n", []Node{bullets("a"), codeBlock("code", "")}, "- a\n\n<!-- -->\n\n    code\n"},
		{"an open fence", "```sh\nls\n", []Node{codeBlock("ls", "sh"), para("a")}, "```sh\nls\n```\n\na\n"},
		{"a rule comes first", "a\n\n---\n", []Node{{Type: HorizontalRule}}, "---\n"},
		{"a raw block of several", "a <b>\n\nc\n", []Node{raw("a <i>\n\nb"), para("c")}, "a <i>\n\nb\n\nc\n"},
		{"a definition is edited", "[a][r] *b*\n\n[r]: /u\n", []Node{
			{Type: Paragraph, Content: []Node{{Type: Text, Text: "a", Marks: []Mark{linkMark("/u", "")}}, {Type: Text, Text: " "}, {Type: Text, Text: "b", Marks: []Mark{{Type: Italic}}}}}, raw("[r]: /v")},
			"[a][r] *b*\n\n[r]: /v\n"},
		{"a note in an edited line", "a[^1]\n\n[^1]: n\n", []Node{para("b[^1]"), raw("[^1]: n")}, "b[^1]\n\n[^1]: n\n"},
	} {
		if got := rewrite(t, tt.md, tt.blocks...); got != tt.want {
			t.Errorf("%s\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

func TestAlign(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, now, want string }{
		{"", "a", "[-1]"}, {"a", "", "[]"}, {"abc", "abc", "[0 1 2]"}, {"abc", "axc", "[0 -1 2]"},
		{"aba", "ba", "[1 2]"}, {"aba", "ab", "[0 1]"}, {"abc", "cab", "[2 0 1]"}, {"arbrc", "xbry", "[-1 2 3 -1]"},
		{"abc", "abbc", "[0 1 -1 2]"}, {"abc", "axbyc", "[0 -1 1 -1 2]"},
	} {
		if got := fmt.Sprint(align(strings.Split(tt.old, ""), strings.Split(tt.now, ""))); got != tt.want {
			t.Errorf("%s to %s: %s, not %s", tt.old, tt.now, got, tt.want)
		}
	}
}
