package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sync"
	"time"

	"cw/internal/cw"
)

// Limits of tickets.
const (
	ticketLife   = 30 * time.Second
	ticketsOfOne = 100   // living, of one token; its oldest goes first
	ticketsOfAll = 1_000 // living
)

// ticketParam is the parameter of a stream's address that carries a ticket.
const ticketParam = "ticket"

// ticketPrefix makes a ticket known for what it is wherever it is found.
const ticketPrefix = "cws_"

// StreamTicket opens one stream over TCP, once, in place of a token: a
// browser's EventSource can send no header. It ends with the daemon.
type StreamTicket struct {
	Ticket    string    `json:"ticket" doc:"for the parameter ticket of a stream; good for one stream"`
	ExpiresAt time.Time `json:"expiresAt" doc:"the stream must have begun by then"`
}

func registerTickets(s *Server) {
	handle(s, "create-stream-ticket", func(ctx context.Context, _ *nothing) (StreamTicket, error) {
		return s.tickets.create(callerOf(ctx)), nil
	})
}

// tickets are those that live. Its zero value is empty. Only their hashes are
// kept, so that finding one does not tell by its time how close a guess was.
type tickets struct {
	mu     sync.Mutex
	living []ticket // oldest first
}

type ticket struct {
	hash  [sha256.Size]byte
	who   caller
	until time.Time // with the monotonic clock: setting the other one lengthens no life
}

// create makes a ticket that stands for the caller. A person's opens a stream
// as a dashboard that may read.
func (t *tickets) create(who caller) StreamTicket {
	if who.actor.Kind != cw.ActorDashboard {
		who = caller{actor: cw.Actor{Kind: cw.ActorDashboard}, scopes: []cw.Scope{cw.ScopeRead}}
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	until := time.Now().Add(ticketLife)
	out := StreamTicket{
		Ticket:    ticketPrefix + base64.RawURLEncoding.EncodeToString(secret[:]),
		ExpiresAt: until.UTC(),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
	t.makeRoom(who.actor.ID)
	t.living = append(t.living, ticket{sha256.Sum256([]byte(out.Ticket)), who, until})
	return out
}

// redeem gives whom a ticket stands for, once.
func (t *tickets) redeem(text string) (caller, error) {
	hash := sha256.Sum256([]byte(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
	i := slices.IndexFunc(t.living, func(one ticket) bool { return one.hash == hash })
	if i < 0 {
		return caller{}, errTicket()
	}
	who := t.living[i].who
	t.living = slices.Delete(t.living, i, i+1)
	return who, nil
}

// revoke ends the tickets of a token.
func (t *tickets) revoke(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.living = slices.DeleteFunc(t.living, func(one ticket) bool { return one.who.actor.ID == id })
}

// forget drops what has expired. All live equally long, so that is the head.
func (t *tickets) forget() {
	now := time.Now()
	alive := slices.IndexFunc(t.living, func(one ticket) bool { return now.Before(one.until) })
	if alive < 0 {
		alive = len(t.living)
	}
	t.living = slices.Delete(t.living, 0, alive)
}

// makeRoom drops the oldest of a token that has many, so that it takes none
// from others, and else the oldest of all.
func (t *tickets) makeRoom(id string) {
	isOwn := func(one ticket) bool { return one.who.actor.ID == id }
	own := 0
	for _, one := range t.living {
		if isOwn(one) {
			own++
		}
	}
	switch {
	case own >= ticketsOfOne:
		i := slices.IndexFunc(t.living, isOwn)
		t.living = slices.Delete(t.living, i, i+1)
	case len(t.living) >= ticketsOfAll:
		t.living = slices.Delete(t.living, 0, 1)
	}
}

// errTicket does not tell what is wrong with a ticket: that would tell what
// others are like.
func errTicket() *cw.Error {
	return cw.Errorf(cw.CodeUnauthorized, "the ticket does not open this").
		WithHint("a ticket lives %d s and opens one stream, without a token beside it: POST /v1/stream-tickets gives another", int(ticketLife.Seconds()))
}
