package livelab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"cw/internal/cw"
)

// plain reads a stream as somebody else's program would: with nothing of ours,
// by the standard of server-sent events.
type plain struct {
	socket  string
	target  string // path and query, without a place
	since   bool   // come back by ?since= and not by Last-Event-ID
	last    string // id of the last frame that came whole
	limit   int    // bytes after which the connection is cut; 0: never
	cut     error  // with which it is cut; nil: from our side
	control func(frame) error
	item    func(frame) error
}

// frame is one message of a stream.
type frame struct{ id, name, data string }

// errDone ends reading: the reader has all it wants.
var errDone = errors.New("done")

// errEnd says that the stream is whole.
var errEnd = errors.New("the stream has ended")

// once reads over one connection until it breaks. It gives what ended it.
func (p *plain) once(ctx context.Context) error {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "unix", p.socket)
		if err == nil && p.limit > 0 {
			conn = &cutConn{Conn: conn, left: p.limit, err: p.cut}
		}
		return conn, err
	}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://cw.sock"+p.place(), nil)
	if err != nil {
		return err
	}
	if p.last != "" && !p.since {
		req.Header.Set("Last-Event-ID", p.last)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body) // for the message only
		return fmt.Errorf("%w: %s %s", errDone, resp.Status, text)
	}
	return p.frames(resp.Body)
}

// place is the target, after what came so far.
func (p *plain) place() string {
	if p.last == "" || !p.since {
		return p.target
	}
	return strings.Replace(p.target, "tail=true&", "", 1) + "&since=" + p.last
}

func (p *plain) frames(body io.Reader) error {
	lines := bufio.NewReader(body)
	var f frame
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.name = value
		case "data":
			f.data = value
		case "":
			if f.data == "" { // a sign of life
				continue
			}
			if err := p.take(f); err != nil {
				return err
			}
			f = frame{}
		}
	}
}

func (p *plain) take(f frame) error {
	if f.id != "" {
		p.last = f.id
	}
	switch f.name {
	case "":
		return p.item(f)
	case "end":
		return errEnd
	case "failure":
		return fmt.Errorf("%w: failure %s", errDone, f.data)
	}
	if p.control != nil {
		return p.control(f)
	}
	return nil
}

// follow reads over as many connections as it takes; nil when item was done or
// the stream has ended.
func (p *plain) follow(ctx context.Context) error {
	for {
		switch err := p.once(ctx); {
		case err == errDone, errors.Is(err, errEnd): // wrapped, it is a failure
			return nil
		case errors.Is(err, errDone):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond): // nobody may be there for a while
		}
	}
}

// eventOf reads an item of /v1/events.
func eventOf(f frame) (cw.Event, error) {
	var e cw.Event
	if err := json.Unmarshal([]byte(f.data), &e); err != nil {
		return e, fmt.Errorf("%w: %w: %.100s", errDone, err, f.data)
	}
	if id := fmt.Sprint(e.Seq); e.Seq != 0 && id != f.id {
		return e, fmt.Errorf("%w: event %s came with the id %q", errDone, id, f.id)
	}
	return e, nil
}

// cutConn is a connection that breaks after a number of bytes.
type cutConn struct {
	net.Conn
	left int
	err  error // what the reader sees
}

func (c *cutConn) Read(b []byte) (int, error) {
	if c.left <= 0 {
		_ = c.Close()
		if c.err != nil {
			return 0, c.err
		}
		return 0, errors.New("cut")
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}
