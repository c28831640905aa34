package api

import (
	"log/slog"
	"testing"
	"time"
)

// TestSlowRequestsAreWarnings: and streams, which last as long as somebody
// reads them, are none.
func TestSlowRequestsAreWarnings(t *testing.T) {
	t.Parallel()
	s, err := NewServer(plainOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		pattern string
		took    time.Duration
		level   slog.Level
	}{
		{"GET /v1/agents", slowAfter, slog.LevelDebug},
		{"GET /v1/agents", slowAfter + 1, slog.LevelWarn},
		{"GET /v1/events", time.Hour, slog.LevelDebug},
		{"GET /v1/agents/{id}/output", time.Hour, slog.LevelDebug},
		{"/", 2 * slowAfter, slog.LevelWarn},
	} {
		if got := s.requestLevel(tt.pattern, tt.took); got != tt.level {
			t.Errorf("%s after %s: %v", tt.pattern, tt.took, got)
		}
	}
}
