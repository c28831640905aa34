package cw_test

import (
	"strings"
	"testing"

	"cw/internal/cw"
)

func TestEventFilter(t *testing.T) {
	t.Parallel()
	mine, other := cw.AgentID("k3v7q2mzt5ha"), cw.AgentID("aaaaaaaaaaaa")
	output := []cw.EventType{cw.EventAgentOutput}
	cases := []struct {
		name   string
		filter cw.EventFilter
		event  cw.Event
		want   bool
	}{
		{"zero takes a stored event", cw.EventFilter{}, cw.Event{Type: cw.EventAgentSpawned}, true},
		{"zero takes activity", cw.EventFilter{}, cw.Event{Type: cw.EventAgentActivity}, true},
		{"zero leaves output", cw.EventFilter{}, cw.Event{Type: cw.EventAgentOutput}, false},
		{"output when named", cw.EventFilter{Types: output}, cw.Event{Type: cw.EventAgentOutput}, true},
		{"type not named", cw.EventFilter{Types: output}, cw.Event{Type: cw.EventAgentSpawned}, false},
		{"its agent", cw.EventFilter{Agent: mine}, cw.Event{Type: cw.EventAgentSpawned, AgentID: mine}, true},
		{"another agent", cw.EventFilter{Agent: mine}, cw.Event{Type: cw.EventAgentSpawned, AgentID: other}, false},
		{"no agent", cw.EventFilter{Agent: mine}, cw.Event{Type: cw.EventProjectAdded}, false},
		{"agent does not undo the type rule", cw.EventFilter{Agent: mine}, cw.Event{Type: cw.EventAgentOutput, AgentID: mine}, false},
		{"its initiative", cw.EventFilter{Initiative: "i"}, cw.Event{Type: cw.EventAgentSpawned, InitiativeID: "i"}, true},
		{"another initiative", cw.EventFilter{Initiative: "i"}, cw.Event{Type: cw.EventAgentSpawned, InitiativeID: "j"}, false},
		{"its initiative, another agent", cw.EventFilter{Initiative: "i", Agent: mine}, cw.Event{Type: cw.EventAgentSpawned, InitiativeID: "i", AgentID: other}, false},
	}
	for _, c := range cases {
		if got := c.filter.Matches(c.event); got != c.want {
			t.Errorf("%s: Matches = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestEventQueryCheck(t *testing.T) {
	t.Parallel()
	for _, info := range cw.EventTable() {
		if err := (cw.EventQuery{Types: []cw.EventType{info.Type}}).Check(); err != nil {
			t.Errorf("%s: %v", info.Type, err)
		}
	}
	for _, c := range []struct {
		query cw.EventQuery
		hint  string
	}{
		{cw.EventQuery{After: -1}, "the last event"},
		{cw.EventQuery{Types: []cw.EventType{"agent:spwaned"}}, "did you mean agent:spawned?"},
		{cw.EventQuery{Types: []cw.EventType{cw.EventAgentStopped, "agent.stopped"}}, "did you mean agent:stopped?"},
		{cw.EventQuery{Types: []cw.EventType{""}}, "docs/events.md"},
		{cw.EventQuery{Types: []cw.EventType{"*"}}, "docs/events.md"},
		{cw.EventQuery{Types: []cw.EventType{cw.EventType(strings.Repeat("agent:", 5000))}}, "docs/events.md"},
	} {
		err := c.query.Check()
		if cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(cw.ErrorHint(err), c.hint) || len(err.Error()) > 200 {
			t.Errorf("%.80v: %v, hint %q", c.query, err, cw.ErrorHint(err))
		}
	}
}
