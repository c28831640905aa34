package orchestrator

import "testing"

// TestDiskFloor: neither a huge disk nor a small one is useless.
func TestDiskFloor(t *testing.T) {
	t.Parallel()
	const mib, gib = int64(1) << 20, int64(1) << 30
	usual := DefaultDiskFloor()
	for _, c := range []struct {
		floor DiskFloor
		size  int64
		want  int64
	}{
		{usual, 4 << 40, gib},
		{usual, 100 * gib, gib},
		{usual, 20 * gib, 20 * gib / 100 * 2},
		{usual, gib, gib / 100 * 2},
		{usual, 500 * mib, 16 * mib},
		{usual, 48 * mib, 12 * mib},
		{usual, 12 * mib, 3 * mib},
		{DiskFloor{}, 4 << 40, 16 * mib},
		{DiskFloor{MinFree: 5 * gib, Percent: 50}, 100 * gib, 5 * gib},
	} {
		if got := c.floor.Floor(c.size); got != c.want {
			t.Errorf("%+v of %d MiB: %d, want %d", c.floor, c.size/mib, got, c.want)
		}
	}
	if (DiskSpace{Free: 5, Floor: 5}).Low() || !(DiskSpace{Free: 4, Floor: 5}).Low() {
		t.Error("low is below the floor")
	}
}
