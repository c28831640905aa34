package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"cw/internal/cw"
)

// dialPatience is how long a connection to the socket may take. A daemon
// accepts at once; a full queue of a stopped one must not hang the caller.
const dialPatience = 5 * time.Second

// errorMax is how much of an error answer is read, in bytes.
const errorMax = 1 << 20

// ClientOptions says how the daemon is reached.
type ClientOptions struct {
	// Socket is the path of the daemon's socket.
	Socket string
	// Dial connects in another way; Socket is then not used.
	Dial func(ctx context.Context) (net.Conn, error)
	// Token of a run, "" for a person.
	Token string
	// Log hears of lost connections. nil: nothing is logged.
	Log *slog.Logger
	// OnVersionSkew hears once of a daemon whose minor version differs, with
	// words for a person. May be nil.
	OnVersionSkew func(text string)
}

// Client calls a daemon. It implements cw.Services.
type Client struct {
	opts ClientOptions
	http *http.Client
	skew sync.Once
	wait backoff
}

var _ cw.Services = (*Client)(nil)

// NewClient makes a client. Nothing is connected before the first call, and no
// connection outlives its call: the daemon tells callers apart by connection.
func NewClient(opts ClientOptions) *Client {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Dial == nil {
		opts.Dial = func(ctx context.Context) (net.Conn, error) {
			dialer := net.Dialer{Timeout: dialPatience}
			return dialer.DialContext(ctx, "unix", opts.Socket)
		}
	}
	return &Client{opts: opts, wait: backoff{backoffFirst, backoffMost}, http: &http.Client{
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return opts.Dial(ctx) },
			DisableKeepAlives:  true,
			DisableCompression: true,
			// Proxies of the environment do not apply to a socket.
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// request is one call of a route. path is already encoded.
type request struct {
	method string
	path   string
	query  query
	body   any   // nil: none
	after  int64 // Last-Event-ID; 0: none
}

// query are the parameters of a request. What is not set is left out.
type query url.Values

func (q query) text(name, value string) {
	if value != "" {
		url.Values(q).Set(name, value)
	}
}

func (q query) number(name string, value int64) {
	if value != 0 {
		q.text(name, strconv.FormatInt(value, 10))
	}
}

func (q query) flag(name string, value bool) {
	if value {
		q.text(name, "true")
	}
}

// list sets a parameter with several values, separated by commas.
func (q query) list(name string, values []string) { q.text(name, strings.Join(values, ",")) }

// each sets a parameter that may stand there more than once, since its values may
// hold commas.
func (q query) each(name string, values []string) {
	for _, v := range values {
		url.Values(q).Add(name, v)
	}
}

func texts[S ~string](values []S) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// segment encodes one segment of a path. "." and ".." would be taken for steps
// through the path, so they are encoded too, which url.PathEscape does not do.
func segment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// call makes a JSON request and reads its answer. Every error is a *cw.Error.
func call[T any](ctx context.Context, c *Client, r request) (T, error) {
	var out T
	resp, err := c.send(ctx, r)
	if err != nil {
		return out, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		var none T
		return none, c.trouble(ctx, fmt.Errorf("read the answer: %w", err))
	}
	return out, nil
}

// send makes a request and gives the answer when it is a good one.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	req, err := c.build(ctx, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.trouble(ctx, err)
	}
	if err := c.check(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

func (c *Client) build(ctx context.Context, r request) (*http.Request, error) {
	target := "http://" + SocketHost + r.path
	if len(r.query) > 0 {
		target += "?" + url.Values(r.query).Encode()
	}
	var body io.Reader
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return nil, cw.Errorf(cw.CodeInvalid, "the request cannot be written as JSON").Because(err)
		}
		if len(data) > BodyMax { // the daemon would hang up in the middle of it
			return nil, errBodyTooLong(BodyMax)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, cw.Errorf(cw.CodeInvalid, "the request cannot be written").Because(err)
	}
	req.Header.Set(versionHeader, cw.APIVersion)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	if r.after != 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatInt(r.after, 10))
	}
	return req, nil
}

// check looks at the version first: an answer of another major version may
// have another form.
func (c *Client) check(resp *http.Response) error {
	version := resp.Header.Get(versionHeader)
	if major(version) != major(cw.APIVersion) {
		return errVersion(cw.APIVersion, version)
	}
	if version != cw.APIVersion && c.opts.OnVersionSkew != nil {
		c.skew.Do(func() {
			c.opts.OnVersionSkew(fmt.Sprintf(
				"the daemon speaks version %s of the API, this cw speaks %s; `cw restart` makes them the same, agents run on",
				version, cw.APIVersion))
		})
	}
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	data, _ := io.ReadAll(io.LimitReader(resp.Body, errorMax)) // a half-read error is still an error
	return readError(resp.StatusCode, data)
}

// trouble names what went wrong on the way, as far as the caller can act on it.
func (c *Client) trouble(ctx context.Context, err error) *cw.Error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return cw.Errorf(cw.CodeTimeout, "the daemon did not answer in time").Because(ctx.Err())
	case ctx.Err() != nil:
		return cw.Errorf(cw.CodeInterrupted, "the call was given up").Because(ctx.Err())
	}
	var dial *net.OpError
	dialing := errors.As(err, &dial) && dial.Op == "dial"
	switch {
	case dialing && (errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)):
		return cw.Errorf(cw.CodeUnreachable, "no daemon is running").Because(err).WithHint("start one with `cw serve`")
	case dialing:
		return cw.Errorf(cw.CodeUnreachable, "the daemon cannot be reached").Because(err).WithHint("`cw doctor` tells what is wrong")
	}
	return cw.Errorf(cw.CodeUnreachable, "the connection to the daemon broke").Because(err).
		WithHint("what was asked for may have been done; look before you repeat it")
}
