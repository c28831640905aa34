package parsers

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestContinueLines covers what no recording shows.
func TestContinueLines(t *testing.T) {
	t.Parallel()
	text := func(line string) []cw.StreamEvent { return []cw.StreamEvent{{Kind: cw.StreamText, Text: line + "\n"}} }
	for _, line := range []string{
		"", "Hello.", "{", `{"response":"cut off","status":"succ`,
		`{"answer":42}`,                               // the model's own JSON is printed as it is
		`{"response":"mine","status":"success"}`,      // even when it looks like the end
		`{"status":"error","message":"tests failed"}`, // the CLI's own are on stderr
		`{"status":"success","note":"n"}`,
		`["{"]`,
	} {
		got := read(t, FormatContinue, []byte(line+"\n"))
		if diff := cmp.Diff(text(line), got.Events); diff != "" || got.Unknown != 0 {
			t.Errorf("%s: %d unknown, -want +got:\n%s", line, got.Unknown, diff)
		}
	}
}

func FuzzContinue(f *testing.F) { fuzz(f, FormatContinue) }
