package servicetest

import (
	"testing"

	"cw/internal/cw"
)

// noticesCase: where no hook is configured none can be tried, and none is told.
func noticesCase(t *testing.T, f Fixture) {
	trials, err := f.Services.TryHooks(soon(t))
	wantHint(t, "TryHooks without any", err, cw.CodeRefused, "notify.webhook")
	if len(trials) != 0 {
		t.Errorf("trials: %+v", trials)
	}
	status, err := f.Services.Status(soon(t))
	ok(t, err)
	if len(status.Hooks) != 0 {
		t.Errorf("hooks: %+v", status.Hooks)
	}
}
