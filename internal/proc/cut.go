package proc

import "bytes"

// MaxChunk is the largest chunk of output, in bytes.
const MaxChunk = 64 << 10

// Cut splits bytes read from an output file into chunks of at most MaxChunk,
// each cut after the last line end that fits; inside a line only when the line
// is longer than MaxChunk. The chunks are parts of buf, in order and without a
// gap; none is empty.
//
// rest is the number of bytes at the end of buf that are not in a chunk: an
// unfinished line that is still shorter than MaxChunk. With final, when no
// more bytes will come, it is 0.
func Cut(buf []byte, final bool) (chunks [][]byte, rest int) {
	for len(buf) > 0 {
		window := buf[:min(len(buf), MaxChunk)]
		n := bytes.LastIndexByte(window, '\n') + 1
		switch {
		case final && len(window) == len(buf):
			n = len(buf) // the last piece, finished or not
		case n == 0 && len(window) == MaxChunk:
			n = MaxChunk
		case n == 0:
			return chunks, len(buf)
		}
		chunks = append(chunks, buf[:n:n])
		buf = buf[n:]
	}
	return chunks, 0
}
