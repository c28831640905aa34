//go:build linux

package bench

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc (sysconf(_SC_CLK_TCK), 100 on
// every Linux that Go runs on).
const tick = time.Second / 100

// cpu is the processor time that a process has used, in the system and
// outside.
func cpu(r *rig, pid int) time.Duration {
	r.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	r.must(err)
	_, rest, _ := strings.Cut(string(data), ") ") // the name of our own programs holds no bracket
	fields := strings.Fields(rest)
	var user, system int64
	_, err = fmt.Sscan(fields[11]+" "+fields[12], &user, &system) // utime, stime: fields 14 and 15 of proc_pid_stat(5)
	r.must(err)
	return time.Duration(user+system) * tick
}

// resident is the memory of a process in MB (10^6 bytes), now and at most.
func resident(r *rig, pid int) (now, most float64) {
	r.Helper()
	status := fmt.Sprintf("/proc/%d/status", pid)
	rss, err := field(status, "VmRSS:")
	r.must(err)
	peak, err := field(status, "VmHWM:")
	r.must(err)
	return float64(rss) * 1024 / 1e6, float64(peak) * 1024 / 1e6
}

// privateMemory is what a process has for itself alone, in MB.
func privateMemory(r *rig, pid int) float64 {
	r.Helper()
	kib, err := field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Private_Dirty:")
	r.must(err)
	clean, err := field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Private_Clean:")
	r.must(err)
	return float64(kib+clean) * 1024 / 1e6
}
