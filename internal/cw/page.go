package cw

import "context"

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
	// come twice or be left out.
	Cursor string `json:"cursor,omitempty"`
	// Sort is a field of the items, with "-" before it from the greatest on;
	// "": the list's own order. Each list says what it can be sorted by.
	Sort string `json:"sort,omitempty"`
}

// Page is one piece of a list.
type Page[T any] struct {
	Items []T    `json:"items"`          // never null
	Next  string `json:"next,omitempty"` // cursor of the next page; "": this is the last
}

// AllPages reads a list to its end, page by page.
func AllPages[T any](ctx context.Context, page func(context.Context, PageQuery) (Page[T], error)) ([]T, error) {
	var all []T
	q := PageQuery{Limit: PageMax}
	for {
		p, err := page(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Items...)
		if p.Next == "" {
			return all, nil
		}
		q.Cursor = p.Next
	}
}
