package store

import (
	"testing"
	"time"

	"cw/internal/cw"
)

// TestCommandRuns: a run of commands is stored once, needs no agent, is among
// the live ones and never among those of agents, and ends once.
func TestCommandRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := cw.Run{ID: cw.RunID(cw.NewID()), Kind: cw.RunCheck, Dir: "/runs/check-a", OutputPath: "/runs/check-a/output.log"}
	first, err := b.IntendCommands(t.Context(), run)
	b.must(err)
	again, err := b.IntendCommands(t.Context(), cw.Run{ID: run.ID, Kind: cw.RunCheck, Dir: "/elsewhere"})
	b.must(err)
	if again.Dir != run.Dir || !again.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("the same run is another one: %+v, %+v", first, again)
	}
	_, err = b.IntendCommands(t.Context(), cw.Run{ID: run.ID, Kind: cw.RunSetup})
	refuses(t, err, cw.CodeInvalid, "another one")
	_, err = b.IntendCommands(t.Context(), cw.Run{ID: cw.RunID(cw.NewID()), Kind: cw.RunAgent})
	refuses(t, err, cw.CodeInvalid, "agent")

	at := time.Now().Add(-time.Minute).UTC()
	b.must(b.SaveCommandStart(t.Context(), run.ID, []byte(`{"shimPid":1}`), 41, at))
	b.must(b.SaveCommandStart(t.Context(), run.ID, []byte(`{"shimPid":2}`), 42, time.Now()))
	unfinished, err := b.UnfinishedCommands(t.Context())
	b.must(err)
	if len(unfinished) != 1 || unfinished[0].PID != 42 || !unfinished[0].StartedAt.Equal(at) || string(unfinished[0].Handle) != `{"shimPid":2}` {
		t.Errorf("unfinished: %+v", unfinished)
	}
	agents, err := b.UnfinishedRuns(t.Context())
	b.must(err)
	live, err := b.LiveRuns(t.Context())
	b.must(err)
	if len(agents) != 0 || len(live) != 1 || live[0].Kind != cw.RunCheck || string(live[0].Handle) != `{"shimPid":2}` {
		t.Errorf("of agents %+v, live %+v", agents, live)
	}
	_, err = b.RunState(t.Context(), run.ID)
	refuses(t, err, cw.CodeNotFound, "")

	for _, result := range []string{"first", "second"} {
		b.must(b.EndCommands(t.Context(), cw.Run{ID: run.ID, Result: result}))
	}
	ended, err := b.IntendCommands(t.Context(), run)
	b.must(err)
	if ended.EndedAt == nil || ended.Result != "first" {
		t.Errorf("ended: %+v", ended)
	}
	refuses(t, b.SaveCommandStart(t.Context(), run.ID, nil, 1, at), cw.CodeNotFound, "")
	if live, _ = b.LiveRuns(t.Context()); len(live) != 0 {
		t.Errorf("live %+v", live)
	}
}
