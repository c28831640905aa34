package cw_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestCostPage: pages of any size are together what the query gives, in its order.
func TestCostPage(t *testing.T) {
	t.Parallel()
	sums := []cw.CostRow{
		{Key: "b", CostUSD: 120, Runs: 1}, {Key: "a", CostUSD: 9.5, Runs: 3}, {Key: "c", CostUSD: 9.5, Runs: 2}, {Key: "d", CostUSD: 9.5, Runs: 2},
		{Key: "f", CostUSD: 0.001, Runs: 12}, {Key: "e", Runs: 300}, {Key: "g", Runs: 2},
	}
	parts := []cw.CostRow{
		{Key: "2026-01-01", Then: "x", CostUSD: 1}, {Key: "2026-01-02", Then: "z", CostUSD: 70}, {Key: "2026-01-02", Then: "y", CostUSD: 8}, {Key: "2026-01-02", Then: "", Runs: 1},
	}
	days := []cw.CostRow{{Key: "2026-01-01", CostUSD: 1}, {Key: "2026-01-02", CostUSD: 70}, {Key: "2026-01-03", CostUSD: 2}}
	for _, c := range []struct {
		q    cw.CostQuery
		rows []cw.CostRow
	}{
		{cw.CostQuery{By: cw.CostByAgent}, sums},
		{cw.CostQuery{By: cw.CostByDay, Then: cw.CostByAccount}, parts},
		{cw.CostQuery{By: cw.CostByDay}, days},
	} {
		for size := 1; size <= len(c.rows)+1; size++ {
			var got []cw.CostRow
			for page := (cw.PageQuery{Limit: size}); ; {
				p, err := cw.CostPage(c.rows, c.q, page)
				if err != nil || len(p.Items) > size {
					t.Fatalf("%+v: %d items, %v", c.q, len(p.Items), err)
				}
				got = append(got, p.Items...)
				if page.Cursor = p.Next; p.Next == "" {
					break
				}
			}
			if diff := cmp.Diff(c.rows, got); diff != "" {
				t.Errorf("%+v in pages of %d: %s", c.q, size, diff)
			}
		}
	}
	first, err := cw.CostPage(sums, cw.CostQuery{By: cw.CostByAgent}, cw.PageQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cw.CostPage(sums, cw.CostQuery{By: cw.CostByRun}, cw.PageQuery{Cursor: first.Next}); cw.ErrorCode(err) != cw.CodeInvalid {
		t.Errorf("a cursor of other sums: %v", err)
	}
	if _, err := cw.CostPage(sums, cw.CostQuery{By: cw.CostByAgent}, cw.PageQuery{Limit: -1}); cw.ErrorCode(err) != cw.CodeInvalid {
		t.Errorf("a limit that is none: %v", err)
	}
	if p, err := cw.CostPage(nil, cw.CostQuery{By: cw.CostByAgent}, cw.PageQuery{}); err != nil || p.Items == nil || p.Next != "" {
		t.Errorf("nothing: %+v, %v", p, err)
	}
	moved := []cw.CostRow{{Key: "a", CostUSD: 500}, {Key: "b", CostUSD: 120, Runs: 1}, {Key: "c", CostUSD: 9.5}}
	if p, err := cw.CostPage(moved, cw.CostQuery{By: cw.CostByAgent}, cw.PageQuery{Cursor: first.Next}); err != nil || len(p.Items) != 1 || p.Items[0].Key != "c" {
		t.Errorf("behind a sum that another one passed: %+v, %v", p, err)
	}
}
