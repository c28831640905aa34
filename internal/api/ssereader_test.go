package api

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func readEvents(r io.Reader, most int) ([]sseEvent, error) {
	reader := newSSEReader(r)
	reader.max = most
	var out []sseEvent
	for {
		e, err := reader.next()
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
}

func event(id, name, data string) sseEvent { return sseEvent{id, name, []byte(data)} }

func TestSSEReader(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	cases := []struct {
		name, text string
		want       []sseEvent
		err        error
	}{
		{"one", "id: 7\ndata: {}\nevent: chunk\n\n", []sseEvent{event("7", "chunk", "{}")}, io.EOF},
		{"comments", ": keep-alive\n\n:\n\n: x\ndata: 1\n\n", []sseEvent{event("", "", "1")}, io.EOF},
		{"no space", "id:7\ndata:a\n\n", []sseEvent{event("7", "", "a")}, io.EOF},
		{"two spaces", "data:  a\n\n", []sseEvent{event("", "", " a")}, io.EOF},
		{"lines of data", "data: a\ndata\ndata: b\n\n", []sseEvent{event("", "", "a\n\nb")}, io.EOF},
		{"CRLF", "id: 1\r\ndata: a\r\n\r\n", []sseEvent{event("1", "", "a")}, io.EOF},
		{"colon in data", "data: a:b\n\n", []sseEvent{event("", "", "a:b")}, io.EOF},
		{"unknown fields", "retry: 1\nfoo: bar\nbaz\ndata: a\n\n", []sseEvent{event("", "", "a")}, io.EOF},
		{"id without data", "id: 9\nevent: x\n\ndata: a\n\n", []sseEvent{event("", "", "a")}, io.EOF},
		{"id with NUL", "id: 9\x00\ndata: a\n\n", []sseEvent{event("", "", "a")}, io.EOF},
		{"last wins", "id: 1\nid: 2\nevent: a\nevent: b\ndata: x\n\n", []sseEvent{event("2", "b", "x")}, io.EOF},
		{"cut before the empty line", "data: a\n\nid: 8\ndata: b\n", []sseEvent{event("", "", "a")}, io.EOF},
		{"cut in a line", "data: a\n\ndata: b", []sseEvent{event("", "", "a")}, io.ErrUnexpectedEOF},
		{"empty data", "data:\n\n", []sseEvent{event("", "", "")}, io.EOF},
		{"long", "data: " + long + "\n\ndata: b\n\n", []sseEvent{event("", "", long), event("", "", "b")}, io.EOF},
		{"nothing", "", nil, io.EOF},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for name, r := range map[string]io.Reader{"whole": strings.NewReader(c.text), "halves": iotest.HalfReader(strings.NewReader(c.text))} {
				got, err := readEvents(r, eventMax)
				if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(sseEvent{}), sameBytes()); diff != "" || !errors.Is(err, c.err) {
					t.Errorf("%s: %v %.500s", name, err, diff)
				}
			}
		})
	}
}

func sameBytes() cmp.Option { return cmp.Comparer(bytes.Equal) }

// The limit holds for one line, for many short ones, and not across events.
func TestSSEReaderLimit(t *testing.T) {
	t.Parallel()
	const most = 1000
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"one line":            {"data: " + strings.Repeat("x", most) + "\n\n", errEventTooLong},
		"line without end":    {strings.Repeat("x", 1<<20), errEventTooLong},
		"many lines":          {strings.Repeat("data: xxxxxxxxxx\n", most), errEventTooLong},
		"many short events":   {strings.Repeat("data: xxxxxxxxxx\n\n", most), io.EOF},
		"many short comments": {strings.Repeat(": keep-alive\n\n", most), io.EOF},
	} {
		if _, err := readEvents(strings.NewReader(c.text), most); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// parseAtOnce is the standard's definition, applied to the whole text.
func parseAtOnce(text string) []sseEvent {
	var out []sseEvent
	lines := strings.Split(text, "\n")
	var e sseEvent
	var data []string
	for _, line := range lines[:len(lines)-1] { // the last one has no end
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			if data != nil {
				e.data = []byte(strings.Join(data, "\n"))
				out = append(out, e)
			}
			e, data = sseEvent{}, nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "id" && !strings.Contains(value, "\x00"):
			e.id = value
		case field == "event":
			e.name = value
		case field == "data":
			data = append(data, value)
		}
	}
	return out
}

func FuzzSSEReader(f *testing.F) {
	for _, seed := range []string{
		"id: 7\ndata: {}\nevent: chunk\n\n", ": keep-alive\n\n", "data: a\r\ndata\r\n\r\n", "data", "id: \n\n", "\n\n\n",
		"data: " + strings.Repeat("x", 70_000) + "\n\n", "id: 1\x00\ndata: \xff\n\n", "data::\ndata: :\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := parseAtOnce(text)
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			got, err := readEvents(r, eventMax)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(sseEvent{}), sameBytes()); diff != "" {
				t.Fatal(diff)
			}
			if err == nil {
				t.Fatal("no end")
			}
		}
	})
}

func FuzzCheckKeys(f *testing.F) {
	for _, seed := range []string{`{"a":1,"a":2}`, `[{"a":{"b":1}},{"a":2}]`, `{"a":"a","b":["a","a"]}`, `{`, `]`, `"a"`, `{"a":[}`, `{} {}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		if readJSON([]byte(text), &v) != nil {
			return
		}
		// What was accepted says each key once: written again it is as long.
		if n := countKeys(v); n != strings.Count(stripStrings(text), ":") {
			t.Errorf("%q holds %d keys", text, n)
		}
	})
}

func countKeys(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			n += 1 + countKeys(inner)
		}
	case []any:
		for _, inner := range v {
			n += countKeys(inner)
		}
	}
	return n
}

// stripStrings drops the strings of a valid JSON text.
func stripStrings(text string) string {
	var out strings.Builder
	inside := false
	for i := 0; i < len(text); i++ {
		switch {
		case inside && text[i] == '\\':
			i++
		case text[i] == '"':
			inside = !inside
		case !inside:
			out.WriteByte(text[i])
		}
	}
	return out.String()
}
