package proc

import "context"

// Wait blocks until the run is no longer starting or running, and tells how it
// stands then: exited, lost, or fresh when it was never started. The shim need
// not be a child of this process. When ctx ends, Wait lets go; the run goes on.
//
// It waits on a pidfd of the shim that h names, whatever lies in the directory
// meanwhile. With a zero h the directory tells which shim; where there is no
// pidfd, or no shim has put down its name yet, it looks every 100 ms.
func Wait(ctx context.Context, dir string, h Handle) (Observation, error) {
	for {
		obs, err := ObserveKnown(dir, h)
		if err != nil || !obs.State.Live() {
			return obs, err
		}
		if shim := obs.Handle.Shim(); shim.Alive() {
			err = shim.waitGone(ctx)
		} else {
			err = sleep(ctx, pollEvery)
		}
		if err != nil {
			return obs, err
		}
	}
}
