package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/event"
	"cw/internal/proc"
	"cw/internal/store"
	"cw/orchestrator"
	"cw/providers"
	"cw/worktree"
)

// Config is what a daemon is started with.
type Config struct {
	Home     cw.Home
	Version  string
	Settings Settings
	Stderr   io.Writer // where the foreground's log goes; nil when detached
	Environ  []string  // the daemon's own environment
}

// Serve runs the daemon until ctx ends or a client asks it to stop. Agents run
// on in both cases. CodeRefused when another daemon has the home.
func Serve(ctx context.Context, c Config) error {
	if err := PrepareHome(c.Home); err != nil {
		return err
	}
	lock, err := takeLock(ctx, c.Home)
	if err != nil {
		return err
	}
	defer lock.Unlock() // the end of the process does it too
	log, file := newLog(c.Home, c.Stderr)
	defer file.Close()
	err = serveLocked(ctx, c, log)
	if err != nil {
		log.Error("daemon ended", "error", err)
	}
	return err
}

const (
	// deadHolder is how long a lock whose holder is dead is waited for. A
	// process that the dead daemon was just forking keeps it until its exec.
	deadHolder = 5 * time.Second
	lockPoll   = 10 * time.Millisecond
)

// takeLock makes this the only daemon of the home, before any file of it is
// opened. While the holder lives it is refused at once.
func takeLock(ctx context.Context, home cw.Home) (*proc.FileLock, error) {
	var held *proc.HeldError
	lock, err := proc.Lock(home.DaemonLock())
	for end := time.Now().Add(deadHolder); errors.As(err, &held) && !alive(held.PID) && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
		lock, err = proc.Lock(home.DaemonLock())
	}
	if errors.As(err, &held) {
		return nil, cw.Errorf(cw.CodeRefused, "a daemon (pid %d) already serves %s", held.PID, home).
			WithHint("cw status shows it; cw restart replaces it, and agents run on").Because(held)
	}
	if err != nil {
		return nil, homeTrouble(string(home), err)
	}
	return lock, nil
}

// alive tells whether a process is there. An unknown one counts as alive.
func alive(pid int) bool {
	if pid == 0 {
		return true
	}
	_, err := proc.IdentityOf(pid)
	return err == nil
}

// parts is what a daemon is built of.
type parts struct {
	store   *store.DB
	watcher *proc.Watcher
	engine  *orchestrator.Orchestrator
	server  *api.Server
	socket  *net.UnixListener
	log     *slog.Logger
}

func serveLocked(ctx context.Context, c Config, log *slog.Logger) error {
	ctx, shutdown := context.WithCancel(ctx)
	defer shutdown()
	hub := event.NewHub()
	db, err := store.Open(ctx, store.Options{
		Dir: string(c.Home), Version: c.Version, Log: log,
		OnCommit: func(events []cw.Event) { hub.Publish(events...) },
	})
	if err != nil {
		return err
	}
	defer db.Close()
	p, err := build(ctx, c, db, hub, shutdown, log)
	if err != nil {
		return err
	}
	log.Info("daemon started", "pid", os.Getpid(), "version", c.Version, "socket", p.socket.Addr())
	err = p.run(ctx, shutdown)
	log.Info("daemon stopped; agents run on")
	return err
}

// build puts the parts together.
func build(ctx context.Context, c Config, db *store.DB, hub *event.Hub, shutdown context.CancelFunc, log *slog.Logger) (*parts, error) {
	buildID, err := installBinary(c.Home)
	if err != nil {
		return nil, err
	}
	unfinished, err := db.UnfinishedRuns(ctx)
	if err != nil {
		return nil, err
	}
	if err := removeOldBinaries(c.Home, buildID, unfinished); err != nil {
		log.Warn("remove old copies of the program", "error", err)
	}
	socket, path, err := listen(c.Home)
	if err != nil {
		return nil, err
	}
	presets, problems := providers.Load(c.Home.Providers())
	for _, pr := range problems {
		log.Warn("a provider's file is not used", "problem", pr)
	}
	self := cw.Actor{Kind: cw.ActorCW}
	who := callers{home: c.Home, store: db, log: log}
	fail := failpointOf(c.Environ)
	repos := worktree.New(worktree.Options{
		ReposDir: c.Home.Repos(), Log: log, Fail: fail,
		OnRestored: func(project string, changed []string) {
			ev := cw.NewEvent(cw.EventMirrorRestored, self, cw.MirrorRestored{Project: project, Changed: changed})
			if err := db.AddEvents(ctx, ev); err != nil && ctx.Err() == nil {
				log.Error("store that a mirror was restored", "project", project, "error", err)
			}
		},
	})
	watcher := proc.NewWatcher(log)
	engine := orchestrator.New(orchestrator.Config{
		Home: c.Home, Store: db, Repos: repos, Presets: presets, Watcher: watcher,
		Publish: func(ev cw.Event) { hub.Publish(ev) }, Binary: c.Home.Binary(buildID), Socket: path,
		Environ: c.Environ, Log: log, Fail: fail,
	})
	server, err := api.NewServer(api.Options{
		Services: services{
			Orchestrator:  engine,
			events:        events{store: db, hub: hub},
			tokens:        tokens{store: db},
			daemonService: daemonService{facts: factsOf(c, buildID, path), store: db, shutdown: shutdown},
		},
		Identify:  who.identify,
		StartTime: startTime,
		OnRefused: func(ctx context.Context, actor cw.Actor, what string) { who.report(ctx, actor, what, 0) },
		Log:       log, Version: c.Version, BuildID: buildID,
	})
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return &parts{store: db, watcher: watcher, engine: engine, server: server, socket: socket, log: log}, nil
}

// startTime tells one process from another that had its pid before.
func startTime(pid int) (uint64, error) {
	id, err := proc.IdentityOf(pid)
	return id.StartTime, err
}

// run runs all loops until ctx ends. The first to end by itself ends the
// others, and the server goes first: nobody asks for what is no longer there.
func (p *parts) run(ctx context.Context, shutdown context.CancelFunc) error {
	// The loops below the server live a little longer than it.
	inner, stopInner := context.WithCancel(context.WithoutCancel(ctx))
	defer stopInner()
	ready := make(chan struct{})
	loops := map[string]func() error{
		"store":   func() error { return p.store.Run(inner) },
		"watcher": func() error { return p.watcher.Run(inner) },
		"agents":  func() error { return p.engine.Run(inner, func() { close(ready) }) },
	}
	var wait sync.WaitGroup
	errs := make(chan error, len(loops)+1)
	for name, loop := range loops {
		wait.Go(func() {
			defer shutdown()
			if err := loop(); err != nil && inner.Err() == nil {
				errs <- fmt.Errorf("%s: %w", name, err)
			}
		})
	}
	select {
	case <-ready:
		if err := p.server.Serve(ctx, p.socket); err != nil && ctx.Err() == nil {
			errs <- fmt.Errorf("server: %w", err)
		}
	case <-ctx.Done():
		_ = p.socket.Close() // it never served
	}
	stopInner()
	wait.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}
