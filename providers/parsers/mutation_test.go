package parsers

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestMutations holds every parser against broken forms of all its recordings:
// it never panics, never makes a good end of what was none, and counts no usage
// twice when a line comes twice.
func TestMutations(t *testing.T) {
	t.Parallel()
	for _, r := range recordedFormats() {
		if slices.Contains(jsonFormats(), r.format) {
			continue // TestJSONMutations holds them, against more
		}
		for _, path := range recordings(t, r) {
			t.Run(recordingName(path), func(t *testing.T) {
				t.Parallel()
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				opts := recordedOptions(t, r.format)
				whole := summaryOf(t, r.format, opts, data)
				for name, form := range mutations(data, chance(path)) {
					got := summaryOf(t, r.format, opts, form)
					if r.format == FormatACP && !strings.HasPrefix(name, "cut") {
						continue // an agent may tell its error in its words only: without that line there is none
					}
					holdMutation(t, name, whole, got)
				}
			})
		}
	}
}

func holdMutation(t *testing.T, name string, whole, got Summary) {
	t.Helper()
	if endOfRun(got) == good && endOfRun(whole) != good {
		t.Errorf("%s: it ended well, and the whole recording did not: %+v", name, got)
	}
	if strings.HasSuffix(name, " twice") && got.Usage != whole.Usage {
		t.Errorf("%s: %+v, and the whole recording %+v", name, got.Usage, whole.Usage)
	}
}

// chance is a source of chance that is the same in each run of the tests.
func chance(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// fuzz feeds a format with anything: no output takes the program down, all that
// comes out can be sent as JSON, and the same bytes give the same.
func fuzz(f *testing.F, format string, lines ...string) {
	f.Helper()
	for _, r := range recordedFormats() {
		if r.format != format {
			continue
		}
		for _, path := range recordings(f, r) {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte(strings.Join(lines, "\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		first := read(t, format, data)
		for _, ev := range first.Events {
			out, err := json.Marshal(ev)
			if err != nil || !utf8.Valid(out) {
				t.Fatalf("%+v: %v", ev, err)
			}
		}
		if diff := cmp.Diff(first, read(t, format, data), cmp.AllowUnexported(Summary{})); diff != "" {
			t.Fatalf("the second time (+) it is otherwise:\n%s", diff)
		}
	})
}
