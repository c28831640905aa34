package orchestrator

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"cw/internal/cw"
	"cw/internal/safefile"
)

// errNoSignal says that there is no signal at all.
var errNoSignal = errors.New("it is not there")

// readSignal reads the signal of an agent whose cwd is dir. The file is the
// agent's and nothing about it is trusted: it must be a regular file with one
// link, reached through real folders, of bounded size. It never blocks (a FIFO
// is refused) and never reads outside dir. The bytes are returned even when
// their content is refused.
func readSignal(dir string) ([]byte, cw.Signal, error) {
	data, err := readOwnFile(dir, path.Join(signalBase(dir), cw.SignalPath), cw.SignalMax)
	if err != nil {
		return nil, cw.Signal{}, err
	}
	sig, err := cw.ParseSignal(data)
	return data, sig, err
}

// outputDir is where an agent leaves its files, relative to its cwd.
const outputDir = ".cw/output"

// signalBase is the folder that .cw/output is looked for in, relative to the
// recorded cwd: the cwd itself, or its workspace/ when the cwd has no
// .cw/output.
func signalBase(dir string) string {
	root, err := openOwnFolder(dir)
	if err != nil {
		return "."
	}
	defer root.Close()
	if errors.Is(realFolders(root, outputDir), errNoSignal) && realFolders(root, "workspace/"+outputDir) == nil {
		return "workspace"
	}
	return "."
}

// openOwnFolder opens an agent's folder. A link in its place is refused: it
// could lead into the folder of another agent.
func openOwnFolder(dir string) (*os.Root, error) {
	seen, err := os.Lstat(dir)
	if err != nil {
		return nil, errNoSignal
	}
	if !seen.IsDir() {
		return nil, fmt.Errorf("%s is %s, not a folder", dir, kindOf(seen))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened: %w", dir, err)
	}
	if info, err := root.Stat("."); err != nil || !os.SameFile(seen, info) {
		root.Close()
		return nil, fmt.Errorf("%s was exchanged while it was opened", dir)
	}
	return root, nil
}

// readOwnFile reads a file below dir that an agent may have prepared.
func readOwnFile(dir, name string, limit int64) ([]byte, error) {
	root, err := openOwnFolder(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	seen, err := lookAtPath(root, name)
	if err != nil {
		return nil, err
	}
	f, err := safefile.OpenIn(root, name)
	if err != nil {
		return nil, fmt.Errorf("it cannot be opened: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if !os.SameFile(seen, info) {
		return nil, errors.New("it was exchanged while it was read")
	}
	if err := acceptable(info, limit); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("it is larger than %d bytes", limit)
	}
	return data, nil
}

// lookAtPath walks to the file and accepts only real folders on the way.
func lookAtPath(root *os.Root, name string) (fs.FileInfo, error) {
	if err := realFolders(root, path.Dir(name)); err != nil {
		return nil, err
	}
	info, err := lstat(root, name)
	if err != nil {
		return nil, err
	}
	return info, acceptable(info, -1)
}

// realFolders makes sure that every part of a path is a folder and no link.
func realFolders(root *os.Root, dir string) error {
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		info, err := lstat(root, at)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is %s, not a folder", at, kindOf(info))
		}
	}
	return nil
}

func lstat(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoSignal
	}
	if err != nil {
		return nil, fmt.Errorf("it cannot be looked at: %w", err)
	}
	return info, nil
}

// acceptable refuses everything but a plain file with one link and, with a
// limit, of at most that size.
func acceptable(info fs.FileInfo, limit int64) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is %s, not a plain file", kindOf(info))
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return errors.New("it is a hard link to another file")
	}
	if limit >= 0 && info.Size() > limit {
		return fmt.Errorf("it is larger than %d bytes", limit)
	}
	return nil
}

func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a plain file"
}
