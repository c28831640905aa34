package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"cw/internal/cw"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// failure is what the model gets in the place of an answer.
type failure struct {
	Type string `json:"type"` // error
	Text string `json:"error_text"`
}

// refused makes the answer of a call that failed.
func refused(err error) *sdk.CallToolResult {
	said := errorText(err)
	res, encodeErr := said.result()
	if encodeErr != nil { // a struct of two strings can always be encoded
		res = &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: `{"type":"error","error_text":"internal error"}`}}}
	}
	res.IsError = true
	return res
}

func (f failure) result() (*sdk.CallToolResult, error) { return answered(f) }

// errorText puts an error into words: what is wrong, then what to do.
func errorText(err error) failure {
	var known *cw.Error
	if !errors.As(err, &known) {
		return failure{"error", "internal error of cw's tools: " + err.Error()}
	}
	said := known.Message
	if known.Hint != "" {
		said += "; " + known.Hint
	}
	return failure{"error", said}
}

// answered makes the answer of a call: one JSON value as text.
func answered(value any) (*sdk.CallToolResult, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(bytes.TrimSpace(b.Bytes()))}}}, nil
}
