package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"cw/internal/cw"
)

// listen makes the daemon's socket and tells clients where it is. The caller
// has the daemon's lock, so a socket that is there is a dead daemon's.
func listen(home cw.Home) (*net.UnixListener, string, error) {
	path, err := socketPath(home)
	if err != nil {
		return nil, "", err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("remove the socket of a dead daemon: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, "", fmt.Errorf("listen on %s: %w", path, err)
	}
	err = errors.Join(os.Chmod(path, 0o600), writeWhole(home.SocketFile(), []byte(path+"\n"), 0o600))
	if err != nil {
		return nil, "", errors.Join(err, l.Close())
	}
	return l, path, nil
}

// socketPath is the usual path, or a short one in a private folder when that
// is longer than the system takes.
func socketPath(home cw.Home) (string, error) {
	if path := home.Socket(); len(path) <= cw.SocketPathMax {
		return path, nil
	}
	sum := sha256.Sum256([]byte(home))
	dir := filepath.Join(shortRoot(), "cw-"+strconv.Itoa(os.Geteuid())+"-"+hex.EncodeToString(sum[:6]))
	if err := os.Mkdir(dir, homeMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make a folder for the socket: %w", err)
	}
	// The name can be guessed, so somebody else may have made it first.
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("look at the socket's folder: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != os.Geteuid() || info.Mode().Perm() != homeMode {
		return "", cw.Errorf(cw.CodeRefused, "the folder %s for the socket is not private", dir).
			WithHint("remove it, or choose a shorter CW_HOME")
	}
	return filepath.Join(dir, "s"), nil
}

// shortRoot is a folder with a short name for private files.
func shortRoot() string {
	const longest = 60 // leaves room for the folder's and the socket's name
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" && len(dir) <= longest {
		return dir
	}
	if dir := os.TempDir(); len(dir) <= longest {
		return dir
	}
	return "/tmp"
}
