package badinput

import "syscall"

// mountMemory mounts a small disk in memory; it takes root.
func mountMemory(dir, options string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, options)
}

func remountReadOnly(dir, options string) error {
	return syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, options)
}

func unmount(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }
