package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers"
)

// versionWait is how long a CLI may take to tell its version unless another time
// is configured.
const versionWait = 20 * time.Second

// lookPath finds a provider's CLI on the caller's PATH.
func (o *Orchestrator) lookPath(p providers.Preset, path string) (string, error) {
	return p.Find(orDefault(path, envOf(o.Environ, "PATH")), envOf(o.Environ, "HOME"))
}

// findCommand finds the CLI and checks its version.
func (o *Orchestrator) findCommand(ctx context.Context, p providers.Preset, req cw.SpawnRequest, opts *options) error {
	if p.Command.From == providers.FromScript {
		return findScript(req.Script, opts)
	}
	found, err := o.lookPath(p, req.Env["PATH"])
	if err != nil {
		return err
	}
	opts.Command = found
	if len(p.Version.Args) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(o.VersionWait, versionWait))
	defer cancel()
	out, stderr, code, err := proc.Output(limited, proc.Command{
		Argv: append([]string{found}, p.Version.Args...),
		Env:  o.runEnv(p, req.Env, nil, nil, nil),
		Dir:  os.TempDir(),
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil // a busy machine is no reason: the run shows what the CLI can do
	}
	if err != nil || code != 0 {
		said := lastPart(append(out, stderr...), stderrShown)
		return cw.Errorf(cw.CodeFailed, "%s does not tell its version (%s)%s", found, versionTrouble(code, err), colon(said)).
			WithHint("run it by hand, or install it again: %s", p.Command.Install).Because(err)
	}
	opts.Version, err = p.CheckVersion(string(out))
	return err
}

// versionTrouble says for people how a version probe failed.
func versionTrouble(code int, err error) string {
	switch {
	case err != nil:
		return "it could not be run"
	case code < 0:
		return "a signal ended it"
	default:
		return fmt.Sprintf("exit code %d", code)
	}
}

func findScript(name string, opts *options) error {
	info, err := os.Stat(name)
	switch {
	case !filepath.IsAbs(name):
		return cw.Errorf(cw.CodeInvalid, "the script's path %q is not absolute", name).WithHint("give the whole path")
	case errors.Is(err, fs.ErrNotExist):
		return cw.Errorf(cw.CodeInvalid, "there is no script %s", name).WithHint("--script names an executable file, relative to the working directory or absolute")
	case err != nil:
		return cw.Errorf(cw.CodeInvalid, "the script %s cannot be read", name).WithHint("check the permissions of its directories").Because(err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return cw.Errorf(cw.CodeInvalid, "the script %s is not executable", name).WithHint("chmod +x %s", name)
	}
	opts.Script, opts.Command = name, name
	return nil
}

// findAgain finds the CLI of an agent that was made earlier.
func (o *Orchestrator) findAgain(preset providers.Preset, opts *options) error {
	if preset.Command.From == providers.FromScript {
		return findScript(opts.Script, opts)
	}
	found, err := o.lookPath(preset, opts.Env["PATH"])
	if err != nil {
		return err
	}
	opts.Command = found
	return nil
}

func envOf(environ []string, name string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
