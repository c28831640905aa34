package cw

import (
	"fmt"
	"math"
	"time"
)

// The orders of sums of cost.
const (
	costOrderSum  = "sum"  // the greatest first
	costOrderPart = "part" // by key, the greatest part of each first
	costOrderDay  = "day"  // by key
)

// costID stands for the id of a sum, which has none: its key says all.
const costID = "aaaaaaaaaaaa"

// PageKey implements Keyed.
func (r CostRow) PageKey(field string) (key, id string) {
	// From the greatest on, compared byte by byte.
	greatest := fmt.Sprintf("%016x%016x", ^math.Float64bits(max(r.CostUSD, 0)), ^uint64(r.Runs))
	switch field {
	case costOrderDay:
		return r.Key, costID
	case costOrderPart:
		return r.Key + "\x00" + greatest + "\x00" + r.Then, costID
	}
	return greatest + r.Key, costID
}

// CostPage cuts a page out of all the sums of a query, which are in their order. A sum
// that changes between two pages may move. CodeInvalid for a limit or a cursor that is
// none of this query.
func CostPage(rows []CostRow, q CostQuery, page PageQuery) (Page[CostRow], error) {
	order := costOrderSum
	switch {
	case q.Then != "":
		order = costOrderPart
	case q.By == CostByDay:
		order = costOrderDay
	}
	at := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return TimeKey(*t)
	}
	list := List{Name: "costs", Own: order, Texts: []string{order}}
	start, err := list.Start(page, string(q.By), string(q.Then), at(q.Since), at(q.Until), q.Zone)
	if err != nil {
		return Page[CostRow]{}, err
	}
	behind := 0
	for start.After && behind < len(rows) {
		key, id := rows[behind].PageKey(order)
		if start.Compare(key, id, start.Key, start.ID) > 0 {
			break
		}
		behind++
	}
	return CutPage(start, rows[behind:]), nil
}
