package forge

import (
	"errors"
	"io"
	"net/http"
)

// errTooLong says that an answer has no end.
var errTooLong = errors.New("the answer is too long")

// errRedirect says that an answer leads elsewhere. The clients would send the
// token along.
var errRedirect = errors.New("it answered with a redirect")

// httpClient makes the client that both forges' clients talk through.
func httpClient(o Options) *http.Client {
	next := o.Transport
	if next == nil {
		next = &http.Transport{
			Proxy: o.Proxy, DisableKeepAlives: true, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: patience, MaxResponseHeaderBytes: 64 << 10,
		}
	}
	return &http.Client{Transport: bounded{next}, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect }}
}

// bounded cuts answers that have no end, and sends nothing in the clear: what
// a request's address is, is decided by libraries.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !isLoopback(r.URL.Host) {
		return nil, errors.New("a token is not sent in the clear")
	}
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: answerMax}
	}
	return resp, err
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
