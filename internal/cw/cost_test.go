package cw

import (
	"testing"
	"time"
)

// TestCostToday: today begins at midnight of the zone in which it is asked, also
// where midnight is not 24 hours ago.
func TestCostToday(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ now, zone, since string }{
		{"2026-03-02T12:00:00Z", "", "2026-03-02T00:00:00Z"},
		{"2026-03-02T00:00:00Z", "", "2026-03-02T00:00:00Z"},
		{"2026-03-02T23:30:00Z", "Europe/Berlin", "2026-03-02T23:00:00Z"}, // it is the 3rd there
		{"2026-03-29T12:00:00Z", "Europe/Berlin", "2026-03-28T23:00:00Z"}, // the clocks went forward
		{"2026-03-30T12:00:00Z", "Europe/Berlin", "2026-03-29T22:00:00Z"},
		{"2026-03-02T03:00:00Z", "America/New_York", "2026-03-01T05:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		q, err := CostToday(now, tt.zone)
		if err != nil || q.By != CostByDay || q.Zone != tt.zone || q.Since.UTC().Format(time.RFC3339) != tt.since || q.Check() != nil {
			t.Errorf("%s in %q: %+v since %v (%v)", tt.now, tt.zone, q, q.Since, err)
		}
	}
	if _, err := CostToday(time.Now(), "Europe/Bärlin"); ErrorCode(err) != CodeInvalid {
		t.Errorf("an unknown zone: %v", err)
	}
}
