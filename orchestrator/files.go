package orchestrator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// The names inside a run directory.
const (
	promptFile = "prompt.md"
	outputFile = "output.jsonl"
	stderrFile = "stderr.log"
)

// promptMost bounds, in bytes, the prompt that is read back from a run directory: many
// times what is ever written there.
const promptMost = 64 << 20

// copyLimits bound what is copied of an agent's files.
type copyLimits struct {
	Files   int   // that are copied
	Entries int   // that are looked at, folders too
	Bytes   int64 // of all files
	File    int64 // of one file
}

func outputLimits() copyLimits {
	return copyLimits{Files: 1000, Entries: 10_000, Bytes: 64 << 20, File: 16 << 20}
}

// writeFile writes a file of ours so that it is there whole or not at all,
// also after a power cut.
func writeFile(name string, data []byte) error {
	// Not made from the name: one that is as long as names may be must work.
	tmp, err := os.CreateTemp(filepath.Dir(name), ".writing-*")
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

// copyOutput copies the plain files of an agent's .cw/output, without following
// links and within limits; what is odd stays where it is. dir is the agent's
// cwd. whole is false when a limit left something out.
func copyOutput(dir, to string, limits copyLimits) (whole bool, err error) {
	root, err := openOwnFolder(dir)
	if err != nil {
		return true, nil // the worktree is gone, or no folder of ours: there is nothing to copy
	}
	defer root.Close()
	from := path.Join(signalBase(dir), outputDir)
	if realFolders(root, from) != nil {
		return true, nil
	}
	c := outputCopy{dir: dir, from: from, to: to, limits: limits}
	err = fs.WalkDir(root.FS(), from, c.visit)
	return !c.cut, err
}

// outputCopy copies .cw/output of one agent.
type outputCopy struct {
	dir, from, to string
	limits        copyLimits
	entries       int
	files         int
	bytes         int64
	cut           bool // a limit left something out
}

func (c *outputCopy) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		return nil // a folder that the agent locked away: skip it
	}
	c.entries++
	if c.entries > c.limits.Entries || c.files >= c.limits.Files || c.bytes >= c.limits.Bytes {
		c.cut = true
		return fs.SkipAll
	}
	rel, err := filepath.Rel(filepath.FromSlash(c.from), filepath.FromSlash(name))
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	target := filepath.Join(c.to, rel)
	if d.IsDir() {
		if err = os.MkdirAll(target, 0o700); errors.Is(err, syscall.ENAMETOOLONG) {
			return fs.SkipDir // deeper than a path may be
		}
		return err
	}
	if !d.Type().IsRegular() {
		return nil
	}
	data, err := readOwnFile(c.dir, name, min(c.limits.File, c.limits.Bytes-c.bytes))
	if err != nil {
		c.cut = true
		return nil // odd files stay where they are
	}
	c.files++
	c.bytes += int64(len(data))
	if err := writeFile(target, data); !errors.Is(err, syscall.ENAMETOOLONG) {
		return err
	}
	return nil
}
