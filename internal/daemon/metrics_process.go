package daemon

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// processFacts is what the daemon knows of its own process. Zero: unknown.
type processFacts struct {
	goroutines    int
	heapBytes     float64
	collections   int
	cpuSeconds    float64
	started       float64 // Unix time
	residentBytes int64   // Linux only, as openFiles
	openFiles     int
}

func lookAtProcess() processFacts {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	p := processFacts{
		goroutines: runtime.NumGoroutine(), heapBytes: float64(mem.HeapAlloc), collections: int(mem.NumGC),
	}
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) == nil {
		p.cpuSeconds = seconds(use.Utime) + seconds(use.Stime)
	}
	var pages, resident int64
	if data, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(data), &pages, &resident); err == nil {
			p.residentBytes = resident * int64(os.Getpagesize())
		}
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.openFiles = len(files) - 1 // without the one that was just read
	}
	return p
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
