package crashlab

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cw/internal/cwtest/lab"
)

// faults is how many calls of the kernel are made to fail in each way.
const faults = 3

// letGo bounds how long a tracer may take to let go of a daemon's threads.
const letGo = 5 * time.Second

// calls are those by which a database is written.
const calls = "write,pwrite64,fsync,fdatasync,ftruncate"

// TestSyscallFaults makes single calls of the kernel fail under the daemon's
// databases, at places that nobody named: with EIO, with ENOSPC several times
// in a row, and by killing the daemon there. Afterwards the disk is sound
// again, the course goes on to its end, and every invariant must hold.
// CW_LAB_FAULTS is the number of faults of each kind.
func TestSyscallFaults(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		lab.Lacks(t, "strace is not installed: no call of the kernel is made to fail")
	}
	seed, n := seedOf(t), int(setting(t, "CW_LAB_FAULTS", faults))
	kinds := map[string]string{
		"EIO":    "error=EIO:when=%d",
		"ENOSPC": "error=ENOSPC:when=%d+", // from then on, until the tracer is gone
		"KILL":   "signal=KILL:when=%d",
	}
	roads := []flow{{name: "answers", drive: toAnswered}, {name: "restore", drive: toRestored}, {name: "follow-up", drive: toFollowUp}}
	for kind, inject := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, uint64(len(inject))))
			var hit atomic.Int32
			t.Cleanup(func() {
				results.row("calls of the kernel under the databases: "+kind, "%d of %d courses met their fault", hit.Load(), n)
				if int(hit.Load()) < n && !t.Failed() {
					t.Errorf("only %d of %d courses met their fault", hit.Load(), n)
				}
			})
			for i := range n {
				road, when := roads[i%len(roads)], 1+rng.IntN(12)
				t.Run(fmt.Sprintf("%s %d", road.name, when), func(t *testing.T) {
					t.Parallel()
					// A course that had fewer calls than that is driven again with an earlier one.
					for at := when; at > 0 && !t.Failed(); at /= 2 {
						if failing(t, road, fmt.Sprintf(inject, at)) {
							hit.Add(1)
							return
						}
					}
				})
			}
		})
	}
}

// failing drives a flow under one fault, and tells whether it was met.
func failing(t *testing.T, f flow, inject string) (met bool) {
	c := newCourse(t)
	c.rough = true
	c.begin()
	said := filepath.Join(t.TempDir(), "strace")
	args := []string{"-f", "-qq", "-o", said, "-p", strconv.Itoa(c.Serving().PID), "-e", "trace=" + calls, "-e", "inject=" + calls + ":" + inject}
	for _, db := range []string{"cw.db", "cw.db-wal", "log.db", "log.db-wal"} {
		args = append(args, "-P", filepath.Join(string(c.Home), db))
	}
	tracer := exec.Command("strace", args...)
	if err := tracer.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { _ = tracer.Wait(); close(over) }() // ends with the tracer
	t.Cleanup(func() { _ = tracer.Process.Kill(); <-over })
	traced(t, c.Serving().PID)
	// The disk is sound again after a while, and the daemon is started anew: one
	// that saw a sync fail writes no more for the rest of its life.
	c.healAt, c.heal = time.Now().Add(4*time.Second), func() {
		_ = tracer.Process.Signal(syscall.SIGTERM) // it lets go of all and ends
		select {
		case <-over:
		case <-time.After(letGo):
			_ = tracer.Process.Kill() // the kernel lets go for it
			<-over
		}
		c.Kill()
		c.launch()
	}
	f.drive(c)
	c.healAt = time.Now()
	c.mend()
	c.rough = false
	c.settled(1)
	for _, p := range c.finish() {
		t.Errorf("%s", p)
	}
	if t.Failed() {
		t.Logf("inject %s\nlog:\n%s", inject, tail(c.DaemonLog()))
	}
	text, _ := os.ReadFile(said) // not there: nothing was met
	return strings.Contains(string(text), "INJECTED") || strings.Contains(string(text), "SIGKILL")
}

// traced waits until all threads of a process are traced.
func traced(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid)) // the pattern is well formed
		free := 0
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), "TracerPid:\t0\n") {
				free++
			}
		}
		if free == 0 && len(names) > 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("strace did not take hold of process %d", pid)
		}
	}
}
