package fakecli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// hugeLine is the length of a huge line.
const hugeLine = 200 << 10

// Stream gives the bytes that a script writes, piece by piece; each piece is
// one write(2). The same seed gives the same bytes, so that what was stored
// can be compared byte for byte, also when the writer was killed half way.
type Stream struct {
	rng   *rand.Rand
	tame  bool
	n     int
	carry []byte // the rest of a torn line
}

// NewStream starts a stream.
func NewStream(seed uint64, tame bool) *Stream {
	return &Stream{rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), tame: tame}
}

// Next gives the next piece: whole lines, torn ones, several at once, huge
// ones, and bytes that are no UTF-8.
func (s *Stream) Next() []byte {
	s.n++
	line := fmt.Appendf(nil, "line %d %x\n", s.n, s.rng.Uint64())
	if s.tame {
		return line
	}
	piece := append(s.carry, line...)
	s.carry = nil
	switch s.rng.IntN(200) {
	case 0, 10, 20, 30, 40, 50, 60, 70: // invalid UTF-8, zero bytes, carriage returns
		piece = append(piece, 0xff, 0xfe, 0x00, '\r', 0xc3, '\n')
	case 1: // a huge line
		piece = append(piece, bytes.Repeat([]byte{byte('a' + s.n%26)}, hugeLine+s.rng.IntN(1000))...)
		piece = append(piece, '\n')
	case 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19: // torn: the rest comes with the next piece
		cut := 1 + s.rng.IntN(len(piece)-1)
		s.carry = bytes.Clone(piece[cut:])
		piece = piece[:cut]
	case 22, 23, 24, 25: // many short lines at once
		for range 50 {
			piece = fmt.Appendf(piece, "%d\n", s.rng.IntN(1000))
		}
	}
	return piece
}

// Bytes gives everything that n pieces hold.
func (s *Stream) Bytes(n int) []byte {
	var all []byte
	for range n {
		all = append(all, s.Next()...)
	}
	return all
}
