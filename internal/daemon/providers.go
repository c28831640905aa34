package daemon

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/store"
	"cw/providers"
)

const (
	// probesAtOnce is how many CLIs are asked for their version at once: one of
	// them may be a node program with hundreds of files.
	probesAtOnce = 3
	// probesWait bounds a whole list; what a CLI did not tell by then is left out.
	probesWait = 20 * time.Second
	// probesKept is how many answers are remembered.
	probesKept = 256
)

// providerService implements cw.ProviderService.
type providerService struct {
	presets *providers.Registry
	store   *store.DB
	environ []string // the daemon's own
	binary  string   // cw's own copy
	probes  *probes
}

func newProviderService(c Config, presets *providers.Registry, db *store.DB, binary string) providerService {
	return providerService{presets: presets, store: db, environ: c.Environ, binary: binary, probes: newProbes()}
}

// Providers implements cw.ProviderService.
func (s providerService) Providers(ctx context.Context, path string) ([]cw.ProviderView, error) {
	runs, err := s.store.ProviderRuns(ctx)
	if err != nil {
		return nil, err
	}
	others, err := s.store.AccountViews(ctx, "")
	if err != nil {
		return nil, err
	}
	presets := s.presets.All()
	views := make([]cw.ProviderView, len(presets))
	bounded, cancel := context.WithTimeout(ctx, probesWait)
	defer cancel()
	var all sync.WaitGroup
	for i, p := range presets {
		all.Go(func() { views[i] = s.view(bounded, p, s.pathOf(ctx, path), runs, others) })
	}
	all.Wait()
	return withTroubles(views, s.presets.Problems()), ctx.Err()
}

// Provider implements cw.ProviderService.
func (s providerService) Provider(ctx context.Context, name, path string) (cw.ProviderView, error) {
	runs, err := s.store.ProviderRuns(ctx)
	if err != nil {
		return cw.ProviderView{}, err
	}
	others, err := s.store.AccountViews(ctx, "")
	if err != nil {
		return cw.ProviderView{}, err
	}
	views := []cw.ProviderView{}
	preset, unknown := s.presets.Get(name)
	if unknown == nil {
		views = append(views, s.view(ctx, preset, s.pathOf(ctx, path), runs, others))
		name = preset.Name
	}
	views = withTroubles(views, s.presets.Problems())
	if i := slices.IndexFunc(views, func(v cw.ProviderView) bool { return v.Name == name }); i >= 0 {
		return views[i], ctx.Err()
	}
	return cw.ProviderView{}, unknown
}

// pathOf is the PATH on which programs are looked for. A person's own is taken:
// what is found there is what the person would start, too.
func (s providerService) pathOf(ctx context.Context, path string) string {
	if cw.ActorOf(ctx).Kind == cw.ActorPerson && path != "" {
		return path
	}
	return variable(s.environ, "PATH")
}

// view tells everything about a preset.
func (s providerService) view(ctx context.Context, p providers.Preset, path string, runs map[string]cw.ProviderRuns, others []cw.AccountView) cw.ProviderView {
	v := cw.ProviderView{
		Name: p.Name, Title: p.Title, Aliases: orNone(p.Aliases), Origin: orText(p.Origin(), cw.OriginEmbedded),
		Minimum: p.Version.Minimum, Install: p.Command.Install, Accounts: p.AccountsOf(), AccountEnv: orNone(p.AccountNames()),
		Resume: string(p.ResumeStyle), BoundTo: string(p.ResumeBoundTo), SessionID: p.SessionID.Choose,
		Prompt: string(p.PromptMode), Parser: p.Parser, Structured: p.StructuredOutput, Signal: string(p.Signal),
		Driver: string(p.Driver), MCP: p.MCP.Style, Sandbox: p.CanSandbox(),
		Silence: p.Patience.Silence.Duration, ToolSilence: p.Patience.ToolSilence.Duration, Retrying: p.Patience.Retrying.Duration,
		StopSignal: p.Stop.Signal, StopGrace: p.Stop.Grace.Duration,
		ProviderRuns: runs[p.Name], Traps: orNone(p.Traps),
	}
	if p.SessionID.Choose == "none" {
		v.SessionID = p.SessionID.From
	}
	var changes []string
	v.Overrides, changes = s.presets.Overridden(p)
	v.Changes = orNone(changes)
	s.look(ctx, p, path, &v)
	if v.Installed && !hasReady(others, p.AccountsOf()) {
		v.NotLoggedIn = loginOf(p, s.environ).Missing
	}
	spawn, resume, names := p.Example(v.Command, s.binary)
	v.SpawnArgv, v.ResumeArgv, v.EnvNames = spawn, resume, orNone(names)
	return v
}

// look finds the program and asks it for its version.
func (s providerService) look(ctx context.Context, p providers.Preset, path string, v *cw.ProviderView) {
	if p.Command.From == providers.FromScript {
		v.Installed = true // each agent brings its own
		return
	}
	home := variable(s.environ, "HOME")
	found, err := p.Find(path, home)
	if err != nil {
		return
	}
	v.Installed, v.Command = true, found
	if len(p.Version.Args) == 0 { // run bare it would begin to work
		return
	}
	said := s.probes.ask(ctx, found, path, proc.Command{
		Argv: append([]string{found}, p.Version.Args...), Dir: os.TempDir(),
		Env: providers.RunEnv(providers.EnvInput{Preset: p, Caller: []string{"PATH=" + path}, Daemon: s.environ, Home: home}),
	})
	if said == "" {
		return
	}
	if v.Version, err = p.CheckVersion(said); err != nil {
		v.Trouble = err.Error()
	}
}

// withTroubles adds what is wrong with the user's files: to the provider that
// comes from the file, to the one that it would take the place of, else as a
// provider of its own.
func withTroubles(views []cw.ProviderView, problems []providers.Problem) []cw.ProviderView {
	for _, problem := range problems {
		stem := strings.TrimSuffix(filepath.Base(problem.File), filepath.Ext(problem.File))
		at := slices.IndexFunc(views, func(v cw.ProviderView) bool { return v.Origin == problem.File })
		if at < 0 {
			at = slices.IndexFunc(views, func(v cw.ProviderView) bool { return v.Name == stem })
		}
		if at < 0 {
			at, views = len(views), append(views, unread(stem, problem.File))
		}
		views[at].Trouble = strings.TrimPrefix(views[at].Trouble+"; "+problem.String(), "; ")
	}
	slices.SortFunc(views, func(a, b cw.ProviderView) int { return strings.Compare(a.Name, b.Name) })
	return views
}

// unread stands for a file that never could be read.
func unread(name, file string) cw.ProviderView {
	none := []string{}
	return cw.ProviderView{
		Name: name, Title: name, Origin: file, Aliases: none, Changes: none, SpawnArgv: none, ResumeArgv: none,
		EnvNames: none, AccountEnv: none, Traps: none,
	}
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// probes asks programs for their version, and remembers what they told for as
// long as the program's file stays as it is.
type probes struct {
	seats chan struct{}

	mu    sync.Mutex
	known map[probed]string // guarded by mu
}

// probed is a program in one state of its file. path is part of it: a program
// may be started by another that is found there.
type probed struct {
	binary, path string
	size         int64
	modTime      time.Time
}

func newProbes() *probes {
	return &probes{seats: make(chan struct{}, probesAtOnce), known: map[probed]string{}}
}

// ask gives what the program prints, "" when it tells nothing, or not in time.
func (p *probes) ask(ctx context.Context, binary, path string, c proc.Command) string {
	info, err := os.Stat(binary)
	if err != nil {
		return ""
	}
	key := probed{binary: binary, path: path, size: info.Size(), modTime: info.ModTime()}
	p.mu.Lock()
	said, ok := p.known[key]
	p.mu.Unlock()
	if ok {
		return said
	}
	select {
	case p.seats <- struct{}{}:
		defer func() { <-p.seats }()
	case <-ctx.Done():
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, probesWait)
	defer cancel()
	out, _, code, err := proc.Output(ctx, c)
	if err != nil || code != 0 {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= probesKept {
		clear(p.known)
	}
	p.known[key] = string(out)
	return string(out)
}
