package orchestrator

import (
	"slices"
	"testing"

	"cw/internal/cw"
	"cw/providers"
	"cw/providers/parsers"
)

// TestSpendOf: the CLI's own figure counts, and what it used after it told that;
// else the tokens of each model at the price of that model, as far as it has one.
func TestSpendOf(t *testing.T) {
	t.Parallel()
	prices, problem := providers.LoadPrices("")
	if problem != nil {
		t.Fatal(problem)
	}
	out := func(n int) cw.Usage { return cw.Usage{OutputTokens: n} }
	of := func(model string, n int) cw.ModelUsage { return cw.ModelUsage{Model: model, Usage: out(n)} }
	for _, tt := range []struct {
		name     string
		s        parsers.Summary
		own      cw.Usage
		asked    string
		usd      float64
		source   cw.CostSource
		unpriced []string
	}{
		{"nothing yet", parsers.Summary{}, cw.Usage{}, "claude-opus-4-1", 0, cw.CostUnknown, nil},
		{"the CLI's figure", parsers.Summary{CostUSD: 0.5, Usage: out(1e6), Models: []cw.ModelUsage{of("claude-opus-4-1", 1e6)}}, out(1e6), "", 0.5, cw.CostFromCLI, nil},
		{"and more since", parsers.Summary{CostUSD: 0.5, Usage: out(1e6), Models: []cw.ModelUsage{of("claude-opus-4-1", 1e6)}, Later: []cw.ModelUsage{of("claude-haiku-4-5", 1e5)}}, out(1e6), "", 1, cw.CostFromTable, nil},
		{"a sub-agent's model", parsers.Summary{Model: "claude-opus-4-1", Usage: out(101e3), Models: []cw.ModelUsage{of("claude-opus-4-1", 1e3), of("claude-haiku-4-5", 1e5)}}, out(101e3), "", 0.075 + 0.5, cw.CostFromTable, nil},
		{"one without a price", parsers.Summary{Model: "claude-opus-4-1", Usage: out(101e3), Models: []cw.ModelUsage{of("claude-opus-4-1", 1e3), of("house-model", 1e5)}}, out(101e3), "", 0.075, cw.CostFromTable, []string{"house-model"}},
		{"all without a price", parsers.Summary{Usage: out(1e5), Models: []cw.ModelUsage{of("", 1e5)}}, out(1e5), "house-model", 0, cw.CostUnknown, []string{"house-model"}},
		{"a name of a gateway", parsers.Summary{Usage: out(1e5), Models: []cw.ModelUsage{of("prod-3", 1e5)}}, out(1e5), "claude-opus-4-1", 7.5, cw.CostFromTable, nil},
		{"of a whole session", parsers.Summary{Usage: out(9e5), Models: []cw.ModelUsage{of("", 9e5)}}, out(1e5), "claude-opus-4-1", 7.5, cw.CostFromTable, nil},
		{"nobody names it", parsers.Summary{Usage: out(1)}, out(1), "", 0, cw.CostUnknown, []string{""}},
	} {
		got := spendOf(prices, tt.s, tt.own, tt.asked)
		if !nearly(got.USD, tt.usd) || got.Source != tt.source || got.Usage != tt.own || !slices.Equal(got.Unpriced, tt.unpriced) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}
