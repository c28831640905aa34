package providers

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestEmbeddedPrices: the table is whole, and each row can be reached: none
// stands behind one that takes its models.
func TestEmbeddedPrices(t *testing.T) {
	t.Parallel()
	prices, problem := LoadPrices("")
	if problem != nil {
		t.Fatal(problem)
	}
	if len(prices.rows) < 20 {
		t.Fatalf("there are %d prices", len(prices.rows))
	}
	for _, row := range prices.rows {
		name := strings.NewReplacer("[5-8]", "7", "[56]", "6", "[57]", "7", "*", "-preview").Replace(row.Model)
		got, ok := prices.Of(name)
		if !ok || got != row {
			t.Errorf("%s is priced as %+v", name, got)
		}
		if row.Input <= 0 || row.Output < row.Input || row.CacheRead > row.Input || row.CacheWrite < row.Input || row.CacheWriteHour < row.CacheWrite {
			t.Errorf("these prices cannot be: %+v", row)
		}
	}
}

// TestCost: the prices were taken from the providers' pages by hand, so these
// sums are by hand, too.
func TestCost(t *testing.T) {
	t.Parallel()
	prices, problem := LoadPrices("")
	if problem != nil {
		t.Fatal(problem)
	}
	million := cw.Usage{InputTokens: 1e6, OutputTokens: 1e6, CacheReadTokens: 1e6, CacheWriteTokens: 1e6, ReasoningTokens: 1e6}
	for _, tt := range []struct {
		model string
		usage cw.Usage
		want  float64 // negative: unknown
	}{
		{"claude-opus-4-8", million, 5 + 25 + 0.5 + 6.25},
		{"claude-opus-4-8[1m]", million, 36.75},
		{"claude-opus-4-5-20251101", million, 36.75},
		{"anthropic/Claude-Opus-4-5@20251101", million, 36.75},
		{"claude-opus-4-1-20250805", million, 15 + 75 + 1.5 + 18.75},
		{"claude-sonnet-5", cw.Usage{InputTokens: 1000, OutputTokens: 500}, 0.002 + 0.005},
		{"claude-haiku-4-5-20251001[1m]", cw.Usage{CacheReadTokens: 20_000}, 0.002},
		{"claude-haiku-4-5", cw.Usage{CacheWriteTokens: 3e6, CacheWriteHourTokens: 1e6}, 2*1.25 + 2},
		{"claude-haiku-4-5", cw.Usage{CacheWriteTokens: 1e6, CacheWriteHourTokens: 3e6}, 2}, // a part of all
		{"claude-haiku-4.5", million, 7.35},
		{"openrouter/anthropic/claude-opus-4.1", million, 110.25},
		{"us.anthropic.claude-opus-4-1-20250805-v1:0", million, 110.25},
		{"global.anthropic.claude-opus-4-5-20251101-v1:0[1m]", million, 36.75},
		{"us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", million, 22.05},
		{"anthropic.claude-opus-4-6-v1", million, 36.75},
		{"anthropic.claude-3-5-sonnet-20241022-v2:0:200k", million, 22.05},
		{"arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0", million, 7.35},
		{"arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc1def2", million, -1},
		{"publishers/anthropic/models/claude-opus-4-1@20250805", million, 110.25},
		{"claude-opus-4-1@default", million, 110.25},
		{"claude-3-7-sonnet-latest", million, 22.05},
		{"us.anthropic.claude-opus-99-v1:0", million, -1},
		{"gpt-5.4", cw.Usage{InputTokens: 2e6}, 5},
		{"gpt-5.4-2026-03-05", cw.Usage{InputTokens: 2e6}, 5},
		{"gpt-5.4-mini", cw.Usage{InputTokens: 2e6}, 1.5},
		{"gpt-5.4-pro", million, -1}, // not at the price of gpt-5.4
		{"gpt-5.6-terra", cw.Usage{CacheWriteTokens: 1e6}, 2},
		{"gemini-2.5-pro", cw.Usage{InputTokens: 1e6, OutputTokens: 1e5}, 2.25},
		{"gemini-3.1-pro-preview-customtools", cw.Usage{OutputTokens: 1e6}, 12},
		{"qwen3-coder-plus-2025-09-23", cw.Usage{OutputTokens: 1e6}, 9},
		{"mock-model", million, -1},
		{"", million, -1},
		{"claude-opus-4-8", cw.Usage{}, -1},
		{"claude-opus-4-8", cw.Usage{InputTokens: -5, OutputTokens: 1e6}, 25},
	} {
		got, known := prices.Cost(tt.model, tt.usage)
		if known != (tt.want >= 0) || known && math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, known %t; want %v", tt.model, got, known, tt.want)
		}
	}
	if _, known := (Prices{}).Cost("claude-opus-4-8", million); known {
		t.Error("the empty table knows a price")
	}
}

// TestOwnPrices: the user's rows go first; a file that is wrong changes nothing
// and says where.
func TestOwnPrices(t *testing.T) {
	t.Parallel()
	const good = "prices:\n  - {model: my-*, input: 1, output: 2}\n  - {model: claude-opus-4-8, input: 3, output: 4, cacheRead: 0}\n"
	for _, tt := range []struct {
		text, wrong string
		line        int
	}{
		{good, "", 0},
		{"", "", 0},
		{"# nothing yet\n", "", 0},
		{"prices:\n", "", 0},
		{"price: []\n", `unknown key "price"`, 1},
		{"- model\n", "a mapping", 1},
		{"prices: {}\n", "a list", 1},
		{"prices:\n  - model\n", "a price is a mapping", 2},
		{"prices:\n  - {model: x, input: 1}\n", "needs output", 2},
		{"prices:\n  - {input: 1, output: 1}\n", "needs model", 2},
		{"prices:\n  - {model: \"[\", input: 1, output: 1}\n", "takes a name", 2},
		{"prices:\n  - {model: a/b, input: 1, output: 1}\n", "takes a name", 2},
		{"prices:\n  - {model: \"\", input: 1, output: 1}\n", "takes a name", 2},
		{"prices:\n  - {model: x, input: -1, output: 1}\n", "from 0", 2},
		{"prices:\n  - {model: x, input: 1e9, output: 1}\n", "from 0", 2},
		{"prices:\n  - {model: x, input: .nan, output: 1}\n", "from 0", 2},
		{"prices:\n  - {model: x, input: NaN, output: 1}\n", "from 0", 2},
		{"prices:\n  - {model: x, input: much, output: 1}\n", "from 0", 2},
		{"prices:\n  - {model: x, input: [1], output: 1}\n", "from 0", 2},
		{"prices:\n  - {model: x, input: 1, output: 1, cached: 1}\n", `unknown key "cached"`, 2},
		{"prices:\n  - &a {model: x, input: 1, output: 1}\n", "anchors", 2},
		{"prices: [\n", "did not find", 1},
		{strings.Repeat("#", pricesMax+1), "larger than", 0},
	} {
		file := filepath.Join(t.TempDir(), "prices.yaml")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		prices, problem := LoadPrices(file)
		bad := tt.wrong != "" || tt.line > 0
		if (problem != nil) != bad || bad && (problem.File != file || problem.Line != tt.line || !strings.Contains(problem.Message, tt.wrong)) {
			t.Errorf("%.60q: %v", tt.text, problem)
		}
		if _, known := prices.Of("claude-opus-5"); !known {
			t.Errorf("%.60q: the embedded prices are gone", tt.text)
		}
		if price, known := prices.Of("my-model"); known != (tt.text == good) || known && price.CacheRead != 1 {
			t.Errorf("%.60q: my-model costs %+v", tt.text, price)
		}
		if price, _ := prices.Of("claude-opus-4-8"); tt.text == good && (price.Input != 3 || price.CacheRead != 0 || price.CacheWrite != 3) {
			t.Errorf("the user's price does not count: %+v", price)
		}
	}
	if _, problem := LoadPrices(filepath.Join(t.TempDir(), "none.yaml")); problem != nil {
		t.Errorf("no file: %v", problem)
	}
	if _, problem := LoadPrices(t.TempDir()); problem == nil || problem.Message != "it is no regular file" {
		t.Errorf("a directory: %v", problem)
	}
}

func FuzzPrices(f *testing.F) {
	f.Add(embeddedPrices, "claude-opus-4-8[1m]", 7)
	f.Add([]byte("prices: [{model: '*', input: 1, output: 2}]"), "x", 1)
	f.Fuzz(func(t *testing.T, data []byte, model string, n int) {
		rows, problem := decodePrices(data)
		if problem != nil && rows != nil {
			t.Fatal("a bad table has rows")
		}
		usd, known := (Prices{rows}).Cost(model, cw.Usage{InputTokens: n, OutputTokens: n})
		if math.IsNaN(usd) || math.IsInf(usd, 0) || usd < 0 || !known && usd != 0 {
			t.Fatalf("%q costs %v", model, usd)
		}
	})
}
