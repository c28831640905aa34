package proc

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestFollowFileLastLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", followBlock+5) + "\n"
	tests := []struct {
		name, text string
		lines      int
		want       string
	}{
		{"all", "a\nb\nc\n", -1, "a\nb\nc\n"},
		{"none", "a\nb\nc\n", 0, ""},
		{"one", "a\nb\nc\n", 1, "c\n"},
		{"two", "a\nb\nc\n", 2, "b\nc\n"},
		{"more than there are", "a\nb\n", 9, "a\nb\n"},
		{"unfinished", "a\nb\nc", 2, "b\nc"},
		{"blank lines", "a\n\n\n", 2, "\n\n"},
		{"empty", "", 3, ""},
		{"longer than a block", "a\n" + long + long, 2, long + long},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			appendFile(t, path, tt.text)
			var out bytes.Buffer
			if err := FollowFile(t.Context(), path, tt.lines, &out, false); err != nil {
				t.Fatal(err)
			}
			if out.String() != tt.want {
				t.Errorf("got %.100q, want %.100q", out.String(), tt.want)
			}
		})
	}
	if err := FollowFile(t.Context(), filepath.Join(t.TempDir(), "none"), 1, &bytes.Buffer{}, false); err == nil {
		t.Error("a missing log is no error")
	}
}

// lockedBuffer is a buffer for one who writes and one who looks.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestFollowFileFollows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	appendFile(t, path, "old\nlast\n")
	ctx, cancel := contextWithTimeout(t, 30*time.Second)
	defer cancel()
	var out lockedBuffer
	done := make(chan error, 1)
	go func() { done <- FollowFile(ctx, path, 1, &out, true) }()
	eventually(t, "the last line", func() bool { return out.String() == "last\n" })
	// The library can miss a wake-up: each line is followed by another.
	written := 0
	grow := func(mark string) {
		eventually(t, mark, func() bool {
			written++
			appendFile(t, path, fmt.Sprintf("%s %d\n", mark, written))
			time.Sleep(10 * time.Millisecond)
			return strings.Contains(out.String(), mark)
		})
	}
	grow("appended")
	rename(t, path, path+".1")
	grow("after rotation")
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestFollowFileThatComesLater(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	ctx, cancel := contextWithTimeout(t, 30*time.Second)
	defer cancel()
	var out lockedBuffer
	done := make(chan error, 1)
	go func() { done <- FollowFile(ctx, path, 10, &out, true) }()
	eventually(t, "a line", func() bool {
		appendFile(t, path, "line\n")
		time.Sleep(10 * time.Millisecond)
		return strings.HasPrefix(out.String(), "line\n")
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func contextWithTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}
