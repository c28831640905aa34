package frontmatter

import "testing"

// TestColonInText: a text with a colon in no quotes is read as it was meant, and
// nothing else of the head changes.
func TestColonInText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"title: Phase 2: exports":                "Phase 2: exports",
		"title: It's done: really  ":             "It's done: really",
		"title: a: b: c\ndepends_on: []":         "a: b: c",
		"id: x\ntitle: Why: why\nname: Who: you": "Why: why",
		"title: 'quoted: yes'":                   "quoted: yes",
		"title: http://a.example":                "http://a.example",
		"body: |\n  a: b: c\ntitle: One: two":    "One: two",
	} {
		doc, err := Parse([]byte("---\n" + in + "\n---\nText.\n"))
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if got, err := doc.Text("title"); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
		if body, err := doc.Text("body"); err != nil || body != "" && body != "a: b: c\n" {
			t.Errorf("%q: body %q, %v", in, body, err)
		}
	}
}
