package api

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// eventMax is the greatest length of one event in bytes. A chunk is at most
// 64 KiB; a parsed line of an agent may be much longer.
const eventMax = 64 << 20

// errEventTooLong is the error for an event longer than eventMax.
var errEventTooLong = errors.New("an event of the stream is too long")

// sseEvent is one server-sent event.
type sseEvent struct {
	id   string // "" without an id line
	name string
	data []byte // its data lines, joined by line breaks
}

// sseReader reads server-sent events as the HTML standard defines them, with
// line ends of LF or CRLF; a CR alone ends no line, our server sends none.
type sseReader struct {
	lines *bufio.Reader
	max   int
}

func newSSEReader(r io.Reader) *sseReader {
	return &sseReader{lines: bufio.NewReaderSize(r, 64<<10), max: eventMax}
}

// next gives the next event that has data. What was begun and not ended by an
// empty line is dropped, as the standard says: its rest is missing.
func (r *sseReader) next() (sseEvent, error) {
	var e sseEvent
	hasData, size := false, 0
	for {
		line, err := r.line(r.max - size)
		if err != nil {
			return sseEvent{}, err
		}
		size += len(line)
		if len(line) == 0 {
			if hasData {
				return e, nil
			}
			e, size = sseEvent{}, 0
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":")) // a comment has an empty name
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				e.id = string(value)
			}
		case "event":
			e.name = string(value)
		case "data":
			if hasData {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
			hasData = true
		}
	}
}

// line reads one line without its end. It is valid until the next call.
func (r *sseReader) line(most int) ([]byte, error) {
	var long []byte
	for {
		part, err := r.lines.ReadSlice('\n')
		if len(long)+len(part) > most {
			return nil, errEventTooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if errors.Is(err, io.EOF) && len(long)+len(part) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		if long != nil {
			part = append(long, part...)
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r")), nil
	}
}
