//go:build !faultinject

package daemon

import "testing"

// TestNoFaultsInTheRelease: the environment neither ends a released daemon at a step
// nor takes a guard out of it.
func TestNoFaultsInTheRelease(t *testing.T) {
	environ := []string{"CW_FAILPOINT=spawn/intended", "CW_GUARD_OFF=masked,stop-first"}
	if failpointOf(environ) != nil {
		t.Error("CW_FAILPOINT is obeyed")
	}
	if guardsOf(environ) != nil {
		t.Error("CW_GUARD_OFF is obeyed")
	}
}
