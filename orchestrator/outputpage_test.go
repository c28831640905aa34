package orchestrator

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"cw/internal/cw"
)

func (s shelf) page(t interface{ Fatal(...any) }, q cw.OutputPageQuery, segment int64) cw.OutputPage {
	page, err := s.outputPage(context.Background(), s.agent.Alias, q, segment)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// walked reads all pages of a window, from one end to the other.
func (s shelf) walked(t *rapid.T, q cw.OutputPageQuery, segment int64) []cw.OutputEvent {
	var out []cw.OutputEvent
	for range 10000 {
		page := s.page(t, q, segment)
		if len(page.Items) > q.Limit {
			t.Fatalf("%d events, at most %d were asked for", len(page.Items), q.Limit)
		}
		if q.After != "" {
			out = append(out, page.Items...)
			if page.Stream != 0 {
				return out
			}
			q.After = page.Newer
			continue
		}
		out = slices.Concat(page.Items, out)
		if q.Before = page.Older; page.Older == "" {
			return out
		}
	}
	t.Fatal("the pages have no end")
	return nil
}

// TestOutputPages: whatever the pieces are in which output is parsed, pages from
// either end are what the stream has, and the stream goes on behind them.
func TestOutputPages(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	rapid.Check(t, func(t *rapid.T) {
		s := e.put(t, "script", drawSessions(t))
		segment := rapid.Int64Range(5, 200).Draw(t, "segment")
		all := s.events(t, cw.OutputQuery{})
		if !bytes.HasSuffix(s.chunks[len(s.chunks)-1].Bytes, []byte("\n")) {
			all = all[:len(all)-1] // the last run is not over: this line may go on
		}
		q := cw.OutputPageQuery{Limit: rapid.IntRange(2, 6).Draw(t, "limit"), After: rapid.SampledFrom([]string{"", "0"}).Draw(t, "after")}
		if diff := cmp.Diff(all, s.walked(t, q, segment), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("pages from %q on: -want +got\n%s", q.After, diff)
		}
		if page := s.page(t, cw.OutputPageQuery{}, segment); page.Stream != s.chunks[len(s.chunks)-1].ID {
			t.Fatalf("the stream goes on after %d", page.Stream)
		}
		session := rapid.IntRange(1, 3).Draw(t, "session")
		first := s.page(t, cw.OutputPageQuery{After: fmt.Sprint(session), Limit: 1}, segment)
		at := slices.IndexFunc(all, func(ev cw.OutputEvent) bool { return ev.Session >= session })
		if at >= 0 && (len(first.Items) == 0 || first.Items[0].Position != all[at].Position) {
			t.Fatalf("run %d begins with %v, want %v", session, first.Items, all[at])
		}
	})
}

// TestOutputPageOfLongRun: the last page of a long run parses its end alone; a
// line that began long before is whole; figures of which the parser has not seen
// all are left out.
func TestOutputPageOfLongRun(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	var pieces [][]byte
	for n := range 40 {
		pieces = append(pieces, fmt.Appendf(nil, `{"type":"assistant","message":{"id":"m%d","content":[{"type":"text","text":"%d %s"}]}}`+"\n", n, n, strings.Repeat("x", 500)))
	}
	long := strings.Repeat("y", 5000)
	line := []byte(`{"type":"assistant","message":{"id":"long","content":[{"type":"text","text":"` + long + `"}]}}` + "\n")
	for piece := range slices.Chunk(line, 700) {
		pieces = append(pieces, piece)
	}
	pieces = append(pieces, []byte(`{"type":"result","subtype":"success","result":"done","total_cost_usd":3,"num_turns":4,"usage":{"output_tokens":7}}`+"\n"))
	s := e.put(t, "claude", [][][]byte{pieces})
	page := s.page(t, cw.OutputPageQuery{Limit: 3}, 1000)
	var got []string
	for _, ev := range page.Items {
		got = append(got, fmt.Sprintf("%s %.3s %d", ev.Event.Kind, ev.Event.Text, len(ev.Event.Text)))
	}
	want := []string{"text_delta 39  504", "text_delta yyy 5001", "result don 4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if end := page.Items[2].Event; end.CostUSD != 0 || end.Turns != 0 || end.Usage != nil {
		t.Errorf("figures that nobody knows: %+v", end)
	}
	if end := s.page(t, cw.OutputPageQuery{Limit: 1}, 1<<20).Items[0].Event; end.CostUSD != 3 || end.Turns != 4 {
		t.Errorf("a short run has its figures: %+v", end)
	}
	if found := s.page(t, cw.OutputPageQuery{Contains: "7 X"}, 1000); len(found.Items) != 4 {
		t.Errorf("found %d of 7, 17, 27 and 37", len(found.Items))
	}
}

// TestOutputPageEnd: once the run is over its last words are there, with and
// without a line end.
func TestOutputPageEnd(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := e.put(t, "script", [][][]byte{{[]byte("one\ntwo")}, {[]byte("three\n"), []byte("four")}})
	texts := func(page cw.OutputPage) (out string) {
		for _, ev := range page.Items {
			out += strings.TrimSpace(ev.Event.Text) + " "
		}
		return out
	}
	page := s.page(t, cw.OutputPageQuery{}, 4)
	if got := texts(page); got != "one two three " || page.Older != "" || page.Stream != s.chunks[2].ID {
		t.Errorf("%q, older %q", got, page.Older)
	}
	if got := texts(s.page(t, cw.OutputPageQuery{Before: "2"}, 4)); got != "one two " {
		t.Errorf("before the second run: %q", got)
	}
	if got := texts(s.page(t, cw.OutputPageQuery{After: "1:0:0"}, 4)); got != "two three " {
		t.Errorf("after the first event: %q", got)
	}
}
