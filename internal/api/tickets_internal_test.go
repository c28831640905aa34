package api

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
)

func dashboard(id string) caller {
	return caller{actor: cw.Actor{Kind: cw.ActorDashboard, ID: id}, scopes: []cw.Scope{cw.ScopeOperate}}
}

func TestTicketExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all tickets
		early, late := all.create(dashboard("a")), all.create(dashboard("a"))
		if got := time.Until(early.ExpiresAt); got != 30*time.Second {
			t.Errorf("lives %s", got)
		}
		time.Sleep(30*time.Second - time.Nanosecond)
		who, err := all.redeem(early.Ticket)
		if err != nil || who.actor.ID != "a" || len(who.scopes) != 1 || who.scopes[0] != cw.ScopeOperate {
			t.Errorf("just in time: %+v %v", who, err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := all.redeem(late.Ticket); cw.ErrorCode(err) != cw.CodeUnauthorized || cw.ErrorHint(err) == "" {
			t.Errorf("too late: %v", err)
		}
		if len(all.living) != 0 {
			t.Errorf("%d are kept", len(all.living))
		}
	})
}

// A ticket ends by the clock that nobody sets. Text is the only thing that shows
// whether a time has it.
func TestTicketsKeepTheMonotonicClock(t *testing.T) {
	t.Parallel()
	var all tickets
	all.create(dashboard("a"))
	if until := all.living[0].until; !strings.Contains(until.String(), "m=") {
		t.Errorf("until %s", until)
	}
}

// One token's tickets push out its own, and all together stay below a bound.
func TestTicketsAreBounded(t *testing.T) {
	t.Parallel()
	var all tickets
	other := all.create(dashboard("other"))
	first := all.create(dashboard("many"))
	var last StreamTicket
	for range 3 * ticketsOfAll {
		last = all.create(dashboard("many"))
	}
	if len(all.living) != ticketsOfOne+1 {
		t.Errorf("%d live", len(all.living))
	}
	if _, err := all.redeem(first.Ticket); err == nil {
		t.Error("the oldest of many lives")
	}
	for _, one := range []StreamTicket{other, last} {
		if _, err := all.redeem(one.Ticket); err != nil {
			t.Error(err)
		}
	}
	for i := range 2 * ticketsOfAll {
		last = all.create(dashboard(fmt.Sprint(i)))
	}
	if _, err := all.redeem(last.Ticket); err != nil || len(all.living) != ticketsOfAll-1 {
		t.Errorf("%d live, %v", len(all.living), err)
	}
}

// A person's ticket has a dashboard's rights, and not a person's.
func TestTicketOfAPerson(t *testing.T) {
	t.Parallel()
	var all tickets
	who, err := all.redeem(all.create(caller{actor: cw.Actor{Kind: cw.ActorPerson}, scopes: cw.RunScopes()}).Ticket)
	if err != nil || who.actor != (cw.Actor{Kind: cw.ActorDashboard}) || len(who.scopes) != 1 || who.scopes[0] != cw.ScopeRead {
		t.Errorf("%+v %v", who, err)
	}
}

func TestVisits(t *testing.T) {
	t.Parallel()
	var v visits
	a, leaveA, err := v.begin(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	b, leaveB, err := v.begin(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	left, leave, err := v.begin(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	leave()
	if left.Err() == nil || a.Err() != nil {
		t.Error("leaving ends one's own context and no other")
	}
	v.end("a")
	v.end("a")
	if a.Err() != context.Canceled || b.Err() != nil {
		t.Errorf("after the end of a: %v and %v", a.Err(), b.Err())
	}
	if _, _, err := v.begin(t.Context(), "a"); cw.ErrorCode(err) != cw.CodeUnauthorized {
		t.Errorf("a begins again: %v", err)
	}
	leaveA()
	leaveB()
	if len(v.open) != 0 {
		t.Errorf("%d are kept", len(v.open))
	}
}

// What a revoked token has left is dropped, also what could not be used.
func TestRevokedLeavesNothing(t *testing.T) {
	t.Parallel()
	s := &Server{}
	s.tickets.create(dashboard("a"))
	other := s.tickets.create(dashboard("b"))
	s.revoked("a")
	if _, err := s.tickets.redeem(other.Ticket); err != nil || len(s.tickets.living) != 0 {
		t.Errorf("%d tickets live, %v", len(s.tickets.living), err)
	}
}
