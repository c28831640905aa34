package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
)

// TestCommand: a real program gets the event by stdin and by variables, as it
// was said, and none of it by arguments or through a shell.
func TestCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "show")
	body := "#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" \"$CW_EVENT_TYPE\" \"$CW_TITLE\" \"$CW_BODY\" >\"$OUT/env\"\ncat >\"$OUT/stdin\"\n"
	if err := os.WriteFile(script, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	o := options(t, newRows())
	o.Command = []string{script, "$(touch pwned)", "a b"}
	o.Environ = []string{"PATH=" + os.Getenv("PATH"), "OUT=" + dir, "CW_BODY=old"}
	n := New(o)
	evil := Note{ID: 7, Type: cw.EventQuestionRequested, Title: "brave-otter asks", Body: "-x; $(id) `id`\n\x1b[31mred\u202eb\x00 \xff", Data: json.RawMessage(`{}`)}
	if err := n.command.deliver(t.Context(), evil); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(filepath.Join(dir, "env")) // an empty one is told below
	if want := "2|$(touch pwned)|a b|question:requested|brave-otter asks|-x; $(id) `id` [31mredb �|"; string(got) != want {
		t.Errorf("it got %q, want %q", got, want)
	}
	stdin, _ := os.ReadFile(filepath.Join(dir, "stdin"))
	var back Note
	if err := json.Unmarshal(stdin, &back); err != nil || back.ID != 7 || back.Title != evil.Title {
		t.Errorf("stdin %q: %v", stdin, err)
	}
}

// TestCommandThatHangs is killed with all that it started.
func TestCommandThatHangs(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(t, newRows())
	o.Command = []string{"sh", "-c", `exec 9>"$FIFO"; echo working; sleep 1000 & sleep 1000`}
	o.Environ = []string{"PATH=" + os.Getenv("PATH"), "FIFO=" + fifo}
	n := New(o)
	n.command.limit = 300 * time.Millisecond
	gone := make(chan error, 1)
	go func() {
		f, err := os.Open(fifo)
		if err == nil {
			_, err = io.ReadAll(f) // ends when nobody holds it any more
			f.Close()
		}
		gone <- err
	}()
	err := n.command.deliver(t.Context(), trial())
	if err == nil || !strings.Contains(err.Error(), "killed") || !strings.Contains(err.Error(), "working") {
		t.Errorf("it ended with %v", err)
	}
	if err := take(t, gone); err != nil {
		t.Error(err)
	}
}

// TestCommandFails: what it said is cut, and a program that talks is not killed.
func TestCommandFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"a code":   {"echo no display >&2; exit 3", []string{"code 3", "no display"}},
		"chatters": {"yes | head -c 300000; exit 5", []string{"code 5", "y y y"}},
		"fine":     {"yes | head -c 300000", nil},
	} {
		o := options(t, newRows())
		o.Command, o.Environ = []string{"sh", "-c", c.script}, []string{"PATH=" + os.Getenv("PATH")}
		err := New(o).command.deliver(t.Context(), trial())
		if (err == nil) != (c.want == nil) || err != nil && len(err.Error()) > 2*outputMax {
			t.Errorf("%s: %v", name, err)
		}
		for _, part := range c.want {
			if err != nil && !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v does not say %q", name, err, part)
			}
		}
	}
	o := options(t, newRows())
	o.Command = []string{"no-such-program-here"}
	if trials, err := New(o).TryHooks(t.Context()); err != nil || trials[0].OK || !strings.Contains(trials[0].Detail, "no-such-program-here") {
		t.Errorf("a program that is not there: %+v, %v", trials, err)
	}
	if _, err := New(options(t, newRows())).TryHooks(t.Context()); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("no hook at all: %v", err)
	}
}

// shown collects what a program would show.
func shown(o *Options) *[]Note {
	var list []Note
	o.Command = []string{"show"}
	o.Exec = func(_ context.Context, _, _ []string, stdin []byte, _ int) ([]byte, int, error) {
		var n Note
		if err := json.Unmarshal(stdin, &n); err != nil {
			return nil, 1, fmt.Errorf("no JSON: %w", err)
		}
		list = append(list, n)
		return nil, 0, nil
	}
	return &list
}

// TestFlood: so many in a minute, then all that wait in one.
func TestFlood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := newRows()
		o := options(t, source)
		list := shown(&o)
		running(t, New(o))
		synctest.Wait()
		many := slices.Repeat([]cw.EventType{cw.EventQuestionRequested, cw.EventAgentCrashed}, 50)
		last := source.add(many...)
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(*list) != perMinute+1 {
			t.Fatalf("%d were shown", len(*list))
		}
		more := (*list)[perMinute]
		if more.ID != last || more.Type != TypeMore || more.Title != "90 more events" || more.Body != "agent:crashed 45, question:requested 45" {
			t.Errorf("the last is %+v", more)
		}
		source.add(cw.EventDiskLow)
		synctest.Wait()
		if got := (*list)[len(*list)-1]; got.Type != cw.EventDiskLow {
			t.Errorf("then came %+v", got)
		}
	})
}

// TestRestarts: what happened while nobody ran is told by the next one, and
// nothing twice but what was being told.
func TestRestarts(t *testing.T) {
	t.Parallel()
	source := newRows()
	o := options(t, source)
	began := make(chan int64, 10)
	hold := true
	o.Command = []string{"show"}
	o.Exec = func(ctx context.Context, _, _ []string, stdin []byte, _ int) ([]byte, int, error) {
		var n Note
		_ = json.Unmarshal(stdin, &n) // a number that is missing is told below
		began <- n.ID
		if n.ID == 3 && hold {
			<-ctx.Done() // the daemon ends while it is told
		}
		return nil, 0, ctx.Err()
	}
	source.add(cw.EventAgentCrashed) // before anybody asked for notifications
	end := running(t, New(o))
	source.settled(t, 1)
	source.add(cw.EventAgentCrashed, cw.EventAgentCrashed)
	first := []int64{take(t, began), take(t, began)}
	end()
	source.add(cw.EventAgentCrashed)
	hold = false
	end = running(t, New(o))
	second := []int64{take(t, began), take(t, began)}
	end()
	if !slices.Equal(first, []int64{2, 3}) || !slices.Equal(second, []int64{3, 4}) {
		t.Errorf("told %v, then %v", first, second)
	}
	// Switched off and on again: what happened in between is not told.
	off := o
	off.Command = nil
	running(t, New(off))()
	source.add(cw.EventAgentCrashed)
	source.mu.Lock()
	source.asked = nil
	source.mu.Unlock()
	running(t, New(o))
	source.settled(t, 1)
	if seq := source.add(cw.EventAgentCrashed); take(t, began) != seq {
		t.Error("what happened while the hook was off was told")
	}
}

// TestPlaces: a place that is of no use does not end notifications.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		place string
		gone  int64
		want  int64
	}{
		"of this state":      {"2", 0, 3},
		"kept no longer":     {"1", 2, 3},
		"of another state":   {"99", 0, 5},
		"no number":          {"\x00", 0, 5},
		"an empty file":      {"", 0, 5},
		"a number below all": {"-4", 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := newRows()
				source.gone = c.gone
				source.add(cw.EventDiskLow, cw.EventDiskLow, cw.EventDiskLow, cw.EventDiskLow)
				o := options(t, source)
				list := shown(&o)
				file := filepath.Join(o.Dir, "notify-command")
				if err := os.WriteFile(file, []byte(c.place), 0o600); err != nil {
					t.Fatal(err)
				}
				running(t, New(o))
				synctest.Wait()
				last := source.add(cw.EventDiskLow)
				synctest.Wait()
				if len(*list) == 0 || (*list)[0].ID != c.want {
					t.Errorf("told: %+v, want from %d on", *list, c.want)
				}
				if data, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(data)) != fmt.Sprint(last) {
					t.Errorf("the place is %q: %v", data, err)
				}
			})
		})
	}
}
