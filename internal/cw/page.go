package cw

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bounds of one page of a list.
const (
	PageDefault = 100
	PageMax     = 1000
)

// PageQuery selects one page of a list.
type PageQuery struct {
	// Limit is the greatest number of items, up to PageMax; 0: PageDefault.
	Limit int `json:"limit,omitempty"`
	// Cursor is Page.Next of the page before; "": the first page. It belongs to
	// one list with one order. What is added or removed meanwhile makes no item
	// come twice or be left out; an item whose sorted field changes moves.
	Cursor string `json:"cursor,omitempty"`
	// Sort is a field of the items, with "-" before it from the greatest on;
	// "": the list's own order. Each list says what it can be sorted by.
	Sort string `json:"sort,omitempty"`
}

// Page is one piece of a list.
type Page[T any] struct {
	Items []T    `json:"items" doc:"at most as many as the limit, never null"`
	Next  string `json:"next,omitempty" doc:"the cursor of the next page; missing on the last one"`
}

// AllPages reads a list to its end, page by page.
func AllPages[T any](ctx context.Context, page func(context.Context, PageQuery) (Page[T], error)) ([]T, error) {
	return SomePages(ctx, 0, page)
}

// SomePages reads at most so many items from the start of a list, page by
// page; 0: to its end.
func SomePages[T any](ctx context.Context, most int, page func(context.Context, PageQuery) (Page[T], error)) ([]T, error) {
	var all []T
	q := PageQuery{Limit: PageMax}
	for {
		if left := most - len(all); most > 0 {
			q.Limit = min(left, PageMax)
		}
		p, err := page(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Items...)
		if p.Next == "" || most > 0 && len(all) >= most {
			return all, nil
		}
		q.Cursor = p.Next
	}
}

// List says how one list can be sorted.
type List struct {
	Name  string // part of its cursors
	Own   string // its own order, as PageQuery.Sort writes it
	Texts []string
	Times []string // fields that are times; their keys are those of TimeKey
}

// Sorts are all values of PageQuery.Sort that the list knows.
func (l List) Sorts() []string {
	var sorts []string
	for _, field := range l.fields() {
		sorts = append(sorts, field, "-"+field)
	}
	return sorts
}

func (l List) fields() []string { return slices.Concat(l.Times, l.Texts) }

// Keyed is an item of a list that is cut into pages.
type Keyed interface {
	// PageKey gives what the item is sorted by and its id, which puts items with
	// the same key in order. Keys are compared byte by byte.
	PageKey(field string) (key, id string)
}

// PageStart is a checked PageQuery: where a page begins, and in which order it
// goes on.
type PageStart struct {
	Limit      int    // from 1 to PageMax
	Field      string // sorted by this field, then by id
	Descending bool   // both
	// After tells that the page begins behind the item with Key and ID, which
	// need not be there any more; else it is the first page.
	After   bool
	Key, ID string

	isTime bool   // Field is a time
	cursor cursor // of this list, order and filter, without a place
}

// KeyTime gives Key as a time when the field is one.
func (s PageStart) KeyTime() (time.Time, bool) {
	if !s.After || !s.isTime {
		return time.Time{}, false
	}
	t, err := ParseTimeKey(s.Key)
	return t, err == nil
}

// Start checks a query for a page of the list. filter is everything else that
// selects the items, in any fixed order. CodeInvalid for a limit, an order or a
// cursor that is none of this list.
func (l List) Start(q PageQuery, filter ...string) (PageStart, error) {
	s := PageStart{Limit: cmp.Or(q.Limit, PageDefault)}
	if s.Limit < 0 || s.Limit > PageMax {
		return PageStart{}, Errorf(CodeInvalid, "a page cannot have %d items", q.Limit).
			WithHint("the limit is from 1 to %d; 0 stands for %d", PageMax, PageDefault)
	}
	sort := cmp.Or(q.Sort, l.Own)
	s.Field, s.Descending = strings.CutPrefix(sort, "-")
	if !slices.Contains(l.fields(), s.Field) {
		return PageStart{}, l.errSort(q.Sort, s.Field)
	}
	s.isTime = slices.Contains(l.Times, s.Field)
	s.cursor = cursor{List: l.Name, Sort: sort, Filter: fingerprint(filter)}
	if q.Cursor == "" {
		return s, nil
	}
	at, err := decodeCursor(q.Cursor)
	if err != nil {
		return PageStart{}, errCursor("it was cut, changed or made by hand").Because(err)
	}
	if why := s.cursor.differs(at); why != "" {
		return PageStart{}, errCursor("it is of another %s", why)
	}
	if s.isTime && !isTimeKey(at.Key) {
		return PageStart{}, errCursor("it names no time")
	}
	s.After, s.Key, s.ID = true, at.Key, at.ID
	return s, nil
}

func errCursor(format string, args ...any) *Error {
	return Errorf(CodeInvalid, "this cursor is not of this list: %s", fmt.Sprintf(format, args...)).
		WithHint("take next of the page before as it is, with the same filters and the same sort; without a cursor the list begins anew")
}

func (l List) errSort(sort, field string) error {
	err := Errorf(CodeInvalid, "%s cannot be sorted by %.100q", l.Name, sort)
	choice := "they can be sorted by " + strings.Join(l.fields(), ", ") + ", and with - before it from the greatest on"
	if name, ok := Nearest(field, l.fields()); ok {
		return err.WithHint("did you mean %s? %s", name, choice)
	}
	return err.WithHint("%s", choice)
}

// Compare puts two items in the order of the pages.
func (s PageStart) Compare(aKey, aID, bKey, bID string) int {
	order := cmp.Or(strings.Compare(aKey, bKey), strings.Compare(aID, bID))
	if s.Descending {
		return -order
	}
	return order
}

// CutPage makes a page of the items behind a start, in order: at least one
// more than the limit when there are more.
func CutPage[T Keyed](s PageStart, items []T) Page[T] {
	if items == nil {
		items = []T{}
	}
	if len(items) <= s.Limit {
		return Page[T]{Items: items}
	}
	items = items[:s.Limit]
	next := s.cursor
	next.Key, next.ID = items[s.Limit-1].PageKey(s.Field)
	return Page[T]{Items: items, Next: encodeCursor(next)}
}
