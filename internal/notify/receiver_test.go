package notify_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cwtest/lab"
	"cw/internal/notify"
)

// TestReceiverOfTheDocument runs docs/examples/receiver.py: it takes what cw
// signs, and nothing that anybody changed.
func TestReceiverOfTheDocument(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		lab.Lacks(t, "python3 is not here: the receiver of docs/notifications.md was not run")
	}
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("a key of some length\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, python, "../../docs/examples/receiver.py", "0")
	cmd.Env = append(os.Environ(), "CW_KEY="+key)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() }) // it was killed
	said := bufio.NewScanner(stdout)
	said.Scan()
	_, port, _ := strings.Cut(said.Text(), "port ")
	url := fmt.Sprintf("http://127.0.0.1:%s/", port)

	n := notify.New(notify.Options{Webhook: url, Secret: notify.Secret(key)})
	for range 2 {
		trials, err := n.TryHooks(ctx)
		if err != nil || !trials[0].OK {
			t.Fatalf("trials: %+v, %v", trials, err)
		}
		if !said.Scan() || !strings.Contains(said.Text(), "cw can reach you") {
			t.Errorf("it printed %q", said.Text())
		}
	}
	other := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(other, []byte("another key of some length\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, secret := range map[string]notify.Secret{"signed by another": notify.Secret(other), "not signed": ""} {
		trials, err := notify.New(notify.Options{Webhook: url, Secret: secret}).TryHooks(ctx)
		if err != nil || trials[0].OK || !strings.Contains(trials[0].Detail, "403") {
			t.Errorf("%s: %+v, %v", name, trials, err)
		}
	}
}
