package api

import (
	"fmt"
	"testing"

	"cw/internal/cw"
)

func TestSeats(t *testing.T) {
	t.Parallel()
	var s seats
	agent := cw.Actor{Kind: cw.ActorAgent, AgentID: "aaaaaaaaaaaa"}
	person, board := cw.Actor{Kind: cw.ActorPerson}, cw.Actor{Kind: cw.ActorDashboard, ID: "cccccccccccc"}
	var releases []func()
	take := func(actor cw.Actor, want cw.Code) {
		t.Helper()
		release, err := s.take(actor)
		if cw.ErrorCode(err) != want || (err != nil) != (cw.ErrorHint(err) != "") {
			t.Fatalf("with %d open, %s got %v, want %q", s.all, actor.Kind, err, want)
		}
		if err == nil {
			releases = append(releases, release)
		}
	}
	for range agentSeats {
		take(agent, "")
	}
	take(agent, cw.CodeTooMany)
	take(cw.Actor{Kind: cw.ActorAgent, AgentID: "bbbbbbbbbbbb"}, "") // another agent has its own
	for range tokenSeats {
		take(board, "")
	}
	take(board, cw.CodeTooMany)
	other := board
	other.ID = "dddddddddddd" // another token still finds some
	for range dashboardSeats - tokenSeats {
		take(other, "")
	}
	other.ID = "eeeeeeeeeeee"
	take(other, cw.CodeTooMany)
	for s.all < allSeats {
		take(person, "")
	}
	take(person, cw.CodeTooMany)
	releases[0]()
	releases[0]() // counts once
	take(agent, "")
	take(agent, cw.CodeTooMany)
	for _, release := range releases {
		release()
	}
	if s.all != 0 || s.dashboards != 0 || len(s.byAgent) != 0 || len(s.byToken) != 0 {
		t.Errorf("all were released: %s", fmt.Sprint(s.all, s.byAgent, s.byToken))
	}
}
