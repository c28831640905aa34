package parsers

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWords: what is given is the end of the whole text, however it came, and
// a copy stays as it was.
func TestWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var w, early Words
		whole, then := "", ""
		lengths := rapid.SliceOfN(rapid.IntRange(0, 1500), 0, 40).Draw(t, "lengths")
		at := rapid.IntRange(0, 40).Draw(t, "copied before")
		for i, n := range lengths {
			if i == at {
				early, then = w, w.String()
			}
			p := string(rune('a'+i)) + strings.Repeat("é", n) + strings.Repeat(".", (i+1)%2)
			w.add(p)
			whole += p
		}
		if got, want := w.String(), endOf(whole); got != want {
			t.Fatalf("%d bytes, want %d: %q, want %q", len(got), len(want), got, want)
		}
		if early.String() != then {
			t.Fatal("a copy changed")
		}
	})
}

// endOf is the same in one step: whole characters of the last 2000 bytes.
func endOf(text string) string {
	for i := range text {
		if len(text)-i <= lastTextMax {
			return text[i:]
		}
	}
	return ""
}
