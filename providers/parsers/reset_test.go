package parsers

import (
	"fmt"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestResetTimeAtBorders: around midnight, the new year, a change of the clock,
// and with clocks that are wrong.
func TestResetTimeAtBorders(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, ref, zone, text, want string
	}{
		{"this minute is not tomorrow's", "2026-11-21T05:13:30Z", "", "resets 5:13am (UTC)", "2026-11-21T05:13:00Z"},
		{"nor is this hour's first minute", "2026-11-21T05:00:59Z", "", "resets 5am (UTC)", "2026-11-21T05:00:00Z"},
		{"nor is the last minute", "2026-11-21T05:14:00Z", "", "resets 5:13am (UTC)", "2026-11-21T05:13:00Z"},
		{"nor are the last ten", "2026-11-21T05:22:59Z", "", "resets 5:13am (UTC)", "2026-11-21T05:13:00Z"},
		{"what is over for longer is", "2026-11-21T05:23:00Z", "", "resets 5:13am (UTC)", "2026-11-22T05:13:00Z"},
		{"just over, and yesterday", "2026-11-22T00:05:00Z", "", "resets 11:58pm (UTC)", "2026-11-21T23:58:00Z"},
		{"before midnight", "2026-11-21T23:59:59Z", "", "resets 12am (UTC)", "2026-11-22T00:00:00Z"},
		{"at midnight", "2026-11-22T00:00:00Z", "", "resets 12am (UTC)", "2026-11-22T00:00:00Z"},
		{"after midnight", "2026-11-22T00:10:00Z", "", "resets 12am (UTC)", "2026-11-23T00:00:00Z"},
		{"noon", "2026-11-21T11:00:00Z", "", "resets 12pm (UTC)", "2026-11-21T12:00:00Z"},
		{"midnight of another zone", "2026-11-21T22:30:00Z", "", "resets 12:30am (Europe/Berlin)", "2026-11-21T23:30:00Z"},
		{"midnight of the machine's zone", "2026-11-21T22:30:00Z", "Europe/Berlin", "try again at 12:30 AM", "2026-11-21T23:30:00Z"},
		{"the new year", "2026-12-31T23:30:00Z", "", "resets Jan 1, 9am (UTC)", "2027-01-01T09:00:00Z"},
		{"a date", "2026-11-22T01:00:00Z", "", "resets Nov 24, 9am (UTC)", "2026-11-24T09:00:00Z"},
		{"a date in another zone", "2026-11-22T01:00:00Z", "", "resets Nov 24, 9am (America/New_York)", "2026-11-24T14:00:00Z"},
		{"a date that is just over is not the next year's", "2026-11-24T11:00:00Z", "", "resets Nov 24, 9am (UTC)", "2026-11-24T09:00:00Z"},
		{"the same over the new year", "2027-01-01T02:00:00Z", "", "resets Dec 31, 11pm (UTC)", "2026-12-31T23:00:00Z"},
		{"a date long over is the next year's", "2026-11-24T11:00:00Z", "", "resets Jan 2, 9am (UTC)", "2027-01-02T09:00:00Z"},
		{"a leap day", "2028-02-20T11:00:00Z", "", "resets Feb 29, 9am (UTC)", "2028-02-29T09:00:00Z"},
		{"no day at all", "2026-01-20T11:00:00Z", "", "resets Feb 30, 9am (UTC)", ""},
		{"the clock is put forward on the way", "2026-03-28T23:00:00Z", "", "resets 5am (Europe/Berlin)", "2026-03-29T03:00:00Z"},
		{"an hour that is left out is near", "2026-03-29T00:30:00Z", "", "resets 2:30am (Europe/Berlin)", "2026-03-29T01:30:00Z"},
		{"the clock is put back on the way", "2026-10-24T22:00:00Z", "", "resets 5am (Europe/Berlin)", "2026-10-25T04:00:00Z"},
		{"the first of an hour that comes twice", "2026-10-24T23:00:00Z", "", "resets 2:30am (Europe/Berlin)", "2026-10-25T00:30:00Z"},
		{"the second of it, after the first", "2026-10-25T00:45:00Z", "", "resets 2:30am (Europe/Berlin)", "2026-10-25T01:30:00Z"},
		{"the same in the machine's zone", "2026-11-01T05:45:00Z", "America/New_York", "try again at 1:30 AM", "2026-11-01T06:30:00Z"},
		{"an epoch needs no clock", "0001-01-01T00:00:00Z", "", "usage limit reached|1795237769", "2026-11-21T05:09:29Z"},
		{"a year before there were any", "2026-11-21T05:00:00Z", "", "try again at Nov 23rd, 0000 5:15 PM", ""},
		{"a year that JSON cannot say", "2026-11-21T05:00:00Z", "America/New_York", "try again at Dec 31st, 9999 11:15 PM", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err) // the machine has no zones
			}
			got := ""
			if until := ResetTime(tt.text, at(tt.ref).In(zone)); until != nil {
				got = until.Format(time.RFC3339)
			}
			if got != tt.want {
				t.Errorf("%q at %s: %q, want %q", tt.text, tt.ref, got, tt.want)
			}
		})
	}
}

// TestStreamTimeWins: the clock of the machine was hours ahead when the run
// began, or behind; the times that the output tells are right.
func TestStreamTimeWins(t *testing.T) {
	t.Parallel()
	const right = "2026-11-21T04:30:00Z"
	limit := `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"You've hit your session limit · resets 5am (UTC)"}`
	streams := map[string][]string{
		FormatClaude: {`{"type":"user","timestamp":"` + right + `","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}`, limit},
		FormatCursor: {fmt.Sprintf(`{"type":"thinking","subtype":"completed","timestamp_ms":%d}`, at(right).UnixMilli()), limit},
		FormatPi: {
			fmt.Sprintf(`{"type":"message_end","message":{"role":"user","content":[],"timestamp":%d}}`, at(right).UnixMilli()),
			`{"type":"agent_end","messages":[{"role":"assistant","stopReason":"error","errorMessage":"429 limit, resets 5am (UTC)"}]}`,
		},
	}
	for format, lines := range streams {
		for _, wrong := range []time.Duration{0, -9 * time.Hour, 9 * time.Hour} {
			p, err := New(format, Options{Since: at(right).Add(wrong)})
			if err != nil {
				t.Fatal(err)
			}
			var s Summary
			for _, ev := range NewReading(p).Feed(joined(lines)) {
				s.Add(ev)
			}
			if s.Limit == nil || s.Limit.Until == nil || !s.Limit.Until.Equal(*at("2026-11-21T05:00:00Z")) {
				t.Errorf("%s, %v wrong: %+v", format, wrong, s.Limit)
			}
		}
	}
}

// TestStreamTimeGoesOn: a line out of order, and the prompt that is repeated,
// do not turn the time back; one that JSON cannot say is none.
func TestStreamTimeGoesOn(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"out of order": {
			`{"type":"user","timestamp":"2026-11-21T05:30:00Z","message":{"content":"x"}}`,
			`{"type":"user","timestamp":"2026-11-21T04:30:00Z","message":{"content":"x"}}`,
		},
		"a replay":            {`{"type":"user","isReplay":true,"timestamp":"2026-11-20T04:30:00Z","message":{"content":"x"}}`},
		"the end of all time": {`{"type":"user","timestamp":"9999-12-31T23:59:59Z","message":{"content":"x"}}`},
	} {
		p := newClaude(Options{Since: *at("2026-11-21T05:15:00Z")})
		for _, line := range lines {
			p.Line([]byte(line))
		}
		limit := p.limitEvent("", "resets 5am (UTC)").Limit
		if limit.Until == nil || !limit.Until.Equal(*at("2026-11-22T05:00:00Z")) {
			t.Errorf("%s: %+v", name, limit)
		}
	}
}

// TestRateLimitEpoch: a reset that is no moment in seconds is not told.
func TestRateLimitEpoch(t *testing.T) {
	t.Parallel()
	for resets, want := range map[string]*time.Time{
		"1795238038": at("2026-11-21T05:13:58Z"), "0": nil, "-5": nil, "1795238038000": nil, "9223372036854775807": nil,
	} {
		got, unknown := events(t, `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"five_hour","resetsAt":`+resets+`}}`)
		if unknown != 0 || len(got) != 1 || got[0].Kind != cw.StreamLimit ||
			(got[0].Limit.Until == nil) != (want == nil) || want != nil && !got[0].Limit.Until.Equal(*want) {
			t.Errorf("%s: %d unknown, %+v", resets, unknown, got)
		}
	}
}
