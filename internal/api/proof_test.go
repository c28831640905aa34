package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestProofIsForItsHost: the host in a proof is the one that was asked, so that
// what another port passes on proves nothing there; nonces are bounded.
func TestProofIsForItsHost(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	const nonce = "0123456789abcdef"
	got := at.ask(t, "GET", "/v1/sessions/k3v7q2mzt5ha/proof?nonce="+nonce)
	if want := `"` + at.host + ` k3v7q2mzt5ha ` + nonce + `"`; got.status != http.StatusOK || !strings.Contains(got.body, want) || !got.last {
		t.Errorf("%s, want %s", got, want)
	}
	for _, bad := range []string{"", "?nonce=", "?nonce=short", "?nonce=" + strings.Repeat("a", 65), "?nonce=0123456789abcdef%0A"} {
		if got := at.ask(t, "GET", "/v1/sessions/k3v7q2mzt5ha/proof"+bad); got.status != http.StatusBadRequest {
			t.Errorf("%q: %s", bad, got)
		}
	}
}
