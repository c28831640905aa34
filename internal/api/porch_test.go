package api_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHalfSentSessions: bodies that do not come hold no connection for long, a
// page is let in meanwhile, and none that is long is read at all.
func TestHalfSentSessions(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	request := func(length int, body string) string {
		return fmt.Sprintf("POST /v1/sessions HTTP/1.1\r\nHost: %s\r\nOrigin: http://%[1]s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", at.host, length, body)
	}
	begun := time.Now()
	half := make([]*bufio.Reader, 40)
	for i := range half {
		conn := at.dial(t)
		_, err := conn.Write([]byte(request(100, "{")))
		noError(t, err)
		half[i] = bufio.NewReader(conn)
	}
	whole := `{"code":"x"}`
	got, err := at.raw(request(len(whole), whole))
	noError(t, err)
	if got.status != http.StatusUnauthorized {
		t.Errorf("a whole one meanwhile: %s", got)
	}
	for i, reader := range half {
		if got, err := readReply(reader, false); err != nil || got.status != http.StatusBadRequest || !got.last {
			t.Fatalf("half %d: %s %v after %s", i, got, err, time.Since(begun))
		}
	}
	long := `{"code":"` + strings.Repeat("x", 2000) + `"}`
	if got, err := at.raw(request(len(long), "")); err != nil || got.status != http.StatusBadRequest || !strings.Contains(got.body, "1024 bytes") {
		t.Errorf("a long one: %s %v", got, err)
	}
}
