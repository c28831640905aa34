package tiptap

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestWhole: what people write in pages is whole; what the editor would turn into
// something else is not.
func TestWhole(t *testing.T) {
	t.Parallel()
	for _, md := range []string{
		"", "# Goal\n\nSell *more* **now** ~~not~~ `code`.\n", "- a\n- b\n  - c\n\n1. x\n2. y\n",
		"- [ ] one\n- [x] two\n", "> quote\n\n```go\nfunc main() {}\n```\n", "| a | b |\n|---|---|\n| 1 | 2 |\n",
		"[link](https://example.com \"t\") and ![img](a.png)\n", "line\nline  \nbreak\n", "---\n", "a\r\n\r\nb",
		"tight\n\n- a\n\n- b\n", "***both***\n", "**[a link](https://a.example)**\n", "~~**gone**~~\n", "_**x**_\n",
		"<details>\n<summary>x</summary>\n</details>\n", "<!-- note -->\n\ntext\n",
		"text\n\n## Decisions\n\n### Which?\n\n<!-- decision k3v7q2mzt5ha -->\n\n**Answer:** that\n",
	} {
		if !isWhole(t, md) {
			a, _ := reads(md)
			b, _ := reads(write(FromMarkdown(md)))
			t.Errorf("%q is not whole:\n%s\n%s", md, a, b)
		}
	}
	for _, md := range []string{
		"a <b>bold</b> word\n", "- a\n\n  <!-- note -->\n", "**a** <em>b</em>\n", "**a `b`**\n",
		strings.Repeat("> ", 300) + "deep\n",
	} {
		if isWhole(t, md) {
			t.Errorf("%q would be changed", md)
		}
	}
}

func isWhole(t *testing.T, md string) bool {
	t.Helper()
	doc, whole, err := Read(t.Context(), md)
	if err != nil || !same(doc, FromMarkdown(md)) {
		t.Fatalf("%q: %v, and not the document that FromMarkdown gives", md, err)
	}
	return whole
}

// TestReadEnds: nobody waits any more.
func TestReadEnds(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, whole, err := Read(ctx, "text"); whole || !errors.Is(err, context.Canceled) {
		t.Error(whole, err)
	}
}
