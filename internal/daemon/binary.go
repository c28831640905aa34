package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/store"
)

// buildIDLength is how much of the hash names a build.
const buildIDLength = 16

// installBinary puts a copy of this program into the home and gives the id of
// the build. Shims and agents use the copy, so that `go run` (which deletes
// its binary), upgrades and deleted files do not matter to them.
func installBinary(home cw.Home) (buildID string, err error) {
	self, err := openSelf()
	if err != nil {
		return "", fmt.Errorf("open the program itself: %w", err)
	}
	defer self.Close()
	if buildID, err = hash(self); err != nil {
		return "", fmt.Errorf("read the program itself: %w", err)
	}
	target := home.Binary(buildID)
	if found, err := hashOf(target); err == nil && found == buildID {
		return buildID, nil
	}
	if _, err := self.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("read the program itself: %w", err)
	}
	return buildID, copyProgram(self, target)
}

// openSelf opens the running program, also when its file was deleted.
func openSelf() (*os.File, error) {
	if runtime.GOOS == "linux" {
		return os.Open("/proc/self/exe")
	}
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}

// hash names a build by its content.
func hash(program io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, program); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil))[:buildIDLength], nil
}

// hashOf is the hash of an installed copy: an agent may have spoilt it.
func hashOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hash(f)
}

func copyProgram(from io.Reader, target string) error {
	if err := os.MkdirAll(filepath.Dir(target), homeMode); err != nil {
		return fmt.Errorf("install the program: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(target), ".cw-*")
	if err != nil {
		return fmt.Errorf("install the program: %w", err)
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	_, err = io.Copy(tmp, from)
	err = errors.Join(err, tmp.Chmod(0o700), tmp.Sync(), tmp.Close())
	if err != nil {
		return fmt.Errorf("install the program: %w", err)
	}
	if err := os.Rename(tmp.Name(), target); err != nil {
		return fmt.Errorf("install the program: %w", err)
	}
	return nil
}

// removeOldBinaries removes the copies of other builds that no unfinished run
// uses. Its error is a matter of disk space only.
func removeOldBinaries(home cw.Home, own string, runs []cw.RunState) error {
	old, err := oldBinaries(home, own, runs)
	errs := []error{err}
	for _, path := range old {
		errs = append(errs, os.RemoveAll(path))
	}
	return errors.Join(errs...)
}

// oldBinaries lists the folders of other builds that no unfinished run uses.
func oldBinaries(home cw.Home, own string, runs []cw.RunState) ([]string, error) {
	keep := map[string]bool{own: true}
	for _, r := range runs {
		keep[buildOf(r)] = true
	}
	entries, err := os.ReadDir(home.Bin())
	if err != nil {
		return nil, fmt.Errorf("list binaries: %w", err)
	}
	var old []string
	for _, e := range entries {
		if !keep[e.Name()] {
			old = append(old, filepath.Join(home.Bin(), e.Name()))
		}
	}
	return old, nil
}

// buildOf is the build that a run uses, as its run directory names it; "" when
// it was never prepared.
func buildOf(r cw.RunState) string {
	spec, err := proc.ReadSpec(r.Run.Dir)
	if err != nil {
		return ""
	}
	var facts struct {
		Binary string `json:"binary"`
	}
	if json.Unmarshal(spec.Meta, &facts) != nil {
		return ""
	}
	return filepath.Base(filepath.Dir(facts.Binary))
}

// unfinishedRuns gives every run that may still use its copy of the program: those
// of agents, and those of a project's commands, each command with the directory
// of its own.
func unfinishedRuns(ctx context.Context, db *store.DB) ([]cw.RunState, error) {
	runs, err := db.UnfinishedRuns(ctx)
	if err != nil {
		return nil, err
	}
	commands, err := db.UnfinishedCommands(ctx)
	if err != nil {
		return nil, err
	}
	for _, run := range commands {
		dirs, err := filepath.Glob(filepath.Join(run.Dir, "[0-9]*"))
		if err != nil {
			return nil, fmt.Errorf("list the commands of a run: %w", err)
		}
		for _, dir := range dirs {
			of := run
			of.Dir = dir
			runs = append(runs, cw.RunState{Run: of})
		}
	}
	return runs, nil
}
