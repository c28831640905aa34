package model

import (
	"net/http"
	"slices"
	"time"
)

// Reply is what the model answers to one request: text, thinking and tool
// calls, or a failure. It is built up by its methods, each of which returns a
// changed copy:
//
//	model.Say("Now the edit.").Write("a.txt", "hello\n").Shell("git status --short")
type Reply struct {
	Text       string
	Thinking   string
	Calls      []Call
	Usage      Usage           // zero: estimated from the sizes of request and reply
	Header     http.Header     // added to a good answer
	Delay      time.Duration   // before the first byte
	ChunkDelay time.Duration   // between the chunks of a streamed text
	Hold       <-chan struct{} // nothing is answered before it is closed, or the caller is gone
	Failure    *Failure        // answered instead, for the first Failure.Times tries
	Cut        bool            // the connection breaks before the message is complete
}

// Call is a tool call. The names "shell" (input: command) and "write" (input:
// path, content) are portable: they are mapped onto what the CLI offers. Any
// other name must be on offer and is called as it stands.
type Call struct {
	Name  string
	Input map[string]any
}

// The portable tools.
const (
	ToolShell = "shell"
	ToolWrite = "write"
)

// Usage counts the tokens of one answer.
type Usage struct {
	Input      int
	Output     int
	CacheRead  int
	CacheWrite int
}

// Failure is an answer with which the provider refuses a request.
type Failure struct {
	Status   int // HTTP status
	Header   http.Header
	Body     string // sent as it is
	Times    int    // how many tries of the same turn fail; 0: all of them
	InStream bool   // the error in Body is sent as an event inside a stream that began well
}

// Say begins a reply with a text. Without tool calls it ends the CLI's run.
func Say(text string) Reply { return Reply{Text: text} }

// Fail is a reply that only fails.
func Fail(f Failure) Reply { return Reply{Failure: &f} }

// Shell adds a command for the CLI's shell.
func (r Reply) Shell(command string) Reply {
	return r.Call(ToolShell, map[string]any{"command": command})
}

// Write adds the writing of a file. A relative path is taken from the CLI's
// working directory.
func (r Reply) Write(path, content string) Reply {
	return r.Call(ToolWrite, map[string]any{"path": path, "content": content})
}

// Call adds a call of a tool by name.
func (r Reply) Call(name string, input map[string]any) Reply {
	r.Calls = append(slices.Clip(r.Calls), Call{Name: name, Input: input})
	return r
}

// Think adds thinking, which comes before the text.
func (r Reply) Think(text string) Reply { r.Thinking = text; return r }

// Using sets the token counts.
func (r Reply) Using(u Usage) Reply { r.Usage = u; return r }

// After delays the first byte of the answer.
func (r Reply) After(d time.Duration) Reply { r.Delay = d; return r }

// Slowly streams the text in chunks that are d apart.
func (r Reply) Slowly(d time.Duration) Reply { r.ChunkDelay = d; return r }

// Until keeps the answer back until released is closed.
func (r Reply) Until(released <-chan struct{}) Reply { r.Hold = released; return r }

// CutOff breaks the connection when text and calls are out, before the message
// is complete. claude keeps a text that it has and ends with an error; when
// nothing had come (a Reply without text) it tries again, up to 10 times. codex
// tries again in any case, 5 times.
func (r Reply) CutOff() Reply { r.Cut = true; return r }

// WithHeader adds headers to the good answer.
func (r Reply) WithHeader(h http.Header) Reply { r.Header = h; return r }

// FailFirst answers with f for the first n tries of this turn.
func (r Reply) FailFirst(n int, f Failure) Reply {
	f.Times = n
	r.Failure = &f
	return r
}

// usage returns the token counts to report. Four bytes are about one token.
func (r Reply) usage(requestBytes int) Usage {
	if r.Usage != (Usage{}) {
		return r.Usage
	}
	return Usage{Input: requestBytes/4 + 1, Output: (len(r.Text)+len(r.Thinking))/4 + 20*len(r.Calls) + 1}
}

// fails tells whether this try, counted from 1, is refused.
func (f *Failure) fails(try int) bool { return f != nil && (f.Times == 0 || try <= f.Times) }
