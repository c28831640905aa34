package servicetest

import (
	"context"

	"cw/internal/cw"
)

// OutputPage implements cw.LogService: it reads everything and cuts.
func (m *Memory) OutputPage(ctx context.Context, ref string, q cw.OutputPageQuery) (cw.OutputPage, error) {
	w, err := q.Window()
	if err != nil {
		return cw.OutputPage{}, err
	}
	view, err := m.Agent(ctx, ref)
	if err != nil {
		return cw.OutputPage{}, err
	}
	var last cw.Chunk
	for c, err := range m.Output(ctx, ref, cw.OutputQuery{}) {
		if err != nil {
			return cw.OutputPage{}, err
		}
		last = c
	}
	page := cw.OutputPage{Items: []cw.OutputEvent{}}
	for e, err := range m.OutputEvents(ctx, ref, cw.OutputQuery{}) {
		if err != nil {
			return cw.OutputPage{}, err
		}
		at, err := cw.ParseOutputPlace(e.Position)
		if err != nil {
			return cw.OutputPage{}, err
		}
		if e.ChunkID <= last.ID && w.Selects(at, e.Event) {
			page.Items = append(page.Items, e)
		}
	}
	more := len(page.Items) - w.Limit
	cutPage(&page, w, max(more, 0))
	if n := len(page.Items); n > 0 {
		page.Newer = page.Items[n-1].Position
		if w.Forward || more > 0 {
			page.Older = page.Items[0].Position
		}
	} else if w.Bounded {
		page.Newer = w.Place.String()
	}
	if w.Forward && more <= 0 || !w.Bounded {
		page.Stream = last.ID
	}
	page.Runs = cw.OutputRuns(page.Items, view.Runs)
	return page, nil
}

// cutPage takes away what is more than the limit.
func cutPage(page *cw.OutputPage, w cw.OutputWindow, more int) {
	if w.Forward {
		page.Items = page.Items[:len(page.Items)-more]
		return
	}
	page.Items = page.Items[more:]
}
