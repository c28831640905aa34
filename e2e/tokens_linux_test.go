package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// tokenEndpoint renews logins as the provider does: a refresh token holds once.
// It stands behind a proxy that leads the provider's own address to it, so that
// nothing in the program is told of it. It is for Linux: there a variable says
// which certificates are believed.
type tokenEndpoint struct {
	proxy string // URL
	cert  string // file of the certificate
	// held keeps answers back until it is closed, but not longer than a request
	// may take; nil: they come at once.
	held chan struct{}

	mu       sync.Mutex
	access   string   // guarded by mu: that holds now
	refresh  string   // guarded by mu: that holds now
	issued   []string // guarded by mu: all refresh tokens
	renewals int      // guarded by mu
	refusals int      // guarded by mu
	revoked  bool     // guarded by mu: nothing is renewed any more
}

// newTokenEndpoint starts an endpoint that issued a first login.
func newTokenEndpoint(t *testing.T) *tokenEndpoint {
	t.Helper()
	ep := &tokenEndpoint{cert: filepath.Join(t.TempDir(), "cert.pem")}
	ep.issue()
	cert := selfSigned(t, ep.cert, "platform.claude.com")
	tlsSrv := httptest.NewUnstartedServer(http.HandlerFunc(ep.renew))
	tlsSrv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	tlsSrv.Config.ErrorLog = log.New(io.Discard, "", 0) // a CLI that hangs up is no news
	tlsSrv.StartTLS()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "platform.claude.com:443" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		tunnel(w, tlsSrv.Listener.Addr().String())
	}))
	ep.proxy = proxy.URL
	t.Cleanup(func() {
		tlsSrv.CloseClientConnections()
		tlsSrv.Close()
		proxy.Close()
	})
	return ep
}

// env leads a process to the endpoint.
func (ep *tokenEndpoint) env() []string {
	return []string{"HTTPS_PROXY=" + ep.proxy, "SSL_CERT_FILE=" + ep.cert, "NODE_EXTRA_CA_CERTS=" + ep.cert}
}

// tunnel joins the caller with an address, until one of them has enough.
func tunnel(w http.ResponseWriter, to string) {
	there, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	here, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		there.Close()
		return
	}
	_, _ = io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n")
	both := sync.OnceFunc(func() { here.Close(); there.Close() })
	go func() { defer both(); _, _ = io.Copy(there, here) }() // ends with either connection
	go func() { defer both(); _, _ = io.Copy(here, there) }()
}

// issue makes a new login; the caller holds mu, or is alone.
func (ep *tokenEndpoint) issue() {
	ep.access = fmt.Sprintf("sk-ant-oat01-access-%s", rand.Text())
	ep.refresh = fmt.Sprintf("sk-ant-ort01-refresh-%s", rand.Text())
	ep.issued = append(ep.issued, ep.refresh)
}

// renew answers a request for a new login.
func (ep *tokenEndpoint) renew(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Grant   string `json:"grant_type"`
		Refresh string `json:"refresh_token"`
	}
	err := json.NewDecoder(r.Body).Decode(&ask)
	if ep.held != nil {
		select {
		case <-ep.held:
		case <-time.After(10 * time.Second):
		}
	}
	ep.mu.Lock()
	defer ep.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if err != nil || r.URL.Path != "/v1/oauth/token" || ask.Grant != "refresh_token" || ask.Refresh != ep.refresh || ep.revoked {
		ep.refusals++
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
		return
	}
	ep.renewals++
	ep.issue()
	_ = json.NewEncoder(w).Encode(tokenAnswer{Access: ep.access, Refresh: ep.refresh, ExpiresIn: 3600})
}

// tokens gives the login that holds now.
func (ep *tokenEndpoint) tokens() (access, refresh string) {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	return ep.access, ep.refresh
}

// counts tells how often it renewed, and how often it refused to.
func (ep *tokenEndpoint) counts() (renewals, refusals int) {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	return ep.renewals, ep.refusals
}

func (ep *tokenEndpoint) revoke() {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	ep.revoked = true
}

// allIssued are all refresh tokens that there ever were.
func (ep *tokenEndpoint) allIssued() []string {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	return append([]string{}, ep.issued...)
}

// selfSigned makes a certificate for a host, and writes it to a file.
func selfSigned(t *testing.T, file, host string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	must(t, err)
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
