package planning

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cw/artifacts"
	"cw/internal/cw"
)

func TestPutDecision(t *testing.T) {
	t.Parallel()
	d := artifacts.Decision{ID: "aaaabbbbcccc", Title: "Use SQLite", Body: "One file."}
	entry := "### Use SQLite\n\n<!-- decision aaaabbbbcccc -->\n\nOne file.\n"
	tests := []struct{ name, body, want string }{
		{"an empty page", "", "## Decisions\n\n" + entry},
		{"a page without decisions", "# Sale\n\nText.\n", "# Sale\n\nText.\n\n## Decisions\n\n" + entry},
		{"the last of the section", "## Decisions\n\n### Old\n\nYes.\n\n## Next\n\nMore.", "## Decisions\n\n### Old\n\nYes.\n\n" + entry + "\n## Next\n\nMore.\n"},
		{"below a chapter", "## Decisions\n# Next\n", "## Decisions\n\n" + entry + "\n# Next\n"},
		{"a heading in code is none", "```\n## Decisions\n```\n", "```\n## Decisions\n```\n\n## Decisions\n\n" + entry},
		{"longer fences", "````\n```\n## Decisions\n```\n````\n## Decisions\n", "````\n```\n## Decisions\n```\n````\n## Decisions\n\n" + entry},
		{"a fence that is left open", "Text.\n\n~~~~sh\nls\n", "Text.\n\n~~~~sh\nls\n~~~~\n\n## Decisions\n\n" + entry},
		{"one in the section", "## Decisions\n\n```\nls\n", "## Decisions\n\n```\nls\n```\n\n" + entry},
		{"another heading", "### Decisions\n", "### Decisions\n\n## Decisions\n\n" + entry},
		{"closing signs and windows line ends", "## Decisions ##\r\n", "## Decisions ##\r\n\n" + entry},
		{"in its place", "## Decisions\n\n### Was\n\n<!-- decision aaaabbbbcccc -->\n\nText.\n\n#### Sub\n\n### Other\n\nX.\n",
			"## Decisions\n\n" + entry + "\n### Other\n\nX.\n"},
		{"wherever that is", "## Else\n\n### Was\n<!-- decision aaaabbbbcccc -->\nText.\n", "## Else\n\n" + entry},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := putDecision(tt.body, d)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if again := putDecision(got, d); again != got {
				t.Errorf("again: %q", again)
			}
			found, there := findDecision(got, d.ID)
			if diff := cmp.Diff(d, found); !there || diff != "" {
				t.Errorf("found %t: %s", there, diff)
			}
		})
	}
}

func TestDropDecision(t *testing.T) {
	t.Parallel()
	d := artifacts.Decision{ID: "aaaabbbbcccc", Title: "Use SQLite", Body: "One file."}
	page := "# Sale\n\n## Decisions\n\n### Other\n\nX.\n"
	if got := dropDecision(putDecision(page, d), d.ID); got != page {
		t.Errorf("left: %q", got)
	}
	if got := dropDecision(page, d.ID); got != page {
		t.Errorf("a page without it became %q", got)
	}
}

// TestDecisionsStayApart: whatever stands in their texts, decisions neither end
// each other nor pass for one another.
func TestDecisionsStayApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{
			"text", "# one", "## Decisions", "### three", "###### six", "  ## in", "```", "````go", "~~~", "<!-- decision bbbbbbbbbbbb -->", "", "#no", "    # code",
		})
		body := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\n") })
		page := deeper(body.Draw(t, "page")) // people close their fences
		want := map[string]artifacts.Decision{}
		for _, id := range []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "aaaaaaaaaaaa"} {
			d := artifacts.Decision{ID: id, Title: "title of " + id, Body: body.Draw(t, "body")}
			page = putDecision(page, d)
			d.Body = strings.Trim(deeper(strings.Trim(d.Body, "\n")), "\n")
			want[id] = d
		}
		for id, d := range want {
			found, there := findDecision(page, id)
			if !there || strings.TrimSpace(found.Body) != strings.TrimSpace(d.Body) || found.Title != d.Title {
				t.Fatalf("%s: there %t, %q, want %q, in\n%s", id, there, found, d, page)
			}
		}
	})
}

func TestAnswered(t *testing.T) {
	t.Parallel()
	tests := []struct {
		q           cw.Question
		title, body string
	}{
		{cw.Question{Text: "Which shop?", Answer: "Both"}, "Which shop?", "**Answer:** Both"},
		{cw.Question{Text: "Which shops?", Answer: `["A","B"]`, MultiSelect: true}, "Which shops?", "**Answer:** A, B"},
		{cw.Question{Text: "Which list?", Answer: `["A","B"]`}, "Which list?", `**Answer:** ["A","B"]`},
		{cw.Question{Text: "Two\nlines?", Answer: "Yes\nand no"}, "Two", "Two\nlines?\n\n**Answer:** Yes\nand no"},
		{cw.Question{Text: strings.Repeat("é", 300), Answer: "x"}, strings.Repeat("é", 199) + "…", strings.Repeat("é", 300) + "\n\n**Answer:** x"},
		{cw.Question{Text: "a\x1b[31mb", Answer: "x"}, "a [31mb", "a\x1b[31mb\n\n**Answer:** x"},
	}
	for _, tt := range tests {
		d := answered(tt.q)
		if d.Title != tt.title || d.Body != tt.body {
			t.Errorf("%.40q: %q, %q", tt.q.Text, d.Title, d.Body)
		}
		if err := cw.CheckName("decision", d.Title); err != nil {
			t.Error(err)
		}
	}
}
