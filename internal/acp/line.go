package acp

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
)

// The types of lines.
const (
	lineInit       = "acp.init"       // the session is there
	lineUpdate     = "acp.update"     // what the agent says about its turn
	linePermission = "acp.permission" // it asked for permission and was answered
	lineRefused    = "acp.refused"    // it asked for something that is not offered
	lineWarning    = "acp.warning"
	lineError      = "acp.error"  // the turn ended badly, or never began
	lineResult     = "acp.result" // the turn is over
)

// line is one line of output. Only the fields of its type are there; what the
// agent wrote is in them as it wrote it.
type line struct {
	Type string `json:"type"`

	// init; of an update only when it is of another session
	SessionID sdk.SessionId   `json:"sessionId,omitempty"`
	Agent     json.RawMessage `json:"agent,omitempty"` // name and version
	Model     string          `json:"model,omitempty"`
	Resumed   bool            `json:"resumed,omitempty"` // the session is an earlier one

	Update json.RawMessage `json:"update,omitempty"` // update

	// permission
	ToolCall json.RawMessage       `json:"toolCall,omitempty"`
	Option   *sdk.PermissionOption `json:"option,omitempty"` // missing when nothing could be granted

	Method string `json:"method,omitempty"` // refused; error: what was not answered well

	// warning, error
	Code    int             `json:"code,omitempty"` // missing when the driver itself tells the error
	Message string          `json:"message,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`

	// result
	StopReason sdk.StopReason  `json:"stopReason,omitempty"`
	Usage      json.RawMessage `json:"usage,omitempty"`

	Meta json.RawMessage `json:"_meta,omitempty"` // of the message
}

// lineWriter writes lines, from any goroutine.
type lineWriter struct {
	mu  sync.Mutex
	enc *json.Encoder
	err error // the first; nothing is written after it
}

func newLineWriter(w io.Writer) *lineWriter {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &lineWriter{enc: enc}
}

func (w *lineWriter) write(l line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = w.enc.Encode(l)
	}
}

func (w *lineWriter) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		return nil
	}
	return fmt.Errorf("write what the agent said: %w", w.err)
}
