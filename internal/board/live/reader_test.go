package live

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// wrote has an agent write numbered lines from one number to before another.
func (p *player) wrote(ref string, from, to int) {
	var text strings.Builder
	for n := from; n < to; n++ {
		fmt.Fprintf(&text, "line %d %s\n", n, strings.Repeat("x", 60))
	}
	p.house.Say(ref, 1, text.String())
}

var numbered = regexp.MustCompile(`(?m)^ line (\d+) `)

// numbers are those of the lines in sight.
func (p *player) numbers() (out []int) {
	p.t.Helper()
	for _, m := range numbered.FindAllStringSubmatch(p.screen(), -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, n)
	}
	for i, n := range out {
		if n != out[0]+i {
			p.t.Fatalf("there is a gap or a double: %v", out)
		}
	}
	if len(out) == 0 {
		p.t.Fatalf("no line is in sight:\n%s", p.screen())
	}
	return out
}

func (p *player) pages() int {
	p.house.mu.Lock()
	defer p.house.mu.Unlock()
	return p.house.pages
}

// bounded fails when more is held of a log than may be.
func (p *player) bounded() {
	p.t.Helper()
	if w := p.model.reader.window; w.weight > windowMost+windowMost/4 {
		p.t.Errorf("what is held weighs %d", w.weight)
	}
	sum := 0
	for _, one := range p.model.reader.window.pieces {
		sum += one.weight()
	}
	if diff := p.model.reader.window.weight - sum; diff < -lineWeight*len(p.model.reader.window.pieces) || diff > lineWeight*len(p.model.reader.window.pieces) {
		p.t.Errorf("it is believed to weigh %d, and weighs %d", p.model.reader.window.weight, sum)
	}
}

// long plays with one agent that wrote so many lines and fills the screen.
func long(t *testing.T, lines int, f func(p *player, ref string)) {
	t.Helper()
	play(t, func(p *player) {
		v := p.spawn("brave-otter")
		for n := 0; n < lines; n += 1000 {
			p.wrote(v.Alias, n, min(n+1000, lines))
		}
		p.look()
		p.press("enter")
		p.pass(time.Second)
		f(p, v.Alias)
	})
}

const many = 10_000

// TestLogFromItsEnd: of a long log the end is shown at once, without the beginning.
func TestLogFromItsEnd(t *testing.T) {
	t.Parallel()
	long(t, many, func(p *player, ref string) {
		if got := p.numbers(); got[len(got)-1] != many-1 || len(got) != 19 {
			t.Errorf("in sight are %v", got)
		}
		if n := p.pages(); n != 1 {
			t.Errorf("%d pages were read", n)
		}
		p.wrote(ref, many, many+2)
		p.pass(time.Second)
		if got := p.numbers(); got[len(got)-1] != many+1 {
			t.Errorf("in sight are %v", got)
		}
		p.shows("following")
	})
}

// TestLogUpAndDown: scrolling up reads what is older to the first line, scrolling
// down again to the last, without a gap or a double, and what is held is bounded.
func TestLogUpAndDown(t *testing.T) {
	t.Parallel()
	long(t, many, func(p *player, ref string) {
		before := p.numbers()
		for before[0] > 0 {
			p.press("pgup")
			got := p.numbers()
			if got[len(got)-1] < before[0]-1 || got[0] >= before[0] {
				t.Fatalf("after %v come %v", before, got)
			}
			before = got
		}
		p.bounded()
		p.shows("held")
		if p.model.reader.stream != nil {
			t.Error("what comes is followed, though the end is not held")
		}
		p.wrote(ref, many, many+5)
		for before[len(before)-1] < many+4 {
			p.press("pgdown")
			got := p.numbers()
			if got[0] > before[len(before)-1]+1 || got[len(got)-1] <= before[len(before)-1] {
				t.Fatalf("after %v come %v", before, got)
			}
			before = got
		}
		p.bounded()
		p.press("pgdown")
		p.shows("following")
		p.wrote(ref, many+5, many+6)
		p.pass(time.Second)
		if got := p.numbers(); got[len(got)-1] != many+5 {
			t.Errorf("in sight are %v", got)
		}
	})
}

// TestLogHomeAndEnd: the first and the last line are one key away.
func TestLogHomeAndEnd(t *testing.T) {
	t.Parallel()
	long(t, many, func(p *player, ref string) {
		p.press("home")
		if got := p.numbers(); got[0] != 0 || len(got) != 19 {
			t.Errorf("in sight are %v", got)
		}
		p.shows("held, f follows")
		p.press("j")
		if got := p.numbers(); got[0] != 1 {
			t.Errorf("in sight are %v", got)
		}
		for _, key := range []string{"end", "G", "f"} {
			p.press("home", key)
			p.pass(time.Second)
			if got := p.numbers(); got[len(got)-1] != many-1 {
				t.Errorf("%s: in sight are %v", key, got)
			}
			p.shows("following")
		}
		if n := p.pages(); n > 20 {
			t.Errorf("%d pages were read", n)
		}
	})
}

// TestLogHeldInAFlood: what somebody reads stays in sight, however much comes; f
// goes to the end.
func TestLogHeldInAFlood(t *testing.T) {
	t.Parallel()
	long(t, 1000, func(p *player, ref string) {
		p.press("kkk")
		before := p.numbers()
		p.wrote(ref, 1000, 1004)
		p.pass(time.Second)
		p.shows("held, 4 new lines, f follows")
		for n := 1004; n < many; n += 1000 {
			p.wrote(ref, n, n+1000)
			p.pass(gather)
		}
		p.pass(10 * time.Second)
		if got := p.numbers(); !slices.Equal(got, before) {
			t.Errorf("%v became %v", before, got)
		}
		p.bounded()
		p.press("f")
		p.pass(time.Second)
		if got := p.numbers(); got[len(got)-1] < many-1 {
			t.Errorf("in sight are %v", got)
		}
	})
}

// TestLogFlood: what is followed is bounded, and its end in sight.
func TestLogFlood(t *testing.T) {
	t.Parallel()
	long(t, 10, func(p *player, ref string) {
		for n := 10; n < many; n += 1000 {
			p.wrote(ref, n, n+1000)
			p.pass(gather)
		}
		p.pass(10 * time.Second)
		if got := p.numbers(); got[len(got)-1] < many-1 {
			t.Errorf("in sight are %v", got)
		}
		p.bounded()
		if p.model.reader.window.older == "" {
			t.Error("what was forgotten cannot be read again")
		}
	})
}

// TestLogAway: a log that cannot be read while the daemon is away is read when that
// is back, and nothing is asked for again and again meanwhile.
func TestLogAway(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		v := p.spawn("brave-otter")
		p.wrote(v.Alias, 0, 3)
		fails := func(err error) {
			p.house.mu.Lock()
			defer p.house.mu.Unlock()
			p.house.pageErr = err
		}
		fails(cw.Errorf(cw.CodeUnreachable, "no daemon"))
		p.look()
		p.pass(5 * time.Second)
		if n := p.pages(); n != 1 {
			t.Errorf("%d pages were asked for", n)
		}
		fails(nil)
		p.look()
		p.pass(time.Second)
		p.shows("line 2")
		fails(cw.Errorf(cw.CodeGone, "nothing is kept"))
		p.model.view.Log.Agent = "" // as if another one had been selected
		p.pass(time.Second)
		p.shows("error: the log cannot be read: nothing is kept")
	})
}

// TestWindowGoesOn: words that are read in pieces are whole, wherever a page ends,
// and the border of runs is seen.
func TestWindowGoesOn(t *testing.T) {
	t.Parallel()
	fresh := func() func(cw.OutputEvent) []string {
		text := ""
		return func(e cw.OutputEvent) (out []string) {
			text += e.Event.Text
			for line, rest, is := strings.Cut(text, "\n"); is; line, rest, is = strings.Cut(text, "\n") {
				out, text = append(out, line), rest
			}
			return out
		}
	}
	var all []cw.OutputEvent
	for i, text := range []string{"one ", "two\nth", "ree\n", "four\nfive ", "six", "\n"} {
		e := cw.OutputEvent{Position: fmt.Sprintf("1:%d:0", i), Session: 1}
		e.Event.Kind, e.Event.Text = cw.StreamText, text
		all = append(all, e)
	}
	want := []string{"one two", "three", "four", "five six"}
	for border := range all {
		w := window{fresh: fresh}
		w.clear()
		w.add(all[border:])
		w.put(cw.OutputPage{Items: all[:border]})
		if got := w.lines(); !slices.Equal(got, want) {
			t.Errorf("with a border at %d: %q", border, got)
		}
		if w.add(all); w.newer != "1:5:0" || !slices.Equal(w.lines(), want) {
			t.Errorf("with a border at %d what was there was added again: %q", border, w.lines())
		}
	}
}
