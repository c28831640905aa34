package parsers

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// cutLine is a delivered line in a form that can be compared.
type cutLine struct {
	Text string
	Size int64
}

// split feeds the data in pieces that end at the cuts.
func split(data []byte, cuts []int) []cutLine {
	var out []cutLine
	s := NewSplitter(func(l Line) { out = append(out, cutLine{string(l.Bytes), l.Size}) })
	for _, piece := range pieces(data, cuts) {
		s.Feed(piece)
	}
	s.Flush()
	return out
}

func pieces(data []byte, cuts []int) [][]byte {
	var out [][]byte
	begin := 0
	for _, cut := range cuts {
		if cut > begin && cut < len(data) {
			out = append(out, data[begin:cut])
			begin = cut
		}
	}
	return append(out, data[begin:])
}

func TestSplitter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"a", []string{"a"}},
		{"a\n", []string{"a"}},
		{"a\nb", []string{"a", "b"}},
		{"\n\n", []string{"", ""}},
		{"a\r\nb\r\n", []string{"a", "b"}},
		{"a\rb\n", []string{"a\rb"}},
		{"a\r\r\n", []string{"a\r"}},
		{"a\r", []string{"a"}},
		{"\r\n", []string{""}},
		{"\xff\x00\n", []string{"\xff\x00"}},
	}
	for _, tt := range tests {
		for size := 1; size <= len(tt.in)+1; size++ {
			var cuts []int
			for at := size; at < len(tt.in); at += size {
				cuts = append(cuts, at)
			}
			var got []string
			for _, l := range split([]byte(tt.in), cuts) {
				got = append(got, l.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q in pieces of %d, -want +got:\n%s", tt.in, size, diff)
			}
		}
	}
}

// TestSplitterOversized: at the border of what is kept, with and without CR,
// the lines are the same however they come, and memory stays bounded.
func TestSplitterOversized(t *testing.T) {
	t.Parallel()
	line := bytes.Repeat([]byte("x"), LineMax+3)
	for extra := -1; extra <= 2; extra++ {
		for _, end := range []string{"\n", "\r\n", "", "\r"} {
			data := append(append([]byte{}, line[:LineMax+extra]...), end...)
			data = append(data, "next"...)
			if end == "" || end == "\r" {
				data = data[:len(data)-len("next")]
			}
			whole := split(data, nil)
			for _, cuts := range [][]int{{1}, {LineMax}, {LineMax + 1}, {LineMax + 2}, {LineMax - 1, LineMax, LineMax + 1}, {len(data) - 1}} {
				if got := split(data, cuts); !cmp.Equal(whole, got) {
					t.Errorf("extra %d, end %q, cuts %v: sizes differ", extra, end, cuts)
				}
			}
			if keeps := int64(len(whole[0].Text)); keeps > LineMax || whole[0].Size-keeps > 3 {
				t.Errorf("extra %d, end %q: keeps %d of %d", extra, end, keeps, whole[0].Size)
			}
		}
	}
}

func TestHugeLineStaysBounded(t *testing.T) {
	// Not parallel: it looks at the memory of the process.
	var unknown, after int
	p, err := New(FormatClaude, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := NewReading(p)
	piece := bytes.Repeat([]byte("y"), 64<<10)
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 200 << 20 / len(piece) {
		r.Feed(piece)
	}
	runtime.GC()
	runtime.ReadMemStats(&during)
	if grown := int64(during.HeapAlloc) - int64(before.HeapAlloc); grown > 2*LineMax {
		t.Errorf("200 MB without a line end: the heap grew by %d MB", grown>>20)
	}
	events := r.Feed([]byte("\n{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n"))
	unknown, after = r.Unknown(), len(events)
	if unknown != 1 || after != 2 || !strings.Contains(events[0].Text, fmt.Sprint(200<<20)) || events[1].SessionID != "s" {
		t.Errorf("unknown %d, events %+v", unknown, events)
	}
}

// TestAnyPieces: the events of every recording are the same however its bytes
// are cut, and so is what a reader sees that starts to listen in the middle.
func TestAnyPieces(t *testing.T) {
	t.Parallel()
	var paths []string
	for _, r := range recordedFormats() {
		paths = append(paths, recordings(t, r)...)
	}
	rapid.Check(t, func(rt *rapid.T) {
		data, err := os.ReadFile(rapid.SampledFrom(paths).Draw(rt, "recording"))
		if err != nil {
			rt.Fatal(err)
		}
		spoil(data, rapid.SliceOfN(rapid.IntRange(0, len(data)-1), 0, 3).Draw(rt, "spoiled"))
		data = data[:rapid.IntRange(0, len(data)).Draw(rt, "length")]
		seed := rapid.Uint64().Draw(rt, "seed")
		for _, format := range Formats() {
			whole := read(t, format, data)
			got := readPieces(t, format, data, seed)
			if !cmp.Equal(whole, got, cmp.AllowUnexported(Summary{})) {
				rt.Fatalf("%s: in pieces it reads otherwise:\n%s", format, cmp.Diff(whole, got, cmp.AllowUnexported(Summary{})))
			}
		}
	})
}

func spoil(data []byte, at []int) {
	for i, n := range at {
		data[n] = []byte{0xff, '\n', '"'}[i%3]
	}
}

func readPieces(t *testing.T, format string, data []byte, seed uint64) golden {
	t.Helper()
	p, err := New(format, recordedOptions(t, format))
	if err != nil {
		t.Fatal(err)
	}
	r := NewReading(p)
	rng := rand.New(rand.NewPCG(seed, 1))
	var g golden
	for len(data) > 0 {
		n := min(len(data), 1+rng.IntN([]int{1, 7, 300, 70000}[rng.IntN(4)]))
		piece := bytes.Clone(data[:n])
		g.Events = append(g.Events, r.Feed(piece)...)
		for i := range piece { // events must not point into the caller's buffer
			piece[i] = '#'
		}
		data = data[n:]
	}
	g.Events = append(g.Events, r.Flush()...)
	g.Unknown = r.Unknown()
	for _, ev := range g.Events {
		g.Summary.Add(ev)
	}
	return g
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a\r\nb\n\nc"), uint64(1))
	f.Add([]byte("\r\n\r"), uint64(2))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var cuts []int
		for at := 0; at < len(data); at += 1 + rng.IntN(5) {
			cuts = append(cuts, at)
		}
		got := split(data, cuts)
		if !cmp.Equal(got, split(data, nil)) {
			t.Fatalf("cut %v: %+v", cuts, got)
		}
		var size int64
		for _, l := range got {
			size += l.Size
		}
		if ends := int64(bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r"))); size < int64(len(data))-ends-1 {
			t.Fatalf("%d of %d bytes came out", size, len(data))
		}
	})
}
