package dispatch_test

import (
	"strings"
	"testing"

	"cw/dispatch"
	"cw/internal/cw"
)

// TestAdmit: an agent that is asked for by hand is started under the conditions
// under which tasks are.
func TestAdmit(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	peaks := map[string]int64{"claude": 900 * mib, "script": 10 * mib}
	working := []cw.TaskAgent{{ID: "a", Provider: "claude"}}
	for _, tc := range []struct {
		name     string
		room     dispatch.Room
		working  []cw.TaskAgent
		provider string
		want     string // in the reason; "": it is started
	}{
		{"room", dispatch.Room{FreeMemory: 4000 * mib, Reserve: 500 * mib, Peaks: peaks}, working, "claude", ""},
		{"just enough", dispatch.Room{FreeMemory: 2300 * mib, Reserve: 500 * mib, Peaks: peaks}, working, "claude", ""},
		{"others are going to take it", dispatch.Room{FreeMemory: 2299 * mib, Reserve: 500 * mib, Peaks: peaks}, working, "claude", "899 MiB of memory are free beside what is kept, an agent of claude needs 900 MiB"},
		{"others have it already", dispatch.Room{FreeMemory: 1400 * mib, Reserve: 500 * mib, Peaks: peaks, Held: map[cw.AgentID]int64{"a": 900 * mib}}, working, "claude", ""},
		{"a small one", dispatch.Room{FreeMemory: 1410 * mib, Reserve: 500 * mib, Peaks: peaks}, working, "script", ""},
		{"an unknown one", dispatch.Room{FreeMemory: 1999 * mib, Reserve: 500 * mib, Peaks: peaks}, working, "codex", "an agent of codex needs 600 MiB"},
		{"beside unknown ones", dispatch.Room{FreeMemory: 1100 * mib, Reserve: 500 * mib, Peaks: peaks}, []cw.TaskAgent{{ID: "b", Provider: "codex"}}, "codex", ""},
		{"nothing is left", dispatch.Room{FreeMemory: 100 * mib, Reserve: 500 * mib, Peaks: peaks}, working, "claude", "0 MiB of memory"},
		{"alone", dispatch.Room{FreeMemory: 100 * mib, Reserve: 500 * mib, Peaks: peaks}, nil, "claude", ""},
		{"not known", dispatch.Room{Peaks: peaks}, working, "claude", ""},
		{"no space", dispatch.Room{DiskLow: "the disk is full", FreeMemory: 9000 * mib}, nil, "claude", "the disk is full"},
	} {
		why := dispatch.Admit(tc.room, tc.working, tc.provider)
		switch {
		case why == nil && tc.want == "":
		case why == nil || tc.want == "" || !strings.Contains(why.Text, tc.want):
			t.Errorf("%s: %+v, want %q", tc.name, why, tc.want)
		case why.Code != cw.WaitResources || why.Hint == "":
			t.Errorf("%s: %+v", tc.name, why)
		}
	}
}
