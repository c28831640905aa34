package main

import (
	"bufio"
	"errors"
	"io"
)

// typedLine is a line with its end, or why there is none.
type typedLine struct {
	text string
	err  error
}

// lineReader reads lines for those who want them in turn: nobody who lets go of
// one loses it to a reading that goes on behind his back. It is for one goroutine
// at a time.
type lineReader struct {
	in      *bufio.Reader
	pending chan typedLine // the line that is being read; nil: none
}

func newLineReader(in io.Reader) *lineReader { return &lineReader{in: bufio.NewReader(in)} }

// next gives the channel on which the next line comes. Who receives it says so
// with taken; who does not leaves it to the next.
func (l *lineReader) next() <-chan typedLine {
	if l.pending == nil {
		l.pending = make(chan typedLine, 1)
		go l.read(l.pending)
	}
	return l.pending
}

func (l *lineReader) read(out chan<- typedLine) {
	text, err := l.in.ReadString('\n')
	if errors.Is(err, io.EOF) && text != "" {
		err = nil // the last line has no end
	}
	out <- typedLine{text, err}
}

// taken says that the line was received.
func (l *lineReader) taken() { l.pending = nil }

// drop forgets a line that was read and not received.
func (l *lineReader) drop() {
	select {
	case <-l.pending:
		l.taken()
	default:
	}
}
