package parsers

import "unicode/utf8"

const (
	// lastTextMax is how many bytes of the last words are given.
	lastTextMax = 2000
	// lastTextKept is what is kept of longer ones: whoever has so many knows
	// that the first is not where the text begins.
	lastTextKept = lastTextMax + 1
	// lastTextRoom is how many come together before all but these are dropped,
	// so that not every line moves them.
	lastTextRoom = 4 * lastTextKept
)

// Words is the end of a text that grows, at most 2000 bytes. A copy stays as
// it is while the original grows. The zero value is empty.
type Words struct {
	text []byte // what was written is never written over: copies share it
}

// String gives them, without a part of a character at the start.
func (w Words) String() string {
	if len(w.text) <= lastTextMax {
		return string(w.text)
	}
	text := w.text[len(w.text)-lastTextMax:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return string(text)
}

// MarshalText gives the same.
func (w Words) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// Equal tells whether both give the same.
func (w Words) Equal(other Words) bool { return w.String() == other.String() }

func (w *Words) add(text string) {
	text = text[max(0, len(text)-lastTextKept):]
	if len(w.text)+len(text) > lastTextRoom {
		kept := w.text[max(0, len(w.text)-lastTextKept):]
		w.text = append(make([]byte, 0, lastTextRoom), kept...)
	}
	w.text = append(w.text, text...)
}
