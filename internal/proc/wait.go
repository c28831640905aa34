package proc

import "context"

// Wait blocks until the run is no longer starting or running, and tells how it
// stands then: exited, lost, or fresh when it was never started. The shim need
// not be a child of this process. When ctx ends, Wait lets go; the run goes on.
//
// It waits on a pidfd of the shim; where there is none, or no shim has put
// down its name yet, it looks at the lock every 100 ms. h serves when the
// directory names no shim; it may be zero.
func Wait(ctx context.Context, dir string, h Handle) (Observation, error) {
	for {
		obs, err := Observe(dir)
		if err != nil || !obs.State.Live() {
			return obs, err
		}
		shim := obs.Handle.Shim()
		if shim.PID == 0 {
			shim = h.Shim()
		}
		if shim.Alive() {
			err = shim.waitGone(ctx)
		} else {
			err = sleep(ctx, pollEvery)
		}
		if err != nil {
			return obs, err
		}
	}
}
