package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// eventsMax is how many events one read gives when the caller names no limit.
const eventsMax = 1000

// emit stores events in the transaction of the change they tell. They get the
// transaction's time, so that their order by time is their order by number.
func (t *tx) emit(events ...cw.Event) error {
	for _, e := range events {
		if !e.Type.Stored() {
			return fmt.Errorf("event %s is live and cannot be stored", e.Type)
		}
		e.Seq, e.At = 0, t.now
		if len(e.Data) == 0 {
			e.Data = json.RawMessage("{}")
		}
		if err := t.placeEvent(&e); err != nil {
			return err
		}
		if err := t.Create(&e).Error; err != nil {
			return fmt.Errorf("store event %s: %w", e.Type, err)
		}
		t.events = append(t.events, e)
	}
	return nil
}

// placeEvent notes what an agent works for, so that whoever follows an initiative
// is told of its agents.
func (t *tx) placeEvent(e *cw.Event) error {
	if e.AgentID == "" || e.InitiativeID != "" {
		return nil
	}
	var a cw.Agent
	err := t.Model(&cw.Agent{}).Select("initiative_id", "task_id").Where("id = ?", e.AgentID).Limit(1).Find(&a).Error
	if err != nil {
		return fmt.Errorf("find what the agent of event %s works for: %w", e.Type, err)
	}
	e.InitiativeID, e.TaskID = a.InitiativeID, a.TaskID
	return nil
}

// AddEvents stores events that tell no change of the store.
func (db *DB) AddEvents(ctx context.Context, events ...cw.Event) error {
	return db.change(ctx, "add events", func(t *tx) error { return t.emit(events...) })
}

// LastEvent gives the newest stored event of a type about an agent, and tells
// whether there is one.
func (db *DB) LastEvent(ctx context.Context, agent cw.AgentID, t cw.EventType) (ev cw.Event, found bool, err error) {
	err = db.query(ctx, "read the last event of an agent", func(g *gorm.DB) error {
		var last []cw.Event
		err := g.Where("agent_id = ? AND type = ?", agent, t).Order("seq DESC").Limit(1).Find(&last).Error
		if len(last) > 0 {
			ev, found = last[0], true
		}
		return err
	})
	return ev, found, err
}

// EventPage is one piece of the stored events, and what was true of all of
// them at that moment.
type EventPage struct {
	Events []cw.Event // oldest first
	Looked int64      // up to this number there is no other that was asked for
	First  int64      // the oldest event that is kept; the next number when none is
}

// EventsAfter gives events with a greater number than after that the filter
// selects, oldest first. At most limit of them, 1,000 when limit is 0; when
// there are fewer, all that are stored were looked at.
func (db *DB) EventsAfter(ctx context.Context, after int64, f cw.EventFilter, limit int) (EventPage, error) {
	if limit <= 0 {
		limit = eventsMax
	}
	var page EventPage
	err := db.query(ctx, "read events", func(g *gorm.DB) error {
		first, last, err := eventBounds(g)
		if err != nil {
			return err
		}
		page.First, page.Looked = first, max(after, last)
		if err := selectEvents(g, f).Where("seq > ?", after).Order("seq").Limit(limit).Find(&page.Events).Error; err != nil {
			return err
		}
		if n := len(page.Events); n == limit {
			page.Looked = page.Events[n-1].Seq
		}
		return nil
	})
	return page, err
}

// EventsBefore gives stored events that a query and the filter select, newest
// first: one more than the limit when there are more.
func (db *DB) EventsBefore(ctx context.Context, q cw.EventLogQuery, f cw.EventFilter, limit int) ([]cw.Event, error) {
	var events []cw.Event
	err := db.query(ctx, "read the log of events", func(g *gorm.DB) error {
		g = selectEvents(g, f).Where("seq > ?", q.After)
		if q.Before > 0 {
			g = g.Where("seq < ?", q.Before)
		}
		if q.Since != nil {
			g = g.Where("+at >= ?", q.Since.UTC()) // by number all the same
		}
		return g.Order("seq DESC").Limit(limit + 1).Find(&events).Error
	})
	return events, err
}

// selectEvents is cw.EventFilter.Matches in SQL; what must be named is never
// stored.
func selectEvents(g *gorm.DB, f cw.EventFilter) *gorm.DB {
	if len(f.Types) > 0 {
		g = g.Where("type IN (SELECT value FROM json_each(?))", list(slices.Concat(f.Types, f.Also)))
	}
	if f.Agent != "" {
		g = g.Where("agent_id = ?", f.Agent)
	}
	if f.Initiative != "" {
		g = g.Where("initiative_id <> '' AND initiative_id = ?", f.Initiative) // as the index says it
	}
	return g
}

// LastEventSeq gives the greatest number that was ever given to an event; 0
// before the first.
func (db *DB) LastEventSeq(ctx context.Context) (int64, error) {
	var last int64
	err := db.query(ctx, "read the last event number", func(g *gorm.DB) (err error) {
		last, err = lastSeq(g)
		return err
	})
	return last, err
}

// EventBounds gives the number of the oldest event that is kept, or the next
// one to be given when none is, and the greatest that was ever given.
func (db *DB) EventBounds(ctx context.Context) (first, last int64, err error) {
	err = db.query(ctx, "read the bounds of the events", func(g *gorm.DB) error {
		first, last, err = eventBounds(g)
		return err
	})
	return first, last, err
}

func eventBounds(g *gorm.DB) (first, last int64, err error) {
	if last, err = lastSeq(g); err != nil {
		return 0, 0, err
	}
	err = g.Raw("SELECT COALESCE(MIN(seq), ?) FROM events", last+1).Scan(&first).Error
	return first, last, err
}

// lastSeq asks the counter, not the rows: retention may have taken the last.
func lastSeq(g *gorm.DB) (int64, error) {
	var last int64
	err := g.Raw("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'events'").Scan(&last).Error
	return last, err
}

// dropMax is how many events one transaction of DropEvents takes: others who
// want to write wait for it.
const dropMax = 500

// DropEvents forgets the events that happened before a time and tells how many
// these were. Only events at the beginning go: one that is newer keeps all
// after it, so that numbers never get a gap. The newest event always stays.
// When ctx ends, what was dropped so far is gone.
func (db *DB) DropEvents(ctx context.Context, before time.Time) (int, error) {
	const act = "drop old events"
	var keep int64 // the first that stays
	err := db.query(ctx, act, func(g *gorm.DB) error {
		// The plus keeps the index on the time away: walking by number ends at
		// the first that stays, and that is mostly the first of all.
		const first = `SELECT COALESCE(
			(SELECT seq FROM events WHERE +at >= ? ORDER BY seq LIMIT 1),
			(SELECT MAX(seq) FROM events), 0)`
		return g.Raw(first, before.UTC()).Scan(&keep).Error
	})
	if err != nil {
		return 0, err
	}
	dropped := 0
	for {
		n := 0
		err := db.change(ctx, act, func(t *tx) error {
			const oldest = "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE seq < ? ORDER BY seq LIMIT ?)"
			done := t.Exec(oldest, keep, dropMax)
			n = int(done.RowsAffected)
			return done.Error
		})
		if err != nil {
			return dropped, err
		}
		if dropped += n; n < dropMax {
			return dropped, nil
		}
	}
}

// list gives values as one parameter for json_each, so that a statement is
// the same, and stays prepared, however many values there are.
func list[T ~string](values []T) string {
	data, err := json.Marshal(values)
	if err != nil { // cannot happen: strings
		return "[]"
	}
	return string(data)
}
