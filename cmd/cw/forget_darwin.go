package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped drops what was typed at a terminal before anybody asked: it is
// no answer. What is no terminal keeps its bytes.
func forgetTyped(f *os.File) {
	const read = 1                                                 // FREAD of <sys/fcntl.h>: the input alone
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read) // it only spares a mistake
}
