package main

import (
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

func TestZoneOf(t *testing.T) {
	t.Parallel()
	const berlin = "/usr/share/zoneinfo/Europe/Berlin"
	for name, tt := range map[string]struct {
		tz        string
		set       bool
		localtime string
		want      string
	}{
		"of the machine":              {localtime: berlin, want: "Europe/Berlin"},
		"of a machine without a link": {want: ""},
		"elsewhere on the machine":    {localtime: "../run/current/etc/zoneinfo/Asia/Kathmandu", want: "Asia/Kathmandu"},
		"of the caller":               {tz: "America/New_York", set: true, localtime: berlin, want: "America/New_York"},
		"of the caller, by its file":  {tz: ":" + berlin, set: true, want: "Europe/Berlin"},
		"empty is UTC":                {set: true, localtime: berlin, want: ""},
		"of no name that is known":    {tz: "CET-1CEST", set: true, localtime: berlin, want: ""},
		"local is no name":            {tz: "Local", set: true, want: ""},
	} {
		if got := zoneOf(tt.tz, tt.set, tt.localtime); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestCostToday: every command asks for today in the same way.
func TestCostToday(t *testing.T) {
	t.Parallel()
	want, err := cw.CostToday(epoch, "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"cost", "--today", "--by", "day"}, {"status"}} {
		b := newBench(t)
		b.env["TZ"] = "Europe/Berlin"
		if code := b.execute(t.Context(), args); code != 0 {
			t.Fatalf("%q: exit %d", args, code)
		}
		if diff := cmp.Diff([]cw.CostQuery{want}, b.fake.asksCost); diff != "" {
			t.Errorf("%q: %s", args, diff)
		}
	}
}

// TestCostZone: days are those of the caller.
func TestCostZone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.env["TZ"] = "Europe/Berlin"
	if code := b.execute(t.Context(), []string{"cost", "--by", "day"}); code != 0 {
		t.Fatalf("exit %d", code)
	}
	if diff := cmp.Diff([]cw.CostQuery{{By: cw.CostByDay, Zone: "Europe/Berlin"}}, b.fake.asksCost); diff != "" {
		t.Error(diff)
	}
}
