package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// rawStream reads a stream's text line by line.
func rawStream(t *testing.T, d *daemon, target string) (lines *bufio.Scanner, hangUp func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", "http://cw.sock"+target, nil)
	noError(t, err)
	client := rawClient(t, d)
	client.Timeout = 0
	resp, err := client.Do(req)
	noError(t, err)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s: %s %s", target, resp.Status, resp.Header)
	}
	hangUp = sync.OnceFunc(func() { cancel(); _ = resp.Body.Close() })
	t.Cleanup(hangUp)
	return bufio.NewScanner(resp.Body), hangUp
}

func text(lines *bufio.Scanner) string {
	var out strings.Builder
	for lines.Scan() {
		out.WriteString(lines.Text() + "\n")
	}
	return out.String()
}

// The exact bytes of a stream that ends by itself.
func TestWireFormatOfChunks(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	lines, _ := rawStream(t, d, "/v1/agents/brave-otter/output?session=1&only=true")
	id := d.agent(t, "brave-otter")
	chunks := func(n int, offset int, b64, more string) string {
		return fmt.Sprintf(`id: %d
data: {"id":%d,"agentId":"%s","agentName":"brave-otter","session":1,"offset":%d,"bytes":"%s","createdAt":"T"}
%s
`, n, n, id, offset, b64, more)
	}
	want := chunks(1, 0, "b25lCnR3bwp0aA==", "retry: 1000\n") + chunks(3, 10, "cmVlCjpjb2xvbgoKZGF0YTogeAppZDogNwo=", "") +
		"data: {\"reason\":\"complete\"}\nevent: end\n\n"
	if diff := cmp.Diff(want, hideTimes(text(lines))); diff != "" {
		t.Error(diff)
	}
}

func hideTimes(s string) string {
	var out []string
	for _, line := range strings.SplitAfter(s, "\n") {
		if i := strings.Index(line, `"createdAt":"`); i >= 0 {
			line = line[:i] + "\"createdAt\":\"T\"}\n"
		}
		out = append(out, line)
	}
	return strings.Join(out, "")
}

// Parsed output carries no id on its events, and a mark when a chunk is whole.
func TestWireFormatOfOutputEvents(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	lines, _ := rawStream(t, d, "/v1/agents/brave-otter/output?format=events")
	var got []string
	for _, block := range strings.Split(text(lines), "\n\n") {
		id, rest, has := strings.Cut(block, "\n")
		if !has || !strings.HasPrefix(id, "id: ") {
			id, rest = "-", block
		}
		_, name, named := strings.Cut(rest, "event: ")
		if !named && strings.HasPrefix(rest, "data: ") {
			name = "item"
		}
		got = append(got, id+" "+name)
	}
	want := strings.Split("- item,- item,id: 1 mark,- item,- item,- item,- item,- item,id: 3 mark,- item,id: 4 mark,- item,- end,- ", ",")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Output is live without a word about its end: it goes on with what the agent
// writes, and ends with its run. Who wants what is stored alone says so.
func TestOutputIsLive(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	const running = "/v1/agents/" + servicetest.PreparedStandalone + "/output"
	for _, target := range []string{running + "?until=now", running + "?follow=false"} {
		if lines, _ := rawStream(t, d, target); !strings.HasSuffix(text(lines), "event: end\n\n") {
			t.Errorf("%s did not end", target)
		}
	}
	for target, ends := range map[string]bool{running: true, running + "?until=rest": true, running + "?follow=true": false} {
		d := startDaemon(t, nil)
		lines, _ := rawStream(t, d, target)
		until := func(part string) (all string) {
			for lines.Scan() {
				all += lines.Text() + "\n"
				if strings.Contains(lines.Text(), part) {
					return all
				}
			}
			t.Fatalf("%s: no %q in %q", target, part, all)
			return ""
		}
		until(`"offset":0`)
		d.memory.Say(servicetest.PreparedStandalone, 1, "later\n")
		until(`"offset":9`)
		d.memory.Finish(servicetest.PreparedStandalone, cw.StatusIdle)
		if ends {
			until("event: end")
			continue
		}
		d.memory.Say(servicetest.PreparedStandalone, 2, "another run\n")
		if got := until(`"session":2`); strings.Contains(got, "event: end") {
			t.Errorf("%s ended: %q", target, got)
		}
	}
	if got := send(t, d, "GET", running+"?until=rest&follow=true", "", nil); got.status != http.StatusBadRequest || got.err.Hint == "" {
		t.Errorf("both words: %s", got)
	}
}

// A live event carries no id, so that it does not become the place to resume
// from, and a quiet stream gives signs of life.
func TestWireFormatOfLiveEvents(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, func(o *api.Options) { o.KeepAlive = 30 * time.Millisecond })
	lines, _ := rawStream(t, d, "/v1/events?tail=true&follow=true&type=agent:warning&also=agent:output")
	eventually(t, "subscribed", func() bool { return d.memory.Readers() == 1 })
	d.memory.Say("brave-otter", 2, "x")
	d.memory.Tell(cw.Event{Type: cw.EventAgentWarning, Data: []byte("{\"a\":\n\"\\u2028<\"}")})
	var got []string
	const all = 7 // lines of what is said; a slow machine keeps the stream alive before them, too
	for quiet := 0; (quiet < 2 || len(got) < all) && quiet < 1000 && lines.Scan(); {
		if line := lines.Text(); line == ": keep-alive" {
			quiet++
		} else if line != "" {
			quiet = 0
			name, _, _ := strings.Cut(line, ",")
			got = append(got, name)
		}
	}
	want := []string{
		"id: 5", "data: {}", "event: mark", "retry: 1000", // where the tail began
		`data: {"type":"agent:output"`,
		"id: 6", `data: {"seq":6`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A tail says where it began, also before the first event of all: who comes
// back goes on from there.
func TestTailBegins(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*daemon{
		"some":  startDaemon(t, nil),
		"empty": startDaemon(t, func(o *api.Options) { o.Services = servicetest.NewMemory() }),
	} {
		lines, _ := rawStream(t, d, "/v1/events?tail=true")
		id := map[string]string{"some": "5", "empty": "0"}[name]
		want := "id: " + id + "\ndata: {}\nevent: mark\nretry: 1000\n\ndata: {\"reason\":\"complete\"}\nevent: end\n\n"
		if diff := cmp.Diff(want, text(lines)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// An event that happens while a tail's connection is broken is not lost, even
// when nothing had come yet.
func TestTailComesBack(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int64{"some": 6, "empty": 1} {
		d := startDaemon(t, func(o *api.Options) {
			if name == "empty" {
				o.Services = servicetest.NewMemory()
			}
		})
		memory := d.opts.Services.(*servicetest.Memory)
		marked := make(chan struct{})
		mark := sync.OnceFunc(func() { close(marked) })
		client := api.NewClient(api.ClientOptions{Dial: func(ctx context.Context) (net.Conn, error) {
			var dialer net.Dialer
			conn, err := dialer.DialContext(ctx, "unix", d.socket)
			return &heardConn{Conn: conn, word: "event: mark\nretry: 1000\n\n", heard: mark}, err
		}}).Hurry()
		first := make(chan cw.Event, 1)
		go func() {
			for e, err := range client.Events(t.Context(), cw.EventQuery{Tail: true, Follow: true}) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				first <- e
				return
			}
		}()
		<-marked
		d.stop()
		for range 2 {
			memory.Tell(cw.Event{Type: cw.EventAgentWarning, Data: []byte("{}")})
		}
		d.start(t)
		select {
		case got := <-first:
			if got.Seq != want {
				t.Errorf("%s: the tail goes on with %d, not %d", name, got.Seq, want)
			}
		case <-time.After(patience):
			t.Errorf("%s: what happened meanwhile does not come", name)
		}
	}
}

// heardConn tells when a word was read.
type heardConn struct {
	net.Conn
	word  string
	all   strings.Builder
	heard func()
}

func (c *heardConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.all.Write(p[:n])
	if strings.Contains(c.all.String(), c.word) {
		c.heard()
	}
	return n, err
}

// cuttingDialer makes connections that break after a number of bytes.
type cuttingDialer struct {
	socket string
	next   func(connection int) int // bytes until the cut
	n      atomic.Int64
}

func (c *cuttingDialer) dial(ctx context.Context) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", c.socket)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn, left: c.next(int(c.n.Add(1)))}, nil
}

type cutConn struct {
	net.Conn
	left int
}

func (c *cutConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		_ = c.Close()
		return 0, errors.New("cut")
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// Cut at random places while it is written: every number exactly once.
func TestCutsUnderLoad(t *testing.T) {
	t.Parallel()
	var cuts, passes atomic.Int64
	deadline := time.Now().Add(5 * time.Second)
	rapid.Check(t, func(rt *rapid.T) {
		if time.Now().After(deadline) && cuts.Load() >= leastCuts { // a loaded machine does fewer passes
			return
		}
		seed := rapid.Uint64().Draw(rt, "seed")
		// A connection must be long enough for the events of one chunk: they come together.
		most := rapid.IntRange(2_500, 15_000).Draw(rt, "bytes until a cut, at most")
		reader := rapid.SampledFrom([]string{"chunks", "events", "output events"}).Draw(rt, "stream")
		cuts.Add(cutPass(t, seed, most, reader))
		passes.Add(1)
	})
	t.Logf("%d passes, %d cuts", passes.Load(), cuts.Load())
	if cuts.Load() < leastCuts {
		t.Errorf("only %d cuts: the test did not do its work", cuts.Load())
	}
}

// leastCuts is how many connections must break, however slow the machine is.
const leastCuts = 20

const said = 40 // what is written during one pass

func cutPass(t *testing.T, seed uint64, most int, reader string) int64 {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	d := startDaemon(t, nil)
	defer d.stop()
	cutter := &cuttingDialer{socket: d.socket, next: func(n int) int {
		if n == 1 { // the first answer's head must arrive: before it nobody was there
			return 1000 + random.IntN(most)
		}
		return 1 + random.IntN(most)
	}}
	client := api.NewClient(api.ClientOptions{Dial: cutter.dial}).Hurry()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	go func() {
		for i := range said {
			d.memory.Say("brave-otter", 3, fmt.Sprintf("%d%s\nto%s", i, strings.Repeat("x", i*7%900), "rn "))
		}
	}()
	switch reader {
	case "chunks":
		same(t, ctx, d.memory.Output, client.Output, 6+said)
	case "output events":
		same(t, ctx, d.memory.OutputEvents, client.OutputEvents, 9+said)
	case "events":
		// Stored ones only: live ones of the time between two connections are gone.
		go func() {
			for i := range said {
				d.memory.Tell(cw.Event{Type: cw.EventAgentWarning, Data: fmt.Appendf(nil, `{"n":%d}`, i)})
			}
		}()
		got := take(t, client.Events(ctx, cw.EventQuery{Follow: true, Types: []cw.EventType{cw.EventAgentWarning}}), said+1)
		direct := take(t, d.memory.Events(ctx, cw.EventQuery{Types: []cw.EventType{cw.EventAgentWarning}}), said+1)
		if diff := cmp.Diff(direct, got); diff != "" {
			t.Error(diff)
		}
	}
	return cutter.n.Load() - 1
}

type outputOf[T any] func(context.Context, string, cw.OutputQuery) iter.Seq2[T, error]

// same reads n items live through the wire and compares them with the source.
func same[T any](t *testing.T, ctx context.Context, direct, wire outputOf[T], n int) {
	t.Helper()
	got := take(t, wire(ctx, "brave-otter", cw.OutputQuery{Until: cw.UntilClosed}), n)
	want := take(t, direct(ctx, "brave-otter", cw.OutputQuery{Until: cw.UntilClosed}), n)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func take[T any](t *testing.T, seq iter.Seq2[T, error], n int) []T {
	t.Helper()
	var out []T
	for item, err := range seq {
		if err != nil {
			t.Errorf("after %d of %d: %v", len(out), n, err)
			return out
		}
		if out = append(out, item); len(out) == n {
			break
		}
	}
	return out
}

// A reader that stops reading is cut and costs the others nothing.
func TestStalledReader(t *testing.T) {
	t.Parallel()
	const total, healthy = 3000, 3
	d := startDaemon(t, func(o *api.Options) { o.Stall = 300 * time.Millisecond })
	stalled, err := net.Dial("unix", d.socket)
	noError(t, err)
	defer func() { _ = stalled.Close() }()
	_, err = io.WriteString(stalled, "GET /v1/events?follow=true&tail=true HTTP/1.1\r\nHost: cw.sock\r\n\r\n")
	noError(t, err)
	var wg sync.WaitGroup
	got := make([][]cw.Event, healthy)
	for i := range healthy {
		wg.Go(func() {
			got[i] = take(t, d.client("").Events(t.Context(), cw.EventQuery{Follow: true, Tail: true}), total)
		})
	}
	eventually(t, "all subscribed", func() bool { return d.memory.Readers() == healthy+1 })
	filler := strings.Repeat("f", 1000)
	for i := range total {
		d.memory.Tell(cw.Event{Type: cw.EventAgentWarning, Data: fmt.Appendf(nil, `{"n":%d,"f":%q}`, i, filler)})
		if i%10 == 9 {
			time.Sleep(time.Millisecond) // about 5,000 a second: a rate, not a wait
		}
	}
	wg.Wait()
	for i := range healthy {
		if len(got[i]) != total || got[i][total-1].Seq-got[i][0].Seq != total-1 {
			t.Errorf("reader %d got %d of %d", i, len(got[i]), total)
		}
	}
	eventually(t, "the stalled one is cut", func() bool { return d.memory.Readers() == 0 })
	// What it finds when it wakes is a broken stream, not a whole one.
	_ = stalled.SetReadDeadline(time.Now().Add(5 * time.Second))
	data, _ := io.ReadAll(stalled)
	if strings.Contains(string(data), "event: end") || len(data) == 0 {
		t.Errorf("the stalled reader got %d bytes with an end", len(data))
	}
}

// Fifty readers go away in every way there is, and nothing of them stays.
// Not parallel: it counts goroutines.
func TestNothingStays(t *testing.T) {
	d := startDaemon(t, nil)
	defer d.stop()
	_, err := d.client("").Status(t.Context()) // the server's own goroutines are there
	noError(t, err)
	before := goleak.IgnoreCurrent()
	targets := []string{"/v1/events?follow=true", "/v1/agents/brave-otter/output?until=closed", "/v1/agents/brave-otter/output?until=closed&format=events"}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { leave(t, d, i, targets[i%len(targets)]) })
	}
	for range 100 {
		d.memory.Say("brave-otter", 4, "line\n")
	}
	wg.Wait()
	eventually(t, "all iterators are gone", func() bool { return d.memory.Readers() == 0 })
	goleak.VerifyNone(t, before)
}

func leave(t *testing.T, d *daemon, i int, target string) {
	switch i % 5 {
	case 0: // hangs up without a word, having read nothing
		conn, err := net.Dial("unix", d.socket)
		noError(t, err)
		_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: cw.sock\r\n\r\n", target)
		_ = conn.Close()
	case 1: // reads a little
		conn, err := net.Dial("unix", d.socket)
		noError(t, err)
		_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: cw.sock\r\n\r\n", target)
		_, _ = io.ReadFull(conn, make([]byte, 500))
		_ = conn.Close()
	case 2: // breaks out of the loop
		for range d.client("").Output(t.Context(), "brave-otter", cw.OutputQuery{Until: cw.UntilClosed}) {
			break
		}
	case 3: // its context ends
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		for range d.client("").Events(ctx, cw.EventQuery{Follow: true}) {
		}
	case 4: // asks for what is not there
		for range d.client("").Output(t.Context(), "nobody", cw.OutputQuery{Until: cw.UntilClosed}) {
		}
	}
}

// The daemon is restarted in the middle of a subscription: the reader notices
// nothing.
func TestRestart(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	const rounds, each = 4, 25
	var seen atomic.Int64
	done := make(chan []cw.Event)
	go func() {
		var got []cw.Event
		for e, err := range d.client("").Hurry().Events(t.Context(), cw.EventQuery{Follow: true, Types: []cw.EventType{cw.EventAgentWarning}}) {
			if err != nil {
				t.Errorf("after %d: %v", len(got), err)
				break
			}
			got = append(got, e)
			if seen.Add(1) == rounds*each+1 {
				break
			}
		}
		done <- got
	}()
	for round := range rounds {
		for range each / 2 {
			d.memory.Tell(cw.Event{Type: cw.EventAgentWarning, Data: []byte("{}")})
		}
		eventually(t, "something arrived", func() bool { return seen.Load() > int64(round*each) })
		start := time.Now()
		d.stop()
		if took := time.Since(start); took > time.Second {
			t.Errorf("stopping with an open stream took %s", took)
		}
		for range each - each/2 {
			d.memory.Tell(cw.Event{Type: cw.EventAgentWarning, Data: []byte("{}")})
		}
		d.start(t)
	}
	got := <-done
	want := take(t, d.memory.Events(t.Context(), cw.EventQuery{Types: []cw.EventType{cw.EventAgentWarning}}), rounds*each+1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A server that stops breaks its streams off: a word that they have ended, or
// failed, would keep their readers from coming back.
func TestStoppingSaysNothing(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	const readers = 60
	said := make(chan string, readers)
	var heads sync.WaitGroup // of the answers
	heads.Add(readers)
	for range readers {
		conn, err := net.Dial("unix", d.socket)
		noError(t, err)
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "GET /v1/agents/brave-otter/output?until=closed HTTP/1.1\r\nHost: cw.sock\r\n\r\n")
		go func() {
			r := bufio.NewReader(conn)
			head, _ := r.ReadString('\n')
			heads.Done()
			rest, _ := io.ReadAll(r)
			said <- head + string(rest)
		}()
	}
	eventually(t, "all read", func() bool { return d.memory.Readers() == readers })
	busy, stopped := make(chan struct{}), make(chan struct{})
	go func() { // the streams are in the middle of something when they are stopped
		defer close(busy)
		for {
			select {
			case <-stopped:
				return
			case <-time.After(100 * time.Microsecond):
				d.memory.Say("brave-otter", 5, "busy\n")
			}
		}
	}()
	heads.Wait()
	d.stop()
	close(stopped)
	<-busy
	for range readers {
		if got := <-said; strings.Contains(got, "event: end") || strings.Contains(got, "event: failure") || !strings.Contains(got, "HTTP/1.1 200") {
			t.Errorf("said %.300q", got)
		}
	}
}

// A daemon that is gone for good: the reader waits until it lets go.
func TestReaderWaitsForALostDaemon(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		var last error
		for _, err := range d.client("").Hurry().Output(ctx, "brave-otter", cw.OutputQuery{Until: cw.UntilClosed}) {
			last = err
		}
		ended <- last
	}()
	eventually(t, "it reads", func() bool { return d.memory.Readers() == 1 })
	d.stop()
	select {
	case err := <-ended:
		t.Errorf("it gave up: %v", err)
		return
	case <-time.After(150 * time.Millisecond):
	}
	cancel()
	if err := <-ended; cw.ErrorCode(err) != cw.CodeInterrupted || !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// One stored line of an agent may be longer than any buffer.
func TestLongEvents(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	line := strings.Repeat("long\\\"é ", 300_000)
	d.memory.Say("brave-otter", 3, line+"\n")
	var longest int
	for e, err := range d.client("").OutputEvents(t.Context(), "brave-otter", cw.OutputQuery{Session: 3}) {
		noError(t, err)
		longest = max(longest, len(e.Event.Text))
	}
	if longest != len(line)+len("last without an end")*0 {
		t.Errorf("%d bytes of %d", longest, len(line))
	}
}

// slow answers when it is told to, or when its caller is gone.
type slow struct {
	cw.Services
	started, release chan struct{}
	cut              atomic.Bool
}

func (s *slow) Status(ctx context.Context) (cw.DaemonStatus, error) {
	close(s.started)
	select {
	case <-s.release:
		return cw.DaemonStatus{PID: 7}, nil
	case <-ctx.Done():
		s.cut.Store(true)
		return cw.DaemonStatus{}, ctx.Err()
	}
}

// When the server ends, a request in flight gets its time, and no more.
func TestStopping(t *testing.T) {
	t.Parallel()
	for _, inTime := range []bool{true, false} {
		services := &slow{started: make(chan struct{}), release: make(chan struct{})}
		d := startDaemon(t, func(o *api.Options) {
			services.Services = o.Services
			o.Services, o.Grace = services, 300*time.Millisecond
		})
		ended := make(chan error)
		go func() { _, err := d.client("").Status(context.Background()); ended <- err }()
		<-services.started
		stopped := make(chan struct{})
		go func() { d.stop(); close(stopped) }()
		eventually(t, "no more is accepted", func() bool {
			_, err := net.Dial("unix", d.socket)
			return err != nil
		})
		if inTime {
			close(services.release)
		}
		err := <-ended
		<-stopped
		if (err == nil) != inTime || services.cut.Load() == inTime {
			t.Errorf("released in time %v: answer %v, cut %v", inTime, err, services.cut.Load())
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	dir := socketDir(t)
	stale := filepath.Join(dir, "stale")
	listener, err := net.Listen("unix", stale)
	noError(t, err)
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = listener.Close()
	file := filepath.Join(dir, "file")
	noError(t, os.WriteFile(file, nil, 0o600))
	for _, socket := range []string{filepath.Join(dir, "none"), stale, file, strings.Repeat("x", 200)} {
		client := api.NewClient(api.ClientOptions{Socket: socket})
		start := time.Now()
		_, err := client.Status(t.Context())
		code := cw.ErrorCode(err)
		for _, err := range client.Events(t.Context(), cw.EventQuery{Follow: true}) {
			if cw.ErrorCode(err) != code {
				t.Errorf("%s: a stream says %v", filepath.Base(socket), err)
			}
		}
		if code != cw.CodeUnreachable || cw.ErrorHint(err) == "" || time.Since(start) > 2*time.Second {
			t.Errorf("%.50s: %v after %s", socket, err, time.Since(start))
		}
	}
}

// impostor is a daemon of another version, or no daemon at all.
func impostor(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	socket := filepath.Join(socketDir(t), "s")
	listener, err := net.Listen("unix", socket)
	noError(t, err)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return socket
}

func TestVersions(t *testing.T) {
	t.Parallel()
	cases := []struct {
		version string
		code    cw.Code
		skew    int
	}{
		{cw.APIVersion, "", 0}, {"1.999", "", 1}, {"2.0", cw.CodeUnreachable, 0}, {"", cw.CodeUnreachable, 0}, {"10.0", cw.CodeUnreachable, 0},
	}
	for _, c := range cases {
		t.Run("daemon "+c.version, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Value
			socket := impostor(t, func(w http.ResponseWriter, r *http.Request) {
				sent.Store(r.Header.Get("Cw-Api"))
				w.Header().Set("Cw-Api", c.version)
				if strings.HasPrefix(r.URL.Path, "/v1/events") {
					_, _ = io.WriteString(w, "event: end\ndata: {}\n\n")
					return
				}
				_, _ = io.WriteString(w, `{"pid":7,"newField":[1]}`)
			})
			skews := 0
			client := api.NewClient(api.ClientOptions{Socket: socket, OnVersionSkew: func(string) { skews++ }})
			for range 2 {
				status, err := client.Status(t.Context())
				if cw.ErrorCode(err) != c.code || err == nil && status.PID != 7 {
					t.Errorf("got %+v %v", status, err)
				}
				if err != nil && !strings.Contains(cw.ErrorHint(err), "cw restart") {
					t.Errorf("hint %q", cw.ErrorHint(err))
				}
				for _, err := range client.Events(t.Context(), cw.EventQuery{Follow: true}) {
					if cw.ErrorCode(err) != c.code {
						t.Errorf("stream: %v", err)
					}
				}
			}
			if skews != c.skew || sent.Load() != cw.APIVersion {
				t.Errorf("warned %d times, sent %v", skews, sent.Load())
			}
		})
	}
}

// After a restart the daemon may be of another major version: the reader stops
// and says so.
func TestStreamStopsAtRefusal(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]http.HandlerFunc{
		"gone":    func(w http.ResponseWriter, _ *http.Request) { fail(w, cw.APIVersion, cw.CodeGone) },
		"version": func(w http.ResponseWriter, _ *http.Request) { fail(w, "9.0", cw.CodeGone) },
		"busy":    func(w http.ResponseWriter, _ *http.Request) { fail(w, cw.APIVersion, cw.CodeUnreachable) },
		"garbage": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cw-Api", cw.APIVersion)
			w.WriteHeader(502)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			socket := impostor(t, func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Header.Get("Last-Event-ID"))
				if len(asked) > 1 {
					second(w, r)
					return
				}
				w.Header().Set("Cw-Api", cw.APIVersion)
				_, _ = io.WriteString(w, "id: 41\nevent: agent:warning\ndata: {\"seq\":41}\n\n") // and a clean end
			})
			want := map[string]cw.Code{"gone": cw.CodeGone, "version": cw.CodeUnreachable, "busy": cw.CodeUnreachable, "garbage": cw.CodeInternal}[name]
			var seqs []int64
			var last error
			for e, err := range api.NewClient(api.ClientOptions{Socket: socket}).Hurry().Events(t.Context(), cw.EventQuery{Follow: true, After: 40}) {
				if last = err; err == nil {
					seqs = append(seqs, e.Seq)
				}
			}
			if cw.ErrorCode(last) != want || !slices.Equal(seqs, []int64{41}) || !slices.Equal(asked, []string{"40", "41"}) {
				t.Errorf("got %v, then %v; asked after %q", seqs, last, asked)
			}
		})
	}
}

// A daemon that goes before it has answered the first request was there: the
// reader comes back to the next one.
func TestStreamBeginsAgain(t *testing.T) {
	t.Parallel()
	asked := 0
	socket := impostor(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Cw-Api", cw.APIVersion)
		_, _ = io.WriteString(w, "event: end\ndata: {}\n\n")
	})
	for _, err := range api.NewClient(api.ClientOptions{Socket: socket}).Hurry().Events(t.Context(), cw.EventQuery{}) {
		t.Errorf("it gave up: %v", err)
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

func fail(w http.ResponseWriter, version string, code cw.Code) {
	w.Header().Set("Cw-Api", version)
	w.WriteHeader(cw.Outcomes()[code].HTTPStatus)
	_, _ = fmt.Fprintf(w, `{"code":%q,"message":"no"}`, code)
}
