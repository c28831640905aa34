//go:build !faultinject

package daemon

import "cw/internal/cw"

// failpointOf returns nil: without the tag faultinject no step ends the daemon.
func failpointOf([]string) cw.Failpoint { return nil }

// guardsOf returns nil: without the tag faultinject every guard is in place.
func guardsOf([]string) cw.Guards { return nil }
