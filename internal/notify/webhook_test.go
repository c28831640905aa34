package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
)

// arrival is a request as a receiver sees it.
type arrival struct {
	header http.Header
	body   []byte
	note   Note
}

// receiver is a server that answers as it is told: statuses in turn, then 204.
// Status 0 hangs until the server ends.
func receiver(t *testing.T, statuses ...int) (url string, arrived <-chan arrival) {
	t.Helper()
	out := make(chan arrival, 100)
	hang := make(chan struct{})
	next := make(chan int, len(statuses))
	for _, s := range statuses {
		next <- s
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		a := arrival{header: r.Header, body: body}
		if err := errors.Join(err, json.Unmarshal(body, &a.note)); err != nil {
			t.Errorf("what came is no JSON: %v", err)
		}
		out <- a
		select {
		case s := <-next:
			if s == 0 {
				<-hang
				return
			}
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(s)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(func() { close(hang); server.Close() })
	return server.URL + "/cw", out
}

func secretFile(t *testing.T, text string, mode os.FileMode) Secret {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return Secret(path)
}

// TestWebhook: what a receiver gets, and that its signature is what another
// would compute.
func TestWebhook(t *testing.T) {
	t.Parallel()
	const key = "a key of some length"
	source := newRows()
	o := options(t, source)
	var arrived <-chan arrival
	o.Webhook, arrived = receiver(t)
	o.Secret = secretFile(t, key+"\n", 0o600)
	running(t, New(o))
	source.settled(t, 1)
	source.add(cw.EventAgentSpawned)
	seq := source.add(cw.EventQuestionRequested)
	got := take(t, arrived)
	if got.note.ID != seq || got.note.Type != cw.EventQuestionRequested || got.note.Agent != "brave-otter" ||
		got.note.Title != "brave-otter asks" || got.note.Body != "Which colour?" || got.note.At.IsZero() {
		t.Errorf("told: %+v", got.note)
	}
	var payload cw.QuestionRequested
	if err := json.Unmarshal(got.note.Data, &payload); err != nil || payload.Question != "Which colour?" {
		t.Errorf("data %s: %v", got.note.Data, err)
	}
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s.%s", got.header.Get("X-CW-Timestamp"), got.body)
	for name, want := range map[string]string{
		"X-Cw-Event": "question:requested", "X-Cw-Delivery": fmt.Sprint(seq), "Content-Type": "application/json",
		"X-Cw-Signature": fmt.Sprintf("sha256=%x", mac.Sum(nil)),
	} {
		if got := got.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestWebhookTriesAgain: the same notification, until it is taken; then the next
// one. What is refused for itself is not sent again.
func TestWebhookTriesAgain(t *testing.T) {
	t.Parallel()
	source := newRows()
	o := options(t, source)
	var arrived <-chan arrival
	o.Webhook, arrived = receiver(t, 500, 302, 429, 204, 422)
	n := New(o)
	n.webhook.first = time.Millisecond
	running(t, n)
	source.settled(t, 1)
	source.add(cw.EventAgentCrashed, cw.EventAgentStalled, cw.EventAgentParked)
	for i, want := range []int64{1, 1, 1, 1, 2, 3} {
		if got := take(t, arrived); got.note.ID != want || got.header.Get("X-CW-Signature") != "" {
			t.Errorf("request %d is about %d, want %d; signature %q", i, got.note.ID, want, got.header.Get("X-CW-Signature"))
		}
	}
}

// TestWebhookThatHangs holds up nobody: the program is run, and the notifier ends.
func TestWebhookThatHangs(t *testing.T) {
	t.Parallel()
	source := newRows()
	o := options(t, source)
	var arrived <-chan arrival
	o.Webhook, arrived = receiver(t, 0, 0)
	shown := make(chan []byte, 10)
	o.Command = []string{"show"}
	o.Exec = func(_ context.Context, _, _ []string, stdin []byte, _ int) ([]byte, int, error) {
		shown <- stdin
		return nil, 0, nil
	}
	end := running(t, New(o))
	source.settled(t, 2)
	source.add(cw.EventAgentCrashed)
	take(t, arrived)
	source.add(cw.EventAgentCrashed, cw.EventAgentCrashed)
	for range 3 {
		take(t, shown)
	}
	end()
	again := New(o) // it was not taken, so it comes again; the program had all
	o.Webhook, arrived = receiver(t)
	again.webhook.url = o.Webhook
	running(t, again)
	for want := range int64(3) {
		if got := take(t, arrived); got.note.ID != want+1 {
			t.Errorf("after the restart came %d, want %d", got.note.ID, want+1)
		}
	}
	if len(shown) > 0 {
		t.Errorf("shown again: %s", <-shown)
	}
}

// roundTrip is a receiver without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("no"))}
}

// TestDeadReceiver: an event is tried for an hour, ever less often; what is late
// by then is given up without a try, and all goes on when the receiver is back.
func TestDeadReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := newRows()
		o := options(t, source)
		o.Webhook = "https://example.com/secret-path"
		n := New(o)
		var mu sync.Mutex
		status, tries := http.StatusServiceUnavailable, map[string]int{}
		n.webhook.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			tries[r.Header.Get("X-CW-Delivery")]++
			return answer(status), nil
		})
		running(t, n)
		synctest.Wait()
		source.add(cw.EventAgentCrashed, cw.EventAgentCrashed, cw.EventAgentCrashed)
		time.Sleep(30 * time.Minute)
		source.add(cw.EventAgentCrashed)
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		mu.Lock()
		if tries["1"] < 15 || tries["1"] > 40 || tries["2"]+tries["3"] > 20 || tries["4"] == 0 {
			t.Errorf("tries: %v", tries)
		}
		mu.Unlock()
		h := n.Hooks()[0]
		if h.FailingSince == nil || h.Lost != 3 || !strings.Contains(h.Error, "503") || h.Target != "https://example.com" {
			t.Errorf("the hook: %+v", h)
		}
		mu.Lock()
		status = http.StatusOK
		mu.Unlock()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if h := n.Hooks()[0]; h.FailingSince != nil || h.Error != "" || h.Lost != 3 {
			t.Errorf("afterwards: %+v", h)
		}
	})
}

// TestSlowReceiver: one try ends after its time.
func TestSlowReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := options(t, newRows())
		o.Webhook = "https://example.com/secret-path"
		n := New(o)
		n.webhook.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		begin := time.Now()
		trials, err := n.TryHooks(t.Context())
		if took := time.Since(begin); err != nil || trials[0].OK || took != tryTime || strings.Contains(trials[0].Detail, "secret") {
			t.Errorf("after %s: %+v, %v", took, trials, err)
		}
	})
}

func TestPatience(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_000_000, 0)
	for name, c := range map[string]struct {
		late, up time.Duration // since it happened, since the daemon began
		down     bool
		left     time.Duration
		try      bool
	}{
		"at once":                  {0, time.Hour, false, time.Hour, true},
		"half way":                 {30 * time.Minute, 2 * time.Hour, true, 30 * time.Minute, true},
		"too late":                 {2 * time.Hour, 3 * time.Hour, false, 0, true},
		"too late for one away":    {2 * time.Hour, 3 * time.Hour, true, 0, false},
		"before the daemon's time": {48 * time.Hour, time.Minute, true, 59 * time.Minute, true},
	} {
		left, try := patience(at, at.Add(-c.late), at.Add(-c.up), c.down)
		if left != c.left || try != c.try {
			t.Errorf("%s: %s, %t; want %s, %t", name, left, try, c.left, c.try)
		}
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for word, good := range map[string]bool{
		"": true, "https://example.com/a?b=c": true, "http://127.0.0.1:8080/": true, "http://[::1]/x": true, "http://localhost:1": true,
		"http://example.com": false, "http://127.0.0.1.example.com": false, "http://10.0.0.1/": false, "http://localhost.example.com/": false,
		"ftp://127.0.0.1": false, "https://": false, "https:example.com": false, "//example.com": false, "https://me:pw@example.com": false,
		"https://example.com/#x": false, " https://example.com": false, "https://exa mple.com": false, "file:///etc/passwd": false,
		"http://[::ffff:127.0.0.1]/": false, "https://example.com/" + strings.Repeat("x", 2000): false, "unix:///run/x": false,
	} {
		if err := CheckURL(word); (err == nil) != good {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// TestSecrets: nothing is sent unsigned because the key cannot be used.
func TestSecrets(t *testing.T) {
	t.Parallel()
	url, arrived := receiver(t)
	for name, secret := range map[string]Secret{
		"open to others": secretFile(t, strings.Repeat("x", 32), 0o644),
		"too short":      secretFile(t, "short", 0o600),
		"too long":       secretFile(t, strings.Repeat("x", secretMax+1), 0o600),
		"a folder":       Secret(t.TempDir()),
		"missing":        Secret(filepath.Join(t.TempDir(), "none")),
	} {
		o := options(t, newRows())
		o.Webhook, o.Secret = url, secret
		n := New(o)
		trials, err := n.TryHooks(t.Context())
		n.transport.CloseIdleConnections()
		if err != nil || len(trials) != 1 || trials[0].OK || !strings.Contains(trials[0].Detail, "secretFile") {
			t.Errorf("%s: %+v, %v", name, trials, err)
		}
	}
	if len(arrived) > 0 {
		t.Error("something was sent")
	}
}
