package cw

import (
	"context"
	"iter"
	"time"
)

// ChunkMax is the greatest size of one chunk in bytes.
const ChunkMax = 64 << 10

// ChunksSure is how many chunks one read of the store gives, if they are there,
// however large they are.
const ChunksSure = 64

// Chunk is a piece of an agent's raw output. (AgentID, SessionNumber, Offset)
// is unique, and the next offset is always the end of the last chunk, so that
// every byte is stored exactly once and in order. Chunks outlive their agent.
type Chunk struct {
	ID            int64     `json:"id" gorm:"primaryKey;autoIncrement" doc:"number; the stream goes on after it"`
	AgentID       AgentID   `json:"agentId" doc:"the agent"`
	AgentName     string    `json:"agentName" doc:"its name"`
	SessionNumber int       `json:"session" doc:"number of the run"`
	Offset        int64     `json:"offset" doc:"place of the first byte in the session"`
	Bytes         []byte    `json:"bytes" doc:"raw output, base64, at most 64 KiB"`
	CreatedAt     time.Time `json:"createdAt" doc:"when it was stored"`
}

// End is the offset after the chunk's last byte.
func (c Chunk) End() int64 { return c.Offset + int64(len(c.Bytes)) }

// OutputUntil says when reading an agent's output ends.
type OutputUntil string

// The ends of reading.
const (
	UntilNow    OutputUntil = "now"    // after what is stored
	UntilRest   OutputUntil = "rest"   // when the agent is at rest and all its output was sent
	UntilClosed OutputUntil = "closed" // never: new runs too, until the caller lets go
)

// OutputQuery selects output of one agent.
type OutputQuery struct {
	Session int         `json:"session,omitempty"` // 0: all, from the first
	Only    bool        `json:"only,omitempty"`    // only that session
	Offset  int64       `json:"offset,omitempty"`  // within Session
	AfterID int64       `json:"afterId,omitempty"` // resume after this chunk; wins over Session and Offset
	Until   OutputUntil `json:"until,omitempty"`   // default UntilNow
}

// OutputEvent is a stream event with its place in the output.
type OutputEvent struct {
	Position string      `json:"position" doc:"place in the output: <session>:<offset>:<n>"`
	ChunkID  int64       `json:"chunkId" doc:"the chunk in which its line ends"`
	Session  int         `json:"session" doc:"number of the run"`
	At       time.Time   `json:"at" doc:"when its line was stored"`
	Event    StreamEvent `json:"event" doc:"what the line means"`
}

// LogService is what faces may do with agents' output. It reads stored chunks
// only, never files.
type LogService interface {
	// Output yields chunks in order: what is stored first, then live, without
	// a gap or a double. An error is yielded last.
	Output(ctx context.Context, ref string, q OutputQuery) iter.Seq2[Chunk, error]
	// OutputEvents yields the same output as parsed events.
	OutputEvents(ctx context.Context, ref string, q OutputQuery) iter.Seq2[OutputEvent, error]
	// OutputPage gives a piece of what is stored of it as parsed events, from the
	// end on unless the query says otherwise, without reading all before it.
	// CodeInvalid; CodeNotFound; CodeGone when nothing of it is kept.
	OutputPage(ctx context.Context, ref string, q OutputPageQuery) (OutputPage, error)
}
