package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// lineMax is the greatest length of a message in bytes.
	lineMax = 8 << 20
	// depthMax is how deep a message may be nested. The library reads 1000 levels
	// and ends the session at the next one.
	depthMax = 500
)

// lines is the way to a CLI: one JSON-RPC message a line. It stands in for the
// library's own, which ends the session at a line that it cannot read, drops the
// answers of what was asked before the end of the input, and answers calls that
// were cancelled.
type lines struct {
	out     io.Writer
	closer  io.Closer // of the input; may be nil
	hangUp  func()
	tooDeep func(name string, arguments json.RawMessage) *sdk.CallToolResult

	come   chan line
	closed chan struct{}
	once   sync.Once
	queue  []jsonrpc.Message // of a batch; Read is not called twice at once

	writing sync.Mutex

	mu        sync.Mutex
	open      map[jsonrpc.ID]bool // guarded by mu; calls that are not answered; true: cancelled
	idle      chan struct{}       // guarded by mu; closed when none is open; nil: nobody waits for that
	inputOver bool                // guarded by mu
}

type line struct {
	data []byte
	err  error
}

var errTooLong = errors.New("the line is too long")

func newLines(in io.Reader, out io.Writer, hangUp func(), tooDeep func(string, json.RawMessage) *sdk.CallToolResult) *lines {
	l := &lines{
		out: out, hangUp: hangUp, tooDeep: tooDeep,
		come: make(chan line), closed: make(chan struct{}), open: map[jsonrpc.ID]bool{},
	}
	l.closer, _ = in.(io.Closer)
	go l.pump(bufio.NewReaderSize(in, 64<<10)) // ends with the input, or with Close
	return l
}

// Connect implements sdk.Transport.
func (l *lines) Connect(context.Context) (sdk.Connection, error) { return l, nil }

// SessionID implements sdk.Connection.
func (l *lines) SessionID() string { return "" }

// Close implements sdk.Connection.
func (l *lines) Close() error {
	var err error
	l.once.Do(func() {
		close(l.closed)
		if l.closer != nil {
			err = l.closer.Close()
		}
	})
	return err
}

// ended tells whether the CLI closed the input.
func (l *lines) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inputOver
}

func (l *lines) pump(in *bufio.Reader) {
	for {
		data, err := readLine(in)
		select {
		case l.come <- line{data, err}:
		case <-l.closed:
			return
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return
		}
	}
}

// readLine reads one line of at most lineMax bytes; of a longer one nothing is
// kept.
func readLine(in *bufio.Reader) ([]byte, error) {
	var data []byte
	long := false
	for {
		piece, err := in.ReadSlice('\n')
		if long = long || len(data)+len(piece) > lineMax; long {
			data = nil
		} else {
			data = append(data, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(data)) > 0:
			return data, nil // the end comes with the next read
		default:
			return data, err
		}
	}
}

// Read implements sdk.Connection. The end of the input is told when everything
// that was asked before is answered; what waits is ended first.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(l.queue) > 0 {
			msg := l.queue[0]
			l.queue = l.queue[1:]
			l.note(msg)
			return msg, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.closed:
			return nil, io.EOF
		case next := <-l.come:
			switch {
			case errors.Is(next.err, errTooLong):
				l.complain(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", lineMax))
			case next.err != nil:
				return nil, l.finish(ctx)
			default:
				l.take(next.data)
			}
		}
	}
}

// finish waits until what is open is answered.
func (l *lines) finish(ctx context.Context) error {
	l.hangUp()
	idle := make(chan struct{})
	l.mu.Lock()
	l.inputOver = true
	if len(l.open) == 0 {
		close(idle)
	} else {
		l.idle = idle
	}
	l.mu.Unlock()
	select {
	case <-idle:
	case <-l.closed:
	case <-ctx.Done():
	}
	return io.EOF
}

// take puts the messages of a line into the queue. What is none is answered
// here.
func (l *lines) take(data []byte) {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
	case !json.Valid(data):
		l.complain(nil, jsonrpc.CodeParseError, "the line is not JSON")
	case data[0] == '[':
		var batch []json.RawMessage
		if err := json.Unmarshal(data, &batch); err != nil || len(batch) == 0 {
			l.complain(nil, jsonrpc.CodeInvalidRequest, "the batch is empty")
		}
		for _, one := range batch {
			l.takeOne(one)
		}
	default:
		l.takeOne(data)
	}
}

func (l *lines) takeOne(data []byte) {
	if deeper(data, depthMax) {
		l.refuseDeep(data)
		return
	}
	msg, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		l.complain(idOf(data), jsonrpc.CodeInvalidRequest, "this is no message of JSON-RPC 2.0: "+err.Error())
		return
	}
	l.queue = append(l.queue, msg)
}

// refuseDeep answers a message that is nested too deeply.
func (l *lines) refuseDeep(data []byte) {
	var msg struct {
		Method string
		Params struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	err := json.Unmarshal(data, &msg)
	id := idOf(data)
	if err != nil || msg.Method != "tools/call" || id == nil {
		l.complain(id, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is nested deeper than %d levels", depthMax))
		return
	}
	l.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": l.tooDeep(msg.Params.Name, msg.Params.Arguments)})
}

// note keeps in mind which calls are open, and which of them were cancelled.
func (l *lines) note(msg jsonrpc.Message) {
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if req.IsCall() {
		l.open[req.ID] = false
		return
	}
	var p struct {
		RequestID any `json:"requestId"`
	}
	if req.Method != "notifications/cancelled" || json.Unmarshal(req.Params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if _, is := l.open[id]; err == nil && is {
		l.open[id] = true
	}
}

// Write implements sdk.Connection. The answer of a cancelled call is dropped.
func (l *lines) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if resp, ok := msg.(*jsonrpc.Response); ok {
		defer l.answered(resp.ID)
		if l.cancelled(resp.ID) {
			return nil
		}
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	return l.write(data)
}

func (l *lines) cancelled(id jsonrpc.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[id]
}

func (l *lines) answered(id jsonrpc.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, id)
	if len(l.open) == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
}

// complain answers what is no message. An answer that cannot be written is
// noticed at the next one.
func (l *lines) complain(id json.RawMessage, code int64, text string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	l.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
}

func (l *lines) send(msg any) {
	if data, err := json.Marshal(msg); err == nil {
		_ = l.write(data) // the next answer cannot be written either, and ends the session
	}
}

func (l *lines) write(data []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if _, err := l.out.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	return nil
}

// idOf gives the id of what may be a request: a string or a number, nil for
// anything else.
func idOf(data []byte) json.RawMessage {
	var msg struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(data, &msg) != nil || len(msg.ID) == 0 {
		return nil
	}
	if c := msg.ID[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
		return nil
	}
	return msg.ID
}

// deeper tells whether a JSON text is nested deeper than so many levels.
func deeper(data []byte, most int) bool {
	depth, inString, escaped := 0, false, false
	for _, b := range data {
		switch {
		case escaped:
			escaped = false
		case inString:
			inString, escaped = b != '"', b == '\\'
		case b == '"':
			inString = true
		case b == '{' || b == '[':
			if depth++; depth > most {
				return true
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return false
}
