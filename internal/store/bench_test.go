package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
)

const (
	benchAgents = 200
	benchBytes  = 500
)

// BenchmarkAppendChunks has 200 agents append 500 bytes each, one call per
// agent, all at once. One operation is one chunk of each.
func BenchmarkAppendChunks(b *testing.B) {
	bn := newBench(b)
	bn.run()
	body := make([]byte, benchBytes)
	b.SetBytes(benchAgents * benchBytes)
	b.ResetTimer()
	var wg sync.WaitGroup
	for a := range benchAgents {
		wg.Go(func() {
			id := cw.AgentID(fmt.Sprintf("agent%d", a))
			for i := range b.N {
				c := cw.Chunk{AgentID: id, AgentName: "brave-otter", SessionNumber: 1, Offset: int64(i) * benchBytes, Bytes: body}
				if _, err := bn.AppendChunks(context.Background(), []cw.Chunk{c}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N*benchAgents)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkAppendOneCaller has one caller append for all 200 agents at once.
func BenchmarkAppendOneCaller(b *testing.B) {
	bn := newBench(b)
	bn.run()
	body := make([]byte, benchBytes)
	b.SetBytes(benchAgents * benchBytes)
	b.ResetTimer()
	for i := range b.N {
		batch := make([]cw.Chunk, benchAgents)
		for a := range batch {
			batch[a] = cw.Chunk{AgentID: cw.AgentID(fmt.Sprintf("agent%d", a)), AgentName: "brave-otter", SessionNumber: 1, Offset: int64(i) * benchBytes, Bytes: body}
		}
		if _, err := bn.AppendChunks(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*benchAgents)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkFloor is the floor: the same rows by a bare prepared statement in
// batches of the same size, with no check and nobody waiting.
func BenchmarkFloor(b *testing.B) {
	bn := newBench(b)
	body := make([]byte, benchBytes)
	insert, err := bn.log.writer.Prepare(insertChunk)
	bn.must(err)
	defer func() { _ = insert.Close() }()
	b.SetBytes(benchAgents * benchBytes)
	b.ResetTimer()
	for i := range b.N {
		tx, err := bn.log.writer.Begin()
		bn.must(err)
		bound := tx.Stmt(insert)
		now := time.Now()
		for a := range benchAgents {
			if _, err := bound.Exec(fmt.Sprintf("agent%d", a), "brave-otter", 1, int64(i)*benchBytes, body, now); err != nil {
				b.Fatal(err)
			}
		}
		bn.must(tx.Commit())
	}
	b.ReportMetric(float64(b.N*benchAgents)/b.Elapsed().Seconds(), "rows/s")
}
