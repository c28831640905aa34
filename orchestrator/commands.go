package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cw/internal/cw"
)

const (
	// commandOutputMax is how much the commands of one run may print: more is no
	// report that anybody reads, and fills the disk.
	commandOutputMax = 64 << 20
	// commandTail is how much of the end of it is handed on.
	commandTail = 16 << 10
	// commandGrace is the time between asking a command to end and ending it.
	commandGrace = 5 * time.Second
	// commandLog holds what the commands of a run printed, one after the other.
	commandLog = "output.log"
)

// RunCommands runs commands of a project, one after the other until one fails,
// each by a shim, so that they outlive the daemon and are ended whole. The same
// id again takes up what was started: a command that lives is waited for, one
// that ended is not run again, and neither is one whose end nobody knows. A
// result that says Outside tells nothing about the project: so does that of a
// command that was ended because of r.Stop.
//
// When ctx ends it lets go, with the error of ctx, and the command goes on.
// CodeInvalid for a request that is none.
func (o *Orchestrator) RunCommands(ctx context.Context, r cw.CommandRun) (cw.CommandResult, error) {
	if err := checkCommands(r); err != nil {
		return cw.CommandResult{}, err
	}
	done, err := o.commands.take(ctx, r.ID)
	if err != nil {
		return cw.CommandResult{}, err
	}
	defer done()
	run, err := o.Store.IntendCommands(ctx, o.commandRow(r))
	if err != nil {
		return cw.CommandResult{}, fmt.Errorf("store a run of commands: %w", err)
	}
	if run.EndedAt != nil {
		return storedResult(run)
	}
	o.Fail.Hit("commands/intended")
	r, release, err := o.asItsAgent(ctx, r)
	if err != nil {
		return cw.CommandResult{}, err
	}
	defer release()
	result, err := o.runAll(ctx, r, run)
	if err != nil {
		return cw.CommandResult{}, err
	}
	if err := o.endCommands(ctx, run, result); err != nil {
		return cw.CommandResult{}, err
	}
	o.Fail.Hit("commands/ended")
	return result, nil
}

// checkCommands refuses a request that cannot be carried out. CodeInvalid.
func checkCommands(r cw.CommandRun) error {
	bad := func(format string, args ...any) error {
		return cw.Errorf(cw.CodeInvalid, "commands cannot be run: %s", fmt.Sprintf(format, args...))
	}
	switch {
	case !cw.IsID(string(r.ID)):
		return bad("%.40q is no id", r.ID)
	case r.Kind != cw.RunCheck && r.Kind != cw.RunSetup:
		return bad("%.40q is no kind of them", r.Kind)
	case !filepath.IsAbs(r.Dir):
		return bad("the folder %.80q is not absolute", r.Dir)
	}
	for _, c := range r.Commands {
		if c.Run == "" || c.Timeout <= 0 {
			return bad("%.80q has no text or no timeout", c.Name)
		}
	}
	return nil
}

// commandRow is the row of a run of commands.
func (o *Orchestrator) commandRow(r cw.CommandRun) cw.Run {
	dir := o.Home.CommandDir(r.Kind, r.ID)
	return cw.Run{ID: r.ID, AgentID: r.AgentID, Kind: r.Kind, Dir: dir, OutputPath: filepath.Join(dir, commandLog)}
}

// runAll runs the commands of a run that is not over.
func (o *Orchestrator) runAll(ctx context.Context, r cw.CommandRun, run cw.Run) (cw.CommandResult, error) {
	result := cw.CommandResult{OK: true, LogPath: run.OutputPath}
	if err := os.MkdirAll(run.Dir, 0o700); err != nil {
		return result, fmt.Errorf("make the run directory: %w", err)
	}
	env := o.commandEnv(r)
	for i, c := range r.Commands {
		ended, err := o.runCommand(ctx, newCommand(r, run, i, env))
		if err != nil {
			return result, fmt.Errorf("run %q of %s: %w", c.Name, run.Dir, err)
		}
		v := judgeCommand(c, ended)
		result.Took += ended.took()
		if !v.ok {
			result.OK, result.Failed, result.Reason, result.Outside, result.ExitCode = false, c.Name, v.reason, v.outside, v.code
			break
		}
	}
	result.Output = o.commandOutput(run.OutputPath)
	return result, nil
}

// commandEnv is the environment of the commands of a run: the daemon's, with the
// caller's PATH, and what the project sets. It has no token: what they call of cw
// is refused.
func (o *Orchestrator) commandEnv(r cw.CommandRun) []string {
	extra := make(map[string]string, len(r.Env)+1)
	if r.Kind == cw.RunCheck {
		extra["CI"] = "true"
	}
	for name, value := range r.Env {
		extra[name] = value
	}
	environ := slices.Clone(o.Environ)
	for name, value := range r.Caller {
		environ = append(environ, name+"="+value) // the last one of a name counts
	}
	return o.Presets.CommandEnv(environ, extra)
}

// commandOutput is the end of what commands printed, without secrets.
func (o *Orchestrator) commandOutput(path string) string {
	// A secret that lies across the cut is not seen as one: what may be the rest of
	// it goes.
	reach := o.Redact.Reach()
	masked := o.Redact.Mask(tailOf(path, int64(commandTail+reach)))
	if len(masked) > commandTail {
		masked = masked[len(masked)-commandTail:]
	}
	return lastPart(masked, commandTail)
}

// endCommands stores how a run of commands came out.
func (o *Orchestrator) endCommands(ctx context.Context, run cw.Run, result cw.CommandResult) error {
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("encode the result of commands: %w", err)
	}
	run.Result = string(data)
	if !result.Outside {
		run.ExitCode = &result.ExitCode
	}
	if err := o.Store.EndCommands(ctx, run); err != nil {
		return fmt.Errorf("store the result of commands: %w", err)
	}
	return nil
}

// storedResult is the result of a run of commands that is over.
func storedResult(run cw.Run) (cw.CommandResult, error) {
	var result cw.CommandResult
	if err := json.Unmarshal([]byte(run.Result), &result); err != nil {
		return result, fmt.Errorf("read the result of the commands in %s: %w", run.Dir, err)
	}
	return result, nil
}
