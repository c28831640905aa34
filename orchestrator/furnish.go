package orchestrator

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"cw/environment"
	"cw/internal/cw"
)

const (
	// portTries is how often ports are looked for anew when another worktree took
	// them meanwhile.
	portTries = 20
	// setUpShown is how much of the end of a failed set-up its error says.
	setUpShown = 2 << 10
)

// furnish makes worktrees what the project files say: shared caches, ports, and
// what the set-up commands make. Every part may be repeated. It gives what is
// worth a word to people. CodeFailed, with the log, when a set-up fails.
func (o *Orchestrator) furnish(ctx context.Context, st *cw.RunState, opts options) (notes []string, err error) {
	for i, t := range st.Worktrees {
		file := opts.around.of(t.ProjectID)
		if err := o.givePorts(ctx, t.ProjectID, st.Agent.ID, file.Ports); err != nil {
			return nil, err
		}
		if len(file.Setup)+len(file.Caches)+len(file.Teardown) == 0 {
			continue
		}
		more, err := o.furnishOne(ctx, st, i, file, opts)
		if err != nil {
			return nil, err
		}
		notes = append(notes, more...)
	}
	return append(notes, hooksNotes(*st, opts)...), nil
}

// furnishOne links the caches of one worktree and runs its set-up, unless it
// did.
func (o *Orchestrator) furnishOne(ctx context.Context, st *cw.RunState, i int, file cw.ProjectFile, opts options) ([]string, error) {
	t := &st.Worktrees[i]
	look, err := o.lookRequest(ctx, st.Agent, *t)
	if err != nil {
		return nil, err
	}
	caches := map[string]string{}
	for _, c := range file.Caches {
		caches[c] = filepath.Join(o.Home.Caches(t.ProjectID), filepath.FromSlash(c))
	}
	links, notes, err := o.Repos.ShareCaches(ctx, look, caches)
	if err != nil {
		return nil, err
	}
	if t.SetUp {
		return nil, nil // what was noted then still holds
	}
	over := o.Repos.SettingUp(ctx, look.Project)
	defer over()
	if err := o.Repos.BeginSetUp(ctx, look); err != nil {
		return nil, fmt.Errorf("note the set-up of %s: %w", t.Project, err)
	}
	o.Fail.Hit("setup/begun")
	if len(file.Setup) > 0 {
		if err := o.runSetUp(ctx, *st, *t, file, o.keptEnv(opts.Env)); err != nil {
			return nil, err
		}
		// A set-up may have cleared the folder that a link is in.
		if links, notes, err = o.Repos.ShareCaches(ctx, look, caches); err != nil {
			return nil, err
		}
	}
	o.Fail.Hit("setup/run")
	included, more, err := o.Repos.EndSetUp(ctx, look, links)
	if err != nil {
		return nil, err
	}
	t.Included, t.SetUp = included, true
	if err := o.Store.SaveWorktrees(ctx, st.Op.ID, stepOf(*st.Op, stepWorktrees), st.Worktrees); err != nil {
		return nil, fmt.Errorf("store the set-up of %s: %w", t.Project, err)
	}
	o.Fail.Hit("setup/stored")
	return append(notes, more...), nil
}

// runSetUp runs the set-up commands of a project in a worktree. CodeFailed.
func (o *Orchestrator) runSetUp(ctx context.Context, st cw.RunState, t cw.AgentWorktree, file cw.ProjectFile, caller map[string]string) error {
	env, err := o.commandVariables(ctx, t, file)
	if err != nil {
		return err
	}
	run := cw.CommandRun{
		ID: setUpID(st.Run.ID, t.ProjectID, "setup"), Kind: cw.RunSetup, AgentID: st.Agent.ID, Alias: st.Agent.Alias,
		Dir: t.Path, Commands: file.Setup, Env: env, Caller: caller,
	}
	stop := make(chan struct{})
	run.Stop = stop
	watching, over := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		if o.awaitStop(watching, st) {
			close(stop)
		}
	})
	result, err := o.RunCommands(ctx, run)
	over()
	watch.Wait()
	if err != nil {
		return fmt.Errorf("set up the worktree of %s: %w", t.Project, err)
	}
	if result.OK {
		return nil
	}
	text := fmt.Sprintf("the set-up of %s failed: %q: %s", t.Project, result.Failed, result.Reason)
	if said := lastPart([]byte(result.Output), setUpShown); said != "" {
		text += "\nit printed:\n" + said
	}
	return cw.Errorf(cw.CodeFailed, "%s", text).WithHint("all of its output is in %s; the commands are those under setup: in %s", result.LogPath, cw.ProjectFileName)
}

// awaitStop waits until somebody wants the end of an agent's run, which waits for
// its set-up; false when ctx ends first.
func (o *Orchestrator) awaitStop(ctx context.Context, st cw.RunState) bool {
	for {
		ring := o.bell.Next(st.Agent.ID)
		if o.stopWanted(ctx, st.Run.ID) {
			return true
		}
		select {
		case <-ring:
		case <-time.After(settleWait):
		case <-ctx.Done():
			return false
		}
	}
}

// setUpID names the run of a project's commands for a run of an agent: the same
// again takes up what was started.
func setUpID(run cw.RunID, project cw.ProjectID, what string) cw.RunID {
	sum := sha256.Sum256([]byte(string(run) + "/" + string(project) + "/" + what))
	return cw.RunID(strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:cw.IDLength]))
}

// commandVariables are those of a project's commands in a worktree: of the file,
// and the worktree's ports.
func (o *Orchestrator) commandVariables(ctx context.Context, t cw.AgentWorktree, file cw.ProjectFile) (map[string]string, error) {
	ports, err := o.Store.PortsOf(ctx, t.AgentID)
	if err != nil {
		return nil, fmt.Errorf("read ports: %w", err)
	}
	env := map[string]string{}
	for name, value := range file.Env {
		env[name] = value
	}
	for _, p := range ports {
		if p.ProjectID == t.ProjectID {
			addPorts(env, p.Numbers(), 0)
		}
	}
	return env, nil
}

// addPorts puts ports into variables, numbered from a number on.
func addPorts(env map[string]string, ports []int, from int) {
	for i, port := range ports {
		env["CW_PORT_"+strconv.Itoa(from+i)] = strconv.Itoa(port)
	}
}

// projectEnv is what projects add to the environment of their agents.
type projectEnv struct {
	file  map[string]string // of the project files
	ports map[string]string // CW_PORT_0 and so on
	hooks string            // folder of git hooks that run; "": none do
}

// projectEnv gives what the projects of an agent add to its environment. Of
// several projects the ports are numbered on, in the order of the worktrees, and
// the first that sets a variable wins.
func (o *Orchestrator) projectEnv(ctx context.Context, st cw.RunState, opts options) (projectEnv, error) {
	env := projectEnv{file: map[string]string{}, ports: map[string]string{}, hooks: hooksThatRun(st, opts)}
	for _, t := range st.Worktrees {
		file := opts.around.of(t.ProjectID)
		for name, value := range file.Env {
			if _, taken := env.file[name]; !taken {
				env.file[name] = value
			}
		}
		if file.Ports == 0 {
			continue
		}
		all, err := o.Store.PortsOf(ctx, st.Agent.ID)
		if err != nil {
			return env, fmt.Errorf("read ports: %w", err)
		}
		for _, p := range all {
			if p.ProjectID == t.ProjectID {
				addPorts(env.ports, p.Numbers(), len(env.ports))
			}
		}
	}
	return env, nil
}

// givePorts gives a worktree its ports, and keeps those that it has while they
// are nobody else's.
func (o *Orchestrator) givePorts(ctx context.Context, project cw.ProjectID, agent cw.AgentID, count int) error {
	if count == 0 {
		return nil
	}
	has, err := o.Store.PortsOf(ctx, agent)
	if err != nil {
		return fmt.Errorf("read ports: %w", err)
	}
	for _, p := range has {
		if p.ProjectID != project || p.Count != count {
			continue
		}
		if err := o.Store.SavePorts(ctx, p); err == nil || cw.ErrorCode(err) != cw.CodeRefused {
			return err
		}
	}
	for try := 1; ; try++ {
		used, err := o.Store.PortsInUse(ctx)
		if err != nil {
			return fmt.Errorf("read ports: %w", err)
		}
		ports, err := environment.Ports(count, func(port int) bool {
			for _, p := range used {
				if p.Has(port) {
					return true
				}
			}
			return o.lent.has(port)
		})
		if err != nil {
			return err
		}
		err = o.Store.SavePorts(ctx, cw.WorktreePorts{AgentID: agent, ProjectID: project, First: ports[0], Count: count})
		if err == nil || cw.ErrorCode(err) != cw.CodeRefused || try == portTries {
			return err
		}
	}
}
