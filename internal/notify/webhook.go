package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"cw/internal/cw"
)

const (
	// tryTime bounds one request with its answer.
	tryTime = 10 * time.Second
	// keepTrying is how long an event is sent again and again, from when it
	// happened or from when the daemon began.
	keepTrying = time.Hour
	// firstPause and longestPause lie between two tries; each is about twice the
	// one before.
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	// answerMax is how much of an answer is read.
	answerMax = 4 << 10
)

// CheckURL takes a URL that a webhook may have: https, or http on this machine
// alone, and no password in it.
func CheckURL(word string) error {
	if word == "" {
		return nil
	}
	u, err := url.Parse(word)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "" || len(word) > 2000 || word != strings.TrimSpace(word):
		return errors.New("is not a URL like https://example.com/cw")
	case u.User != nil:
		return errors.New("holds a name or a password; requests are signed with notify.secretFile instead")
	case u.Fragment != "":
		return errors.New("has a fragment (#), which is never sent")
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return errors.New("is http and not on this machine: others could read and forge it; take https")
	}
	return errors.New("is neither https nor http")
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback() && !ip.Is4In6()
}

// webhook sends notifications to a URL.
type webhook struct {
	url    string
	secret Secret
	client *http.Client
	start  time.Time // of the daemon
	first  time.Duration
}

func newWebhook(o Options, transport http.RoundTripper) *webhook {
	return &webhook{
		url: o.Webhook, secret: o.Secret, start: time.Now(), first: firstPause,
		client: &http.Client{Transport: transport, Timeout: tryTime, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the signature is for one receiver
		}},
	}
}

// transport is that of webhooks: at most one connection waits.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: tryTime, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
	}
}

// target is the host alone: a path may be a secret.
func (w *webhook) target() string {
	u, err := url.Parse(w.url)
	if err != nil {
		return "?"
	}
	return u.Scheme + "://" + u.Host
}

// deliver sends a notification until somebody takes it, or until it is too late.
// failed hears of each failure after which it is tried again.
func (w *webhook) deliver(ctx context.Context, n Note, down bool, failed func(error)) error {
	left, try := patience(time.Now(), n.At, w.start, down)
	if !try {
		return errLate
	}
	tries := uint(1)
	if left > 0 {
		tries = 0
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, w.try(ctx, n) },
		backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(left), backoff.WithNotify(func(err error, _ time.Duration) { failed(err) }),
		backoff.WithBackOff(&backoff.ExponentialBackOff{
			InitialInterval: w.first, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: longestPause,
		}))
	return err
}

// errLate says that a notification was too late for a receiver that is away.
var errLate = errors.New("it was too late")

// patience decides how long a notification is tried, and whether at all: one
// that is too late gets one try, and none while the receiver is known to be
// down, so that what waits never grows beyond an hour.
func patience(now, happened, started time.Time, down bool) (left time.Duration, try bool) {
	since := happened
	if started.After(since) {
		since = started
	}
	left = max(0, keepTrying-now.Sub(since))
	return left, left > 0 || !down
}

// try sends a notification once. An answer that says that this notification
// will never be taken is a permanent error.
func (w *webhook) try(ctx context.Context, n Note) error {
	body, err := json.Marshal(n)
	if err != nil {
		return backoff.Permanent(fmt.Errorf("write the notification: %w", err))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(errors.New("notify.webhook is no URL"))
	}
	if err := w.sign(req, n, body, time.Now()); err != nil {
		return err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, answerMax)) // what it says beside its status is only a help
	return judge(resp.StatusCode, said)
}

// sign writes the headers of a request.
func (w *webhook) sign(req *http.Request, n Note, body []byte, at time.Time) error {
	stamp := strconv.FormatInt(at.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "cw")
	req.Header.Set("X-CW-Event", string(n.Type))
	req.Header.Set("X-CW-Delivery", strconv.FormatInt(n.ID, 10))
	req.Header.Set("X-CW-Timestamp", stamp)
	key, err := w.secret.Read()
	if err != nil || key == nil {
		return err // never sent unsigned because a file cannot be read
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	req.Header.Set("X-CW-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return nil
}

// judge says what an answer means.
func judge(status int, said []byte) error {
	if status >= 200 && status < 300 {
		return nil
	}
	text := fmt.Sprintf("it answered %d %s", status, http.StatusText(status))
	switch {
	case status >= 300 && status < 400:
		text += "; redirects are not followed"
	case len(said) > 0:
		text += ": " + clean(string(said), 200)
	}
	err := errors.New(text)
	if slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, status) {
		return backoff.Permanent(err) // of this one; others may fare better
	}
	return err
}

// withoutURL takes the URL out of an error of net/http: its path may be a
// secret.
func withoutURL(err error) error {
	var of *url.Error
	if !errors.As(err, &of) {
		return err
	}
	if of.Timeout() {
		return fmt.Errorf("it did not answer within %s", tryTime)
	}
	return of.Err
}

// trialTime bounds the trial of one hook.
func (w *webhook) trial(ctx context.Context) cw.HookTrial {
	t := cw.HookTrial{Kind: cw.HookWebhook, Target: w.target()}
	err := w.try(ctx, trial())
	switch signed, _ := w.secret.Read(); {
	case err != nil:
		t.Detail = unwrapped(err).Error()
	case signed == nil:
		t.OK, t.Detail = true, "it took the notification, which was not signed: notify.secretFile is not set"
	default:
		t.OK, t.Detail = true, "it took the notification, which was signed"
	}
	return t
}

// unwrapped is an error without the mark that it is permanent.
func unwrapped(err error) error {
	var permanent *backoff.PermanentError
	if errors.As(err, &permanent) {
		return permanent.Unwrap()
	}
	return err
}
