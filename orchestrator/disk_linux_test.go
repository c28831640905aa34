package orchestrator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// TestSpawnOnFullDisk fills the disk of the home before the worktree is made.
func TestSpawnOnFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		lab.Lacks(t, "only root mounts")
	}
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=48m"); err != nil {
		lab.Lacks(t, "no tmpfs here: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(disk, unix.MNT_DETACH)) })
	e := &engine{t: t, home: cw.Home(filepath.Join(disk, "home")), repo: filepath.Join(t.TempDir(), "shop"), books: t.TempDir()}
	must(t, os.MkdirAll(e.home.Providers(), 0o700))
	self, err := os.Executable()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(e.home.Providers(), "fake.yaml"), []byte(fakecli.Preset("fake", self)), 0o600))
	lab.NewRepo(t, e.repo)
	fill := filepath.Join(disk, "fill")
	e.boot(hook("spawn/"+stepIntended, func() { must(t, os.WriteFile(fill, make([]byte, 36<<20), 0o600)) }))
	t.Cleanup(e.sweep)
	_, err = e.Spawn(t.Context(), e.request(hangs()))
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "full") || cw.ErrorHint(err) == "" {
		t.Errorf("%v", err)
	}
	e.wantNothing()
	must(t, os.Remove(fill))
	if v := e.rest(e.mustSpawn(e.request(does())).Alias); v.Status != cw.StatusIdle {
		t.Errorf("with space again: %s %s: %s", v.Status, v.Reason, v.Error)
	}
}
