package frontmatter

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	d := Document{Fields: []Field{
		field("id", StringValue("222222222222")),
		field("title", StringValue("Exports: as jobs")),
		field("plain", StringValue("It's 100% [sure], really")),
		field("date", StringValue("2026-11-22")),
		field("word", StringValue("true")),
		field("glob", ListValue([]string{"**/*.go", "internal/exports/**", "a b "})),
		field("none", ListValue([]string(nil))),
		field("n", IntValue(3)),
		field("ok", BoolValue(true)),
		field("text", StringValue("one\n\n  two\n")),
		field("kept", StringValue("one\ntwo")),
		field("odd", StringValue(" one\n\x1b")),
		field("nested key", Value{Kind: Map, Fields: []Field{field("a", Value{Kind: List, Items: []Value{{Kind: Map, Fields: []Field{field("b", Value{})}}}}), field("c", Value{Kind: Map})}}),
	}, Body: "\nText\r\n---\r\n"}
	const want = `---
id: "222222222222"
title: "Exports: as jobs"
plain: It's 100% [sure], really
date: "2026-11-22"
word: "true"
glob:
  - "**/*.go"
  - internal/exports/**
  - "a b "
none: []
n: 3
ok: true
text: |
  one

    two
kept: |-
  one
  two
odd: " one\n\x1b"
nested key:
  a:
    -
      b: null
  c: {}
---

Text
---
`
	if diff := cmp.Diff(want, Write(d)); diff != "" {
		t.Errorf("- wanted, + got:\n%s", diff)
	}
}

// TestWriteBodies: a body alone stays alone, unless it would be taken for more.
func TestWriteBodies(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                  "",
		"Text\n---\n":       "Text\n---\n",
		"---\na: b\n---\nc": "---\n---\n---\na: b\n---\nc",
		"\n---\nrule":       "---\n---\n\n---\nrule",
		"\ufeffText":        "---\n---\n\ufeffText",
		"a\x00b\xff\r\nc\r": "a\ufffdb\ufffd\nc\n",
	} {
		if got := Write(Document{Body: body}); got != want {
			t.Errorf("%q: %q", body, got)
		}
	}
}

// odd are texts that YAML takes for something else when they stand plain.
func odd() []string {
	return []string{
		"", " ", "-", "- a", "---", "...", "... x", "--- x", "?", "? a", ":", "a:", "a: b", "a #b", "#", "&a", "*a", "!a", "|", ">", "'", "\"", "%", "@", "`",
		"~", "null", "true", "False", "yes", "0", "007", "0x1F", "0b1", "1_000", "1e3", "2e3456723456", ".inf", ".NaN", "-.inf", "+1", "1.5", "<<", "=", "2026-11-22", "2026-11-22 10:00:00",
		"1:30", "a\nb", "a\n", "\na", "a\n\n", " a\nb", "a\n b", "a\n \nb", "a\n\tb", "a\n  ", "\t", "a\tb", "\r", "a\r\nb", "\u0085", "\u2028", "\ufeff", "\u00a0", "\U0001f600", "a\\b", "[a", "{a", "a]", "a}", "a,b", "a ", "# a\nb", "a\n# b", "---\n---", "a\n---\nb", "a\n...\nb", "\x1b[31m", "a\x7fb",
	}
}

func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom(odd()),
		rapid.StringMatching(`[a-z0-9 :#'"\-\n\t]{0,20}`),
		rapid.Map(rapid.String(), func(s string) string { return strings.ReplaceAll(s, "\x00", "") }),
	)
}

func fields(depth int) *rapid.Generator[[]Field] {
	return rapid.Custom(func(t *rapid.T) []Field {
		var out []Field
		seen := map[string]bool{}
		for _, key := range rapid.SliceOfN(texts(), 0, 4).Draw(t, "keys") {
			if n := utf8.RuneCountInString(key); n == 0 || n > keyMax || seen[Key(key)] {
				continue
			}
			seen[Key(key)] = true
			out = append(out, field(key, values(depth).Draw(t, "value")))
		}
		return out
	})
}

func values(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		kinds := []Kind{Null, String, String, Bool, Int, Float, List, Map}
		if depth == 0 {
			kinds = kinds[:6]
		}
		v := Value{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		switch v.Kind {
		case String:
			v.Text = texts().Draw(t, "text")
		case Bool:
			v.Text = rapid.SampledFrom([]string{"true", "false", "True", "FALSE"}).Draw(t, "bool")
		case Int:
			return IntValue(rapid.Int().Draw(t, "int"))
		case Float:
			v.Text = rapid.SampledFrom([]string{"1.5", "-2.50", "1e3", ".inf", ".nan"}).Draw(t, "float")
		case List:
			v.Items = rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "items")
		case Map:
			v.Fields = fields(depth-1).Draw(t, "fields")
		}
		return v
	})
}

// TestRoundTrip: what is written reads as what it was.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := texts().Draw(t, "body")
		d := Document{Fields: fields(3).Draw(t, "head"), Body: lineEnds(body)}
		text := Write(d)
		got, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		if diff := cmp.Diff(d, got, said()); diff != "" {
			t.Fatalf("%q: - was, + is:\n%s", text, diff)
		}
		if again := Write(got); again != text {
			t.Fatalf("%q became %q", text, again)
		}
	})
}

// TestOddTexts holds the round trip for each text that is known to be hard, as
// a value, an entry, a key and a body.
func TestOddTexts(t *testing.T) {
	t.Parallel()
	for _, s := range odd() {
		d := Document{Fields: []Field{field("v", StringValue(s)), field("l", ListValue([]string{s, s}))}, Body: lineEnds(s)}
		if s != "" {
			d.Fields = append(d.Fields, field(s, StringValue(s)))
		}
		text := Write(d)
		got, err := Parse([]byte(text))
		if diff := cmp.Diff(d, got, said()); err != nil || diff != "" {
			t.Errorf("%q as %q: %v\n%s", s, text, err, diff)
		}
	}
}

// FuzzParse: whatever is read can be written, and reads the same again; what is
// refused has a line of the text.
func FuzzParse(f *testing.F) {
	for _, s := range append(odd(), "---\na: [b, {c: d}]\n---\ntext", "---\r\na: |\r\n  b\r\n---\r\n", "---\na: &x *x\n---", "---\n\ta\n---\n", "\n\n---\n? a\n: b\n---\n") {
		f.Add([]byte(s))
		f.Add([]byte("---\na: " + s + "\n---\n" + s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse(data)
		if err != nil {
			fault, ok := err.(*Error)
			if lines := 2 + strings.Count(lineEnds(string(data)), "\n"); !ok || fault.Line < 1 || fault.Line > lines || fault.Text == "" {
				t.Errorf("%#v of %d lines", err, lines)
			}
			return
		}
		text := Write(d)
		got, err := Parse([]byte(text))
		if err != nil {
			if len(text) > HeadMax { // quotes and escapes are longer than what they stand for
				return
			}
			t.Fatalf("%v in %q", err, text)
		}
		if diff := cmp.Diff(d, got, said()); diff != "" {
			t.Errorf("%q: - was, + is:\n%s", text, diff)
		}
		for _, f := range d.Fields { // none of them panics
			key := Key(f.Key)
			_, _ = d.Text(key)
			_, _ = d.Bool(key)
			_, _ = d.Int(key)
			_, _ = d.Texts(key)
			_ = f.Value.Any()
		}
	})
}
