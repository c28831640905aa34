package livelab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// spring and autumn are initiatives of which there are only events.
const spring, autumn = "springaaaaaa", "autumnaaaaaa"

// filters are what the readers of these tests ask for: the query of the API,
// and the same for the client.
var filters = []struct {
	query  string
	client cw.EventQuery
	filter cw.EventFilter
}{
	{"", cw.EventQuery{}, cw.EventFilter{}},
	{"&initiative=" + spring, cw.EventQuery{Initiative: spring}, cw.EventFilter{Initiative: spring}},
	{
		"&type=agent:stopped,mirror:restored",
		cw.EventQuery{Types: []cw.EventType{cw.EventAgentStopped, cw.EventMirrorRestored}},
		cw.EventFilter{Types: []cw.EventType{cw.EventAgentStopped, cw.EventMirrorRestored}},
	},
	{
		"&type=agent:warning&initiative=" + autumn,
		cw.EventQuery{Types: []cw.EventType{cw.EventAgentWarning}, Initiative: autumn},
		cw.EventFilter{Types: []cw.EventType{cw.EventAgentWarning}, Initiative: autumn},
	},
}

// write stores events n to m through the store, in transactions of a few.
func (d *door) write(random *rand.Rand, from, to int, pause time.Duration) error {
	for n := from; n <= to; {
		var some []cw.Event
		for range 1 + random.IntN(30) {
			if n <= to {
				some = append(some, nth(n, "", []string{"", spring, autumn}[n/2%3]))
				n++
			}
		}
		if err := d.db.AddEvents(context.Background(), some...); err != nil {
			return err
		}
		time.Sleep(pause) // a rate, not a wait
	}
	return nil
}

// expect is what a reader must have seen: everything from after up to last that
// the filter selects, once and in order.
func expect(after, last int64, f cw.EventFilter) []int64 {
	out := []int64{}
	for n := after + 1; n <= last; n++ {
		if f.Matches(nth(int(n), "", []string{"", spring, autumn}[n/2%3])) {
			out = append(out, n)
		}
	}
	return out
}

// What TestCutAndResume does at least.
const (
	leastCuts  = 50
	leastShuts = 3
)

// TestCutAndResume cuts readers at random bytes, and the server at random
// moments, while events are being written: what a reader saw in all is exactly
// what was stored. The events of the store are those of the test, so that
// unfiltered it is 1 to N.
func TestCutAndResume(t *testing.T) {
	t.Parallel()
	d := startDoor(t)
	var cuts, shuts, passes atomic.Int64
	deadline := time.Now().Add(12 * time.Second)
	rapid.Check(t, func(rt *rapid.T) {
		if time.Now().After(deadline) && cuts.Load() >= leastCuts && shuts.Load() >= leastShuts {
			return // a loaded machine does fewer passes
		}
		p := pass{
			seed:   rapid.Uint64().Draw(rt, "seed"),
			most:   rapid.IntRange(200, 20_000).Draw(rt, "bytes until a cut, at most"),
			reader: rapid.SampledFrom([]string{"client", "Last-Event-ID", "since"}).Draw(rt, "reader"),
			cut:    rapid.SampledFrom([]error{nil, io.EOF}).Draw(rt, "cut"),
			filter: rapid.IntRange(0, len(filters)-1).Draw(rt, "filter"),
			shuts:  rapid.IntRange(0, 2).Draw(rt, "restarts of the server"),
			tail:   rapid.Bool().Draw(rt, "tail"),
		}
		cuts.Add(d.pass(t, p))
		shuts.Add(int64(p.shuts))
		passes.Add(1)
	})
	t.Logf("%d passes, %d cuts, %d restarts of the server", passes.Load(), cuts.Load(), shuts.Load())
	if cuts.Load() < leastCuts || shuts.Load() < leastShuts {
		t.Errorf("only %d cuts and %d restarts: the test did not do its work", cuts.Load(), shuts.Load())
	}
	everything := []int64{}
	for e, err := range d.client().Events(t.Context(), cw.EventQuery{}) {
		must(t, err)
		everything = append(everything, e.Seq)
	}
	if diff := cmp.Diff(expect(0, d.last(t), cw.EventFilter{}), everything); diff != "" {
		t.Errorf("read at once: %s", diff)
	}
}

// pass is one reader's fate.
type pass struct {
	seed   uint64
	most   int
	reader string
	cut    error
	filter int
	shuts  int
	tail   bool
}

const perPass = 200 // events that are written while one reader reads

func (d *door) pass(t *testing.T, p pass) (cuts int64) {
	t.Helper()
	random := rand.New(rand.NewPCG(p.seed, 1))
	start := d.last(t)
	after := start
	if !p.tail {
		after = random.Int64N(start + 1)
	}
	want := expect(after, start+perPass, filters[p.filter].filter)
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	if !p.tail && p.reader != "client" {
		begin() // it does not mind when nobody is there yet
	}
	var work sync.WaitGroup
	work.Go(func() {
		<-begun
		if err := d.write(rand.New(rand.NewPCG(p.seed, 2)), int(start)+1, int(start)+perPass, 500*time.Microsecond); err != nil {
			t.Errorf("write: %v", err)
		}
	})
	work.Go(func() {
		<-begun
		for range p.shuts {
			time.Sleep(2 * time.Millisecond) // anywhere in the middle
			if err := d.shut(); err != nil {
				t.Errorf("shut: %v", err)
			}
			if err := d.open(); err != nil {
				t.Errorf("open: %v", err)
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, cuts, err := d.read(ctx, p, after, len(want), begin)
	begin()
	work.Wait()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%+v after %d: %v\n%s", p, after, err, diff)
	}
	return cuts
}

// read reads until there are as many as wanted, over connections that break.
func (d *door) read(ctx context.Context, p pass, after int64, want int, begin func()) (got []int64, cuts int64, err error) {
	random := rand.New(rand.NewPCG(p.seed, 3))
	got = []int64{}
	if want == 0 {
		return got, 0, nil
	}
	limit := func() int { cuts++; return 2400 + random.IntN(p.most) } // the head and one event at least
	if p.reader == "client" {
		q := filters[p.filter].client
		q.After, q.Tail, q.Follow = after, p.tail, true
		for e, err := range d.cuttingClient(p, limit, begin).Events(ctx, q) {
			if err != nil {
				return got, cuts, err
			}
			if got = append(got, e.Seq); len(got) == want {
				break
			}
		}
		return got, cuts, nil
	}
	r := &plain{socket: d.socket, target: "/v1/events?follow=true" + filters[p.filter].query, since: p.reader == "since", last: fmt.Sprint(after), cut: p.cut}
	if p.tail {
		r.target, r.last = "/v1/events?tail=true&follow=true"+filters[p.filter].query, ""
	}
	r.control = func(frame) error { begin(); return nil }
	r.item = func(f frame) error {
		e, err := eventOf(f)
		if err != nil {
			return err
		}
		if got = append(got, e.Seq); len(got) == want {
			return errDone
		}
		return nil
	}
	for {
		if r.limit = limit(); cuts == 1 && p.tail {
			r.limit += 600 // the head and the first mark must come: before it nobody was there
		}
		switch err := r.once(ctx); {
		case err == errDone: // wrapped, it is a failure
			return got, cuts, nil
		case ctx.Err() != nil:
			return got, cuts, ctx.Err()
		case errors.Is(err, errDone):
			return got, cuts, err
		}
		time.Sleep(time.Millisecond) // nobody may be there for a while
	}
}

// cuttingClient is our client over connections that break.
func (d *door) cuttingClient(p pass, limit func() int, begin func()) *api.Client {
	n := 0
	return api.NewClient(api.ClientOptions{Dial: func(ctx context.Context) (net.Conn, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "unix", d.socket)
		if err != nil {
			return nil, err
		}
		left := limit()
		if n++; n == 1 {
			left += 1000 // the head must come: before it nobody was there
		}
		return &heardConn{cutConn: cutConn{Conn: conn, left: left, err: p.cut}, tail: p.tail, heard: begin}, nil
	}})
}

// heardConn tells when somebody is there: with a tail, where it begins.
type heardConn struct {
	cutConn
	tail  bool
	heard func()
	seen  []byte
}

func (c *heardConn) Read(b []byte) (int, error) {
	n, err := c.cutConn.Read(b)
	if c.seen = append(c.seen, b[:n]...); n > 0 && (!c.tail || bytes.Contains(c.seen, []byte("event: mark\nretry: 1000\n\n"))) {
		c.heard()
	}
	return n, err
}

// TestSeam lets many readers join while thousands of events are being written:
// each sees everything after the number with which it came.
func TestSeam(t *testing.T) {
	t.Parallel()
	const total, readers = 6000, 60
	d := startDoor(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var all sync.WaitGroup
	written := make(chan error, 1)
	go func() { written <- d.write(rand.New(rand.NewPCG(1, 1)), 1, total, 2*time.Millisecond) }()
	var late atomic.Int64
	for i := range readers {
		random := rand.New(rand.NewPCG(uint64(i), 2))
		all.Go(func() {
			time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond) // anywhere
			joined := d.last(t)
			if joined > 0 && joined < total {
				late.Add(1)
			}
			after := random.Int64N(joined + 1)
			if i%3 == 0 {
				after = joined // at the seam itself
			}
			d.join(ctx, t, i, after, total)
		})
	}
	all.Wait()
	must(t, <-written)
	if late.Load() < readers/2 {
		t.Errorf("only %d of %d readers came while it was written", late.Load(), readers)
	}
}

// join reads from a number on, or from now on, to the last of all.
func (d *door) join(ctx context.Context, t *testing.T, i int, after, total int64) {
	chosen := filters[i%len(filters)]
	got := []int64{}
	tail := i%5 == 0
	var lastWanted int64
	for _, n := range expect(0, total, chosen.filter) {
		lastWanted = n
	}
	reached := func(seq int64) error {
		if seq >= lastWanted {
			return errDone
		}
		return nil
	}
	r := &plain{socket: d.socket, target: "/v1/events?follow=true" + chosen.query, last: fmt.Sprint(after)}
	if tail {
		r.target, r.last, after = "/v1/events?tail=true&follow=true"+chosen.query, "", -1
	}
	r.item = func(f frame) error {
		e, err := eventOf(f)
		if err != nil {
			return err
		}
		got = append(got, e.Seq)
		return reached(e.Seq)
	}
	r.control = func(f frame) error { // a mark: where the tail begins, or how far was looked
		seq, err := strconv.ParseInt(f.id, 10, 64)
		if err != nil {
			return fmt.Errorf("%w: a mark at %q", errDone, f.id)
		}
		if after < 0 {
			after = seq
		}
		return reached(seq)
	}
	if err := r.follow(ctx); err != nil {
		t.Errorf("reader %d: %v", i, err)
	}
	if diff := cmp.Diff(expect(after, total, chosen.filter), got); diff != "" {
		t.Errorf("reader %d (tail %v, %s) after %d: %s", i, tail, chosen.query, after, diff)
	}
}
