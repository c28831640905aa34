package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"cw/internal/cw"
)

// signalContents is a signal as it is written.
type signalContents struct {
	Status    cw.SignalStatus     `json:"status"`
	Result    string              `json:"result,omitempty"`
	NoChanges string              `json:"noChanges,omitempty"`
	Error     string              `json:"error,omitempty"`
	Questions []cw.SignalQuestion `json:"questions,omitempty"`
}

// signalled tells that a signal is written.
type signalled struct {
	Status  string          `json:"status"` // written
	Signal  cw.SignalStatus `json:"signal"`
	Path    string          `json:"path"`
	Message string          `json:"message"`
}

// signal writes the signal of the calling agent's run.
func (c call) signal(sig signalContents) (any, error) {
	data, err := json.MarshalIndent(sig, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the signal: %w", err)
	}
	if _, err := cw.ParseSignal(data); err != nil {
		return nil, cw.Errorf(cw.CodeInvalid, "the signal is not readable: %v", err).WithHint("mend it and call again")
	}
	if err := writeSignal(c.box.AgentCwd, append(data, '\n')); err != nil {
		return nil, err
	}
	return signalled{
		Status: "written", Signal: sig.Status, Path: cw.SignalPath,
		Message: "The signal is written. End your turn now; whatever you change later is not in it.",
	}, nil
}

// writeSignal puts the signal into its place, whole or not at all. It follows no
// link: what the repository put there must not lead it elsewhere.
func writeSignal(cwd string, data []byte) error {
	root, err := os.OpenRoot(cwd)
	if err != nil {
		return cannotSignal(err)
	}
	defer root.Close()
	dir := path.Dir(cw.SignalPath)
	for _, folder := range []string{path.Dir(dir), dir} {
		if err := root.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return cannotSignal(err)
		}
		if info, err := root.Lstat(folder); err != nil || !info.IsDir() {
			return cannotSignal(fmt.Errorf("%s is no folder", folder))
		}
	}
	if info, err := root.Lstat(cw.SignalPath); err == nil && info.IsDir() {
		return cannotSignal(fmt.Errorf("%s is a folder", cw.SignalPath))
	}
	draft := path.Join(dir, ".signal-"+cw.NewID())
	if err := writeDraft(root, draft, data); err != nil {
		_ = root.Remove(draft) // it may not be there
		return cannotSignal(err)
	}
	if err := root.Rename(draft, cw.SignalPath); err != nil {
		_ = root.Remove(draft)
		return cannotSignal(err)
	}
	return nil
}

func writeDraft(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

func cannotSignal(err error) error {
	return cw.Errorf(cw.CodeFailed, "the signal cannot be written: %v", err).
		WithHint("look at %s in your working directory, clear the way, and call again", path.Dir(cw.SignalPath)).Because(err)
}
