package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"cw/internal/cw"
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
	sum := sha256.New()
	if _, err := io.Copy(sum, self); err != nil {
		return "", fmt.Errorf("read the program itself: %w", err)
	}
	buildID = hex.EncodeToString(sum.Sum(nil))[:buildIDLength]
	target := home.Binary(buildID)
	if info, err := os.Stat(target); err == nil && sameSize(self, info) {
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

func sameSize(f *os.File, info os.FileInfo) bool {
	own, err := f.Stat()
	return err == nil && own.Size() == info.Size()
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

// removeOldBinaries removes the copies that no run that may live uses. The
// shim's command line names its copy, so those are kept by the caller's list.
func removeOldBinaries(home cw.Home, keep map[string]bool) error {
	entries, err := os.ReadDir(home.Bin())
	if err != nil {
		return fmt.Errorf("list binaries: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if !keep[e.Name()] {
			errs = append(errs, os.RemoveAll(filepath.Join(home.Bin(), e.Name())))
		}
	}
	return errors.Join(errs...)
}
