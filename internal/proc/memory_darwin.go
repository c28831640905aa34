package proc

import "golang.org/x/sys/unix"

// MemoryOf is not known on macOS: 0.
func MemoryOf(Handle) (int64, error) { return 0, nil }

// FreeMemory is not known on macOS: 0.
func FreeMemory() int64 { return 0 }

// TotalMemory is what the machine has in all, in bytes; 0 when the system does
// not tell.
func TotalMemory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}
