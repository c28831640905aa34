package inert

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain äöü 日本 🙂\ttab\n":              "plain äöü 日本 🙂\ttab\n",
		"\x1b[31mred\x1b[0m":                 "red",
		"\x1b]0;title\x07after":              "after",
		"\x1b]8;;http://x\x1b\\link":         "link",
		"\x1bP1$r\x1b\\dcs":                  "dcs",
		"\x1b(Bcharset \x1b7saved\x1bcreset": "charset savedreset",
		"\u009b31mone-character csi":         "one-character csi",
		"\u009dtitle\u009cafter":             "after",
		"a\rb":                               "a\nb",
		"a\r\nb":                             "a\nb",
		"bell\a back\b null\x00 del\x7f":     "bell back null del",
		"bad \xff\xfe utf8":                  "bad \ufffd\ufffd utf8",
		"turned \u202egnp.exe":               "turned gnp.exe",
		"cut off \x1b[31":                    "cut off ",
		"cut off \x1b":                       "cut off ",
		"string without end \x1b]0;x\nnext":  "string without end \nnext",
		"\x1b[31\x1b[32mnested":              "nested",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzClean: nothing that a terminal obeys gets through, and what is clean
// stays.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[31mred", "\x1b]0;t\x07", "\u009b1m", "\xff", "a\rb", "\x1b\x1b[m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := Clean(s)
		if !utf8.ValidString(out) {
			t.Errorf("%q is not UTF-8", out)
		}
		if i := strings.IndexFunc(out, Unsafe); i >= 0 {
			t.Errorf("%q keeps a control character at %d", out, i)
		}
		if again := Clean(out); again != out {
			t.Errorf("clean again: %q, then %q", out, again)
		}
		if strings.ContainsFunc(Line(s), func(r rune) bool { return r == '\n' || r == '\t' }) {
			t.Errorf("%q is not one line", Line(s))
		}
	})
}
