package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped drops what was typed at a terminal before anybody asked: it is
// no answer. What is no terminal keeps its bytes.
func forgetTyped(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) // it only spares a mistake
}
