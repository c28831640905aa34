package orchestrator

import (
	"context"
	"fmt"
	"time"

	"cw/internal/cw"
)

// inboxMost is the longest wait between two looks at open questions. A timer
// stands still while the machine sleeps, and a clock may be set.
const inboxMost = time.Minute

// Inbox says how long questions may wait for people. Its zero value: for ever,
// without a word.
type Inbox struct {
	// RemindAfter is when it is first said that a question waits; then when it has
	// waited twice as long, four times, and so on; 0: never.
	RemindAfter time.Duration
	// ExpireAfter is when a question is withdrawn that nobody answered; 0: never.
	ExpireAfter time.Duration
}

// off tells whether nothing is ever to be done.
func (b Inbox) off() bool { return b.RemindAfter <= 0 && b.ExpireAfter <= 0 }

// due decides what is done about an open question at a time, and when to look at
// it again; zero: never. What was missed while no daemon ran is said once.
func (b Inbox) due(q cw.Question, now time.Time) (remind, expire bool, next time.Time) {
	if b.ExpireAfter > 0 {
		end := q.CreatedAt.Add(b.ExpireAfter)
		if !now.Before(end) {
			return false, true, time.Time{}
		}
		next = end
	}
	if b.RemindAfter <= 0 {
		return false, false, next
	}
	at := b.reminderAfter(q, q.RemindedAt)
	if remind = !now.Before(at); remind {
		at = b.reminderAfter(q, &now)
	}
	return remind, false, earlier(at, next)
}

// reminderAfter is when the first reminder is due after the last one.
func (b Inbox) reminderAfter(q cw.Question, last *time.Time) time.Time {
	wait := b.RemindAfter
	for last != nil && !q.CreatedAt.Add(wait).After(*last) {
		wait *= 2
	}
	return q.CreatedAt.Add(wait)
}

// expiredText is why a question was withdrawn, for people and agents.
func (b Inbox) expiredText() string { return "nobody answered within " + shownSpan(b.ExpireAfter) }

// shownSpan is a time without units that are zero: 2h, 1h30m.
func shownSpan(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(text) - len(zero); n > 0 && text[n:] == zero {
			text = text[:n+1]
		}
	}
	return text
}

// lookAtInbox wakes the loop that watches over open questions.
func (o *Orchestrator) lookAtInbox() {
	select {
	case o.asking <- struct{}{}:
	default: // it is to look already
	}
}

// watchInbox says that questions wait, and withdraws those that nobody answered
// in the time that people set, until ctx ends. The rows are the truth: what was
// done is stored with the question, so that another daemon goes on with it.
func (o *Orchestrator) watchInbox(ctx context.Context) {
	if o.Inbox.off() {
		return
	}
	for {
		next, err := o.inboxDue(ctx, time.Now())
		if err != nil && ctx.Err() == nil {
			o.Log.Error("look at open questions; it is tried again", "error", err)
		}
		var ring <-chan time.Time
		if !next.IsZero() {
			ring = time.After(max(0, min(time.Until(next), inboxMost)))
		}
		select {
		case <-ctx.Done():
			return
		case <-o.asking:
		case <-ring:
		}
	}
}

// inboxDue does what is due, and tells when to look again; zero: no question is
// open.
func (o *Orchestrator) inboxDue(ctx context.Context, now time.Time) (next time.Time, err error) {
	open, err := o.Store.OpenQuestions(ctx)
	if err != nil {
		return now.Add(inboxMost), fmt.Errorf("list open questions: %w", err)
	}
	for _, q := range open {
		remind, expire, again := o.Inbox.due(q, now)
		next = earlier(again, next)
		switch {
		case expire:
			err = o.expire(ctx, q)
		case remind:
			err = o.Store.RemindQuestion(ctx, q.ID, now)
		}
		if err != nil {
			return now.Add(inboxMost), fmt.Errorf("question %s: %w", q.ID, err)
		}
	}
	return next, nil
}

// expire withdraws a question. A call that waits gets to know it, and an agent
// that waited for nothing else goes on.
func (o *Orchestrator) expire(ctx context.Context, q cw.Question) error {
	done, err := o.Store.ExpireQuestion(ctx, q.ID, o.Inbox.expiredText())
	if err != nil || !done {
		return err
	}
	o.Log.Info("a question was withdrawn", "agent", q.AgentID, "question", q.ID, "because", o.Inbox.expiredText())
	o.bell.Ring(q.AgentID)
	return o.hand(ctx, func(life context.Context) { o.goOn(life, q.AgentID) })
}
