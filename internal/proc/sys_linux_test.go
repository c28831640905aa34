package proc

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// statLine is a line of /proc/PID/stat with a name and state of choice.
func statLine(name, state, threads string) string {
	return "42 (" + name + ") " + state + " 7 42 41 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 " + threads + " 0 987654 0 0 18446744073709551615 0 0"
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	want := process{Identity: Identity{PID: 42, StartTime: 987654}, Parent: 7, Session: 41}
	for _, name := range []string{"sh", "a b", ") R 1 1 1 (", "((", "))", "", "new\nline"} {
		got, err := parseStat([]byte(statLine(name, "S", "1")))
		if err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
	for _, tt := range []struct {
		state, threads string
		dead           bool
	}{{"R", "1", false}, {"Z", "1", true}, {"Z", "3", false}, {"X", "1", true}, {"T", "1", false}} {
		if got, err := parseStat([]byte(statLine("sh", tt.state, tt.threads))); err != nil || got.Dead != tt.dead {
			t.Errorf("%+v: %+v, %v", tt, got, err)
		}
	}
	// As the kernel wrote it of a process that was just taken off the table.
	released := strings.Replace(statLine("sh", "R", "0"), " 41 ", " -1 ", 1)
	if got, err := parseStat([]byte(released)); err != nil || !got.Dead || got.Session != 0 {
		t.Errorf("%q: %+v, %v", released, got, err)
	}
	for _, bad := range []string{"", "42", "42 (sh", "x (sh) S 1 2", strings.Replace(statLine("sh", "S", "1"), "987654", "-5", 1)} {
		if got, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q gave %+v", bad, got)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte(statLine("a) b (", "S", "1")))
	own, _ := os.ReadFile("/proc/self/stat")
	f.Add(own)
	f.Fuzz(func(t *testing.T, line []byte) {
		if p, err := parseStat(line); err == nil && p.PID == 0 && p.StartTime == 0 && len(line) == 0 {
			t.Error("nothing became something")
		}
	})
}
