package store

import (
	"context"
	"encoding/json"
	"fmt"

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
		if err := t.Create(&e).Error; err != nil {
			return fmt.Errorf("store event %s: %w", e.Type, err)
		}
		t.events = append(t.events, e)
	}
	return nil
}

// AddEvents stores events that tell no change of the store.
func (db *DB) AddEvents(ctx context.Context, events ...cw.Event) error {
	return db.change(ctx, "add events", func(t *tx) error { return t.emit(events...) })
}

// EventsAfter gives events with a greater number than after, oldest first:
// all types when types is empty, all agents when agent is "". At most limit of
// them, 1,000 when limit is 0.
func (db *DB) EventsAfter(ctx context.Context, after int64, types []cw.EventType, agent cw.AgentID, limit int) ([]cw.Event, error) {
	if limit <= 0 {
		limit = eventsMax
	}
	var events []cw.Event
	err := db.query(ctx, "read events", func(g *gorm.DB) error {
		g = g.Where("seq > ?", after).Order("seq").Limit(limit)
		if len(types) > 0 {
			g = g.Where("type IN (SELECT value FROM json_each(?))", list(types))
		}
		if agent != "" {
			g = g.Where("agent_id = ?", agent)
		}
		return g.Find(&events).Error
	})
	return events, err
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

// FirstEventSeq gives the number of the oldest event that is kept, or the next
// number to be given when none is.
func (db *DB) FirstEventSeq(ctx context.Context) (int64, error) {
	var first int64
	err := db.query(ctx, "read the first event number", func(g *gorm.DB) error {
		if err := g.Raw("SELECT COALESCE(MIN(seq), 0) FROM events").Scan(&first).Error; err != nil || first > 0 {
			return err
		}
		last, err := lastSeq(g)
		first = last + 1
		return err
	})
	return first, err
}

// lastSeq asks the counter, not the rows: retention may have taken the last.
func lastSeq(g *gorm.DB) (int64, error) {
	var last int64
	err := g.Raw("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'events'").Scan(&last).Error
	return last, err
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
