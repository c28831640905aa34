package daemon_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cwtest/lab"
	"cw/internal/daemon"
)

// TestLogInJSON: every line of the file is a value, cw logs shows it, and with
// debug the requests are there.
func TestLogInJSON(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Env = []string{"CW_CONFIG_LOG_FORMAT=json", "CW_CONFIG_LOG_LEVEL=debug"}
	l.Start()
	shown, stderr, code := l.Run(l.Repo, "logs", "-n", "-1")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	requests := 0
	for line := range strings.Lines(shown) {
		var entry struct{ Level, Msg, Route, Actor string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Level == "" {
			t.Errorf("no JSON: %s", line)
		}
		if entry.Msg == "request" && entry.Route == "GET /v1/status" && entry.Actor == "person" {
			requests++
		}
	}
	if requests == 0 {
		t.Errorf("no request in\n%s", shown)
	}
}

// TestLogSettings: the level holds for the file and the terminal, and old files
// go when there are too many.
func TestLogSettings(t *testing.T) {
	t.Parallel()
	home := homeWith(t, "-")
	var terminal bytes.Buffer
	log, file := daemon.NewLog(home, daemon.LogSettings{Level: "warn", Format: "text", MaxSize: 1, Backups: 2}, &terminal)
	log.Info("quiet")
	long := strings.Repeat("x", 600<<10)
	for range 7 {
		log.Warn("loud", "text", long)
	}
	log.Info("quiet") // in the newest file too
	must(t, file.Close())
	data, err := os.ReadFile(home.DaemonLog())
	must(t, err)
	for what, text := range map[string]string{"file": string(data), "terminal": terminal.String()} {
		if strings.Contains(text, "quiet") || !strings.Contains(text, "loud") {
			t.Errorf("%s: %.200s", what, text)
		}
	}
	if len(data) > 1<<20 {
		t.Errorf("the file has %d bytes", len(data))
	}
	// Old files go a moment later, in a goroutine of the library.
	eventually(t, "two older files are left", func() bool {
		files, err := filepath.Glob(filepath.Join(string(home), "daemon-*.log"))
		return err == nil && len(files) == 2
	})
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); !is(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}
