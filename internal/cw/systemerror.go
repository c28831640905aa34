package cw

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// systemFault is one kind of what the system refuses.
type systemFault struct {
	errnos []syscall.Errno
	code   Code
	is     string // what is wrong; PATH stands for the path
	do     string // what to do; PATH stands for the path, ready for a shell
}

// systemFaults lists the kinds. Whatever is not in it is told in the system's words.
func systemFaults() []systemFault {
	return []systemFault{
		{[]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}, CodeFailed,
			"there is no space left for PATH", "free some space, then try again: df PATH"},
		{[]syscall.Errno{syscall.EROFS}, CodeFailed,
			"PATH is on a file system that cannot be written to", "see how it is mounted: df PATH"},
		{[]syscall.Errno{syscall.EACCES, syscall.EPERM}, CodeFailed,
			"the system does not allow cw to use PATH", "check its owner and its permissions: ls -ld PATH"},
		{[]syscall.Errno{syscall.ENOENT}, CodeFailed,
			"PATH is gone", "bring it back, then try again; cw doctor looks at everything that cw needs"},
		{[]syscall.Errno{syscall.ENOTDIR, syscall.EISDIR, syscall.EEXIST, syscall.ENOTEMPTY, syscall.ELOOP, syscall.ENXIO}, CodeFailed,
			"something else than cw expects is at PATH", "look at it and move it aside: ls -ld PATH"},
		{[]syscall.Errno{syscall.ENAMETOOLONG}, CodeInvalid,
			"the path PATH is too long", "use shorter names"},
		{[]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN}, CodeFailed,
			"the machine has no more room for PATH", "end something else, or raise the limit (ulimit -a), then try again"},
		{[]syscall.Errno{syscall.EIO, syscall.ESTALE}, CodeFailed,
			"the disk of PATH reported an error", "check the disk, then try again"},
		{[]syscall.Errno{syscall.ENOEXEC, syscall.ETXTBSY}, CodeFailed,
			"PATH cannot be executed", "check that it is a program for this machine: file PATH"},
	}
}

// SystemError returns what an error of the operating system (a full disk, a file that
// is gone, a permission, too many open files) means for people, with the error as its
// cause: CodeFailed, or CodeInvalid for a path that is too long. It returns nil for
// any other error. It is for the borders of the program, where an error without a code
// would count as a bug.
func SystemError(err error) *Error {
	var missing *exec.Error
	if errors.As(err, &missing) && errors.Is(missing.Err, exec.ErrNotFound) {
		return Errorf(CodeFailed, "the program %s is not found", missing.Name).
			WithHint("install it, or add its folder to PATH, then from a shell that has it: cw restart").Because(err)
	}
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return nil
	}
	path := pathOf(err)
	shown, word := path, ShellWord(path)
	if path == "" {
		shown, word = "it ("+errno.Error()+")", "."
	}
	for _, f := range systemFaults() {
		if slices.Contains(f.errnos, errno) {
			return Errorf(f.code, "%s", strings.ReplaceAll(f.is, "PATH", shown)).
				WithHint("%s", strings.ReplaceAll(f.do, "PATH", word)).Because(err)
		}
	}
	return Errorf(CodeFailed, "the system refused something: %s", errno.Error()).
		WithHint("cw logs shows what was tried; cw doctor looks at everything that cw needs").Because(err)
}

// pathOf is the path that an error of the system is about, "" when it names none.
func pathOf(err error) string {
	var one *fs.PathError
	var two *os.LinkError
	var program *exec.Error
	switch {
	case errors.As(err, &one):
		return one.Path
	case errors.As(err, &two):
		return two.New
	case errors.As(err, &program):
		return program.Name
	}
	return ""
}
