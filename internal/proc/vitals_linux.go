package proc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc/PID/stat: USER_HZ, which is 100 on every
// system that Go runs on.
const tick = time.Second / 100

// cpuTime is what a process and the children it waited for have used; 0 when it
// is gone.
func cpuTime(pid int) time.Duration {
	b, err := readStat("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	return parseCPU(b)
}

// descendants are the processes below a process. ok is false where the kernel
// does not list children (CONFIG_PROC_CHILDREN).
func descendants(pid int) (pids []int, ok bool) {
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		dir := "/proc/" + strconv.Itoa(queue[0]) + "/task"
		threads, _ := os.ReadDir(dir) // gone: it has none
		for _, t := range threads {
			b, err := os.ReadFile(filepath.Join(dir, t.Name(), "children"))
			ok = ok || err == nil
			for _, field := range strings.Fields(string(b)) {
				if child, err := strconv.Atoi(field); err == nil {
					pids, queue = append(pids, child), append(queue, child)
				}
			}
		}
	}
	return pids, ok
}

// parseCPU sums utime, stime, cutime and cstime, fields 14 to 17 of
// /proc/PID/stat.
func parseCPU(b []byte) time.Duration {
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 17-2 {
		return 0
	}
	var sum time.Duration
	for _, field := range fields[14-3 : 17-2] { // fields[0] is field 3
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		sum += time.Duration(n) * tick
	}
	return sum
}

// States of a TCP socket, as /proc/net/tcp numbers them.
const (
	tcpEstablished = "01"
	tcpSynSent     = "02"
)

// connections counts the open TCP connections of a process whose far end is
// wanted. /proc/PID/net lists those of the whole network namespace; the process
// has those whose inode is among its descriptors.
func connections(pid int, wanted func(netip.Addr) bool) int {
	dir := "/proc/" + strconv.Itoa(pid)
	own := sockets(dir)
	if len(own) == 0 {
		return 0
	}
	n := 0
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		b, err := os.ReadFile(filepath.Join(dir, table))
		if err != nil {
			continue // without IPv6 there is none
		}
		for line := range strings.Lines(string(b)) {
			inode, remote, ok := parseConnection(line)
			if ok && own[inode] && wanted(remote) {
				n++
			}
		}
	}
	return n
}

// sockets are the inodes of a process's sockets.
func sockets(dir string) map[string]bool {
	names, err := filepath.Glob(dir + "/fd/*") // the pattern is good
	if err != nil {
		return nil
	}
	out := map[string]bool{}
	for _, name := range names {
		to, err := os.Readlink(name)
		if inode, ok := strings.CutPrefix(to, "socket:["); ok && err == nil {
			out[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return out
}

// parseConnection reads a line of /proc/net/tcp or tcp6. ok is false for the
// head, for sockets that are not connected, and for what is no such line.
func parseConnection(line string) (inode string, remote netip.Addr, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 10 || fields[3] != tcpEstablished && fields[3] != tcpSynSent {
		return "", netip.Addr{}, false
	}
	address, _, found := strings.Cut(fields[2], ":")
	raw, err := hex.DecodeString(address)
	if !found || err != nil {
		return "", netip.Addr{}, false
	}
	// Each group of four bytes stands in the order of the machine.
	for i := 0; i+4 <= len(raw); i += 4 {
		binary.BigEndian.PutUint32(raw[i:], binary.NativeEndian.Uint32(raw[i:]))
	}
	remote, ok = netip.AddrFromSlice(raw)
	return fields[9], remote, ok
}

// abroad tells whether an address is not of this machine's own loopback.
func abroad(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsValid() && !a.IsLoopback() && !a.IsUnspecified()
}

// oomKills counts the processes that the kernel killed for want of memory so
// far: those of this process's own control group, and, where the system does
// not tell that, all of the machine. -1 when it tells neither.
func oomKills() int { return oomKillsAt("/proc", "/sys/fs/cgroup") }

func oomKillsAt(procDir, groupDir string) int {
	groups, _ := os.ReadFile(filepath.Join(procDir, "self", "cgroup")) // none: the machine's counter serves
	for line := range strings.Lines(string(groups)) {
		name, found := oomFile(strings.TrimSpace(line))
		if !found {
			continue
		}
		if n := counter(filepath.Join(groupDir, name), "oom_kill"); n >= 0 {
			return n
		}
	}
	return counter(filepath.Join(procDir, "vmstat"), "oom_kill") // Linux 4.13
}

// oomFile is the file with the counter of a control group, from a line of
// /proc/PID/cgroup: "0::/path" of version 2, "4:memory:/path" of version 1.
func oomFile(line string) (name string, ok bool) {
	parts := strings.SplitN(line, ":", 3)
	if len(parts) != 3 {
		return "", false
	}
	switch parts[1] {
	case "":
		return filepath.Join(parts[2], "memory.events"), true
	case "memory":
		return filepath.Join("memory", parts[2], "memory.oom_control"), true
	}
	return "", false
}

// counter finds a number in a file of lines "name number"; -1 when it is not
// there.
func counter(path, name string) int {
	b, err := os.ReadFile(path)
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(b)) {
		var n int
		if _, err := fmt.Sscanf(line, name+" %d", &n); err == nil && n >= 0 {
			return n
		}
	}
	return -1
}
