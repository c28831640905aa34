package badinput

import "errors"

// errNoMemoryDisk makes the tests that need a small disk skip by name.
var errNoMemoryDisk = errors.New("no disk in memory on this system")

func mountMemory(string, string) error { return errNoMemoryDisk }

func remountReadOnly(string, string) error { return errNoMemoryDisk }

func unmount(string) error { return errNoMemoryDisk }
