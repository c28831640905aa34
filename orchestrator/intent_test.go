package orchestrator

import (
	"testing"
	"time"

	"cw/internal/cw"
	"cw/providers"
)

// TestNoSession: whether a CLI can go on with the agent's session.
func TestNoSession(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ran, never := cw.Run{StartedAt: &now}, cw.Run{}
	freshRan, freshNever := cw.Run{StartedAt: &now, Fresh: true}, cw.Run{Fresh: true}
	can, cannot := providers.Preset{Title: "It", ResumeStyle: providers.ResumeFlag}, providers.Preset{Title: "It", ResumeStyle: providers.ResumeNone}
	for _, tt := range []struct {
		name    string
		preset  providers.Preset
		session string
		runs    []cw.Run
		want    string
	}{
		{"it ran", can, "s", []cw.Run{ran}, ""},
		{"the last one never started", can, "s", []cw.Run{ran, never, never}, ""},
		{"a fresh one ran", can, "s", []cw.Run{ran, freshRan, never}, ""},
		{"none ever started", can, "s", []cw.Run{never}, "its session was never begun"},
		{"no fresh one started", can, "s", []cw.Run{ran, freshNever}, "its session was never begun"},
		{"nor the one after it", can, "s", []cw.Run{ran, freshNever, never}, "its session was never begun"},
		{"no id", can, "", []cw.Run{ran}, "its session is not known"},
		{"no sessions", cannot, "s", []cw.Run{ran}, "It cannot go on with a session"},
	} {
		if got := noSession(tt.preset, tt.session, tt.runs); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
