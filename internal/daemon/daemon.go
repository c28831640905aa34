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
	"sync/atomic"
	"time"

	"cw/accounts"
	"cw/dispatch"
	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/event"
	"cw/internal/notify"
	"cw/internal/proc"
	"cw/internal/store"
	"cw/orchestrator"
	"cw/planning"
	"cw/providers"
	"cw/web"
	"cw/worktree"
)

// Config is what a daemon is started with.
type Config struct {
	Home     cw.Home
	Version  string
	Settings Settings
	Stderr   io.Writer // where the foreground's log goes; nil when detached
	Environ  []string  // the daemon's own environment
	// Flags are the settings that the command line gave; they are in Settings, too.
	Flags map[string]string

	masks masks // of live secrets; made by Serve
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
	c.masks = masksOf(c)
	log, file := newLog(c, c.masks)
	defer file.Close()
	if err := noCore(); err != nil {
		log.Warn("secrets may come into a core file", "error", err)
	}
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
			WithHint("cw status shows it; cw restart replaces it, and agents run on")
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
	store    *store.DB
	watcher  *proc.Watcher
	engine   *orchestrator.Orchestrator
	tasks    *dispatch.Dispatcher
	machine  *machine
	repos    *worktree.Manager
	plans    *planning.Manager
	accounts *accounts.Manager
	changes  *event.Subscription // of accounts
	server   *api.Server
	doors    doors
	old      retention
	janitor  *janitor
	notices  *notify.Notifier
	log      *slog.Logger
}

func serveLocked(ctx context.Context, c Config, log *slog.Logger) error {
	ctx, shutdown := context.WithCancel(ctx)
	defer shutdown()
	if half := (recovery{RecoverOptions: RecoverOptions{Home: c.Home}}); half.unfinished() {
		return cw.Errorf(cw.CodeFailed, "a recovery of %s was interrupted", c.Home).WithHint("run: cw recover; it goes on where it was")
	}
	hub := event.NewHub()
	var engine atomic.Pointer[orchestrator.Orchestrator]
	var tasks atomic.Pointer[dispatch.Dispatcher]
	db, err := store.Open(ctx, store.Options{
		Dir: string(c.Home), Version: c.Version, Log: log, Reserve: c.Home.Reserve(), Boot: bootID(),
		OnCommit: func(events []cw.Event) {
			hub.Publish(events...)
			if e := engine.Load(); e != nil {
				e.Heard(events...)
			}
			if d := tasks.Load(); d != nil {
				d.Ring()
			}
		},
		Guards: guardsOf(c.Environ),
	})
	if err != nil {
		return err
	}
	defer db.Close()
	p, err := build(ctx, c, db, hub, shutdown, log)
	if err != nil {
		return err
	}
	engine.Store(p.engine)
	tasks.Store(p.tasks)
	log.Info("daemon started", "pid", os.Getpid(), "version", c.Version, "socket", p.doors.path, "http", p.doors.tcp.where())
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
	unfinished, err := unfinishedRuns(ctx, db)
	if err != nil {
		return nil, err
	}
	if err := removeOldBinaries(c.Home, buildID, unfinished); err != nil {
		log.Warn("remove old copies of the program", "error", err)
	}
	doors, err := open(ctx, c, log)
	if err != nil {
		return nil, err
	}
	facts := factsOf(c, buildID, doors.path)
	who := newCallers(c.Home, db, log)
	who.guards = guardsOf(c.Environ)
	p := &parts{
		store: db, watcher: proc.NewWatcher(log), log: log, doors: doors,
		old: retention{store: db, keep: c.Settings.Events.Retention, now: time.Now, log: log},
	}
	presets, problems := providers.Load(c.Home.Providers())
	for _, pr := range problems {
		log.Warn("a provider's file is not used", "problem", pr)
	}
	c.masks.Put("environment", presets.Secrets(c.Environ)...)
	if err := c.masks.recallTokens(c.Home); err != nil {
		log.Error("some tokens of dashboards are not known, and are not masked", "error", err)
	}
	p.accounts = newAccounts(ctx, c, db, presets, log)
	p.plans = planning.New(db)
	report := func(ctx context.Context, actor cw.Actor, what string) { who.report(ctx, actor, what, 0) }
	p.repos = newRepos(ctx, c, db, log)
	p.engine = buildEngine(c, p, hub, presets, p.repos, c.Home.Binary(buildID), report)
	p.machine = &machine{store: db, engine: p.engine, keep: int64(c.Settings.Dispatch.KeepFree), log: log, peaks: map[string]int64{}}
	p.tasks = newDispatcher(c, p, p.repos, log)
	p.changes = hub.Subscribe(accountChanges())
	p.janitor = newJanitor(c, db, p.engine, buildID, log)
	p.notices = newNotifier(c, events{store: db, hub: hub}, log)
	keys := newTokens(db, report)
	keys.masks, keys.home = c.masks, c.Home
	browsers, err := newSessions(ctx, keys, doors.tcp)
	if err = errors.Join(err, keys.endExpired(ctx)); err != nil {
		log.Warn("what sessions of browsers left behind stays", "error", err)
	}
	held, err := newHeldSettings(c)
	if err != nil {
		return nil, errors.Join(err, doors.close())
	}
	site, err := web.Files()
	if err != nil {
		return nil, errors.Join(err, doors.close())
	}
	p.server, err = api.NewServer(api.Options{
		Services: services{
			Orchestrator:    p.engine,
			events:          events{store: db, hub: hub},
			tokens:          keys,
			sessions:        browsers,
			heldSettings:    held,
			house:           house{janitor: p.janitor, store: db, repos: p.repos},
			Manager:         p.accounts,
			costs:           costs{store: accountStore{db, accountProviders{presets}}, engine: p.engine},
			providerService: newProviderService(c, presets, db, c.Home.Binary(buildID)),
			plans:           plans{p.plans},
			Dispatcher:      p.tasks,
			forges:          newForges(c, p),
			daemonService:   daemonService{facts: facts, door: doors.tcp, store: db, janitor: p.janitor, notices: p.notices, tasks: p.tasks, shutdown: shutdown},
			Notifier:        p.notices,
		}.withInbox(),
		Identify:     who.identify,
		Rights:       who.rights,
		Asker:        who.asker,
		Sender:       who.sender,
		Authenticate: keys.authenticate,
		Prove:        browsers.prove,
		Metrics:      metricsOf(c, p, hub, facts.StartedAt),
		StartTime:    startTime,
		Site:         site,
		OnRefused:    report,
		Log:          log, Version: c.Version, BuildID: buildID, Guards: guardsOf(c.Environ),
	})
	if err != nil {
		return nil, errors.Join(err, doors.close())
	}
	return p, nil
}

// newRepos makes the only way to git.
func newRepos(ctx context.Context, c Config, db *store.DB, log *slog.Logger) *worktree.Manager {
	self := cw.Actor{Kind: cw.ActorCW}
	return worktree.New(worktree.Options{
		ReposDir: c.Home.Repos(), Log: log, Fail: failpointOf(c.Environ), Guards: guardsOf(c.Environ),
		OnRestored: func(project string, changed []string) {
			ev := cw.NewEvent(cw.EventMirrorRestored, self, cw.MirrorRestored{Project: project, Changed: changed})
			if err := db.AddEvents(ctx, ev); err != nil && ctx.Err() == nil {
				log.Error("store that a mirror was restored", "project", project, "error", err)
			}
		},
	})
}

// buildEngine makes the engine on the store and the watcher of p.
func buildEngine(c Config, p *parts, hub *event.Hub, presets *providers.Registry, repos *worktree.Manager, binary string,
	report func(context.Context, cw.Actor, string),
) *orchestrator.Orchestrator {
	db, log := p.store, p.log
	fail := failpointOf(c.Environ)
	prices, problem := providers.LoadPrices(c.Home.Prices())
	if problem != nil {
		log.Warn("the file of prices is not used; the prices that come with cw are", "problem", problem)
	}
	return orchestrator.New(orchestrator.Config{
		Home: c.Home, Store: accountStore{db, accountProviders{presets}}, Accounts: p.accounts, Repos: repos, Plans: p.plans, Presets: presets, Prices: prices, Watcher: p.watcher,
		Publish: func(ev cw.Event) { hub.Publish(ev) }, Binary: binary, Socket: p.doors.path,
		Report: report, Redact: c.masks.Set, Keeper: c.masks.keeper,
		Environ: c.Environ, Log: log, Fail: fail, Guards: guardsOf(c.Environ), Defaults: orchestrator.Defaults(c.Settings.Run),
		Admit: func(ctx context.Context, provider string) error { return p.machine.admit(ctx, provider) },
		Floor: floorOf(c.Settings), MaxOutput: int64(c.Settings.Runs.MaxOutput), StopUnpriced: c.Settings.Budgets.Unpriced == unpricedStop, Inbox: orchestrator.Inbox(c.Settings.Questions),
	})
}

// bootID names the boot of the machine, "" when it is not told.
func bootID() string {
	boot, err := proc.BootID()
	if err != nil {
		return ""
	}
	return boot
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
	ready, known := make(chan struct{}), make(chan struct{})
	loops := map[string]func() error{
		"store":   func() error { return p.store.Run(inner) },
		"watcher": func() error { return p.watcher.Run(inner) },
		"agents": func() error {
			awaitSecrets(inner, known) // what agents print of them is to be masked
			return p.engine.Run(inner, func() { close(ready) })
		},
		"events":   func() error { return p.old.Run(inner) },
		"janitor":  func() error { return p.janitor.Run(inner) },
		"accounts": func() error { return keepAccounts(inner, p.accounts, known, p.log) },
		"parked":   func() error { return hearAccounts(inner, p.changes, p.engine) },
		"notices":  func() error { return p.notices.Run(inner) },
		"memory":   func() error { return p.machine.Run(inner) },
		"tasks": func() error {
			select {
			case <-ready: // agents are known again
			case <-inner.Done():
				return nil
			}
			return p.tasks.Run(inner)
		},
	}
	below := make(chan error, 1)
	go func() { below <- together(inner, shutdown, loops) }()
	var above error
	select {
	case <-ready:
		above = p.serve(ctx, shutdown)
	case <-ctx.Done(): // they never served
		_ = p.doors.close()
	}
	stopInner()
	return errors.Join(above, <-below)
}

// serve answers on the socket and, once that door is open, on TCP, until ctx ends or
// one of them breaks.
func (p *parts) serve(ctx context.Context, shutdown context.CancelFunc) error {
	serving := map[string]func() error{"socket": func() error { return p.server.Serve(ctx, p.doors.socket) }}
	serving["http"] = func() error {
		return p.doors.tcp.serve(ctx, func(l net.Listener) error { return p.server.ServeTCP(ctx, l, p.doors.allowed) })
	}
	return together(ctx, shutdown, serving)
}

// together runs loops side by side until all have ended. The first to end by
// itself calls end, which is to end the others; why it ended is an error
// unless ctx was over.
func together(ctx context.Context, end func(), loops map[string]func() error) error {
	broken := make(chan error, len(loops))
	var wait sync.WaitGroup
	for name, loop := range loops {
		wait.Go(func() {
			defer end()
			if err := loop(); err != nil && ctx.Err() == nil {
				broken <- fmt.Errorf("%s: %w", name, err)
			}
		})
	}
	wait.Wait()
	close(broken)
	var all []error
	for err := range broken {
		all = append(all, err)
	}
	return errors.Join(all...)
}
