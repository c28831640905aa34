package parsers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

// summaryOfLines reads lines of claude's stream into a summary.
func summaryOfLines(lines ...string) Summary {
	r, s := NewReading(newClaude(Options{})), Summary{}
	for _, ev := range append(r.Feed([]byte(strings.Join(lines, "\n")+"\n")), r.Flush()...) {
		s.Add(ev)
	}
	return s
}

func answer(parent, id, model string, usage string) string {
	return fmt.Sprintf(`{"type":"assistant","parent_tool_use_id":%q,"message":{"id":%q,"model":%q,"content":[{"type":"text","text":"t"}],"usage":{%s}}}`, parent, id, model, usage)
}

// TestUsageOfMessages: a message counts once, with the greatest counts that any
// of its lines has, for the model that answered, however lines are mixed.
func TestUsageOfMessages(t *testing.T) {
	t.Parallel()
	out := func(n int) string { return fmt.Sprintf(`"input_tokens":10,"output_tokens":%d`, n) }
	for _, tt := range []struct {
		name  string
		lines []string
		want  []cw.ModelUsage
	}{
		{"the same again", []string{answer("", "a", "m", out(7)), answer("", "a", "m", out(7))},
			[]cw.ModelUsage{{Model: "m", Usage: cw.Usage{InputTokens: 10, OutputTokens: 7}}}},
		{"more later", []string{answer("", "a", "m", out(1)), answer("", "a", "m", out(150)), answer("", "a", "m", out(90))},
			[]cw.ModelUsage{{Model: "m", Usage: cw.Usage{InputTokens: 10, OutputTokens: 150}}}},
		{"taken up after another", []string{answer("", "a", "m", out(5)), answer("", "b", "m", out(6)), answer("", "a", "m", out(5))},
			[]cw.ModelUsage{{Model: "m", Usage: cw.Usage{InputTokens: 20, OutputTokens: 11}}}},
		{"sub-agents mixed", []string{answer("1", "a", "small", out(5)), answer("2", "b", "small", out(6)), answer("1", "a", "small", out(5)), answer("", "c", "m", out(1)), answer("2", "b", "small", out(8))},
			[]cw.ModelUsage{{Model: "small", Usage: cw.Usage{InputTokens: 20, OutputTokens: 13}}, {Model: "m", Usage: cw.Usage{InputTokens: 10, OutputTokens: 1}}}},
		{"cache of two kinds", []string{answer("", "a", "m", `"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":5}`)},
			[]cw.ModelUsage{{Model: "m", Usage: cw.Usage{CacheWriteTokens: 9, CacheWriteHourTokens: 5}}}},
	} {
		if s := summaryOfLines(tt.lines...); !slices.Equal(s.Models, tt.want) || s.Usage != sumOf(tt.want) {
			t.Errorf("%s: %+v, together %+v", tt.name, s.Models, s.Usage)
		}
	}
}

// TestUsageOfManyMessages: what a message counted is not forgotten soon.
func TestUsageOfManyMessages(t *testing.T) {
	t.Parallel()
	var c tally
	for i := range 10 * tallyMemory {
		c.add(fmt.Sprint(i), cw.Usage{InputTokens: 1})
		if more, first := c.add(fmt.Sprint(max(0, i-tallyMemory/2+1)), cw.Usage{InputTokens: 1}); first || more != (cw.Usage{}) {
			t.Fatalf("after %d messages it counts one again", i)
		}
	}
}

// TestUsageAtTheEnd: what the result tells replaces what the lines told, by model
// where it does so; a result without them takes nothing back.
func TestUsageAtTheEnd(t *testing.T) {
	t.Parallel()
	lines := []string{
		answer("", "a", "big", `"input_tokens":10,"output_tokens":1,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":9}`),
		answer("1", "b", "small", `"input_tokens":10,"output_tokens":1`),
	}
	for _, tt := range []struct {
		name, result string
		want         []cw.ModelUsage
	}{
		{"by model", `"modelUsage":{"big[1m]":{"inputTokens":12,"outputTokens":70,"cacheCreationInputTokens":9},"small":{"inputTokens":10,"outputTokens":30}}`, []cw.ModelUsage{
			{Model: "big[1m]", Usage: cw.Usage{InputTokens: 12, OutputTokens: 70, CacheWriteTokens: 9, CacheWriteHourTokens: 9}},
			{Model: "small", Usage: cw.Usage{InputTokens: 10, OutputTokens: 30}},
		}},
		{"in one sum", `"usage":{"input_tokens":20,"output_tokens":80,"cache_creation_input_tokens":9}`, []cw.ModelUsage{
			{Model: "big", Usage: cw.Usage{InputTokens: 10, OutputTokens: 1, CacheWriteTokens: 9, CacheWriteHourTokens: 9}},
			{Model: "small", Usage: cw.Usage{InputTokens: 10, OutputTokens: 1}},
			{Usage: cw.Usage{OutputTokens: 78}},
		}},
		{"in a smaller sum", `"usage":{"input_tokens":15,"output_tokens":80}`, []cw.ModelUsage{{Usage: cw.Usage{InputTokens: 15, OutputTokens: 80}}}},
		{"not at all", `"usage":{}`, []cw.ModelUsage{
			{Model: "big", Usage: cw.Usage{InputTokens: 10, OutputTokens: 1, CacheWriteTokens: 9, CacheWriteHourTokens: 9}},
			{Model: "small", Usage: cw.Usage{InputTokens: 10, OutputTokens: 1}},
		}},
	} {
		s := summaryOfLines(append(slices.Clone(lines), `{"type":"result","subtype":"success","result":"r",`+tt.result+`}`)...)
		if !slices.Equal(s.Models, tt.want) || s.Usage != sumOf(tt.want) {
			t.Errorf("%s: %+v, together %+v", tt.name, s.Models, s.Usage)
		}
	}
}

// TestCostWithoutEarlierRuns: newer versions tell in a resumed session what all its
// processes used. Only what this one used is counted, over all of its results.
func TestCostWithoutEarlierRuns(t *testing.T) {
	t.Parallel()
	end := func(usd, all, since string) string {
		return `{"type":"result","subtype":"success","result":"r","usage":{"input_tokens":7},"total_cost_usd":` + usd + `,"modelUsage":{"m":` + all + `},"model_usage_since_last_result":{` + since + `}}`
	}
	first := end("3.5", `{"inputTokens":900,"outputTokens":9,"costUSD":3.5}`, `"m":{"inputTokens":100,"outputTokens":1,"costUSD":0.5}`)
	for _, tt := range []struct {
		name  string
		lines []string
		usd   float64
		want  []cw.ModelUsage
	}{
		{"one result", []string{first}, 0.5, []cw.ModelUsage{{Model: "m", Usage: cw.Usage{InputTokens: 100, OutputTokens: 1}}}},
		{"two with all in the first", []string{first, end("3.5", `{"inputTokens":900,"outputTokens":9,"costUSD":3.5}`, ``)}, 0.5,
			[]cw.ModelUsage{{Model: "m", Usage: cw.Usage{InputTokens: 100, OutputTokens: 1}}}},
		{"two that each have something", []string{first, end("3.75", `{"inputTokens":950,"outputTokens":9,"costUSD":3.75}`,
			`"m":{"inputTokens":50,"cacheCreationInputTokens":6,"cacheCreationEphemeral1hInputTokens":4,"costUSD":0.25}`)}, 0.75,
			[]cw.ModelUsage{{Model: "m", Usage: cw.Usage{InputTokens: 150, OutputTokens: 1, CacheWriteTokens: 6, CacheWriteHourTokens: 4}}}},
		{"older ones tell the process alone", []string{strings.Replace(first, "model_usage_since", "x", 1)}, 3.5,
			[]cw.ModelUsage{{Model: "m", Usage: cw.Usage{InputTokens: 900, OutputTokens: 9}}}},
	} {
		if s := summaryOfLines(tt.lines...); s.CostUSD != tt.usd || !slices.Equal(s.Models, tt.want) || s.Usage != sumOf(tt.want) {
			t.Errorf("%s: $%v, %+v, together %+v", tt.name, s.CostUSD, s.Models, s.Usage)
		}
	}
}

// TestCostOfTwoResults: a run in which sub-agents end in the background tells two
// results. The cost of each is of all so far, and what comes after is kept apart.
func TestCostOfTwoResults(t *testing.T) {
	t.Parallel()
	end := func(usd string) string {
		return `{"type":"result","subtype":"success","result":"r","total_cost_usd":` + usd + `}`
	}
	more := answer("", "b", "m", `"output_tokens":5`)
	for _, tt := range []struct {
		lines []string
		usd   float64
		later int
	}{
		{[]string{more, end("0.5")}, 0.5, 0},
		{[]string{end("0.5"), more}, 0.5, 5},
		{[]string{end("0.5"), more, end("0.7")}, 0.7, 0},
		{[]string{end("0.5"), more, end("0")}, 0.5, 5},
	} {
		if s := summaryOfLines(tt.lines...); s.CostUSD != tt.usd || sumOf(s.Later).OutputTokens != tt.later {
			t.Errorf("%q: $%v, and %d tokens later", tt.lines, s.CostUSD, sumOf(s.Later).OutputTokens)
		}
	}
}
