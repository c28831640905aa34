package proc

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestLookAtTree: all of a tree is counted, what ended in it too, and nothing of
// others.
func TestLookAtTree(t *testing.T) {
	t.Parallel()
	r := newRun(t, "family", "hang")
	h := r.start().Handle
	r.pid("family")
	v, err := LookAtTree(h)
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + len(familyNames); v.Processes != want || v.Connections != 0 {
		t.Errorf("%+v, want %d processes", v, want)
	}
	pids, ok := descendants(h.ShimPID)
	pids = slices.DeleteFunc(pids, func(pid int) bool { _, err := IdentityOf(pid); return err != nil }) // not reaped yet
	if !ok || len(pids) != v.Processes {
		t.Errorf("%d processes live below the shim, %t", len(pids), ok)
	}
	other := h
	other.BootID = "another"
	if v, err := LookAtTree(other); err != nil || v != (Vitals{}) {
		t.Errorf("of another boot: %+v, %v", v, err)
	}
}

// TestCPUTime: what ended children used counts on, and time goes up only where
// something works.
func TestCPUTime(t *testing.T) {
	t.Parallel()
	r := newRun(t, "script", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done >burnt; sleep 120")
	h := r.start().Handle
	spec, err := ReadSpec(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the work is done", func() bool { _, err := os.Stat(filepath.Join(spec.Dir, "burnt")); return err == nil })
	used, err := CPUTime(h)
	if err != nil || used <= 0 {
		t.Errorf("it used %s, %v", used, err)
	}
	if again, err := CPUTime(h); err != nil || again < used || again > used+time.Second {
		t.Errorf("asleep it used %s and then %s, %v", used, again, err)
	}
}

// TestMemoryOf: all of a tree counts, with its shim and without one, and nothing
// of another boot.
func TestMemoryOf(t *testing.T) {
	t.Parallel()
	r := newRun(t, "family", "hang")
	h := r.start().Handle
	r.pid("family")
	least := int64(2+len(familyNames)) * int64(os.Getpagesize())
	whole, err := MemoryOf(h)
	if err != nil || whole < least {
		t.Errorf("it has %d bytes, %v; want at least %d", whole, err, least)
	}
	other := h
	other.BootID = "another"
	if bytes, err := MemoryOf(other); err != nil || bytes != 0 {
		t.Errorf("of another boot: %d, %v", bytes, err)
	}
	if err := h.Shim().Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the shim is gone", func() bool { return !h.Shim().Alive() })
	if left, err := MemoryOf(h); err != nil || left == 0 {
		t.Errorf("without its shim it has %d bytes, %v", left, err)
	}
}

func TestParseCPU(t *testing.T) {
	t.Parallel()
	line := strings.Replace(statLine("a) b (", "S", "1"), " 0 0 0 0 20 0 ", " 100 20 3000 4 20 0 ", 1)
	if got := parseCPU([]byte(line)); got != 31240*time.Millisecond {
		t.Errorf("%s from %q", got, line)
	}
	for _, bad := range []string{"", "42 (sh) S 1", strings.Replace(line, " 3000 ", " x ", 1)} {
		if got := parseCPU([]byte(bad)); got != 0 {
			t.Errorf("%q gave %s", bad, got)
		}
	}
}

// TestConnections: of the table of all, those of the process count, and of these
// those whose far end is wanted.
func TestConnections(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	port := netip.MustParseAddrPort(server.Addr().String()).Addr()
	if n := connections(os.Getpid(), func(a netip.Addr) bool { return a.Unmap() == port }); n < 1 {
		t.Errorf("%d connections", n)
	}
	if n := connections(os.Getpid(), abroad); n != 0 {
		t.Errorf("%d to other machines", n)
	}
	if n := connections(stranger(t).PID, func(netip.Addr) bool { return true }); n != 0 {
		t.Errorf("%d of a process without any", n)
	}
}

func TestParseConnection(t *testing.T) {
	t.Parallel()
	const tail = " 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 20 4 30 10 -1"
	for _, tt := range []struct {
		line, remote string
		ok, abroad   bool
	}{
		{"   0: 0100007F:1F90 0100007F:C350 01" + tail, "127.0.0.1", true, false},
		{"   1: 0202000A:C350 08080808:01BB 01" + tail, "8.8.8.8", true, true},
		{"   1: 0202000A:C350 08080808:01BB 02" + tail, "8.8.8.8", true, true},
		{"   2: 00000000:1F90 00000000:0000 0A" + tail, "", false, false}, // it listens
		{"   3: 0202000A:C350 08080808:01BB 06" + tail, "", false, false}, // time wait
		{"   0: 0000000000000000FFFF00000202000A:C350 0000000000000000FFFF000008080808:01BB 01" + tail, "::ffff:8.8.8.8", true, true},
		{"   0: 00000000000000000000000001000000:C350 00000000000000000000000001000000:01BB 01" + tail, "::1", true, false},
		{"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", "", false, false},
		{"   1: 0202000A:C350 08080808 01" + tail, "", false, false},
		{"   1: 0202000A:C350 0808:01BB 01" + tail, "", false, false},
		{"   1: 0202000A:C350 zz080808:01BB 01" + tail, "", false, false},
		{"", "", false, false},
	} {
		inode, remote, ok := parseConnection(tt.line)
		if ok != tt.ok || ok && (inode != "4711" || remote.String() != tt.remote || abroad(remote) != tt.abroad) {
			t.Errorf("%q: %q %s %t", tt.line, inode, remote, ok)
		}
	}
}

func FuzzParseConnection(f *testing.F) {
	own, _ := os.ReadFile("/proc/self/net/tcp")
	for line := range strings.Lines(string(own)) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if inode, remote, ok := parseConnection(line); ok && (inode == "" || !remote.IsValid()) {
			t.Errorf("%q gave %q %s", line, inode, remote)
		}
	})
}

// TestOOMKills: the counter of the run's own control group counts before that of
// the machine, and where neither is there nothing is known.
func TestOOMKills(t *testing.T) {
	t.Parallel()
	const limits = "low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 9\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  int
	}{
		{"version 2", map[string]string{"proc/self/cgroup": "0::/a.slice/b\n", "group/a.slice/b/memory.events": limits, "proc/vmstat": "oom_kill 8\n"}, 3},
		{"version 1", map[string]string{
			"proc/self/cgroup": "9:cpu:/\n4:memory:/a:b\n0::/\n", "group/memory/a:b/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n",
		}, 5},
		{"the root has no counter", map[string]string{"proc/self/cgroup": "0::/\n", "proc/vmstat": "nr_dirty 1\noom_kill 8\n"}, 8},
		{"an old kernel", map[string]string{"proc/self/cgroup": "0::/\n", "proc/vmstat": "nr_dirty 1\n"}, -1},
		{"nothing", nil, -1},
		{"strange", map[string]string{"proc/self/cgroup": "x\n::\n", "proc/vmstat": "oom_kill x\n"}, -1},
	} {
		dir := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if n := oomKillsAt(filepath.Join(dir, "proc"), filepath.Join(dir, "group")); n != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, n, tt.want)
		}
	}
}

// TestWantOfMemory: only an end by a SIGKILL that nobody asked for is judged.
func TestWantOfMemory(t *testing.T) {
	t.Parallel()
	kill := int(unix.SIGKILL)
	for _, tt := range []struct {
		exit          Exit
		before, after int
		want          int
	}{
		{Exit{Signal: kill}, 3, 5, 2},
		{Exit{Signal: kill}, 0, 0, 0},
		{Exit{Signal: kill}, -1, 5, 0},
		{Exit{Signal: kill}, 3, -1, 0},
		{Exit{Signal: kill, Stopped: StoppedKill}, 3, 5, 0},
		{Exit{Signal: int(unix.SIGTERM)}, 3, 5, 0},
		{Exit{Code: 137}, 3, 5, 0},
	} {
		if got := wantOfMemory(tt.exit, tt.before, func() int { return tt.after }); got != tt.want {
			t.Errorf("%+v, %d then %d: %d, want %d", tt.exit, tt.before, tt.after, got, tt.want)
		}
	}
}
