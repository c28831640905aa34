package cw_test

import (
	"strings"
	"testing"

	"cw/internal/cw"
)

func TestEventFilter(t *testing.T) {
	t.Parallel()
	mine, other := cw.AgentID("k3v7q2mzt5ha"), cw.AgentID("aaaaaaaaaaaa")
	output, activity := []cw.EventType{cw.EventAgentOutput}, []cw.EventType{cw.EventAgentActivity}
	cases := []struct {
		name   string
		filter cw.EventFilter
		event  cw.Event
		want   bool
	}{
		{"zero takes a stored event", cw.EventFilter{}, cw.Event{Type: cw.EventAgentSpawned}, true},
		{"zero leaves activity", cw.EventFilter{}, cw.Event{Type: cw.EventAgentActivity}, false},
		{"zero takes steps of plans", cw.EventFilter{}, cw.Event{Type: cw.EventPlanStepStarted}, true},
		{"activity, too", cw.EventFilter{Also: activity}, cw.Event{Type: cw.EventAgentActivity}, true},
		{"activity, too, leaves output", cw.EventFilter{Also: activity}, cw.Event{Type: cw.EventAgentOutput}, false},
		{"activity, too, takes the rest", cw.EventFilter{Also: activity}, cw.Event{Type: cw.EventAgentSpawned}, true},
		{"activity beside output", cw.EventFilter{Types: output, Also: activity}, cw.Event{Type: cw.EventAgentActivity}, true},
		{"nothing else beside both", cw.EventFilter{Types: output, Also: activity}, cw.Event{Type: cw.EventAgentSpawned}, false},
		{"activity of another agent", cw.EventFilter{Also: activity, Agent: mine}, cw.Event{Type: cw.EventAgentActivity, AgentID: other}, false},
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
