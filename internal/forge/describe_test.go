package forge

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"cw/internal/cw"
)

var update = flag.Bool("update", false, "write the golden files")

// TestDescribe compares the title and the text with a file, which has a dot in
// the place of each gap.
func TestDescribe(t *testing.T) {
	t.Parallel()
	title, body := Describe(Work{
		Name: "Spring sale (fixes #12)",
		Goal: "Prices of *everything* go down by 20 %.\nAsk @marketing first.\n\n- not in the shop of `example.com`\n1. and never below cost",
		Tasks: []cw.Task{
			{Name: "Price rules", Status: cw.TaskDone, Summary: "Closes #1, fixes octo/shop#2 and resolves https://github.com/octo/shop/issues/3.\nImplements GH-4 and SHOP-5.\r\n\r\n/approve\n/merge @root ~now !7"},
			{Name: "Not yet", Status: cw.TaskRunning, Summary: "half of it"},
			{Name: "Shop <script>alert(1)</script> window", Status: cw.TaskDone},
			{Name: "Called off", Status: cw.TaskCancelled, Summary: "nothing"},
			{Name: "Images", Status: cw.TaskDone, Summary: "![tracked](https://evil.example/x.png) <img src=x> &#64;root\u202egnp\n```sh\nrm -rf /\n```\n# Big\n=== \n\t    code"},
		},
	})
	got := strings.ReplaceAll(title+"\n\n"+body, gap, "·")
	golden := filepath.Join("testdata", "describe.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestDescribeIsShort: whatever the texts are, a forge takes them.
func TestDescribeIsShort(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"é", "@", "# ", "a\n", "*_`", "¶\n\n"} {
		long := strings.Repeat(piece, 100_000)
		w := Work{Name: strings.Repeat(piece, cw.NameMax), Goal: long}
		for range 200 {
			w.Tasks = append(w.Tasks, cw.Task{Name: w.Name, Status: cw.TaskDone, Summary: long})
		}
		title, body := Describe(w)
		if n := utf8.RuneCountInString(title); n > titleMax || len(body) > cw.PullRequestBodyMax || !utf8.ValidString(title+body) {
			t.Errorf("%q: a title of %d characters, a text of %d bytes", piece, n, len(body))
		}
		if !strings.Contains(body, "- and ") {
			t.Errorf("%q: it is not told that there is more: …%q", piece, body[len(body)-50:])
		}
	}
	if title, body := Describe(Work{Name: "Sale", Goal: "Sale"}); title != "Sale" || body != "\n" {
		t.Errorf("of nothing: %q, %q", title, body)
	}
}

// acts is what a forge acts on, in the text as it is sent and in what it shows.
var acts = regexp.MustCompile(`(?m)[@#!&%~$][A-Za-z0-9_"']|\b(?i:G[HL])-[0-9]|\b[A-Z][A-Z0-9_]+-[0-9]|://|\[[a-z_]+:|^\s*/[a-z]`)

// shown is the text of an element in what a forge shows.
var tag = regexp.MustCompile(`<[^>]*>`)

// FuzzDescribe: a summary is shown as it was written, and nobody is called,
// nothing closed, linked or loaded.
func FuzzDescribe(f *testing.F) {
	for _, text := range []string{
		"closes #1", "@user", "&#64;user", "/close", "> /merge", "<b>@x</b>", "[x](http://y)", "![x](//y)", "##1", "@@a", "GH-1 gl-2", "```\n#1\n```",
		"1. a\n2. b", "a|b\n-|-\n1|2", "www.example.com", "a\\#1", "\\@a", "[issue:1]", "#\u200b1\u200d2", "http:\n//x", "~~a~~", "$x$", "\\\\@a", "==\n--",
	} {
		f.Add(text)
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM))
	f.Fuzz(func(t *testing.T, text string) {
		title, body := Describe(Work{Name: text, Goal: text, Tasks: []cw.Task{{Name: text, Status: cw.TaskDone, Summary: text}}})
		if strings.Contains(title, "\n") || acts.MatchString(title) {
			t.Errorf("%q: the title %q", text, title)
		}
		raw := strings.ReplaceAll(body, "## What was done", "")
		if found := acts.FindString(strings.ReplaceAll(raw, `\`, "")); found != "" {
			t.Errorf("%q: %q in %q", text, found, body)
		}
		var html bytes.Buffer
		if err := markdown.Convert([]byte(body), &html); err != nil {
			t.Fatal(err)
		}
		for _, element := range tag.FindAllString(html.String(), -1) {
			switch element {
			case "<p>", "</p>", "<ul>", "</ul>", "<li>", "</li>", "<h2>", "</h2>", "<strong>", "</strong>", "<br>", "<br />":
			default:
				if !strings.Contains(element, `href="http://www.`) && !strings.Contains(element, `href="mailto:`) && element != "</a>" {
					t.Errorf("%q: %s in %s", text, element, html.String())
				}
			}
		}
	})
}
