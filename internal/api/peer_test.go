package api_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"cw/internal/cwtest/lab"
)

// childSocket names the variable that makes the test binary connect to a
// socket as another process, and perhaps as another user.
const childSocket = "CW_TEST_CHILD_SOCKET"

// connectAsChild prints the answer to a plain request.
func connectAsChild(socket string) int {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = fmt.Fprint(conn, "GET /v1/whoami HTTP/1.1\r\nHost: cw.sock\r\nConnection: close\r\n\r\n")
	answer, _ := io.ReadAll(conn)
	fmt.Printf("%d %s", os.Getpid(), answer)
	return 0
}

func runChild(t *testing.T, socket string, cred *syscall.Credential) string {
	t.Helper()
	exe, err := os.Executable()
	noError(t, err)
	if cred != nil { // the other user cannot read the folder of this binary
		data, err := os.ReadFile(exe)
		noError(t, err)
		exe = socketDirOpen(t) + "/child"
		noError(t, os.WriteFile(exe, data, 0o755))
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childSocket+"="+socket)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func socketDirOpen(t *testing.T) string {
	t.Helper()
	dir := socketDir(t)
	noError(t, os.Chmod(dir, 0o755))
	return dir
}

// The peer is the process that connected, whatever it says about itself.
func TestPeerOfARealProcess(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	out := runChild(t, d.socket, nil)
	pid, answer, _ := strings.Cut(out, " ")
	if !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		t.Fatalf("the child was not let in: %s", out)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.peers) != 1 || fmt.Sprint(d.peers[0].PID) != pid || d.peers[0].UID != os.Geteuid() || d.peers[0].Token != "" {
		t.Errorf("peers %+v, the child was %s", d.peers, pid)
	}
}

// Another user is refused before anybody asks who it is, even where the file
// system would let it through.
func TestPeerOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		lab.Lacks(t, "only root can start a process of another user")
	}
	d := startDaemon(t, nil)
	noError(t, os.Chmod(strings.TrimSuffix(d.socket, "/s"), 0o755))
	noError(t, os.Chmod(d.socket, 0o777))
	out := runChild(t, d.socket, &syscall.Credential{Uid: 65534, Gid: 65534})
	if !strings.Contains(out, "HTTP/1.1 403 ") || !strings.Contains(out, `"code":"forbidden"`) {
		t.Errorf("answer to another user: %s", out)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.peers) != 0 {
		t.Errorf("Identify was asked about %+v", d.peers)
	}
}
