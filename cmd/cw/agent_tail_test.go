package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

// longLog is an agent with long output, whose chunks hold some lines each. It counts
// what is read of it.
type longLog struct {
	*fakeServices
	runs   [][]string // the chunks of each run
	events int        // given by pages
	bytes  int        // given by the raw output
	grows  string     // what is written after the first look
	looked bool
	raw    bool // the first look is one at the raw output
}

func (l *longLog) all() (events []cw.OutputEvent, chunks []cw.Chunk) {
	id := int64(0)
	for i, run := range l.runs {
		offset := int64(0)
		for _, text := range run {
			id++
			for n, line := range strings.SplitAfter(text, "\n") {
				if line != "" {
					at := cw.OutputPlace{Session: i + 1, Offset: offset, N: n}
					events = append(events, cw.OutputEvent{Position: at.String(), ChunkID: id, Session: i + 1, Event: cw.StreamEvent{Kind: cw.StreamText, Text: line}})
				}
			}
			chunks = append(chunks, cw.Chunk{ID: id, SessionNumber: i + 1, Offset: offset, Bytes: []byte(text)})
			offset += int64(len(text))
		}
	}
	return events, chunks
}

func (l *longLog) Agent(context.Context, string) (cw.AgentView, error) { return ended("calm-fox"), nil }

func (l *longLog) OutputPage(_ context.Context, _ string, q cw.OutputPageQuery) (cw.OutputPage, error) {
	events, chunks := l.all()
	w, err := q.Window()
	if err != nil || len(chunks) == 0 {
		return cw.OutputPage{}, err
	}
	var found []cw.OutputEvent
	for _, e := range events {
		at, _ := cw.ParseOutputPlace(e.Position)
		if w.Selects(at, e.Event) {
			found = append(found, e)
		}
	}
	page := cw.OutputPage{Items: found, Newer: w.Place.String()}
	if len(found) > w.Limit && w.Forward {
		page.Items = found[:w.Limit]
	} else if len(found) > w.Limit {
		page.Items = found[len(found)-w.Limit:]
		page.Older = page.Items[0].Position
	}
	if len(page.Items) > 0 {
		page.Newer = page.Items[len(page.Items)-1].Position
	}
	if !w.Bounded || w.Forward && len(page.Items) == len(found) {
		page.Stream = chunks[len(chunks)-1].ID
	}
	l.events += len(page.Items)
	if !l.raw {
		l.grow()
	}
	return page, nil
}

// grow writes what is written after the first look.
func (l *longLog) grow() {
	if l.grows != "" && !l.looked {
		l.looked = true
		last := len(l.runs) - 1
		l.runs[last] = append(slices.Clone(l.runs[last]), l.grows)
	}
}

func (l *longLog) Output(_ context.Context, _ string, q cw.OutputQuery) iter.Seq2[cw.Chunk, error] {
	return func(yield func(cw.Chunk, error) bool) {
		_, chunks := l.all()
		for _, c := range chunks {
			if c.SessionNumber < q.Session || q.Only && c.SessionNumber != q.Session || c.SessionNumber == q.Session && c.End() <= q.Offset {
				continue
			}
			if c.SessionNumber == q.Session && c.Offset < q.Offset {
				c.Bytes, c.Offset = c.Bytes[q.Offset-c.Offset:], q.Offset
			}
			l.bytes += len(c.Bytes)
			if !yield(c, nil) {
				return
			}
		}
		l.grow()
	}
}

func (l *longLog) OutputEvents(_ context.Context, _ string, q cw.OutputQuery) iter.Seq2[cw.OutputEvent, error] {
	return func(yield func(cw.OutputEvent, error) bool) {
		events, _ := l.all()
		for _, e := range events {
			if e.ChunkID > q.AfterID && !yield(e, nil) {
				return
			}
		}
	}
}

// numbered makes chunks of ten lines each.
func numbered(name string, lines int) (chunks []string) {
	var text strings.Builder
	for i := 1; i <= lines; i++ {
		fmt.Fprintf(&text, "%s line %d, %s\n", name, i, strings.Repeat("x", 80))
		if i%10 == 0 || i == lines {
			chunks = append(chunks, text.String())
			text.Reset()
		}
	}
	return chunks
}

// TestAgentTail: the last lines, and only these, whatever runs and chunks they are
// in; what comes meanwhile is not waited for, and with --follow it is next.
func TestAgentTail(t *testing.T) {
	t.Parallel()
	two := [][]string{numbered("one", 25), numbered("two", 30)}
	open := [][]string{append(numbered("one", 25), "no "), {"end\n", "\n", "last"}}
	for _, tc := range []struct {
		name  string
		runs  [][]string
		grows string
		args  []string
		want  []string // how the lines begin
	}{
		{"some", two, "", []string{"--tail", "2"}, []string{"two line 29", "two line 30"}},
		{"none", two, "", []string{"-n", "0"}, nil},
		{"across runs", two, "", []string{"--tail", "32"}, append([]string{"one line 25", "── session 2"}, linesOf("two", 1, 30)...)},
		{"more than there is", two[:1], "", []string{"--tail", "100"}, linesOf("one", 1, 25)},
		{"of a run", two, "", []string{"--tail", "2", "--session", "1"}, []string{"one line 24", "one line 25"}},
		{"all of a run", two, "", []string{"--tail", "99", "--session", "2"}, linesOf("two", 1, 30)},
		{"what comes meanwhile", two, "more\n", []string{"--tail", "1"}, []string{"two line 30"}},
		{"followed", two, "more\n", []string{"--tail", "1", "--follow"}, []string{"two line 30", "more"}},
		{"nothing there", nil, "", []string{"--tail", "3"}, nil},
		{"without an end", open, "", []string{"--tail", "2"}, []string{"", "last"}},
		{"json", two, "", []string{"--tail", "2", "--json"}, []string{`{"position":"2`, `{"position":"2`}},

		{"raw", two, "", []string{"--raw", "--tail", "2"}, []string{"two line 29", "two line 30"}},
		{"raw none", two, "", []string{"--raw", "-n", "0"}, nil},
		{"raw across runs", two, "", []string{"--raw", "--tail", "31"}, append([]string{"one line 25"}, linesOf("two", 1, 30)...)},
		{"raw, more than there is", two, "", []string{"--raw", "--tail", "100"}, append(linesOf("one", 1, 25), linesOf("two", 1, 30)...)},
		{"raw of a run", two, "", []string{"--raw", "--tail", "2", "--session", "1"}, []string{"one line 24", "one line 25"}},
		{"raw, what comes meanwhile", two, "more\n", []string{"--raw", "--tail", "1"}, []string{"two line 30"}},
		{"raw followed", two, "more\n", []string{"--raw", "--tail", "1", "--follow"}, []string{"two line 30", "more"}},
		{"raw, nothing there", nil, "", []string{"--raw", "--tail", "3"}, nil},
		{"raw without an end", open, "", []string{"--raw", "--tail", "2"}, []string{"", "last"}},
	} {
		b := newBench(t)
		log := &longLog{fakeServices: b.fake, runs: slices.Clone(tc.runs), grows: tc.grows, raw: slices.Contains(tc.args, "--raw")}
		b.connect = func(context.Context) (cw.Services, error) { return log, nil }
		if text, code := b.session(t.Context(), append([]string{"agent", "logs", "calm-fox"}, tc.args...)...); code != 0 {
			t.Fatalf("%s: %s", tc.name, text)
		}
		got := strings.Split(strings.TrimSuffix(b.stdout.String(), "\n"), "\n")
		if b.stdout.Len() == 0 {
			got = nil
		}
		same := len(got) == len(tc.want)
		for i := range tc.want {
			same = same && strings.HasPrefix(got[i], tc.want[i])
		}
		if !same {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func linesOf(name string, from, to int) (out []string) {
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf("%s line %d,", name, i))
	}
	return out
}

// TestAgentTailReadsTheEnd: however long the output is, its end alone is read.
func TestAgentTailReadsTheEnd(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args          []string
		events, bytes int // the most that is read
	}{
		{[]string{"--tail", "3"}, 2 * tailPage, 0},
		{[]string{"--tail", "500"}, 1100, 0},
		{[]string{"--raw", "--tail", "3"}, 2, 2_000},
		{[]string{"--raw", "--tail", "500"}, 2, 2 * tailWindow},
	} {
		b := newBench(t)
		log := &longLog{fakeServices: b.fake, runs: [][]string{numbered("one", 50_000)}}
		b.connect = func(context.Context) (cw.Services, error) { return log, nil }
		if text, code := b.session(t.Context(), append([]string{"agent", "logs", "calm-fox"}, tc.args...)...); code != 0 {
			t.Fatal(text)
		}
		if log.events > tc.events || log.bytes > tc.bytes {
			t.Errorf("%v reads %d events and %d bytes, want at most %d and %d", tc.args, log.events, log.bytes, tc.events, tc.bytes)
		}
	}
}
