package main

import (
	"context"
	"strconv"
	"strings"

	"cw/internal/cw"
)

const (
	// tailMax is the greatest number of lines that --tail takes: they are held
	// until it is known which are the last ones.
	tailMax = 100_000
	// tailPage is the least number of events that is asked for at once.
	tailPage = 50
	// tailWindow is how much raw output is looked at in one step towards its
	// beginning.
	tailWindow = 1 << 20
	// tailAll is --tail where nothing is left out.
	tailAll = -1
)

// outputLines turns events into lines: readable ones, or one JSON value each.
type outputLines struct {
	renderer
	json bool
}

func (o *agentLogsOptions) outputLines(cwd string, session int) *outputLines {
	return &outputLines{renderer: renderer{paint: o.app.paint(o.app.outTTY), cwd: cwd, session: session}, json: o.app.json}
}

// of returns the lines that are whole after this event.
func (l *outputLines) of(e cw.OutputEvent) ([]string, error) {
	if !l.json {
		return l.render(e), nil
	}
	var b strings.Builder
	err := writeJSON(&b, e, "")
	return []string{strings.TrimSuffix(b.String(), "\n")}, err
}

// rest returns what is left of a line that has no end yet.
func (l *outputLines) rest() []string {
	if l.json {
		return nil
	}
	return l.flush()
}

// lastOnes holds the last lines of those that are added.
type lastOnes struct {
	most  int
	lines []string
}

func (l *lastOnes) add(lines ...string) {
	l.lines = append(l.lines, lines...)
	if len(l.lines) > 2*l.most { // not each time: what is dropped is copied over
		l.lines = append([]string(nil), l.all()...)
	}
}

func (l *lastOnes) all() []string { return l.lines[max(0, len(l.lines)-l.most):] }

// tailEvents prints the last lines of what is stored when it is called, and gives
// the last stored chunk: a stream goes on behind it. It reads pages from the end on, as many as
// these lines take, and then to the end again, since a line may have begun on the
// page before.
func (o *agentLogsOptions) tailEvents(ctx context.Context, svc cw.Services, lines *outputLines) (chunk int64, err error) {
	newest, err := svc.OutputPage(ctx, o.ref, cw.OutputPageQuery{Limit: 1})
	if err != nil {
		return 0, err
	}
	page, err := o.tailBegin(ctx, svc, lines.cwd)
	if err != nil {
		return 0, err
	}
	last, behind := lastOnes{most: o.tail}, false
	for {
		for _, e := range page.Items {
			behind = behind || e.ChunkID > newest.Stream // it came meanwhile
			if behind || o.session > 0 && e.Session != o.session {
				continue
			}
			some, err := lines.of(e)
			if err != nil {
				return 0, err
			}
			last.add(some...)
		}
		if behind || page.Stream > 0 || page.Newer == "" {
			break
		}
		if page, err = svc.OutputPage(ctx, o.ref, cw.OutputPageQuery{After: page.Newer, Limit: cw.OutputPageMax}); err != nil {
			return 0, err
		}
	}
	if !o.follow {
		last.add(lines.rest()...)
	}
	return newest.Stream, o.print(last.all())
}

// tailBegin returns the page with which to begin, so that the wanted lines are on it
// and on those behind it.
func (o *agentLogsOptions) tailBegin(ctx context.Context, svc cw.Services, cwd string) (cw.OutputPage, error) {
	q := cw.OutputPageQuery{Limit: min(max(o.tail, tailPage), cw.OutputPageMax)}
	if o.session > 0 {
		q.Before = strconv.Itoa(o.session + 1)
	}
	// Each border between two pages may make two lines of one.
	for found, borders := 0, 0; ; borders++ {
		page, err := svc.OutputPage(ctx, o.ref, q)
		if err != nil {
			return page, err
		}
		lines := o.outputLines(cwd, 0)
		for _, e := range page.Items {
			if o.session > 0 && e.Session != o.session {
				continue
			}
			some, err := lines.of(e)
			if err != nil {
				return page, err
			}
			found += len(some)
		}
		found += len(lines.rest())
		before := o.session > 0 && len(page.Items) > 0 && page.Items[0].Session < o.session
		if page.Older == "" || before || found >= o.tail+borders {
			return page, nil
		}
		q.Before = page.Older
	}
}

// tailRaw finds where the last lines of the raw output that is stored begin, and
// where that output ends. It looks at it from its end on, and holds none of it.
func (o *agentLogsOptions) tailRaw(ctx context.Context, svc cw.Services) (begin, end cw.OutputPlace, err error) {
	q := cw.OutputPageQuery{Limit: 1}
	if o.session > 0 {
		q.Before = strconv.Itoa(o.session + 1)
	}
	begin.Session = o.session
	for left := o.tail; ; {
		page, err := svc.OutputPage(ctx, o.ref, q)
		if err != nil {
			return begin, end, err
		}
		known := page.Newer // of the last page: near the end
		if len(page.Items) > 0 {
			known = page.Items[len(page.Items)-1].Position
		} else if q.Before != "" {
			return begin, end, nil // there is nothing before
		}
		if known == "" {
			return begin, end, nil
		}
		at, err := cw.ParseOutputPlace(known)
		if err != nil || o.session > 0 && at.Session != o.session {
			return begin, end, err
		}
		found, err := o.lastLines(ctx, svc, at, left)
		if err != nil {
			return begin, end, err
		}
		begin, left = cw.OutputPlace{Session: at.Session, Offset: found.begin}, found.missing
		if end.Session == 0 {
			end = cw.OutputPlace{Session: at.Session, Offset: found.end}
		}
		if left == 0 || o.session > 0 {
			return begin, end, nil
		}
		q.Before = strconv.Itoa(at.Session)
	}
}

// lastLines are the last lines of a run's raw output.
type lastLines struct {
	begin, end int64 // offsets
	missing    int   // how many of the wanted lines it does not have
}

// lastLines finds the last n lines of a run's raw output. near is a place of it from
// which on it is looked at first; what lies before is looked at piece by piece.
func (o *agentLogsOptions) lastLines(ctx context.Context, svc cw.Services, near cw.OutputPlace, n int) (lastLines, error) {
	out := lastLines{end: -1}
	for from, to := max(near.Offset, 0), int64(-1); ; from, to = max(0, from-tailWindow), from {
		begins, end, err := o.lineBegins(ctx, svc, near.Session, from, to)
		if err != nil {
			return out, err
		}
		if out.end < 0 {
			out.end = end
			if len(begins) > 0 && begins[len(begins)-1] == end { // no line begins at the end
				begins = begins[:len(begins)-1]
			}
		}
		switch {
		case n == 0:
			out.begin = out.end
			return out, nil
		case len(begins) >= n:
			out.begin = begins[len(begins)-n]
			return out, nil
		}
		if n -= len(begins); from == 0 {
			out.missing = n - 1 // the first line begins here
			return out, nil
		}
	}
}

// lineBegins returns the offsets at which lines begin behind a line end in a piece of
// a run's raw output, and where the piece ends. to is less than 0 for its end.
func (o *agentLogsOptions) lineBegins(ctx context.Context, svc cw.Services, session int, from, to int64) (begins []int64, end int64, err error) {
	end = from
	for chunk, err := range svc.Output(ctx, o.ref, cw.OutputQuery{Session: session, Only: true, Offset: from, Until: cw.UntilNow}) {
		if err != nil {
			return nil, 0, err
		}
		if to >= 0 && chunk.Offset >= to {
			break
		}
		bytes := chunk.Bytes
		if to >= 0 {
			bytes = bytes[:min(int64(len(bytes)), to-chunk.Offset)]
		}
		for i, b := range bytes {
			if b == '\n' {
				begins = append(begins, chunk.Offset+int64(i)+1)
			}
		}
		end = chunk.Offset + int64(len(bytes))
	}
	return begins, end, ctx.Err()
}
