package tiptap

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// rawsOf gives the texts of a document's raw blocks.
func rawsOf(doc Node) []string {
	var out []string
	for _, n := range doc.Content {
		if n.Type == RawBlock {
			out = append(out, textOf(n))
		}
	}
	return out
}

// TestUnderstood: what people write in pages is for the editor; what it would turn
// into something else is a raw block, and nothing beside it is.
func TestUnderstood(t *testing.T) {
	t.Parallel()
	for _, md := range []string{
		"", "# Goal\n\nSell *more* **now** ~~not~~ `code`.\n", "- a\n- b\n  - c\n\n1. x\n2. y\n",
		"- [ ] one\n- [x] two\n", "> quote\n\n```go\nfunc main() {}\n```\n", "| a | b |\n|---|---|\n| 1 | 2 |\n",
		"[link](https://example.com \"t\") and ![img](a.png)\n", "line\nline  \nbreak\n", "---\n", "a\r\n\r\nb",
		"tight\n\n- a\n\n- b\n", "***both***\n", "**[a link](https://a.example)**\n", "~~**gone**~~\n", "_**x**_\n",
		"Head\n===\n\n\ta\n", "~~~\nx\n~~~\n", "- a\n\n  ```\n  x\n  ```\n", "a note[^1] and[^b][^c].\n", "\uFEFF# Head\n",
	} {
		if raws := rawsOf(FromMarkdown(md)); len(raws) > 0 {
			t.Errorf("%q has raw blocks: %q", md, raws)
		}
	}
	deep := strings.Repeat("> ", 300) + "deep"
	for md, want := range map[string]string{
		"a <b>bold</b> word\n\nb\n":                   "a <b>bold</b> word",
		"x\n\n- a\n\n  <!-- note -->\n\nb\n":          "- a\n\n  <!-- note -->",
		"**a `b`**\n":                                 "**a `b`**",
		"<details>\n<summary>x</summary>\n</details>": "<details>\n<summary>x</summary>\n</details>",
		"a\n\n<!-- decision k3v7q2mzt5ha -->\n\nb\n":  "<!-- decision k3v7q2mzt5ha -->",
		"---\ntitle: x\n\ny: 1\n---\n# a\n":           "---\ntitle: x\n\ny: 1\n---",
		"a[^1]\n\n[^1]: one\n\n    two\n\nb\n":        "[^1]: one\n\n    two",
		"[x][r]\n\n[r]: /u\n[q]: /v 'title'\nb\n":     "[r]: /u\n[q]: /v 'title'",
		"- a\n\n  [r]: /u\n\n[x][r]\n":                "- a\n\n  [r]: /u",
		"- [ ] a\n- b\n":                              "- [ ] a\n- b",
		"not \\[^1]\n\n[^1]: one\n":                   "not \\[^1]|[^1]: one",
		deep + "\n":                                   deep,
		"a\xff <b>\r\nc\r\n":                          "a\uFFFD <b>\nc",
	} {
		if raws := strings.Join(rawsOf(FromMarkdown(md)), "|"); raws != want {
			t.Errorf("%q has the raw blocks %q, not %q", md, raws, want)
		}
	}
}

// TestReadEnds: nobody waits any more.
func TestReadEnds(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := Read(ctx, "text"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
