package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkShim is the price of the shim: /bin/true from start to known end,
// beside the same without it.
func BenchmarkShim(b *testing.B) {
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("empty-program", func(b *testing.B) { // the floor for any Go shim of this size
		for b.Loop() {
			if err := exec.Command(self(b), "child", "exit", "0").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("shim", func(b *testing.B) {
		root := b.TempDir()
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			dir := filepath.Join(root, strconv.Itoa(i))
			spec := Spec{RunID: "bench-" + strconv.Itoa(i), Argv: []string{"/bin/true"}, Dir: "/", Stdout: "out", Stderr: "err"}
			if err := Prepare(dir, spec); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if _, err := Start(b.Context(), Launch{Binary: self(b), Dir: dir, Env: os.Environ()}); err != nil {
				b.Fatal(err)
			}
			obs, err := Wait(b.Context(), dir, Handle{})
			if err != nil || obs.State != StateExited {
				b.Fatal(obs, err)
			}
		}
	})
}

// BenchmarkShimMemory reports the private memory of an idle shim.
func BenchmarkShimMemory(b *testing.B) {
	r := newRun(b, "hang", "cli")
	h := r.start().Handle
	r.pid("cli")
	var kib int
	for b.Loop() {
		rollup, err := os.ReadFile("/proc/" + strconv.Itoa(h.ShimPID) + "/smaps_rollup")
		if err != nil {
			b.Skipf("memory of another process is not to be read here: %v", err)
		}
		kib = 0
		for _, line := range strings.Split(string(rollup), "\n") {
			f := strings.Fields(line)
			if len(f) == 3 && strings.HasPrefix(f[0], "Private_") {
				n, _ := strconv.Atoi(f[1])
				kib += n
			}
		}
	}
	b.ReportMetric(float64(kib), "private-KiB")
}
