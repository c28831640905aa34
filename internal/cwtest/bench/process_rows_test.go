//go:build linux

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/proc"
)

// ran runs a command and gives its time from start to known end.
func ran(r *rig, env []string, name string, args ...string) time.Duration {
	r.Helper()
	return took(func() {
		cmd := exec.Command(name, args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			r.Fatalf("%s %q: %v: %s", name, args, err, out)
		}
	})
}

// shimSpawn runs /bin/true with the shim of the built program and without.
func shimSpawn(r *rig) []figure {
	root := r.TempDir()
	direct := func(int) time.Duration {
		return took(func() { r.must(exec.Command("/bin/true").Run()) })
	}
	through := func(i int) time.Duration {
		dir := filepath.Join(root, strconv.Itoa(i))
		spec := proc.Spec{RunID: "bench-" + strconv.Itoa(i), Argv: []string{"/bin/true"}, Dir: "/", Stdout: "out", Stderr: "err"}
		r.must(proc.Prepare(dir, spec))
		return took(func() {
			obs, err := proc.Start(r.Context(), proc.Launch{Binary: binary, Dir: dir, Env: os.Environ()})
			r.must(err)
			obs, err = proc.Wait(r.Context(), dir, obs.Handle)
			r.must(err)
			if obs.State != proc.StateExited || obs.Exit.Code != 0 {
				r.Fatalf("%+v", obs)
			}
		})
	}
	floor, ours := inTurn(2*r.rounds, direct, through)
	libraries := build(r, "libraries")
	_, empty := inTurn(r.rounds, direct, func(int) time.Duration { return ran(r, nil, libraries) })
	f := ratio("start to end through the shim", ours, floor, "`/bin/true` alone", 5)
	f.note = fmt.Sprintf("A program of the same libraries that does nothing takes %s, %s × `/bin/true`, so one binary for everything cannot do better than that. It is the price of not installing a second program.",
		inMS(median(empty)), round(float64(median(empty))/float64(median(floor))))
	return []figure{f}
}

// shimMemory is what an idle shim has for itself, once it has settled. Several
// run, as in life, so that the program's own pages are nobody's alone.
func shimMemory(r *rig) []figure {
	_, handles := adopted(r, 4)
	time.Sleep(2 * time.Second) // a shim gives memory back a second after its start
	var all []float64
	for _, h := range handles {
		all = append(all, privateMemory(r, h.ShimPID))
	}
	mb := slices.Sorted(slices.Values(all))[len(all)/2]
	return []figure{{what: "private memory of an idle shim", ours: round(mb) + " MB", value: mb, goal: goal{bound: 4, unit: "MB"}}}
}

// beStarter starts runs through the shim, prints their handles and goes away:
// what it started is nobody's child.
func beStarter(args []string) error {
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	for i := range n {
		dir := runDir(args[1], i)
		spec := proc.Spec{RunID: fmt.Sprintf("bench-%d-%d", os.Getpid(), i), Argv: []string{"/bin/sleep", "600"}, Dir: "/"}
		if err := proc.Prepare(dir, spec); err != nil {
			return err
		}
		obs, err := proc.Start(context.Background(), proc.Launch{Binary: args[0], Dir: dir, Env: os.Environ()})
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(obs.Handle); err != nil {
			return err
		}
	}
	return nil
}

func runDir(root string, i int) string { return filepath.Join(root, strconv.Itoa(i)) }

// adopted gives runs that another process started.
func adopted(r *rig, n int) (root string, handles []proc.Handle) {
	r.Helper()
	root = r.TempDir()
	self, err := os.Executable()
	r.must(err)
	cmd := exec.Command(self, starterCommand, binary, root, strconv.Itoa(n))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	r.must(err)
	r.must(cmd.Start())
	for lines := json.NewDecoder(out); len(handles) < n; {
		var h proc.Handle
		r.must(lines.Decode(&h))
		handles = append(handles, h)
	}
	r.must(cmd.Wait())
	r.Cleanup(func() {
		for _, h := range handles {
			_ = h.Shim().Signal(unix.SIGQUIT) // those that still live end at once
		}
		until(r, "all shims are gone", func() bool { // they write into the folder that goes next
			return !slices.ContainsFunc(handles, func(h proc.Handle) bool { return h.Shim().Alive() })
		})
	})
	return root, handles
}

// exitNoticed kills the commands of adopted runs one by one and times when it
// is known: by the engine's way, and by a bare look at the shim's pidfd.
func exitNoticed(r *rig) []figure {
	root, handles := adopted(r, r.exits)
	var known, gone, after []time.Duration
	for i, h := range handles {
		ended, noticed := make(chan time.Time, 1), make(chan time.Time, 1)
		ready := make(chan struct{}, 2)
		go func() { ended <- pidfdGone(r, h, ready) }()
		go func() {
			ready <- struct{}{}
			obs, err := proc.Wait(r.Context(), runDir(root, i), h)
			at := time.Now()
			if err != nil || obs.State != proc.StateExited || obs.Exit.Signal != int(unix.SIGKILL) {
				r.Errorf("run %d: %+v, %v", i, obs, err)
			}
			noticed <- at
		}()
		<-ready
		<-ready
		time.Sleep(5 * time.Millisecond) // so that both surely wait
		begin := time.Now()
		r.must(h.Command().Signal(unix.SIGKILL))
		shim, we := <-ended, <-noticed
		known, gone = append(known, we.Sub(begin)), append(gone, shim.Sub(begin))
		after = append(after, max(0, we.Sub(shim)))
	}
	figures := latency("exit of an adopted agent noticed, after its shim is gone", after, 0, 5, "")
	whole := latency("kill of an adopted agent → its end is known", known, 0, 0, "")
	for i, q := range []float64{0.5, 0.99} {
		whole[i].floor = "its shim has recorded it and is gone: " + inMS(quantile(gone, q))
	}
	return append(figures, whole...)
}

// pidfdGone waits for the end of a shim with nothing but its pidfd.
func pidfdGone(r *rig, h proc.Handle, ready chan<- struct{}) time.Time {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fd, err := unix.PidfdOpen(h.ShimPID, 0)
	ready <- struct{}{}
	if err != nil {
		r.Errorf("pidfd of shim %d: %v", h.ShimPID, err)
		return time.Now()
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if n > 0 || err != unix.EINTR {
			return time.Now()
		}
	}
}

// build builds one of the programs below testdata.
func build(r *rig, name string) string {
	r.Helper()
	out := filepath.Join(r.TempDir(), name)
	cmd := exec.Command("go", "build", "-trimpath", "-o", out, "./testdata/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		r.Fatalf("build %s: %v: %s", name, err, text)
	}
	return out
}

// commands times whole commands beside a Go program that does nothing.
func commands(r *rig) []figure {
	bare, libraries := build(r, "bare"), build(r, "libraries")
	l := lab.New(r, binary)
	l.Start()
	env := l.Environ()
	if stdout, stderr, code := l.Run(l.Repo, "id"); code != 0 || len(stdout) != len(cw.NewID())+1 {
		r.Fatalf("cw id: exit %d: %s%s", code, stdout, stderr)
	}
	var status cw.DaemonStatus
	stdout, _, _ := l.Run(l.Repo, "status", "--json")
	if err := json.Unmarshal([]byte(stdout), &status); err != nil {
		r.Fatalf("cw status --json: %v: %s", err, stdout)
	}
	floor := func(int) time.Duration { return ran(r, env, bare) }
	floors, id := inTurn(r.rounds, floor, func(int) time.Duration { return ran(r, env, binary, "id") })
	moreFloors, call := inTurn(r.rounds, floor, func(int) time.Duration { return ran(r, env, binary, "status", "--json") })
	_, empty := inTurn(r.rounds, floor, func(int) time.Duration { return ran(r, env, libraries) })
	name := fmt.Sprintf("with its libraries, doing nothing: %s; bare Go program", inMS(median(empty)))
	return []figure{
		ratio("`cw id`", id, floors, name, 7),
		ratio("`cw status --json`", call, moreFloors, name, 8),
	}
}
