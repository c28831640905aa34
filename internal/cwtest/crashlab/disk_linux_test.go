package crashlab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// smallDisk is the disk on which a whole home has to live. The write-ahead logs
// of both databases alone take some 20 MB of it.
const smallDisk = "mode=0700,size=64m"

// fullCycles is how often that disk is filled and freed again.
const fullCycles = 4

// onSmallDisk puts the home of a course on a disk of its own. Copies of the
// program lie elsewhere: they alone are larger than it.
func onSmallDisk(t *testing.T, c *course) {
	t.Helper()
	if os.Geteuid() != 0 {
		lab.Lacks(t, "only root mounts: the small disk cannot be made")
	}
	home := string(c.Home)
	preset, err := os.ReadFile(filepath.Join(c.Home.Providers(), "fake.yaml"))
	c.need(err)
	bin := t.TempDir()
	c.need(syscall.Mount("tmpfs", home, "tmpfs", 0, smallDisk))
	t.Cleanup(func() { _ = syscall.Unmount(home, syscall.MNT_DETACH) }) // what is left goes with the folder
	for _, dir := range []string{c.Home.Providers(), c.Home.Bin()} {
		c.need(os.MkdirAll(dir, 0o700))
	}
	t.Cleanup(func() {
		if t.Failed() { // what takes the space
			space, _ := exec.Command("du", "-k", "--all", "--threshold=16K", "--exclude=bin", home).Output()
			t.Logf("%s", space)
		}
	})
	c.need(syscall.Mount(bin, c.Home.Bin(), "", syscall.MS_BIND, ""))
	t.Cleanup(func() { _ = syscall.Unmount(c.Home.Bin(), syscall.MNT_DETACH) })
	c.need(os.WriteFile(filepath.Join(c.Home.Providers(), "fake.yaml"), preset, 0o600))
}

// fill takes all that is free on the disk of the home, and free gives it back.
func fill(c *course) {
	c.T.Helper()
	f, err := os.Create(filepath.Join(string(c.Home), "filler"))
	c.need(err)
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2 // to the last byte
		}
	}
}

func free(c *course) {
	c.T.Helper()
	c.need(os.Remove(filepath.Join(string(c.Home), "filler")))
}

// TestFullDisk fills the disk under a whole home again and again, while agents
// write, end, are answered and are removed. Nothing acknowledged is lost, no
// end is false, no byte is lost, and all goes on by itself when there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	onSmallDisk(t, c)
	c.rough = true
	c.begin()
	for cycle := range fullCycles {
		s := works(fmt.Sprintf("work-%d.txt", cycle))
		s.Pieces, s.PaceMS, s.Linger = 300, 1, filepath.Join(c.Books, fmt.Sprintf("go-%d", cycle))
		if cycle%2 == 0 {
			next := works(fmt.Sprintf("next-%d.txt", cycle))
			next.Book, s.Signal, s.Next = c.Books, asks, &next
		}
		v, err := c.spawn(s, "")
		c.need(err)
		c.booked(v, "did its work", fakecli.Book.Ready)
		fill(c)
		c.need(os.WriteFile(s.Linger, nil, 0o600)) // outside of the small disk
		c.booked(v, "ended", fakecli.Book.Ended)
		if cycle%3 == 1 {
			c.Kill()
			c.launch() // it may not come up before there is space
		}
		free(c)
		v, err = c.until(string(v.ID), "it rests with space again", func(v cw.AgentView) bool { return atRest(v) || len(v.PendingQuestions) > 0 })
		c.need(err)
		if len(v.PendingQuestions) > 0 {
			c.need(c.answer(v, "red", "as many as "+fakecli.Say(fmt.Sprint("a", cycle))))
			v, err = c.until(string(v.ID), "it went on with the answers", func(v cw.AgentView) bool { return atRest(v) && v.SessionNumber > 1 })
			c.need(err)
		}
		c.need(c.remove(v))
	}
	for _, p := range c.finish() {
		t.Errorf("%s", p)
	}
	for _, v := range c.views {
		if v.Status != cw.StatusIdle {
			t.Errorf("I3: %s is %s %s: %s", v.Alias, v.Status, v.Reason, v.Error)
		}
	}
	if t.Failed() {
		t.Logf("log:\n%s", tail(c.DaemonLog()))
	}
	results.row("disk of 64 MB full under everything", "%d times, %d agents, 0 bytes lost", fullCycles, len(c.views))
}

// booked waits until the book of an agent's first run shows something. The
// daemon is not asked: it may have no disk to answer with.
func (c *course) booked(v cw.AgentView, what string, shows func(fakecli.Book) bool) {
	c.T.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		books, err := fakecli.ReadBooks(c.Books)
		c.need(err)
		if shows(books[string(v.Runs[0].ID)]) {
			return
		}
		if time.Now().After(end) {
			c.T.Fatalf("waited in vain until %s %s", v.Alias, what)
		}
	}
}
