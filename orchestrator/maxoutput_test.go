package orchestrator

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"cw/internal/proc"
)

// TestHoleIsTold: a run that makes its output longer without writing anything has
// no end worth following. What was written before is kept, the last line too; the
// rest is told as tampering and not stored, by this daemon and by the next one.
func TestHoleIsTold(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "script")
	const before = "one\ntwo, without an end"
	tp.write([]byte(before))
	must(t, os.Truncate(tp.state.Run.OutputPath, 1<<40))
	tp.write([]byte("behind it\n"))
	for _, final := range []bool{false, true} {
		tp.once(final)
		if got := tp.stored(); string(got) != before {
			t.Fatalf("final %t: %d bytes are stored, want %q: %.100q", final, len(got), before, got)
		}
	}
	view, err := tp.Agent(t.Context(), tp.state.Agent.Alias)
	must(t, err)
	if len(view.Warnings) != 1 || !strings.Contains(view.Warnings[0], "extended with a hole after 23 bytes") {
		t.Errorf("warnings: %q", view.Warnings)
	}
}

// TestOutputHasALimit: a run that writes more than runs.maxOutput is ended, once,
// and that is said; what it wrote before is kept, up to a whole line.
func TestOutputHasALimit(t *testing.T) {
	t.Parallel()
	const limit = 2 << 20
	tp := newTape(t, "script")
	tp.Orchestrator.MaxOutput = limit
	line := append(bytes.Repeat([]byte("x"), 999), '\n')
	whole := bytes.Repeat(line, limit/len(line))
	tp.write(whole)
	f := tp.follower()
	defer f.close()
	ended := 0
	look := func(f *follower) {
		t.Helper()
		must(t, f.take(t.Context(), false))
		f.endFull(func() { ended++ })
	}
	if look(f); ended != 0 {
		t.Fatal("ended below the limit")
	}
	tp.write(bytes.Repeat(line, 5000))
	look(f)
	tp.write(line)
	look(f)
	if got := tp.stored(); !bytes.Equal(got, whole) || ended != 1 {
		t.Errorf("%d bytes are stored, want %d; ended %d times", len(got), len(whole), ended)
	}
	again := tp.follower() // of the next daemon
	defer again.close()
	if look(again); ended != 2 {
		t.Error("the next daemon lets it run")
	}
	view, err := tp.Agent(t.Context(), tp.state.Agent.Alias)
	must(t, err)
	if len(view.Warnings) != 1 || !strings.Contains(view.Warnings[0], "2 MiB") || !strings.Contains(view.Warnings[0], "runs.maxOutput") {
		t.Errorf("warnings: %q", view.Warnings)
	}
	for _, c := range []struct {
		full    bool
		stopped string
		want    bool
	}{{true, proc.StoppedTerm, true}, {true, "", false}, {false, proc.StoppedTerm, false}} {
		again.full = c.full
		text := again.endedFullText(proc.Observation{Exit: &proc.Exit{Stopped: c.stopped}})
		if (text != "") != c.want {
			t.Errorf("%+v: %q", c, text)
		}
	}
}

// TestLimitKeepsSecrets: what is left of a line at the limit could be the
// beginning of a secret, and is not stored.
func TestLimitKeepsSecrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2-hunter2-hunter2"
	tp := newTape(t, "script")
	tp.Orchestrator.MaxOutput = 100
	tp.Redact.Put("test", secret)
	tp.write([]byte("first\n" + strings.Repeat("y", 80) + secret + "\nmore\n"))
	tp.once(true)
	if got := tp.stored(); string(got) != "first\n" {
		t.Errorf("stored: %q", got)
	}
}
