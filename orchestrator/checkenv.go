package orchestrator

import (
	"context"
	"fmt"
	"sync"

	"cw/internal/cw"
)

// asItsAgent gives the commands that check an agent's work what the agent had:
// the PATH of whoever started it, and ports. release gives the ports up.
func (o *Orchestrator) asItsAgent(ctx context.Context, r cw.CommandRun) (as cw.CommandRun, release func(), err error) {
	release = func() {}
	if r.WorkOf == "" {
		return r, release, nil
	}
	view, err := o.Store.AgentView(ctx, string(r.WorkOf))
	if err != nil {
		return r, release, fmt.Errorf("find the agent whose work is checked: %w", err)
	}
	opts, err := optionsOf(view.Agent)
	if err != nil {
		return r, release, err
	}
	r.Caller = o.keptEnv(opts.Env)
	if r.Ports == 0 {
		return r, release, nil
	}
	if err := o.givePorts(ctx, r.ProjectID, r.WorkOf, r.Ports); err != nil {
		return r, release, err
	}
	ports, err := o.Store.PortsOf(ctx, r.WorkOf)
	if err != nil {
		return r, release, fmt.Errorf("read ports: %w", err)
	}
	env := map[string]string{}
	for name, value := range r.Env {
		env[name] = value
	}
	for _, p := range ports {
		if p.ProjectID == r.ProjectID {
			addPorts(env, p.Numbers(), 0)
			release = o.lent.take(p)
		}
	}
	r.Env = env
	return r, release, nil
}

// lentPorts are ports that checks use. The worktree that they belong to may be
// gone, and then nothing else says that they are taken.
type lentPorts struct {
	mu  sync.Mutex
	all map[*cw.WorktreePorts]bool // guarded by mu
}

func newLentPorts() *lentPorts { return &lentPorts{all: map[*cw.WorktreePorts]bool{}} }

// take notes that ports are used until release is called.
func (l *lentPorts) take(p cw.WorktreePorts) (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all[&p] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, &p)
	}
}

// has tells whether a check uses a port.
func (l *lentPorts) has(port int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.all {
		if p.Has(port) {
			return true
		}
	}
	return false
}
