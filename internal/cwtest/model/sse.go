package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// eventStream writes server-sent events, each at once.
type eventStream struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func newEventStream(w http.ResponseWriter) eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return eventStream{w, http.NewResponseController(w)}
}

// send writes one event. A caller that has left is noticed by the pauses.
func (s eventStream) send(event string, data any) {
	b, err := json.Marshal(data)
	if err != nil { // only what this package builds, and a reply's own input, is sent
		panic(err)
	}
	s.sendRaw(event, string(b))
}

// sendRaw sends an event without a name when it is "".
func (s eventStream) sendRaw(event, data string) {
	if event != "" {
		fmt.Fprintf(s.w, "event: %s\n", event)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", data)
	s.c.Flush() //nolint:errcheck // as above
}

// chunks cuts a text into pieces of a few words, as a model streams them.
func chunks(text string) []string {
	const words = 3
	var pieces []string
	for parts := strings.SplitAfter(text, " "); len(parts) > 0; {
		n := min(words, len(parts))
		pieces = append(pieces, strings.Join(parts[:n], ""))
		parts = parts[n:]
	}
	return pieces
}
