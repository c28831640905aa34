package main

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"cw/internal/cwtest/lab"
)

// TestForgetTyped: what was typed before is dropped, what is typed after is
// read.
func TestForgetTyped(t *testing.T) {
	t.Parallel()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		lab.Lacks(t, "there are no pseudo terminals here: %v", err)
	}
	defer keys.Close()
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	typed := func(text string) {
		if _, err := keys.WriteString(text); err != nil {
			t.Fatal(err)
		}
		// The echo tells that the line has arrived.
		echo := make([]byte, len(text)+1) // the terminal puts a carriage return before its end
		for n := 0; n < len(echo); {
			got, err := keys.Read(echo[n:])
			if err != nil {
				t.Fatal(err)
			}
			n += got
		}
	}
	typed("stale\n")
	forgetTyped(terminal)
	typed("answer\n")
	line := make([]byte, 100)
	n, err := terminal.Read(line)
	if got := string(line[:n]); err != nil || got != "answer\n" {
		t.Errorf("read %q, %v", got, err)
	}
}
