package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/safefile"
)

const (
	// holdsMax is how often an agent is held back in one run. After that its end
	// is judged as it is.
	holdsMax = 2
	// hookInputMax bounds what is read of a CLI's question.
	hookInputMax = 1 << 20
	// hookStop is the event that is answered. Sub-agents have one of their own.
	hookStop = "Stop"
)

// newHookCmd makes the commands that CLIs call by themselves, inside a run.
func newHookCmd(a *app) *cobra.Command {
	cmd := newGroupCmd("hook", "What CLIs call by themselves, inside a run", newHookStopCmd(a, nil))
	cmd.Hidden = true
	return cmd
}

type hookStopOptions struct {
	app  *app
	args []string
}

// newHookStopCmd makes the command of a Stop hook. It takes anything and never
// fails: an exit code of 2 would hold the agent back, and words on stderr would
// frighten it.
func newHookStopCmd(a *app, runF func(context.Context, *hookStopOptions) error) *cobra.Command {
	opts := &hookStopOptions{app: a}
	return &cobra.Command{
		Use:                "stop DIR",
		Short:              "Tell whether an agent may stop",
		DisableFlagParsing: true,
		Args:               anyArgs(&opts.args),
		RunE:               start(a, runF, hookStopRun, opts),
	}
}

// stopQuestion is what a CLI says when its agent wants to stop.
type stopQuestion struct {
	Event string           `json:"hook_event_name"`
	Tasks []backgroundTask `json:"background_tasks"` // claude 2.1.332
}

// backgroundTask is something that an agent left running.
type backgroundTask struct {
	Type   string `json:"type"` // subagent, shell, …
	Status string `json:"status"`
}

// waits reports whether sub-agents are at work, whose answers the agent will get.
// Other tasks end with the CLI.
func (q stopQuestion) waits() bool {
	return slices.Contains(q.Tasks, backgroundTask{Type: "subagent", Status: "running"})
}

// holdBack is the answer of a hook that sends the agent back to its work.
type holdBack struct {
	Decision string `json:"decision"` // block
	Reason   string `json:"reason"`   // said to the agent
}

// hookStopRun holds the agent back while its signal is missing or malformed. One that
// waits for sub-agents does not stop: the CLI goes on with it when they have answered,
// and asks again then. Whatever cannot be told for certain lets it go.
func hookStopRun(_ context.Context, o *hookStopOptions) error {
	run := o.app.env[proc.RunVariable]
	if run == "" || o.app.env["CW_AGENT_ID"] == "" || len(o.args) != 1 || !filepath.IsAbs(o.args[0]) {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(o.app.in, hookInputMax))
	var asked stopQuestion
	if err != nil || json.Unmarshal(data, &asked) != nil || asked.Event != hookStop || asked.waits() {
		return nil
	}
	trouble := signalTrouble(o.args[0])
	if trouble == "" || !mayHold(o.args[0], run) {
		return nil
	}
	return o.app.printJSONLine(holdBack{Decision: "block", Reason: fmt.Sprintf(
		"Do not stop yet: there is no readable %s: %s. Finish what is half done, write the signal that says how your work stands (done, questions or error, as signal_format has it), and stop then.",
		cw.SignalPath, trouble)})
}

// signalTrouble says in words what is wrong with the signal below a folder; ""
// when it is as it should be.
func signalTrouble(dir string) string {
	path := filepath.Join(dir, filepath.FromSlash(cw.SignalPath))
	f, err := safefile.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is not there"
	case errors.Is(err, safefile.ErrIrregular):
		return "it is no regular file"
	case err != nil:
		return "it cannot be opened"
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, cw.SignalMax+1))
	if err != nil {
		return "it cannot be read"
	}
	if _, err := cw.ParseSignal(data); err != nil {
		return err.Error()
	}
	return ""
}

// mayHold counts how often a run was held back, in files that are made before
// the answer is given: without them there is no answer.
func mayHold(dir, run string) bool {
	for n := 1; n <= holdsMax; n++ {
		name := filepath.Join(dir, ".cw", "tmp", "held-"+filepath.Base(run)+"-"+strconv.Itoa(n))
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return err == nil && f.Close() == nil
	}
	return false
}
