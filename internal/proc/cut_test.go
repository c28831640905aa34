package proc

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCut(t *testing.T) {
	t.Parallel()
	line := func(n int) string { return strings.Repeat("x", n-1) + "\n" }
	tests := []struct {
		name  string
		in    string
		final bool
		sizes []int
		rest  int
	}{
		{"nothing", "", false, nil, 0},
		{"nothing, final", "", true, nil, 0},
		{"an unfinished line", "abc", false, nil, 3},
		{"an unfinished line, final", "abc", true, []int{3}, 0},
		{"lines stay together", "a\nb\nc\n", false, []int{6}, 0},
		{"lines and a beginning", "a\nb\nc", false, []int{4}, 1},
		{"lines and an end without newline", "a\nb\nc", true, []int{5}, 0},
		{"blank lines", "\n\n\n", false, []int{3}, 0},
		{"just fits", line(MaxChunk), false, []int{MaxChunk}, 0},
		{"one too long", line(MaxChunk + 1), false, []int{MaxChunk, 1}, 0},
		{"too long, unfinished", strings.Repeat("x", 2*MaxChunk+5), false, []int{MaxChunk, MaxChunk}, 5},
		{"too long, unfinished, final", strings.Repeat("x", 2*MaxChunk+5), true, []int{MaxChunk, MaxChunk, 5}, 0},
		{"exactly full, unfinished", strings.Repeat("x", MaxChunk), false, []int{MaxChunk}, 0},
		{"cut at the last line end that fits", line(10) + line(MaxChunk), false, []int{10, MaxChunk}, 0},
		{"a long line after a short one", line(10) + line(MaxChunk+7), false, []int{10, MaxChunk, 7}, 0},
		{"the end of a long line goes with the next", line(MaxChunk+7) + line(20), false, []int{MaxChunk, 27}, 0},
		{"full and a little, final", line(MaxChunk) + "x", true, []int{MaxChunk, 1}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks, rest := Cut([]byte(tt.in), tt.final)
			var sizes []int
			for _, c := range chunks {
				sizes = append(sizes, len(c))
			}
			if diff := cmp.Diff(tt.sizes, sizes); diff != "" || rest != tt.rest {
				t.Errorf("rest %d, want %d; sizes (-want +got):\n%s", rest, tt.rest, diff)
			}
			checkCut(t, []byte(tt.in), tt.final)
		})
	}
}

// checkCut says what holds for every cut.
func checkCut(t interface {
	Helper()
	Fatalf(string, ...any)
}, in []byte, final bool,
) {
	t.Helper()
	chunks, rest := Cut(in, final)
	whole := append(bytes.Join(chunks, nil), in[len(in)-rest:]...)
	if !bytes.Equal(whole, in) {
		t.Fatalf("chunks and rest are not the input")
	}
	if rest > 0 && (final || rest >= MaxChunk || bytes.IndexByte(in[len(in)-rest:], '\n') >= 0) {
		t.Fatalf("rest %d of %d, final %v", rest, len(in), final)
	}
	at := 0
	for i, c := range chunks {
		at += len(c)
		switch {
		case len(c) == 0 || len(c) > MaxChunk:
			t.Fatalf("chunk %d has %d bytes", i, len(c))
		case c[len(c)-1] == '\n':
			// A fuller chunk would have been possible if the next line fits too.
			if i+1 < len(chunks) {
				next := bytes.IndexByte(chunks[i+1], '\n') + 1
				if next > 0 && len(c)+next <= MaxChunk {
					t.Fatalf("chunk %d has room for the next line", i)
				}
			}
		case at == len(in) && final:
		case len(c) != MaxChunk || bytes.IndexByte(c, '\n') >= 0:
			t.Fatalf("chunk %d is cut inside a line that is not longer than a chunk", i)
		}
	}
}

func TestCutProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.IntRange(0, 3*MaxChunk), 0, 6).Draw(t, "lines")
		var in []byte
		for _, n := range lines {
			in = append(append(in, bytes.Repeat([]byte{'x'}, n)...), '\n')
		}
		if len(in) > 0 && rapid.Bool().Draw(t, "unfinished") {
			in = in[:len(in)-1]
		}
		checkCut(t, in, rapid.Bool().Draw(t, "final"))
	})
}

func FuzzCut(f *testing.F) {
	f.Add([]byte("a\nb"), 1, false)
	f.Add([]byte("\n"), MaxChunk, true)
	f.Add([]byte("xxxx\n"), MaxChunk/2, false)
	f.Fuzz(func(t *testing.T, piece []byte, times int, final bool) {
		if times < 0 || len(piece)*times > 4*MaxChunk || times > MaxChunk {
			return
		}
		checkCut(t, bytes.Repeat(piece, times), final)
	})
}
