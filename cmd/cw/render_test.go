package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestRender shows every kind of event once.
func TestRender(t *testing.T) {
	t.Parallel()
	reset := epoch.Add(5 * time.Hour)
	events := []cw.OutputEvent{
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamInit, Model: "sonnet"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamThinking, Text: "hm"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamText, Text: "One line\nand \x1b[2Jthe "}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamText, Text: "next\n\ncut by a tool"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamToolCall, Tool: "Read", Input: []byte(`{"offset":3,"file_path":"a b.go"}`)}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamToolResult, Text: "package a"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamToolCall, Tool: "Odd", Input: []byte(`{"n": [1, 2]}`)}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamToolCall, Tool: "None"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamToolCall, Tool: "Bash", Input: []byte(`{"command":"` + strings.Repeat("x", 300) + `"}`)}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamToolResult, IsError: true, PermissionDenied: true, Text: "not allowed"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamToolCall, Tool: "Task", ParentToolUseID: "", Input: []byte(`{"description":"look"}`)}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamText, ParentToolUseID: "t9", Text: "I am a sub-agent.\n"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamToolCall, ParentToolUseID: "t9", Tool: "Grep", Input: []byte(`{"pattern":"TODO"}`)}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamFileChange, Path: "a.go", Change: "add"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamFileChange, Path: "b\x1b[0m.go", Change: "delete"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamPlan, Input: []byte(`{}`)}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 1}}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamRetry, Attempt: 2, Delay: 1500 * time.Millisecond, Text: "overloaded (529)"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamRetry, Attempt: 3, Delay: 20 * time.Millisecond, Text: "overloaded (529)"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamLimit, Limit: &cw.Limit{Warning: true, Text: "90 % used"}}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamLimit, Limit: &cw.Limit{Until: &reset, Text: "5-hour limit"}}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamLimit}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamWarning, Text: "a hook\nfailed"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamError, Text: "it broke", Bucket: cw.BucketTransient}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamCompaction, Text: "auto, 150000 tokens before"}},
		{Session: 1, Event: cw.StreamEvent{Kind: "of a newer daemon", Text: "?"}},
		{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamResult, IsError: true, Text: "API error"}},
		{Session: 2, Event: cw.StreamEvent{Kind: cw.StreamText, Text: "I am back"}},
		{Session: 2, Event: cw.StreamEvent{Kind: cw.StreamResult, Turns: 1}},
	}
	for _, p := range []paint{{}, {on: true}} {
		r := renderer{paint: p, session: 1}
		var out []string
		for _, e := range events {
			out = append(out, r.render(e)...)
		}
		out = append(out, r.flush()...)
		name := "render/plain"
		if p.on {
			name = "render/coloured"
		}
		golden(t, name, strings.Join(out, "\n")+"\n")
	}
}

// TestRenderPieces: however the words are cut, the lines are the same.
func TestRenderPieces(t *testing.T) {
	t.Parallel()
	text := "first line\nsecond, with ünïcode 🙂\n\nlast without end"
	want := []string{"first line", "second, with ünïcode 🙂", "", "last without end"}
	for size := 1; size <= len(text); size++ {
		r := renderer{session: 1}
		var got []string
		for rest := []rune(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			got = append(got, r.render(cw.OutputEvent{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamText, Text: string(rest[:min(size, len(rest))])}})...)
		}
		got = append(got, r.flush()...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("pieces of %d (-want +got):\n%s", size, diff)
		}
	}
}

// TestRenderHugeLine: a line without end is shown in time, and cut.
func TestRenderHugeLine(t *testing.T) {
	t.Parallel()
	r := renderer{session: 1}
	piece := strings.Repeat("x", 64<<10)
	shown := 0
	for range 100 {
		for _, line := range r.render(cw.OutputEvent{Session: 1, Event: cw.StreamEvent{Kind: cw.StreamText, Text: piece}}) {
			shown++
			if n := len([]rune(line)); n != lineMax {
				t.Errorf("a line of %d characters", n)
			}
		}
		if r.pending.Len() > pendingMax+len(piece) {
			t.Fatalf("%d bytes are kept", r.pending.Len())
		}
	}
	if shown == 0 {
		t.Error("nothing was shown")
	}
}

// TestScreen: the moving line is drawn, and gone before anything else is written.
func TestScreen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.errTTY = true
		b.env["NO_COLOR"] = "1"
		b.width = func() int { return 24 }
		s := newScreen(b.app, "brave-otter", "", epoch.Add(-7*time.Second))
		s.tick()
		s.doing = "Bash go test ./..."
		s.tick()
		s.print("a line", "another")
		s.tick()
		s.close()
		want := "\r\x1b[K⠋ brave-otter 7s" +
			"\r\x1b[K⠙ brave-otter 7s Bash …" +
			"\r\x1b[Ka line\nanother\n" +
			"\r\x1b[K⠹ brave-otter 7s Bash …" +
			"\r\x1b[K"
		if diff := cmp.Diff(want, b.stderr.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestScreenNoTerminal: nothing moves in a file.
func TestScreenNoTerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := newScreen(b.app, "brave-otter", "", epoch)
	s.tick()
	s.close()
	if got := b.stderr.String(); got != "" {
		t.Errorf("wrote %q", got)
	}
}

// TestFollowOutage: whoever watches hears that the daemon went away and came
// back.
func TestFollowOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fake.add(running("brave-otter"), nil)
		begin := time.Now()
		b.reach = func(context.Context) (cw.Services, error) {
			if d := time.Since(begin); d > 4*time.Second && d < 10*time.Second {
				return nil, gone()
			}
			return b.fake, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		f := follower{app: b.app, svc: b.fake, agent: b.fake.agents[0], query: cw.OutputQuery{Until: cw.UntilRest}, started: epoch}
		_, _ = f.run(ctx)
		want := "the daemon is away; the agent works on, and is shown again when it is back (any cw command starts it)\nthe daemon is back\n"
		if diff := cmp.Diff(want, b.stderr.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
