package servicetest

import (
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// outputPageCase: pages put together, from either end, are the stream.
func outputPageCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	all := collect(t, s.OutputEvents(ctx, f.Agent, cw.OutputQuery{}))
	chunks := collect(t, s.Output(ctx, f.Agent, cw.OutputQuery{}))
	page, err := s.OutputPage(ctx, f.Agent, cw.OutputPageQuery{Limit: 2})
	ok(t, err)
	if last := chunks[len(chunks)-1].ID; page.Stream != last {
		t.Errorf("the stream goes on after %d, want %d", page.Stream, last)
	}
	got := page.Items
	for page.Older != "" {
		page, err = s.OutputPage(ctx, f.Agent, cw.OutputPageQuery{Limit: 2, Before: page.Older})
		ok(t, err)
		if len(page.Items) > 2 || page.Stream != 0 || page.Newer == "" {
			t.Errorf("%d events, stream %d, newer %q", len(page.Items), page.Stream, page.Newer)
		}
		got = slices.Concat(page.Items, got)
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("from the end on: %s", diff)
	}
	got, page = nil, cw.OutputPage{Newer: "0"}
	for page.Stream == 0 {
		page, err = s.OutputPage(ctx, f.Agent, cw.OutputPageQuery{Limit: 2, After: page.Newer})
		ok(t, err)
		got = append(got, page.Items...)
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("from the beginning on: %s", diff)
	}
	outputSearchCase(t, f, all)
	for _, q := range []cw.OutputPageQuery{
		{Limit: -1}, {Limit: cw.OutputPageMax + 1}, {Before: "1", After: "2"}, {Before: "x"}, {After: "1:2:3:4"}, {After: "-1"},
		{Before: "1:99999999999999999999"}, {Contains: strings.Repeat("x", cw.OutputContainsMax+1)},
	} {
		_, err := s.OutputPage(ctx, f.Agent, q)
		wantCode(t, "a bad page", err, cw.CodeInvalid)
	}
}

func outputSearchCase(t *testing.T, f Fixture, all []cw.OutputEvent) {
	word := ""
	for _, e := range all {
		if word = strings.TrimSpace(e.Event.Text); word != "" {
			break
		}
	}
	want := slices.DeleteFunc(slices.Clone(all), func(e cw.OutputEvent) bool { return !e.Event.Contains(strings.ToLower(word)) })
	page, err := f.Services.OutputPage(soon(t), f.Agent, cw.OutputPageQuery{Contains: strings.ToUpper(word)})
	ok(t, err)
	if diff := cmp.Diff(want, page.Items); diff != "" || len(want) == 0 {
		t.Errorf("with %q: %s", word, diff)
	}
	for _, r := range page.Runs {
		if !slices.ContainsFunc(page.Items, func(e cw.OutputEvent) bool { return e.Session == r.Session }) {
			t.Errorf("run %d has none of the items", r.Session)
		}
	}
}
