//go:build linux

package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/event"
	"cw/internal/proc"
	"cw/providers/parsers"
)

// floorDaemon is the daemon's path of output without a database: the same
// watcher, reader, parser, hub, server and frames, with what is read kept in
// memory for those who follow.
type floorDaemon struct {
	cw.Services // what is not asked for is not there

	mu     sync.Mutex
	chunks map[string][]cw.Chunk    // guarded by mu; only of those that are followed
	bells  map[string]chan struct{} // guarded by mu; closed when more is there
	hub    *event.Hub
}

// beFloor runs it: socket, folder of the raw files, how many, how many of them
// are followed. It ends with its standard input.
func beFloor(args []string) error {
	agents, err1 := strconv.Atoi(args[2])
	followed, err2 := strconv.Atoi(args[3])
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: args[0], Net: "unix"})
	if err := errors.Join(err1, err2, err); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d := &floorDaemon{chunks: map[string][]cw.Chunk{}, bells: map[string]chan struct{}{}, hub: event.NewHub()}
	server, err := api.NewServer(api.Options{
		Services: d,
		Identify: func(context.Context, api.Peer) (cw.Actor, error) { return cw.Actor{Kind: cw.ActorPerson}, nil },
	})
	if err != nil {
		return err
	}
	go func() { // the parent holds the other end
		_, _ = os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	watcher := proc.NewWatcher(nil)
	var loops sync.WaitGroup
	loops.Go(func() { _ = watcher.Run(ctx) })
	for i := range agents {
		loops.Go(func() {
			if err := d.follow(ctx, watcher, rawFile(args[1], i), strconv.Itoa(i), i < followed); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		})
	}
	err = server.Serve(ctx, listener)
	cancel()
	loops.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// rawFile is where the i-th agent's output would be.
func rawFile(dir string, i int) string { return filepath.Join(dir, strconv.Itoa(i), "output.raw") }

// follow does what the engine does with one run's output, but for the rows.
func (d *floorDaemon) follow(ctx context.Context, watcher *proc.Watcher, path, name string, keep bool) error {
	parser, err := parsers.New(parsers.FormatLines, parsers.Options{Since: time.Now()})
	if err != nil {
		return err
	}
	reading := parsers.NewReading(parser)
	raw, err := proc.OpenRaw(path, 0, nil)
	if err != nil {
		return err
	}
	defer raw.Close()
	wake, stop := watcher.Watch(path)
	defer stop()
	buf, offset, id := make([]byte, 1<<20), int64(0), int64(0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		}
		n, err := raw.Read(buf)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		pieces, _ := proc.Cut(buf[:n], false)
		for _, piece := range pieces {
			raw.Advance(piece)
			id++
			c := cw.Chunk{ID: id, AgentID: cw.AgentID(name), SessionNumber: 1, Offset: offset, Bytes: append([]byte(nil), piece...), CreatedAt: time.Now()}
			offset = c.End()
			d.hub.Publish(cw.NewEvent(cw.EventAgentOutput, cw.Actor{Kind: cw.ActorCW}, cw.AgentOutput{AgentID: c.AgentID, ChunkID: id, Length: len(piece)}))
			if keep {
				d.put(name, c)
			}
			reading.Feed(piece)
		}
	}
}

func (d *floorDaemon) put(name string, c cw.Chunk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.chunks[name] = append(d.chunks[name], c)
	if bell := d.bells[name]; bell != nil {
		close(bell)
		delete(d.bells, name)
	}
}

// after gives the chunks from the n-th on, and a bell for more.
func (d *floorDaemon) after(name string, n int) ([]cw.Chunk, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bells[name] == nil {
		d.bells[name] = make(chan struct{})
	}
	return d.chunks[name][n:], d.bells[name]
}

// Output implements cw.LogService from memory.
func (d *floorDaemon) Output(ctx context.Context, ref string, _ cw.OutputQuery) iter.Seq2[cw.Chunk, error] {
	return func(yield func(cw.Chunk, error) bool) {
		for n := 0; ; {
			chunks, bell := d.after(ref, n)
			n += len(chunks)
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-bell:
			}
		}
	}
}

// Status implements cw.DaemonService.
func (d *floorDaemon) Status(context.Context) (cw.DaemonStatus, error) {
	return cw.DaemonStatus{PID: os.Getpid()}, nil
}

// startFloor starts it in a process of its own, as the daemon is, with a pen
// for each agent.
func startFloor(r *rig, agents, followed int) (pid int, client *api.Client, written []*pen) {
	r.Helper()
	dir := r.TempDir()
	for i := range agents {
		r.must(os.MkdirAll(filepath.Dir(rawFile(dir, i)), 0o700))
		out, err := os.OpenFile(rawFile(dir, i), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		r.must(err)
		r.Cleanup(func() { _ = out.Close() })
		written = append(written, &pen{out: out})
	}
	self, err := os.Executable()
	r.must(err)
	socket := filepath.Join(dir, "floor.sock")
	cmd := exec.Command(self, floorCommand, socket, dir, strconv.Itoa(agents), strconv.Itoa(followed))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	hold, err := cmd.StdinPipe()
	r.must(err)
	r.must(cmd.Start())
	r.Cleanup(func() {
		_ = hold.Close()
		if err := cmd.Wait(); err != nil {
			r.Errorf("the floor: %v", err)
		}
	})
	client = api.NewClient(api.ClientOptions{Socket: socket})
	until(r, "the floor serves", func() bool { _, err := client.Status(r.Context()); return err == nil })
	return cmd.Process.Pid, client, written
}
