package fakecli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Entry is one line of a book. Books are append-only, one file per run, and
// each line is one write.
type Entry struct {
	What   string `json:"what"` // start, wrote, called, answered, end
	PID    int    `json:"pid,omitempty"`
	Run    string `json:"run,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Pieces int    `json:"pieces,omitempty"` // written so far
	Bytes  int64  `json:"bytes,omitempty"`
	Output string `json:"output,omitempty"` // of a call
	Code   int    `json:"code,omitempty"`   // exit code of a call, HTTP status of an answer
	Route  string `json:"route,omitempty"`
}

// Book is what one run wrote down about itself.
type Book struct {
	Run     string
	Entries []Entry
}

// Starts counts how often the run was started. More than once is a catastrophe.
func (b Book) Starts() int { return b.count("start") }

// Ended tells whether the CLI came to its own end.
func (b Book) Ended() bool { return b.count("end") > 0 }

func (b Book) count(what string) int {
	n := 0
	for _, e := range b.Entries {
		if e.What == what {
			n++
		}
	}
	return n
}

// Wrote is how many bytes were surely written to standard output.
func (b Book) Wrote() int64 {
	var n int64
	for _, e := range b.Entries {
		n = max(n, e.Bytes)
	}
	return n
}

// Call gives the output and exit code of the command that the script ran.
func (b Book) Call() (output string, code int, found bool) {
	for _, e := range b.Entries {
		if e.What == "called" {
			return e.Output, e.Code, true
		}
	}
	return "", 0, false
}

// Answers gives the HTTP statuses of the routes that the script called.
func (b Book) Answers() map[string]int {
	out := map[string]int{}
	for _, e := range b.Entries {
		if e.What == "answered" {
			out[e.Route] = e.Code
		}
	}
	return out
}

// ReadBooks reads all books of a folder, by run.
func ReadBooks(dir string) (map[string]Book, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.book"))
	if err != nil {
		return nil, err
	}
	books := map[string]Book{}
	for _, name := range names {
		b, err := readBook(name)
		if err != nil {
			return nil, err
		}
		books[b.Run] = b
	}
	return books, nil
}

func readBook(name string) (Book, error) {
	b := Book{Run: strings.TrimSuffix(filepath.Base(name), ".book")}
	f, err := os.Open(name)
	if err != nil {
		return b, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return b, nil // a last line without an end was cut by a kill
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return b, fmt.Errorf("book %s: %w", name, err)
		}
		b.Entries = append(b.Entries, e)
	}
}

type bookWriter struct{ f *os.File }

func openBook(dir, run string) (*bookWriter, error) {
	f, err := os.OpenFile(filepath.Join(dir, run+".book"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return &bookWriter{f: f}, err
}

func (w *bookWriter) note(e Entry) {
	data, err := json.Marshal(e)
	if err != nil { // plain fields always encode
		panic(err)
	}
	if _, err := w.f.Write(append(data, '\n')); err != nil {
		panic(err) // a book that cannot be kept makes the test worthless
	}
}
