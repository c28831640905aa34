package api

import (
	"net/http"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestAllowance: so many times in a while, each caller alone, then again; who
// took nothing for a while is forgotten.
func TestAllowance(t *testing.T) {
	t.Parallel()
	a := NewAllowance(2, time.Minute)
	start := time.Now()
	for i, step := range []struct {
		who   string
		after time.Duration
		want  bool
	}{
		{"a", 0, true},
		{"a", 30 * time.Second, true},
		{"a", 30 * time.Second, false},
		{"b", 30 * time.Second, true},
		{"a", time.Minute - 1, false},
		{"a", time.Minute, true},
		{"a", time.Minute, true},
		{"a", 2*time.Minute - 1, false},
		{"c", 2 * time.Minute, true},
	} {
		if got := a.Take(step.who, start.Add(step.after)); got != step.want {
			t.Errorf("step %d: %s after %s got %t", i, step.who, step.after, got)
		}
	}
	if len(a.spent) != 1 {
		t.Errorf("remembers %v", a.spent)
	}
}

// TestWritesHaveAnAllowance: every route by which an agent writes counts, each
// alone and each agent alone; what others do and what is only read does not.
func TestWritesHaveAnAllowance(t *testing.T) {
	t.Parallel()
	s, err := NewServer(plainOptions())
	if err != nil {
		t.Fatal(err)
	}
	agent, other := cw.Actor{Kind: cw.ActorAgent, AgentID: "a"}, cw.Actor{Kind: cw.ActorAgent, AgentID: "b"}
	now, writes := time.Now(), 0
	for _, row := range Routes() {
		if row.Scope == peopleOnly {
			continue
		}
		most := mostWrites(row)
		for n := range most + 1 {
			err := s.mayWrite(agent, row, now)
			if full := n == most && row.Method != http.MethodGet; full != (cw.ErrorCode(err) == cw.CodeTooMany) {
				t.Fatalf("%s, call %d: %v", row.ID, n, err)
			}
		}
		for _, who := range []cw.Actor{other, {Kind: cw.ActorPerson}, {Kind: cw.ActorDashboard}} {
			if err := s.mayWrite(who, row, now); err != nil {
				t.Errorf("%s of %v: %v", row.ID, who, err)
			}
		}
		if err := s.mayWrite(agent, row, now.Add(writesWhile)); err != nil {
			t.Errorf("%s, a minute later: %v", row.ID, err)
		}
		if row.Method != http.MethodGet {
			writes++
		}
	}
	if writes < 6 {
		t.Errorf("only %d routes by which agents write", writes)
	}
}
