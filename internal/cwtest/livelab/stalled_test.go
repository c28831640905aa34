package livelab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
)

// serveIn names the folder in which the test binary serves as a program of its
// own, so that its memory can be measured alone.
const serveIn = "CWTEST_SERVE_IN"

// stall is how long a reader of that program may stand still.
const stall = 2 * time.Second

// serveAlone serves, and stores events when it is told to: "N RATE" on standard
// input. It says "ready", then "stored" after each order, and ends with its
// input.
func serveAlone(dir string) int {
	d, err := newDoor(dir, stall)
	if err == nil {
		err = d.open()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("ready")
	next := 1
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		var n, rate int
		if _, err := fmt.Sscan(orders.Text(), &n, &rate); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		took, err := d.storeAtRate(next, n, rate)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		next += n
		fmt.Println("stored", took.Milliseconds())
	}
	_ = d.shut() // the process ends
	return 0
}

// storeAtRate stores n events through the store, some in a transaction each
// 10 ms; on a machine that is too slow for that they come later, not in greater
// transactions.
func (d *door) storeAtRate(from, n, rate int) (time.Duration, error) {
	const step = 10 * time.Millisecond
	begun := time.Now()
	for done := 0; done < n; {
		due := min(n, int(time.Since(begun)/step+1)*rate/int(time.Second/step), done+rate/20)
		var some []cw.Event
		for ; done < due; done++ {
			some = append(some, nth(from+done, "", ""))
		}
		if err := d.db.AddEvents(context.Background(), some...); err != nil {
			return 0, err
		}
		time.Sleep(step - time.Since(begun)%step)
	}
	return time.Since(begun), nil
}

// alone is that program, seen from outside.
type alone struct {
	t      *testing.T
	cmd    *exec.Cmd
	socket string
	orders io.Writer
	said   *bufio.Scanner
}

func startAlone(t *testing.T) *alone {
	t.Helper()
	dir, err := os.MkdirTemp("", "cwlive") // short: a socket's path has at most 104 bytes
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveIn+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close() // ends it
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		_ = os.RemoveAll(dir)
	})
	a := &alone{t: t, cmd: cmd, socket: dir + "/s", orders: in, said: bufio.NewScanner(out)}
	a.hear("ready")
	return a
}

func (a *alone) hear(word string) string {
	a.t.Helper()
	if !a.said.Scan() || !strings.HasPrefix(a.said.Text(), word) {
		a.t.Fatalf("the server said %q, not %s", a.said.Text(), word)
	}
	return a.said.Text()
}

// store lets it store events and waits until it has.
func (a *alone) store(n, rate int) string {
	a.t.Helper()
	_, err := fmt.Fprintln(a.orders, n, rate)
	must(a.t, err)
	return a.hear("stored")
}

// memory is how many bytes of memory it has, RSS.
func (a *alone) memory() int64 {
	a.t.Helper()
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(a.cmd.Process.Pid)).Output()
	must(a.t, err)
	kb, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	must(a.t, err)
	return kb << 10
}

// greatest measures the memory until stop is closed.
func (a *alone) greatest(stop <-chan struct{}) <-chan int64 {
	result := make(chan int64, 1)
	go func() {
		most := int64(0)
		for {
			most = max(most, a.memory())
			select {
			case <-stop:
				result <- most
				return
			case <-time.After(50 * time.Millisecond): // often enough to see what grows
			}
		}
	}()
	return result
}

// TestStalledReaders puts a hundred readers that stand still beside five good
// ones, at 5,000 events a second. The good ones get everything, the server's
// memory stays small, and who stood still is cut and can go on where it was.
func TestStalledReaders(t *testing.T) {
	const good, stalled, woken = 5, 100, 10
	const warm, total, rate, growthMax = 5000, 30_000, 5000, 64 << 20
	a := startAlone(t)
	before := a.memory()
	stop := make(chan struct{})
	most := a.greatest(stop)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var reading sync.WaitGroup
	for i := range good {
		reading.Go(func() { a.readAll(ctx, i, total) })
	}
	a.store(warm, rate)
	conns := make([]net.Conn, stalled)
	for i := range conns {
		conns[i] = a.standStill()
	}
	took := a.store(total-warm, rate)
	reading.Wait()

	close(stop)
	growth := <-most - before
	if growth > growthMax {
		t.Errorf("memory grew by %d MiB", growth>>20)
	}

	had := make([]int64, stalled)
	for i, conn := range conns {
		reading.Go(func() { had[i] = a.wake(ctx, i, conn, total) })
	}
	reading.Wait()
	for i := range woken {
		reading.Go(func() { a.goOn(ctx, i, had[i], total) })
	}
	reading.Wait()
	t.Logf("memory %d MiB, then %d MiB more; %s ms for the second part; the stalled ones had %d to %d events",
		before>>20, growth>>20, took, slices.Min(had), slices.Max(had))
}

// counter takes events that must be those after had, up to total.
func counter(had *int64, total int) func(frame) error {
	return func(f frame) error {
		e, err := eventOf(f)
		if err != nil {
			return err
		}
		if *had++; e.Seq != *had {
			return fmt.Errorf("%w: event %d came where %d belongs", errDone, e.Seq, *had)
		}
		if *had == int64(total) {
			return errDone
		}
		return nil
	}
}

// readAll is a good reader: it gets 1 to total over one connection.
func (a *alone) readAll(ctx context.Context, i, total int) {
	had := int64(0)
	r := &plain{socket: a.socket, target: "/v1/events?follow=true", item: counter(&had, total)}
	if err := r.once(ctx); err != errDone { // wrapped, it is a failure
		a.t.Errorf("good reader %d ends at %d of %d: %v", i, had, total, err)
	}
}

// standStill opens a stream from the first event on and does not read it.
func (a *alone) standStill() net.Conn {
	a.t.Helper()
	conn, err := net.Dial("unix", a.socket)
	must(a.t, err)
	a.t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET /v1/events?follow=true HTTP/1.1\r\nHost: cw.sock\r\n\r\n")
	must(a.t, err)
	return conn
}

// wake reads what is left on the connection of a reader that stood still, which
// must have been cut, and gives how many events came whole.
func (a *alone) wake(ctx context.Context, i int, conn net.Conn, total int) int64 {
	deadline, _ := ctx.Deadline()
	_ = conn.SetReadDeadline(deadline) // when it was not cut, this ends it
	had := int64(0)
	r := &plain{item: counter(&had, total)}
	lines := bufio.NewReader(conn)
	_ = skipHead(lines) // an early end is seen below
	if cut := r.frames(lines); had == 0 || had >= int64(total) || errors.Is(cut, errDone) || os.IsTimeout(cut) {
		a.t.Errorf("stalled reader %d was not cut as it should: it has %d events, %v", i, had, cut)
	}
	return had
}

// goOn lets a reader come back after the last event that it has.
func (a *alone) goOn(ctx context.Context, i int, had int64, total int) {
	r := &plain{socket: a.socket, target: "/v1/events?follow=true", last: fmt.Sprint(had), item: counter(&had, total)}
	if err := r.once(ctx); err != errDone { // wrapped, it is a failure
		a.t.Errorf("stalled reader %d goes on and ends at %d of %d: %v", i, had, total, err)
	}
}

func skipHead(lines *bufio.Reader) error {
	for {
		line, err := lines.ReadString('\n')
		if err != nil || line == "\r\n" {
			return err
		}
	}
}
