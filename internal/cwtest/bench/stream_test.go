//go:build linux

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// reader follows an agent's output over SSE and notes how old each line was
// when it came.
type reader struct {
	r      *rig
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu    sync.Mutex
	bytes int64           // guarded by mu
	ages  []time.Duration // guarded by mu
}

// follow starts a reader, from a byte of the agent's first session on.
func follow(r *rig, client *api.Client, ref string, from int64) *reader {
	r.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	x := &reader{r: r, cancel: cancel, bytes: from}
	x.done.Go(func() {
		for c, err := range client.Output(ctx, ref, cw.OutputQuery{Session: 1, Offset: from, Until: cw.UntilClosed}) {
			if err == nil {
				err = x.take(c)
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				r.Errorf("follow %s: %v", ref, err)
				return
			}
		}
	})
	return x
}

func (x *reader) take(c cw.Chunk) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c.Offset != x.bytes {
		return fmt.Errorf("a chunk begins at %d, the one before ended at %d", c.Offset, x.bytes)
	}
	x.bytes = c.End()
	for line := range bytes.Lines(c.Bytes) {
		a, err := x.r.age(line)
		if err != nil {
			return err
		}
		x.ages = append(x.ages, a)
	}
	return nil
}

func (x *reader) read() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.bytes
}

// end waits until everything that was written has come, and gives the ages of
// all lines.
func (x *reader) end(written *pen) []time.Duration {
	x.r.Helper()
	until(x.r, "everything that was written arrives", func() bool { return x.r.Failed() || x.read() >= written.bytes })
	x.cancel()
	x.done.Wait()
	if x.bytes != written.bytes {
		x.r.Fatalf("%d bytes arrived, %d were written", x.bytes, written.bytes)
	}
	return x.ages
}

// stored checks what the daemon has of an agent against the book of its pen,
// and waits until it has everything.
func stored(r *rig, l *lab.Lab, ref string, p *pen) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	var n int64
	var sum uint64
	for c, err := range l.Client().Output(ctx, ref, cw.OutputQuery{Until: cw.UntilClosed}) {
		r.must(err)
		if c.Offset != n {
			r.Fatalf("agent %s: a chunk begins at %d, the one before ended at %d", ref, c.Offset, n)
		}
		n, sum = c.End(), addSum(sum, c.Bytes)
		if n >= p.bytes {
			break
		}
	}
	if n != p.bytes || sum != p.sum {
		r.Errorf("agent %s: %d bytes are stored with sum %x, %d were written with sum %x", ref, n, sum, p.bytes, p.sum)
	}
}

// watched is how many agents of a load are followed by a reader.
const watched = 10

// linesPerSecond is what each agent of the load writes.
const linesPerSecond = 20

// load has all pens write and some of them read, and gives the processor time
// that the process took meanwhile, per second, and the ages of the lines.
func load(r *rig, pid int, client *api.Client, refs []string, pens []*pen, lasting time.Duration) (perSecond time.Duration, ages []time.Duration) {
	r.Helper()
	var readers []*reader
	for _, ref := range refs[:min(watched, len(refs))] {
		readers = append(readers, follow(r, client, ref, 0))
	}
	before, begin := cpu(r, pid), time.Now()
	writeAll(r, pens, linesPerSecond, lasting)
	used := float64(cpu(r, pid)-before) / time.Since(begin).Seconds()
	for i, x := range readers {
		ages = append(ages, x.end(pens[i])...)
	}
	return time.Duration(used), ages
}

// loadFloor is load on the floor.
func loadFloor(r *rig, lasting time.Duration) (perSecond time.Duration, ages []time.Duration) {
	r.Helper()
	pid, client, pens := startFloor(r, r.agents, watched)
	refs := make([]string, r.agents)
	for i := range refs {
		refs[i] = strconv.Itoa(i)
	}
	return load(r, pid, client, refs, pens, lasting)
}

// ingest is 200 agents that write, floor first and last: processor time,
// memory, latency, and every byte.
func ingest(r *rig) []figure {
	floor1, floorAges := loadFloor(r, r.load/4)

	l, p := newPens(r)
	ids := p.spawn(l, r.agents)
	refs, written := make([]string, len(ids)), make([]*pen, len(ids))
	for i, id := range ids {
		refs[i], written[i] = string(id), p.of(id)
	}
	pid := l.Serving().PID
	idle, _ := resident(r, pid)
	ours, ages := load(r, pid, l.Client(), refs, written, r.load)
	now, most := resident(r, pid)
	for i, ref := range refs {
		stored(r, l, ref, written[i])
	}

	floor2, more := loadFloor(r, r.load/4)
	floorAges = append(floorAges, more...)
	floor := max((floor1+floor2)/2, 1)
	what := fmt.Sprintf("%d agents × %d lines/s", r.agents, linesPerSecond)
	figures := []figure{
		{
			what: what + ": daemon's processor time", ours: percent(ours), floor: "without a database: " + percent(floor),
			value: float64(ours) / float64(floor), goal: goal{bound: 2, unit: "×"},
		},
		{
			what: what + ": daemon's memory (RSS)", ours: round(now) + " MB", floor: fmt.Sprintf("before the load: %s MB; at most since its start: %s MB", round(idle), round(most)),
			value: now, goal: goal{bound: 100, unit: "MB"},
		},
		{
			what: what + ": bytes stored", ours: strconv.FormatInt(sumBytes(written), 10), floor: "in the agents' books: the same",
			value: 100, goal: goal{bound: 100, unit: "%", atLeast: true},
		},
	}
	return append(figures, latency(what+": write(2) → SSE", ages, 0, 0, fmt.Sprintf("without a database: p50 %s, p99 %s", inMS(quantile(floorAges, 0.5)), inMS(quantile(floorAges, 0.99))))...)
}

// percent is processor time per second as a share of one core.
func percent(perSecond time.Duration) string {
	return round(100*perSecond.Seconds()) + " % of a core"
}

func sumBytes(pens []*pen) (n int64) {
	for _, p := range pens {
		n += p.bytes
	}
	return n
}

// oneAgent is a lab with one agent that writes.
func oneAgent(r *rig) (*lab.Lab, string, *pen) {
	r.Helper()
	l, p := newPens(r)
	id := p.spawn(l, 1)[0]
	return l, string(id), p.of(id)
}

func streamLatency(r *rig) []figure {
	l, ref, one := oneAgent(r)
	x := follow(r, l.Client(), ref, 0)
	writeAll(r, []*pen{one}, r.rate, r.stream)
	ages := x.end(one)
	stored(r, l, ref, one)
	return latency(fmt.Sprintf("one agent, %d lines/s: write(2) → SSE", r.rate), ages, 5, 25, "")
}

// besideStalled reads an agent's output alone, then beside a reader that never
// reads.
func besideStalled(r *rig) []figure {
	l, ref, one := oneAgent(r)
	var alone, beside []time.Duration
	for range 2 {
		x := follow(r, l.Client(), ref, one.bytes)
		writeAll(r, []*pen{one}, r.rate/4, r.stream/2)
		alone = append(alone, x.end(one)...)

		conn := stall(r, l, ref)
		x = follow(r, l.Client(), ref, one.bytes)
		writeAll(r, []*pen{one}, r.rate/4, r.stream/2)
		beside = append(beside, x.end(one)...)
		r.must(conn.Close())
	}
	a, b := quantile(alone, 0.99), quantile(beside, 0.99)
	return []figure{{
		what: fmt.Sprintf("SSE reader beside a stalled one, %d lines/s: p99", r.rate/4), ours: inMS(b),
		floor: "without the stalled one: " + inMS(a) + "; every line came in both", value: float64(b) / float64(max(a, 1)), goal: goal{bound: 1.5, unit: "×"},
	}}
}

// stall asks for a stream and never reads it.
func stall(r *rig, l *lab.Lab, ref string) net.Conn {
	r.Helper()
	conn, err := net.Dial("unix", l.Socket())
	r.must(err)
	_, err = fmt.Fprintf(conn, "GET /v1/agents/%s/output?until=closed HTTP/1.1\r\nHost: %s\r\nCw-Api: %s\r\n\r\n", ref, api.SocketHost, cw.APIVersion)
	r.must(err)
	return conn
}
