package orchestrator

import (
	"os"
	"testing"
)

// TestLag: what is written and not stored is behind; a run without a file is
// not.
func TestLag(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "script")
	want := func(what string, want Lag) {
		t.Helper()
		got, err := tp.Lag(t.Context())
		must(t, err)
		if got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	tp.write([]byte("ten bytes\n"))
	want("nothing is stored", Lag{Runs: 1, Sum: 10, Max: 10})
	tp.once(false)
	want("all is stored", Lag{Runs: 1})
	tp.write([]byte("more\n"))
	other := tp.record("script")
	must(t, os.MkdirAll(other.Run.Dir, 0o700))
	want("one has no file", Lag{Runs: 2, Sum: 5, Max: 5})
	must(t, os.WriteFile(other.Run.OutputPath, []byte("1234567\n"), 0o600))
	want("two are behind", Lag{Runs: 2, Sum: 13, Max: 8})
}
