package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// spinner are the pictures of the line that moves.
const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

// screen prints lines and, on a terminal, keeps one line below them that
// moves: who works, for how long, at what.
type screen struct {
	w       io.Writer
	paint   paint
	moving  bool
	width   func() int
	now     func() time.Time
	started time.Time
	name    string
	prefix  string
	doing   string
	frame   int
	drawn   bool
}

func newScreen(a *app, name, prefix string, started time.Time) *screen {
	return &screen{
		w: a.err, paint: a.paint(a.errTTY), moving: a.errTTY && prefix == "" && a.env["TERM"] != "dumb", width: a.width,
		now: a.now, started: started, name: name, prefix: prefix,
	}
}

// print writes whole lines above the moving one. They are written at once, so
// that several screens can share a stream.
func (s *screen) print(lines ...string) {
	if len(lines) == 0 {
		return
	}
	s.clear()
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(s.prefix + line + "\n")
	}
	_, _ = io.WriteString(s.w, b.String()) // stderr is gone: there is nobody to tell
}

// tick draws the moving line.
func (s *screen) tick() {
	if !s.moving {
		return
	}
	frames := []rune(spinner)
	picture := string(frames[s.frame%len(frames)])
	s.frame++
	text := fmt.Sprintf("%s %s", s.name, elapsed(s.now().Sub(s.started)))
	if s.doing != "" {
		text += "  " + s.doing
	}
	// One column stays free: a full line would wrap on some terminals.
	text = cut(oneLine(text), s.width()-3)
	fmt.Fprintf(s.w, "\r\x1b[K%s %s", s.paint.cyan(picture), s.paint.dim(text))
	s.drawn = true
}

func (s *screen) clear() {
	if s.drawn {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.drawn = false
	}
}

// close takes the moving line away.
func (s *screen) close() { s.clear() }

// lockedWriter lets several goroutines write to one stream.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
