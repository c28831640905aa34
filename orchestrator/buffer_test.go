package orchestrator

import (
	"bytes"
	"testing"
)

// TestFollowerBuffer: a follower has a large buffer only while there is much to
// read, and misses nothing when it changes it.
func TestFollowerBuffer(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "script")
	f := tp.follower()
	defer f.close()
	var all []byte
	for _, size := range []int{10, readUsual - 1, readUsual, readUsual + 1, 3 * readMax, 10} {
		text := append(bytes.Repeat([]byte("0123456789abcde\n"), size/16), '\n')
		tp.write(text)
		all = append(all, text...)
		must(t, f.take(t.Context(), false))
		if len(f.buf) != readUsual {
			t.Errorf("after %d bytes the buffer holds %d, want %d", len(text), len(f.buf), readUsual)
		}
	}
	if got := tp.stored(); !bytes.Equal(got, all) {
		t.Errorf("%d bytes stored of %d", len(got), len(all))
	}
	f.fit(false)
	if len(f.buf) != readMax {
		t.Errorf("with more to read the buffer holds %d, want %d", len(f.buf), readMax)
	}
}
