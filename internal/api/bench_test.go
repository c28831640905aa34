package api_test

import (
	"context"
	"iter"
	"testing"

	"cw/internal/api"
	"cw/internal/cw"
)

// manyChunks yields the same 500 bytes n times.
type manyChunks struct {
	cw.Services
	n int
}

func (m *manyChunks) Output(context.Context, string, cw.OutputQuery) iter.Seq2[cw.Chunk, error] {
	return func(yield func(cw.Chunk, error) bool) {
		data := make([]byte, 500)
		for i := range m.n {
			if !yield(cw.Chunk{ID: int64(i + 1), SessionNumber: 1, Offset: int64(i * 500), Bytes: data}, nil) {
				return
			}
		}
	}
}

// BenchmarkOutput is one chunk of 500 bytes from the iterator through the
// socket to the client's iterator.
func BenchmarkOutput(b *testing.B) {
	chunks := &manyChunks{n: b.N}
	d := startDaemon(b, func(o *api.Options) { chunks.Services, o.Services = o.Services, chunks })
	b.SetBytes(500)
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for _, err := range d.client("").Output(b.Context(), "x", cw.OutputQuery{}) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n != b.N {
		b.Fatalf("%d of %d", n, b.N)
	}
}
