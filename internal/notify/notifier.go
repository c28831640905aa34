package notify

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cw/internal/cw"
)

// Options are what a Notifier is made of.
type Options struct {
	Source  Source
	Types   []cw.EventType // of events that people are told of
	Webhook string         // URL that CheckURL takes; "": none
	Secret  Secret         // signs what is sent there
	Command []string       // program with its arguments; empty: none
	Environ []string       // of the program
	Exec    Exec
	Dir     string // for the files that remember what was told
	Log     *slog.Logger
}

// Notifier tells people of events. Each hook follows them at its own pace.
type Notifier struct {
	opts      Options
	transport *http.Transport
	webhook   *webhook // nil: none
	command   *command // nil: none

	mu    sync.Mutex
	hooks map[cw.HookKind]*cw.Hook // guarded by mu
}

// New makes a notifier for the hooks that are configured.
func New(o Options) *Notifier {
	n := &Notifier{opts: o, transport: newTransport(), hooks: map[cw.HookKind]*cw.Hook{}}
	if o.Webhook != "" {
		n.webhook = newWebhook(o, n.transport)
		n.hooks[cw.HookWebhook] = &cw.Hook{Kind: cw.HookWebhook, Target: n.webhook.target()}
	}
	if len(o.Command) > 0 {
		n.command = &command{argv: o.Command, environ: o.Environ, exec: o.Exec, limit: commandTime}
		n.hooks[cw.HookCommand] = &cw.Hook{Kind: cw.HookCommand, Target: n.command.target()}
	}
	return n
}

// Run tells people of events until ctx ends. Nothing that goes wrong with a hook
// ends it.
func (n *Notifier) Run(ctx context.Context) error {
	defer n.transport.CloseIdleConnections()
	var all sync.WaitGroup
	n.start(ctx, &all, cw.HookWebhook, n.webhook != nil, n.post)
	n.start(ctx, &all, cw.HookCommand, n.command != nil, n.show)
	all.Wait()
	<-ctx.Done()
	return nil
}

// start follows the events for one hook, or forgets what it was told.
func (n *Notifier) start(ctx context.Context, all *sync.WaitGroup, kind cw.HookKind, configured bool, follow func(context.Context, *reader) error) {
	log := n.opts.Log.With("hook", string(kind))
	file := place(filepath.Join(n.opts.Dir, "notify-"+string(kind)))
	if !configured {
		if err := file.forget(); err != nil {
			log.Warn("a hook that is switched off", "error", err)
		}
		return
	}
	r := &reader{source: n.opts.Source, types: n.opts.Types, place: file, log: log}
	all.Go(func() {
		for err := r.begin(ctx); err != nil && ctx.Err() == nil; err = r.begin(ctx) {
			log.Warn("read events for notifications", "error", err)
			_ = rest(ctx, sourcePause) // the loop sees that ctx has ended
		}
		for ctx.Err() == nil {
			if err := follow(ctx, r); err != nil && ctx.Err() == nil {
				log.Warn("read events for notifications", "error", err)
				_ = rest(ctx, sourcePause)
			}
		}
	})
}

// post sends the next event to the webhook.
func (n *Notifier) post(ctx context.Context, r *reader) error {
	e, err := r.next(ctx)
	if err != nil {
		return err
	}
	failed := func(err error) { n.failed(ctx, r.log, cw.HookWebhook, err, 0) }
	err = n.webhook.deliver(ctx, noteOf(e), n.down(cw.HookWebhook), failed)
	switch {
	case err == nil:
		n.worked(r.log, cw.HookWebhook)
	case ctx.Err() != nil:
		return ctx.Err() // it is sent again by the next daemon
	default:
		n.failed(ctx, r.log, cw.HookWebhook, err, 1)
	}
	r.handled(e.Seq)
	return nil
}

// show shows events, until ctx ends or they cannot be read.
func (n *Notifier) show(ctx context.Context, r *reader) error {
	var p pace
	for {
		note, several, err := n.nextShown(ctx, r, &p)
		if err != nil {
			return err
		}
		err = n.command.deliver(ctx, note)
		switch {
		case err == nil:
			n.worked(r.log, cw.HookCommand)
		case ctx.Err() != nil:
			return ctx.Err() // it is shown again by the next daemon
		default:
			n.failed(ctx, r.log, cw.HookCommand, err, several)
		}
		r.handled(note.ID)
	}
}

// nextShown waits for the next event, and for its time. When there were too many
// of them, or the program is too slow for them, it gives all that wait as one.
func (n *Notifier) nextShown(ctx context.Context, r *reader, p *pace) (note Note, several int, err error) {
	e, err := r.next(ctx)
	if err != nil {
		return Note{}, 0, err
	}
	wait := p.wait(time.Now())
	if wait > 0 {
		if err := rest(ctx, wait); err != nil {
			return Note{}, 0, err
		}
		p.wait(time.Now())
	}
	if wait == 0 && time.Since(e.At) < time.Minute {
		return noteOf(e), 1, nil
	}
	last, counts, total, err := r.waiting(ctx)
	if err != nil || total < 2 {
		return noteOf(e), 1, err
	}
	return joined(last, counts), total, nil
}

// failed notes a failure; only the first after a success is in the log.
func (n *Notifier) failed(ctx context.Context, log *slog.Logger, kind cw.HookKind, err error, lost int) {
	if ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hooks[kind]
	h.Lost += lost
	if err != errLate || h.Error == "" {
		h.Error = clean(unwrapped(err).Error(), outputMax)
	}
	if h.FailingSince != nil {
		return
	}
	now := time.Now().UTC()
	h.FailingSince = &now
	log.Warn("notifications do not get through", "target", h.Target, "error", h.Error)
}

// worked notes a success.
func (n *Notifier) worked(log *slog.Logger, kind cw.HookKind) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hooks[kind]
	if h.FailingSince != nil {
		log.Info("notifications get through again", "target", h.Target, "lost", h.Lost)
	}
	h.FailingSince, h.Error = nil, ""
}

func (n *Notifier) down(kind cw.HookKind) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hooks[kind].FailingSince != nil
}

// Hooks tells how each configured hook does.
func (n *Notifier) Hooks() []cw.Hook {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []cw.Hook
	for _, h := range n.hooks {
		copied := *h
		out = append(out, copied)
	}
	slices.SortFunc(out, func(a, b cw.Hook) int { return cmp.Compare(b.Kind, a.Kind) })
	return out
}

// TryHooks implements cw.NoticeService.
func (n *Notifier) TryHooks(ctx context.Context) ([]cw.HookTrial, error) {
	var trials []func(context.Context) cw.HookTrial
	if n.webhook != nil {
		trials = append(trials, n.webhook.trial)
	}
	if n.command != nil {
		trials = append(trials, n.command.trial)
	}
	if len(trials) == 0 {
		return nil, cw.Errorf(cw.CodeRefused, "no notifications are configured").
			WithHint("cw config set notify.webhook URL, or notify.command in config.yaml; then cw restart")
	}
	out := make([]cw.HookTrial, len(trials))
	var all sync.WaitGroup
	for i, try := range trials {
		all.Go(func() { out[i] = try(ctx) })
	}
	all.Wait()
	return out, nil
}
