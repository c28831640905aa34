package proc

import (
	"bytes"
	"os"
	"strconv"
)

// MemoryOf is what the process tree of a run has in memory, in bytes: the sum of
// what its processes have, pages that they share counted once for each. 0 when
// nothing of it is there.
func MemoryOf(h Handle) (int64, error) {
	pids, err := pidsOf(h)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, pid := range pids {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		fields := bytes.Fields(data)
		if err != nil || len(fields) < 3 {
			continue // it ended
		}
		resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		sum += resident * int64(os.Getpagesize())
	}
	return sum, nil
}

// FreeMemory is what new processes can have without others being pushed out, in
// bytes; 0 when the system does not tell. A limit of a control group counts.
func FreeMemory() int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	free := meminfo(data, "MemAvailable:")
	if limit, used, ok := groupMemory(); ok && limit-used < free {
		free = max(limit-used, 1)
	}
	return free
}

// TotalMemory is what the machine, or the control group, has in all, in bytes; 0
// when the system does not tell.
func TotalMemory() int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	total := meminfo(data, "MemTotal:")
	if limit, _, ok := groupMemory(); ok {
		total = min(total, limit)
	}
	return total
}

// meminfo reads a line of /proc/meminfo, in bytes.
func meminfo(data []byte, key string) int64 {
	for line := range bytes.Lines(data) {
		fields := bytes.Fields(line)
		if len(fields) >= 2 && string(fields[0]) == key {
			kib, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// groupMemory reads the limit of the control group (version 2), where there is
// one, and what is used of it without caches that can go.
func groupMemory() (limit, used int64, ok bool) {
	limit, ok = number("/sys/fs/cgroup/memory.max")
	if !ok {
		return 0, 0, false
	}
	if used, ok = number("/sys/fs/cgroup/memory.current"); !ok {
		return 0, 0, false
	}
	stat, err := os.ReadFile("/sys/fs/cgroup/memory.stat")
	if err != nil {
		return limit, used, true
	}
	for line := range bytes.Lines(stat) {
		if fields := bytes.Fields(line); len(fields) == 2 && string(fields[0]) == "inactive_file" {
			cache, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			used -= cache
		}
	}
	return limit, used, true
}

func number(path string) (int64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64)
	return n, err == nil
}
