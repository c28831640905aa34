package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"cw/internal/cw"
)

// homeMode is the mode of the home: it holds prompts, output and tokens.
const homeMode = 0o700

// DefaultHome returns the home for an environment: $CW_HOME, else ~/.cw.
// CodeInvalid when neither is an absolute path: a relative one would be another
// home in each directory.
func DefaultHome(getenv func(string) string) (cw.Home, error) {
	dir := getenv("CW_HOME")
	if dir == "" {
		user := getenv("HOME")
		if user == "" {
			return "", cw.Errorf(cw.CodeInvalid, "neither CW_HOME nor HOME is set").WithHint("export CW_HOME=/some/folder")
		}
		dir = filepath.Join(user, ".cw")
	}
	if !filepath.IsAbs(dir) {
		name := "CW_HOME"
		if getenv("CW_HOME") == "" {
			name = "HOME"
		}
		return "", cw.Errorf(cw.CodeInvalid, "%s must be an absolute path, and is %q", name, dir).
			WithHint("export %s with a path that begins with /", name)
	}
	return cw.Home(filepath.Clean(dir)), nil
}

// PrepareHome makes the home and its folders, and refuses one that others can
// look into or that cannot be written.
func PrepareHome(home cw.Home) error {
	dir := string(home)
	if err := os.MkdirAll(dir, homeMode); err != nil {
		return homeTrouble(dir, err)
	}
	if err := checkHome(dir); err != nil {
		return err
	}
	if err := checkNew(home); err != nil {
		return err
	}
	for _, sub := range []string{home.RunState(), home.Bin(), home.Repos(), home.Runs(), home.Providers()} {
		if err := os.MkdirAll(sub, homeMode); err != nil {
			return homeTrouble(dir, err)
		}
	}
	// Writing shows what a mode cannot: a read-only or full disk.
	probe, err := os.CreateTemp(home.RunState(), ".probe-*")
	if err != nil {
		return homeTrouble(dir, err)
	}
	_, err = probe.Write(make([]byte, 4096))
	if err = errors.Join(err, probe.Close(), os.Remove(probe.Name())); err != nil {
		return homeTrouble(dir, err)
	}
	return nil
}

// checkHome refuses a home that is not private.
func checkHome(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return homeTrouble(dir, err)
	}
	if !info.IsDir() {
		return cw.Errorf(cw.CodeRefused, "CW_HOME %s is no folder", dir).WithHint("choose another with CW_HOME")
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return cw.Errorf(cw.CodeRefused, "CW_HOME %s belongs to user %d", dir, st.Uid).WithHint("choose a folder of your own with CW_HOME")
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return cw.Errorf(cw.CodeRefused, "CW_HOME %s is open to other users (mode %04o)", dir, perm).WithHint("chmod 700 %s", dir)
	}
	return nil
}

// checkNew refuses a folder that is being removed by cw uninstall, and one that is no home
// yet and in which somebody else's folders have the names of cw's: a removal of the home
// could not tell them apart.
func checkNew(home cw.Home) error {
	if _, err := os.Lstat(home.Removal()); err == nil {
		return cw.Errorf(cw.CodeRefused, "CW_HOME %s is being removed by cw uninstall", home).
			WithHint("cw uninstall --yes finishes that; then cw can be used again")
	}
	if home.Made() {
		return nil
	}
	for _, dir := range []string{home.Bin(), home.Repos(), home.Runs(), home.Trash(), filepath.Dir(home.Caches("x"))} {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			return cw.Errorf(cw.CodeRefused, "CW_HOME %s holds a folder %q that is not cw's", home, filepath.Base(dir)).
				WithHint("choose an empty folder, or one that does not exist, with CW_HOME")
		}
	}
	return nil
}

func homeTrouble(dir string, err error) error {
	e := cw.Errorf(cw.CodeRefused, "CW_HOME %s cannot be used", dir).Because(err)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return e.WithHint("its disk is full: free some space and try again; nothing was lost")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return e.WithHint("it must be writable for you; choose another with CW_HOME")
	}
	return e.WithHint("check the path, or choose another with CW_HOME")
}

// writeWhole writes a small file so that readers see it whole or not at all.
func writeWhole(name string, data []byte, mode fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.Rename(tmp.Name(), name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
