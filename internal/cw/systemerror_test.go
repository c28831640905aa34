package cw_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cw/internal/cw"
)

func TestSystemError(t *testing.T) {
	t.Parallel()
	at := func(errno syscall.Errno) error {
		return fmt.Errorf("keep it: %w", &fs.PathError{Op: "open", Path: "/srv/my disk/x", Err: errno})
	}
	_, gone := os.ReadFile(filepath.Join(t.TempDir(), "gone"))
	noProgram := exec.Command("surely-no-program-of-this-name").Run()
	for _, tc := range []struct {
		err         error
		code        cw.Code
		says, hints string
	}{
		{at(syscall.ENOSPC), cw.CodeFailed, "no space left for /srv/my disk/x", "df '/srv/my disk/x'"},
		{at(syscall.EDQUOT), cw.CodeFailed, "no space left", "df "},
		{at(syscall.EROFS), cw.CodeFailed, "cannot be written to", "mounted"},
		{at(syscall.EACCES), cw.CodeFailed, "does not allow", "ls -ld"},
		{at(syscall.ENAMETOOLONG), cw.CodeInvalid, "too long", "shorter"},
		{at(syscall.EISDIR), cw.CodeFailed, "something else", "move it aside"},
		{at(syscall.EIO), cw.CodeFailed, "reported an error", "check the disk"},
		{at(syscall.ENOTSUP), cw.CodeFailed, "not supported", "cw logs"},
		{syscall.EMFILE, cw.CodeFailed, "too many open files", "ulimit"},
		{&os.LinkError{Op: "rename", Old: "/a", New: "/b", Err: syscall.ENOENT}, cw.CodeFailed, "/b is gone", "bring it back"},
		{os.NewSyscallError("fork/exec", syscall.EAGAIN), cw.CodeFailed, "no more room", "ulimit"},
		{gone, cw.CodeFailed, "is gone", "bring it back"},
		{noProgram, cw.CodeFailed, "the program surely-no-program-of-this-name is not found", "install it"},
	} {
		got := cw.SystemError(tc.err)
		if got == nil {
			t.Errorf("%v is not known", tc.err)
			continue
		}
		if got.Code != tc.code || !strings.Contains(got.Message, tc.says) || !strings.Contains(got.Hint, tc.hints) || !errors.Is(got, tc.err) {
			t.Errorf("%v: %s: %s (%s)", tc.err, got.Code, got.Message, got.Hint)
		}
	}
	for _, err := range []error{nil, io.EOF, errors.New("a bug")} {
		if got := cw.SystemError(err); got != nil {
			t.Errorf("%v counts as one of the system: %v", err, got)
		}
	}
}
