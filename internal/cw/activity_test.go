package cw_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"cw/internal/cw"
)

func TestSubject(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                        "",
		"\n  \n\t go test  ./...\r\nrm -rf":       "go test ./...",
		"\x1b[31mred\x1b[0m \x1b]0;title\x07 x":   "red x",
		"a\u202egnp.exe\u2066 b\u200bc\ufeff":     "agnp.exe bc",
		"nul\x00 bell\a del\x7f c1\u0085x\u2028y": "nul bell del c1 x y",
		"half \x1b[":                              "half [",
		"bad \xff\xfe utf":                        "bad utf",
		"\u200b\nnext":                            "next",
		strings.Repeat("x", 200):                  strings.Repeat("x", 200),
		strings.Repeat("x", 201):                  strings.Repeat("x", 197) + "…",
		strings.Repeat("ü", 150):                  strings.Repeat("ü", 98) + "…",
	} {
		got := cw.Subject(in)
		if got != want || len(got) > cw.SubjectMax || !utf8.ValidString(got) {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
