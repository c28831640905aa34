package fakecli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc64"
	"os"
	"path/filepath"
	"strings"
)

// Entry is one line of a book. Books are append-only, one file per run, and
// each line is one write.
type Entry struct {
	What   string `json:"what"` // start, gone, unexpected, wrote, limited, refused, called, answered, heard, told, asked, asked-people, told-by-people, messaged, responded, made, ready, end
	PID    int    `json:"pid,omitempty"`
	Run    string `json:"run,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Pieces int    `json:"pieces,omitempty"` // written so far
	Bytes  int64  `json:"bytes,omitempty"`
	Sum    uint64 `json:"sum,omitempty"`    // CRC-64 (ECMA) of those bytes
	Path   string `json:"path,omitempty"`   // of a file that was made; an answer that was given
	Blob   string `json:"blob,omitempty"`   // git's name for its content
	Output string `json:"output,omitempty"` // of a call
	Code   int    `json:"code,omitempty"`   // exit code of a call, HTTP status of an answer
	Route  string `json:"route,omitempty"`  // that was called; a conversation
	// Of a start.
	Number  int      `json:"number,omitempty"`  // of the agent's runs that got this far, from 1
	Session string   `json:"session,omitempty"` // the id of the session
	Resumed bool     `json:"resumed,omitempty"` // it went on with a session
	Prompt  string   `json:"prompt,omitempty"`  // SHA-256 of the prompt
	Says    []string `json:"says,omitempty"`    // every mark in the prompt, in order, repeated ones too
	// Env holds digests of the variables of its account that were set, by name.
	Env map[string]string `json:"env,omitempty"`
}

// Digest stands for a credential in a book and in a script.
func Digest(secret string) string {
	if secret == "" {
		return ""
	}
	return hash(secret)[:16]
}

// Account is the digest of the key that the run saw; "" when it saw none.
func (b Book) Account() string { return b.Start().Env[KeyVariable] }

// Limited tells whether the run said that its account is at its limit.
func (b Book) Limited() bool { return b.count("limited") > 0 }

// Refused tells whether the run said that its credentials were refused.
func (b Book) Refused() bool { return b.count("refused") > 0 }

// Say makes a mark that a text to an agent may hold. The books tell which runs
// found it in their prompts, and how often.
func Say(id string) string { return sayMark + id }

// Book is what one run wrote down about itself.
type Book struct {
	Run     string
	Entries []Entry
}

// Starts counts how often the run was started. More than once is a catastrophe.
func (b Book) Starts() int { return b.count("start") }

// Start is the first entry of the run, empty for none.
func (b Book) Start() Entry {
	for _, e := range b.Entries {
		if e.What == "start" {
			return e
		}
	}
	return Entry{}
}

// Ready tells whether the run did everything and only lingers.
func (b Book) Ready() bool { return b.count("ready") > 0 }

// Gone tells whether the run was to go on with a session that is not there.
func (b Book) Gone() bool { return b.count("gone") > 0 }

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
func (b Book) Wrote() int64 { return b.last().Bytes }

// Holds tells whether output begins with what was surely written.
func (b Book) Holds(output []byte) bool {
	last := b.last()
	return int64(len(output)) >= last.Bytes && crc64.Checksum(output[:last.Bytes], sumTable()) == last.Sum
}

func (b Book) last() Entry {
	var last Entry
	for _, e := range b.Entries {
		if e.Bytes > last.Bytes {
			last = e
		}
	}
	return last
}

func sumTable() *crc64.Table { return crc64.MakeTable(crc64.ECMA) } // it is made once

// Made lists the files that the run made: their paths in its folder, and git's
// names for their contents.
func (b Book) Made() map[string]string {
	out := map[string]string{}
	for _, e := range b.Entries {
		if e.What == "made" {
			out[e.Path] = e.Blob
		}
	}
	return out
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
