package frontmatter

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// said compares what documents say, not where they say it.
func said() cmp.Options {
	return cmp.Options{
		cmpopts.IgnoreFields(Document{}, "Line"), cmpopts.IgnoreFields(Field{}, "Line"), cmpopts.IgnoreFields(Value{}, "Line"),
		cmpopts.EquateEmpty(),
	}
}

func field(key string, v Value) Field { return Field{Key: key, Value: v} }

func TestParse(t *testing.T) {
	t.Parallel()
	title := []Field{field("title", StringValue("Exports"))}
	tests := []struct {
		name, text string
		fields     []Field
		body       string
		line       int // of the body
	}{
		{"head and body", "---\ntitle: Exports\n---\n\nText\n", title, "\nText\n", 4},
		{"CRLF", "---\r\ntitle: Exports\r\n---\r\nA\r\nB\r\n", title, "A\nB\n", 4},
		{"CR alone", "---\rtitle: Exports\r---\rA\rB", title, "A\nB", 4},
		{"byte order mark", "\ufeff---\ntitle: Exports\n---\nText", title, "Text", 4},
		{"blank lines before", "\n  \n---\ntitle: Exports\n---\nText", title, "Text", 6},
		{"blanks behind the fences", "---  \ntitle: Exports\n---\t\nText", title, "Text", 4},
		{"no head", "Text\n\n---\n\nmore\n", nil, "Text\n\n---\n\nmore\n", 1},
		{"no head, a list", "- a\n---\n", nil, "- a\n---\n", 1},
		{"nothing", "", nil, "", 1},
		{"blanks alone", "\n \n", nil, "\n \n", 1},
		{"no body", "---\ntitle: Exports\n---", title, "", 4},
		{"fences in the body", "---\ntitle: Exports\n---\nA\n---\nB\n---\n", title, "A\n---\nB\n---\n", 4},
		{"an empty head", "---\n---\nText", nil, "Text", 3},
		{"comments alone", "---\n# nothing\n---\nText", nil, "Text", 4},
		{"null alone", "---\n~\n---\nText", nil, "Text", 4},
		{"a fence set in is text", "---\ntitle: |-\n  ---\n---\nText", []Field{field("title", StringValue("---"))}, "Text", 5},
		{"four dashes are no fence", "----\ntitle: x\n", nil, "----\ntitle: x\n", 1},
		{"raw HTML", "---\ntitle: Exports\n---\n<script>alert(1)</script>\n", title, "<script>alert(1)</script>\n", 4},
		{
			"order, nesting and unknown keys",
			"---\nzeta: 1\nalpha:\n  beta: [a, {c: d}]\n  'x y': ~\nsize: 1.50\nwhen: 2026-11-22\nok: True\n---\n",
			[]Field{
				field("zeta", IntValue(1)),
				field("alpha", Value{Kind: Map, Fields: []Field{
					field("beta", Value{Kind: List, Items: []Value{StringValue("a"), {Kind: Map, Fields: []Field{field("c", StringValue("d"))}}}}),
					field("x y", Value{}),
				}}),
				field("size", Value{Kind: Float, Text: "1.50"}),
				field("when", StringValue("2026-11-22")),
				field("ok", Value{Kind: Bool, Text: "True"}),
			},
			"", 10,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Document{Fields: tt.fields, Body: tt.body}, got, said()); diff != "" {
				t.Errorf("- wanted, + got:\n%s", diff)
			}
			if got.Line != tt.line {
				t.Errorf("the body begins in line %d, not %d", got.Line, tt.line)
			}
		})
	}
}

// TestParseRefuses: what is refused is told with the line that is wrong.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	head := func(lines string) string { return "---\n" + lines + "\n---\nText\n" }
	laughs := "a: &a [x, x, x, x, x, x, x, x, x]"
	for n := range 9 {
		laughs += fmt.Sprintf("\n%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]", 'b'+n, 'b'+n, 'a'+n, 'a'+n, 'a'+n, 'a'+n, 'a'+n, 'a'+n, 'a'+n, 'a'+n, 'a'+n)
	}
	tests := []struct {
		name, text string
		line       int
		want       string
	}{
		{"not closed", "---\ntitle: x\n\nText\n", 1, "no line of --- ends it"},
		{"not closed, below blank lines", "\n\n---\ntitle: x", 3, "ends it"},
		{"the fence alone", "---", 1, "ends it"},
		{"closed with more dashes", "---\na: b\n----\n", 1, "ends it"},
		{"a tab", head("title: x\ndepends_on:\n\t- a"), 4, "never with tabs"},
		{"a key twice", head("title: x\nsize: small\ntitle: y"), 4, "title is there twice, as title in line 2"},
		{"a key in two spellings", head("depends_on: []\nsize: small\ndependsOn: []"), 4, "dependsOn is there twice, as depends_on in line 2"},
		{"a key twice, nested", head("a:\n  b: 1\n  b: 2"), 4, "b is there twice"},
		{"an anchor", head("title: x\na: &a b"), 3, "anchors"},
		{"an alias of nothing", head("title: x\npaths: *all"), 3, "quotes"},
		{"an alias of itself", head("a: &a [*a]"), 2, "anchors"},
		{"a billion laughs", head(laughs), 2, "anchors"},
		{"a merge", head("a: {b: 1}\n<<: {c: d}"), 3, "merges"},
		{"a glob without quotes", head("title: x\npaths:\n  - **/*.go"), 4, "begins with * belongs into quotes"},
		{"a mention without quotes", head("title: @you"), 2, "begins with @ belongs into quotes"},
		{"code without quotes", head("id: x\ntitle: `x`"), 3, "begins with ` belongs into quotes"},
		{"a colon without quotes", head("id: x\nthe title: Exports: as jobs\nsize: small"), 3, "colon in it belongs into quotes"},
		{"a quote that does not end", head("id: x\ntitle: \"Exports\nsize: small"), 3, "end of stream"},
		{"brackets that do not end", head("id: x\npaths: [a, b"), 3, "no YAML"},
		{"a tag", head("title: !!binary aGk="), 2, "tags"},
		{"a tag of one's own", head("title: !important x"), 2, "begins with !"},
		{"a list", head("- title: x"), 2, "this is a list"},
		{"a sentence", head("Just text."), 2, "this is a text"},
		{"a number", head("42"), 2, "this is a number"},
		{"two documents", head("title: x\n--- y"), 3, "goes on"},
		{"more behind its end", head("title: x\n...\nsize: small"), 4, "no YAML"},
		{"a list as a key", head("[a, b]: c"), 2, "a key is a word"},
		{"no key", head("title: x\n: y"), 3, "no YAML"},
		{"an empty key", head("title: x\n\"\": y"), 3, "a key is a word"},
		{"a key that is too long", head(strings.Repeat("k", keyMax+1) + ": x"), 2, "a key is a word"},
		{"64 KiB of brackets", head(strings.Repeat("[", HeadMax-1)), 2, "no YAML"},
		{"64 KiB of braces", head(strings.Repeat("{a: ", HeadMax/4-1)), 2, "no YAML"},
		{"64 KiB of dashes", head(strings.Repeat("- ", HeadMax/2-1)), 2, ""},
		{"deeper than there is use for", head("a: " + strings.Repeat("[", depthMax+1) + strings.Repeat("]", depthMax+1)), 2, "deeper than"},
		{"a head that is too large", head("a: " + strings.Repeat("x", HeadMax)), 1, "at most 65536"},
		{"a body that is too long", "---\na: b\n---\n" + strings.Repeat("x", 5<<20), 4, "5242880 bytes, at most 1048576"},
		{"a body that is too long without a head", strings.Repeat("x", BodyMax+1), 1, "at most 1048576"},
		{"not UTF-8", "---\na: b\n---\nText\n\xff\n", 5, "UTF-8"},
		{"cut within a character", "a\nb\xe2\x82", 2, "UTF-8"},
		{"a NUL", "---\na: b\x00\n---\n", 2, "NUL"},
		{"a NUL by its number", head(`a: "\0"`), 2, "NUL"},
		{"UTF-16", "\xff\xfe-\x00-\x00", 1, "UTF-8"},
		{"a control character", head("id: x\ntitle: a\x1bb"), 3, "control characters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(tt.text))
			var fault *Error
			if !errors.As(err, &fault) {
				t.Fatalf("it is taken: %v", err)
			}
			if fault.Line != tt.line || !strings.Contains(fault.Text, tt.want) || len(fault.Text) > 400 {
				t.Errorf("line %d: %q, wanted line %d: %q", fault.Line, fault.Text, tt.line, tt.want)
			}
		})
	}
}

// TestLimits: as much as may be is taken.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"head":  "---\na: " + strings.Repeat("x", HeadMax-4) + "\n---\n",
		"body":  "---\na: b\n---\n\n" + strings.Repeat("x", BodyMax) + "\n",
		"key":   "---\n" + strings.Repeat("k", keyMax) + ": b\n---\n",
		"depth": "---\na: " + strings.Repeat("[", depthMax) + strings.Repeat("]", depthMax) + "\n---\n",
	} {
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"depends_on", "dependsOn", "DependsOn", "depends-on", "Depends on", "DEPENDS_ON"} {
		if got := Key(name); got != "depends_on" {
			t.Errorf("%s is %s", name, got)
		}
	}
	if Key("ID") != "id" || Key("a1B") != "a1_b" || Key("") != "" {
		t.Errorf("%s %s %s", Key("ID"), Key("a1B"), Key(""))
	}
}

func TestGetters(t *testing.T) {
	t.Parallel()
	d, err := Parse([]byte(`---
title: Exports
number: 0070
big: 99999999999999999999
yes: yes
no: "FALSE"
odd: maybe
none:
list: [a, 2, 3.10, true]
nested: [[a]]
hole:
  - a
  -
map: {a: b}
quoted: "12"
empty: []
id: 222222222222
exp: 2e3456723456
---
`))
	if err != nil {
		t.Fatal(err)
	}
	any1 := func(v any, err error) string {
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%#v", v)
	}
	for _, tt := range []struct{ name, got, want string }{
		{"text", any1(d.Text("title")), `"Exports"`},
		{"a number as a text", any1(d.Text("number")), `"0070"`},
		{"an id of digits", any1(d.Text("id")), `"222222222222"`},
		{"an id like a float", any1(d.Text("exp")), `"2e3456723456"`},
		{"a list as a text", any1(d.Text("list")), "line 9: list takes one text, and this is a list"},
		{"a mapping as a text", any1(d.Text("map")), "line 14: map takes one text, and this is a mapping"},
		{"no value", any1(d.Text("none")), `""`},
		{"no key", any1(d.Text("nowhere")), `""`},
		{"yes", any1(d.Bool("yes")), "true"},
		{"no", any1(d.Bool("no")), "false"},
		{"maybe", any1(d.Bool("odd")), "line 7: odd takes true or false"},
		{"a number as a bool", any1(d.Bool("number")), "line 3: number takes true or false"},
		{"a list as a bool", any1(d.Bool("empty")), "line 16: empty takes true or false"},
		{"int", any1(d.Int("number")), "70"},
		{"a quoted int", any1(d.Int("quoted")), "12"},
		{"too great", any1(d.Int("big")), "line 4: big takes a whole number"},
		{"a text as an int", any1(d.Int("title")), "line 2: title takes a whole number"},
		{"a list as an int", any1(d.Int("list")), "line 9: list takes a whole number"},
		{"a list", any1(d.Texts("list")), `[]string{"a", "2", "3.10", "true"}`},
		{"a list of one", any1(d.Texts("title")), `[]string{"Exports"}`},
		{"a list of none", any1(d.Texts("empty")), `[]string{}`},
		{"no list", any1(d.Texts("none")), `[]string(nil)`},
		{"lists in a list", any1(d.Texts("nested")), "line 10: nested takes a list of texts, and an entry is a list"},
		{"an empty entry", any1(d.Texts("hole")), "line 13: hole takes a list of texts, and an entry is empty"},
		{"a mapping as a list", any1(d.Texts("map")), "line 14: map takes a list of texts, and this is a mapping"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, wanted %s", tt.name, tt.got, tt.want)
		}
	}
}

func TestAny(t *testing.T) {
	t.Parallel()
	d, err := Parse([]byte("---\na: {b: [1, 2.5, yes, TRUE, ~, .inf, 99999999999999999999, 0x10]}\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"b": []any{int64(1), 2.5, "yes", true, nil, ".inf", 1e20, "0x10"}}
	if diff := cmp.Diff(want, d.Fields[0].Value.Any()); diff != "" {
		t.Error(diff)
	}
}
