package orchestrator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The names inside a run directory.
const (
	promptFile = "prompt.md"
	outputFile = "output.jsonl"
	stderrFile = "stderr.log"
)

const (
	// outputFiles and outputBytes bound what is copied from .cw/output.
	outputFiles = 1000
	outputBytes = 64 << 20
	// outputFileMax bounds one file of it.
	outputFileMax = 16 << 20
)

// writeFile writes a file of ours so that it is there whole or not at all,
// also after a power cut.
func writeFile(name string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.Rename(tmp.Name(), name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// outputCopy copies .cw/output of one agent.
type outputCopy struct {
	dir, to string
	files   int
	bytes   int64
}

func (c *outputCopy) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil // a folder the agent locked away: skip it
	}
	rel, err := filepath.Rel(filepath.Join(".cw", "output"), filepath.FromSlash(name))
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	if d.IsDir() {
		return os.MkdirAll(filepath.Join(c.to, rel), 0o700)
	}
	if !d.Type().IsRegular() || c.files >= outputFiles || c.bytes >= outputBytes {
		return nil
	}
	data, err := readOwnFile(c.dir, name, outputFileMax)
	if err != nil {
		return nil // odd files stay where they are
	}
	c.files++
	c.bytes += int64(len(data))
	return writeFile(filepath.Join(c.to, rel), data)
}
