package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// hangingStream asks for a stream and reads nothing of it.
func hangingStream(t *testing.T, d *daemon, target, token string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", d.socket)
	noError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	auth := ""
	if token != "" {
		auth = "Authorization: Bearer " + token + "\r\n"
	}
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: cw.sock\r\n%s\r\n", target, auth)
	noError(t, err)
	return conn
}

// An agent has eight streams at once; the ninth is refused, another caller's is
// not, and one that ends makes room, however it ends.
func TestStreamsOfAnAgent(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	const live = "/v1/agents/brave-otter/output?until=closed"
	auth := map[string]string{"Authorization": "Bearer " + tokenSelf}
	var open []net.Conn
	for range 8 {
		open = append(open, hangingStream(t, d, live, tokenSelf))
	}
	eventually(t, "eight read", func() bool { return d.memory.Readers() == 8 })
	stored := "/v1/agents/brave-otter/output"
	got := send(t, d, "GET", stored, "", auth)
	if got.status != http.StatusTooManyRequests || got.err.Code != cw.CodeTooMany || got.err.Hint == "" {
		t.Errorf("the ninth: %s", got)
	}
	if got := send(t, d, "GET", stored, "", nil); got.status != http.StatusOK {
		t.Errorf("a person's: %s", got)
	}
	_ = open[0].Close()
	eventually(t, "room again", func() bool { return send(t, d, "GET", stored, "", auth).status == http.StatusOK })
	// Streams that end by themselves, and those that fail at once, leave room.
	for i := range 20 {
		target, want := stored, http.StatusOK
		if i%2 == 0 {
			target, want = stored+"?offset=-1", http.StatusBadRequest
		}
		eventually(t, "let in again", func() bool { return send(t, d, "GET", target, "", auth).status == want })
	}
}

// longLines counts how many long events are pulled.
type longLines struct {
	cw.Services
	pulled, over atomic.Int64
	size         int
}

func (l *longLines) OutputEvents(ctx context.Context, _ string, _ cw.OutputQuery) iter.Seq2[cw.OutputEvent, error] {
	return func(yield func(cw.OutputEvent, error) bool) {
		defer l.over.Add(1)
		text := strings.Repeat("x", l.size)
		for i := range 200 {
			l.pulled.Add(1)
			if !yield(cw.OutputEvent{Position: fmt.Sprintf("1:%d:0", i), Event: cw.StreamEvent{Text: text}}, nil) {
				return
			}
		}
	}
}

// readerStall is long enough for whoever reads at all, also on a loaded machine
// under the race detector: one that is cut begins anew, and would never end.
const readerStall = 2 * time.Second

// A reader that stands still holds a few frames, not a queue of them, and is
// still cut. One that reads gets everything.
func TestStalledReaderHoldsLittle(t *testing.T) {
	t.Parallel()
	for size, most := range map[int]int64{1 << 20: 4, 40_000: 12} {
		lines := &longLines{size: size}
		d := startDaemon(t, func(o *api.Options) {
			lines.Services, o.Services, o.Stall = o.Services, lines, readerStall
		})
		hangingStream(t, d, "/v1/agents/brave-otter/output?format=events", "")
		eventually(t, "the stalled one is cut", func() bool { return lines.over.Load() == 1 })
		if n := lines.pulled.Load(); n > most {
			t.Errorf("%d frames of %d bytes were pulled for a reader that does not read", n, size)
		}
		n := 0
		for e, err := range d.client("").OutputEvents(t.Context(), "brave-otter", cw.OutputQuery{}) {
			noError(t, err)
			if n++; len(e.Event.Text) != size {
				t.Fatalf("%d bytes of %d", len(e.Event.Text), size)
			}
		}
		if n != 200 {
			t.Errorf("%d of 200 lines", n)
		}
	}
}

// What a peer's start time is asked for once, when it connects; a peer whose
// start cannot be told is not let in.
func TestPeerStartTime(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	gone := atomic.Bool{}
	d := startDaemon(t, func(o *api.Options) {
		o.StartTime = func(pid int) (uint64, error) {
			if gone.Load() {
				return 0, errors.New("no such process")
			}
			return uint64(pid)<<8 + uint64(asked.Add(1)), nil
		}
	})
	conn, err := net.Dial("unix", d.socket)
	noError(t, err)
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	for _, end := range []string{"", "Connection: close\r\n"} { // two requests of one connection
		_, err = io.WriteString(conn, "GET /v1/whoami HTTP/1.1\r\nHost: cw.sock\r\n"+end+"\r\n")
		noError(t, err)
	}
	_, err = io.ReadAll(conn)
	noError(t, err)
	d.mu.Lock()
	peers := append([]api.Peer{}, d.peers...)
	d.mu.Unlock()
	if len(peers) != 2 || asked.Load() != 1 {
		t.Fatalf("%d requests, start asked %d times", len(peers), asked.Load())
	}
	for _, p := range peers {
		if p.StartTime != uint64(p.PID)<<8+1 {
			t.Errorf("peer %+v", p)
		}
	}
	gone.Store(true)
	if got := send(t, d, "GET", "/v1/whoami", "", nil); got.status != http.StatusUnauthorized {
		t.Errorf("a peer that is gone already: %s", got)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.peers) != 2 {
		t.Error("Identify was asked about an unknown peer")
	}
}

// A request that the stopping server lets go is told so; one whose caller goes
// is not mistaken for it.
func TestStoppingIsSaid(t *testing.T) {
	t.Parallel()
	for range 5 {
		services := &slow{started: make(chan struct{}), release: make(chan struct{})}
		d := startDaemon(t, func(o *api.Options) {
			services.Services = o.Services
			o.Services, o.Grace = services, 20*time.Millisecond
		})
		ended := make(chan error, 1)
		go func() { _, err := d.client("").Status(context.Background()); ended <- err }()
		<-services.started
		var wg sync.WaitGroup
		wg.Go(d.stop)
		err := <-ended
		wg.Wait()
		if cw.ErrorCode(err) != cw.CodeUnreachable || !strings.Contains(err.Error(), "the daemon is stopping") ||
			!strings.Contains(cw.ErrorHint(err), "cw agent list") {
			t.Errorf("let go by the server: %v (%s)", err, cw.ErrorHint(err))
		}
	}
}

// TestWritesOfAnAgentAreFew: a loop of an agent is refused before its bodies are
// read, and what it reads and what others do is not.
func TestWritesOfAnAgentAreFew(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	auth := map[string]string{"Authorization": "Bearer " + tokenSelf}
	const plan = "/v1/agents/" + servicetest.PreparedAgent + "/plan"
	var last reply
	for n := range 121 {
		last = send(t, d, "POST", plan, `{"title":"","steps":[]}`, auth)
		if n < 120 && last.status != http.StatusBadRequest {
			t.Fatalf("call %d: %s", n, last)
		}
	}
	if last.status != http.StatusTooManyRequests || last.err.Code != cw.CodeTooMany || last.err.Hint == "" {
		t.Errorf("one too many: %s", last)
	}
	if got := send(t, d, "GET", "/v1/agents/"+servicetest.PreparedAgent, "", auth); got.status != http.StatusOK {
		t.Errorf("it reads itself: %s", got)
	}
}
