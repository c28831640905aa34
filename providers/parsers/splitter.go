package parsers

import "bytes"

// Limits of the splitter.
const (
	// LineMax is how many bytes of one line are kept. CLIs write whole tool
	// results into one line; of a longer line the beginning is delivered.
	LineMax = 8 << 20
	// bufferKept is how large an idle buffer may stay.
	bufferKept = 1 << 20
)

// Line is one line of output without its line end (LF, or CR LF).
type Line struct {
	Bytes []byte // valid only during the call; of an oversized line the first LineMax bytes
	Size  int64  // the length of the whole line
}

// Oversized tells whether only the beginning of the line was kept.
func (l Line) Oversized() bool { return l.Size > int64(len(l.Bytes)) }

// Splitter cuts a stream of arbitrary pieces into lines. Which lines come out
// depends on the bytes alone, not on how they were cut; memory stays below
// twice LineMax whatever comes in. It must not be bufio.Scanner, which gives up
// at a long line.
type Splitter struct {
	onLine func(Line)
	begun  []byte // the beginning of the line that has no end yet, at most LineMax+1 bytes
	size   int64  // the length of that line so far
}

// NewSplitter makes a splitter that calls onLine for every line.
func NewSplitter(onLine func(Line)) *Splitter {
	return &Splitter{onLine: onLine}
}

// Feed takes the next piece of the stream.
func (s *Splitter) Feed(piece []byte) {
	for len(piece) > 0 {
		end := bytes.IndexByte(piece, '\n')
		if end < 0 {
			s.keep(piece)
			return
		}
		if s.size == 0 {
			s.deliver(piece[:end], int64(end)) // the common case: no copy
		} else {
			s.keep(piece[:end])
			s.endLine()
		}
		piece = piece[end+1:]
	}
}

// Flush delivers a last line that has no line end. It is for the end of the
// stream only.
func (s *Splitter) Flush() {
	if s.size > 0 {
		s.endLine()
	}
}

// keep holds one byte more than a line may have, so that a CR at the very end
// of a line of exactly LineMax bytes is not taken for a part of it.
func (s *Splitter) keep(part []byte) {
	s.size += int64(len(part))
	room := LineMax + 1 - len(s.begun)
	s.begun = append(s.begun, part[:min(room, len(part))]...)
}

func (s *Splitter) endLine() {
	line, size := s.begun, s.size
	s.begun, s.size = s.begun[:0], 0
	s.deliver(line, size)
	if cap(s.begun) > bufferKept {
		s.begun = nil
	}
}

func (s *Splitter) deliver(line []byte, size int64) {
	if 0 < size && size <= LineMax+1 && line[size-1] == '\r' {
		line, size = line[:size-1], size-1
	}
	s.onLine(Line{Bytes: line[:min(len(line), LineMax)], Size: size})
}
