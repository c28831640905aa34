//go:build linux

package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// restarted kills the daemon, if one runs, starts another and gives the time
// until it serves. It serves when all agents are taken up.
func restarted(r *rig, l *lab.Lab) time.Duration {
	r.Helper()
	l.Kill()
	return took(func() {
		l.Launch()
		until(r, "the daemon serves", func() bool { _, err := l.Client().Status(r.Context()); return err == nil })
	})
}

// restart takes up live agents beside many that are done, beside a daemon that
// has none.
func restart(r *rig) []figure {
	idle := lab.New(r, binary)
	idle.Start()
	busy, p := newPens(r)
	history(r, busy, r.past)
	ids := p.spawn(busy, r.live)
	restarted(r, idle) // files are read for the first time
	restarted(r, busy)
	floor, ours := inTurn(max(1, 2*r.fewRounds),
		func(int) time.Duration { return restarted(r, idle) },
		func(int) time.Duration {
			d := restarted(r, busy)
			if alive := busy.Serving().AgentsAlive; alive != r.live {
				r.Fatalf("%d agents are alive after the restart, want %d", alive, r.live)
			}
			return d
		})
	for _, id := range ids { // they are followed, not only counted
		one := p.of(id)
		r.must(one.write(r.line(nil, 1)))
		stored(r, busy, string(id), one)
	}
	d := median(ours)
	return []figure{{
		what: fmt.Sprintf("daemon restarted → %d live agents taken up beside %d that are done, API serving", r.live, r.past), ours: inMS(d),
		floor: "without agents: " + inMS(median(floor)), value: d.Seconds(), goal: goal{bound: 1, unit: "s"},
	}}
}

// catchUp has an agent write while no daemon runs, and times how long the next
// one takes to store it, beyond what its start takes anyway.
func catchUp(r *rig) []figure {
	var ours, read, copied []time.Duration
	for range max(1, r.fewRounds-1) {
		l, ref, one := oneAgent(r)
		start := restarted(r, l)
		l.Kill()
		buf := make([]byte, 0, 2*lineLength)
		for n := range r.backlog {
			buf = r.line(buf, n)
			r.must(one.write(buf))
		}
		raw := rawOutput(r, l)
		read, copied = append(read, countLines(r, raw)), append(copied, copyFile(r, raw))
		whole := took(func() {
			restarted(r, l)
			awaitByte(r, l, ref, one.bytes-1)
		})
		ours = append(ours, max(whole-start, time.Microsecond))
		stored(r, l, ref, one)
		l.Kill()
	}
	size := r.backlog * lineLength
	perSecond := func(times []time.Duration) string {
		return fmt.Sprintf("%.0f MB/s", float64(size)/1e6/median(times).Seconds())
	}
	return []figure{{
		what: fmt.Sprintf("catch-up after a restart, %s MB in one file", round(float64(size)/1e6)), ours: perSecond(ours),
		floor: fmt.Sprintf("reading the file and counting its lines: %s (copying and syncing it: %s)", perSecond(read), perSecond(copied)),
		value: float64(median(read)) / float64(median(ours)), goal: goal{bound: 0.5, unit: "×", atLeast: true},
		note: "The floor reads from memory and keeps nothing. To store a byte SQLite writes it twice, to its log and then to its file, and the daemon parses it as well.",
	}}
}

// rawOutput is the only agent's raw output.
func rawOutput(r *rig, l *lab.Lab) string {
	r.Helper()
	names, err := filepath.Glob(filepath.Join(l.Home.Runs(), "*", "1", "output.jsonl"))
	r.must(err)
	if len(names) != 1 {
		r.Fatalf("raw files: %q", names)
	}
	return names[0]
}

// countLines reads a file and counts its lines.
func countLines(r *rig, name string) time.Duration {
	r.Helper()
	return took(func() {
		data, err := os.ReadFile(name)
		r.must(err)
		if n := bytes.Count(data, []byte{'\n'}); n != r.backlog {
			r.Fatalf("%d lines, want %d", n, r.backlog)
		}
	})
}

// copyFile copies a file to disk.
func copyFile(r *rig, name string) time.Duration {
	r.Helper()
	from, err := os.Open(name)
	r.must(err)
	defer from.Close()
	to, err := os.Create(filepath.Join(r.TempDir(), "copy"))
	r.must(err)
	defer to.Close()
	return took(func() {
		_, err := io.Copy(to, from)
		r.must(err)
		r.must(to.Sync())
	})
}

// awaitByte waits until a byte of an agent's first session is stored.
func awaitByte(r *rig, l *lab.Lab, ref string, at int64) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	for c, err := range l.Client().Output(ctx, ref, cw.OutputQuery{Session: 1, Offset: at, Until: cw.UntilClosed}) {
		r.must(err)
		if c.End() > at {
			return
		}
	}
	r.Fatalf("byte %d is not stored", at)
}
