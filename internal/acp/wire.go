package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
)

const (
	// messageMax bounds one message, and with it the memory that is used. Agents
	// put whole files into one; of what is longer no more is understood.
	messageMax = 64 << 20
	// outboxRoom is how many messages may wait for the agent to read them. When
	// it is full nothing more is read of the agent.
	outboxRoom = 256
)

// errEnded says that the agent no longer writes, or no longer reads.
var errEnded = errors.New("the agent ended")

// message is any message of JSON-RPC. An id is kept as it was written: each
// side counts its own, both from 0, so that a request of the agent often has
// the number of one of ours.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

// received is a message whose parts are not read yet.
type received struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// isRequest tells a request from a notification: by its id.
func (m *received) isRequest() bool { return len(m.ID) > 0 && string(m.ID) != "null" }

// listener hears what the agent says without being asked. It is called by one
// goroutine, in the order of the messages.
type listener interface {
	notified(method string, params json.RawMessage)
	// requested gives the answer; nil: such a request is not known.
	requested(method string, params json.RawMessage) (answer any)
	// garbage is a line that is no message.
	garbage(text []byte)
}

// conn exchanges messages with an agent. One goroutine reads and one writes;
// both end with close and the end of the pipes.
type conn struct {
	listener listener
	outbox   chan []byte
	closed   chan struct{} // close was called
	ended    chan struct{} // nothing more is read; every answer was handed over before
	deaf     chan struct{} // the agent does not read any more
	endErr   error         // why; valid once ended is closed

	mu      sync.Mutex
	lastID  int
	pending map[string]chan *received

	working sync.WaitGroup
}

// newConn begins to exchange messages.
func newConn(toAgent io.Writer, fromAgent io.Reader, l listener) *conn {
	c := &conn{
		listener: l,
		outbox:   make(chan []byte, outboxRoom),
		closed:   make(chan struct{}),
		ended:    make(chan struct{}),
		deaf:     make(chan struct{}),
		pending:  map[string]chan *received{},
	}
	c.working.Go(func() { c.send(toAgent) })
	c.working.Go(func() {
		c.endErr = c.receive(fromAgent)
		close(c.ended)
	})
	return c
}

// close ends the exchange and returns when nothing of it is left. The pipes must
// be closed before.
func (c *conn) close() {
	close(c.closed)
	c.working.Wait()
}

func (c *conn) send(w io.Writer) {
	for {
		select {
		case <-c.closed:
			return
		case data := <-c.outbox:
			if _, err := w.Write(data); err != nil {
				close(c.deaf)
				return
			}
		}
	}
}

func (c *conn) receive(r io.Reader) error {
	lines := lineReader{r: bufio.NewReaderSize(r, 64<<10)}
	for {
		text, err := lines.next()
		if err != nil {
			return err
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		var m received
		if json.Unmarshal(text, &m) != nil || !m.isRequest() && m.Method == "" {
			c.listener.garbage(text)
			continue
		}
		c.dispatch(&m)
	}
}

func (c *conn) dispatch(m *received) {
	switch {
	case m.Method == "":
		c.mu.Lock()
		waiting := c.pending[string(m.ID)]
		delete(c.pending, string(m.ID))
		c.mu.Unlock()
		if waiting != nil {
			waiting <- m // it has room for its one answer
		}
	case m.isRequest():
		reply := message{ID: m.ID}
		if reply.Result = c.listener.requested(m.Method, m.Params); reply.Result == nil {
			reply.Error = sdk.NewMethodNotFound(m.Method)
		}
		c.post(reply)
	default:
		c.listener.notified(m.Method, m.Params)
	}
}

// post hands a message over to be sent. What cannot be sent any more is
// dropped: whoever waits for an answer learns it.
func (c *conn) post(m message) {
	m.Version = "2.0"
	data, err := json.Marshal(m)
	if err != nil { // our own types marshal
		return
	}
	select {
	case c.outbox <- append(data, '\n'):
	case <-c.closed:
	case <-c.deaf:
	}
}

// notify sends what has no answer.
func (c *conn) notify(method string, params any) { c.post(message{Method: method, Params: params}) }

// asked is a request that was sent.
type asked struct {
	conn   *conn
	method string
	answer chan *received
}

// ask sends a request.
func (c *conn) ask(method string, params any) asked {
	a := asked{conn: c, method: method, answer: make(chan *received, 1)}
	c.mu.Lock()
	c.lastID++
	id := strconv.Itoa(c.lastID)
	c.pending[id] = a.answer
	c.mu.Unlock()
	c.post(message{ID: json.RawMessage(id), Method: method, Params: params})
	return a
}

// wait gives the answer. The error is the agent's own (*sdk.RequestError), that
// of the context, or errEnded. An answer that is there goes before them: it may
// be the agent's last words.
func (a asked) wait(ctx context.Context) (json.RawMessage, error) {
	var err error
	select {
	case m := <-a.answer:
		return m.answer()
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-a.conn.deaf:
		err = errEnded
	case <-a.conn.ended:
		err = a.conn.endErr
	}
	select {
	case m := <-a.answer:
		return m.answer()
	default:
		return nil, err
	}
}

// answer reads an answer.
func (m *received) answer() (json.RawMessage, error) {
	if len(m.Error) == 0 || string(m.Error) == "null" {
		return m.Result, nil
	}
	var e sdk.RequestError
	if json.Unmarshal(m.Error, &e) != nil || e.Code == 0 && e.Message == "" {
		return nil, &sdk.RequestError{Code: -32603, Message: string(m.Error)} // an error all the same
	}
	return nil, &e
}

// lineReader reads lines of at most messageMax bytes.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
}

// next gives a line, valid until the next one. What stands before the end
// without a line end is a line too.
func (l *lineReader) next() ([]byte, error) {
	if cap(l.buf) > 1<<20 {
		l.buf = nil // a large one was rare
	}
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.buf)+len(part) > messageMax {
			return nil, fmt.Errorf("the agent wrote a message of more than %d bytes", messageMax)
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == nil, err != bufio.ErrBufferFull && len(l.buf) > 0: //nolint:errorlint // it is never wrapped
			return l.buf, nil
		case err != bufio.ErrBufferFull: //nolint:errorlint // it is never wrapped
			return nil, errEnded
		}
	}
}
