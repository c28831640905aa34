package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"cw/internal/api"
	"cw/internal/cw"
)

// siteText is long enough for gzip to make it shorter.
var siteText = strings.Repeat("export const words = 'the same again';\n", 100)

func siteFiles() fstest.MapFS {
	return fstest.MapFS{
		"index.html":        {Data: []byte("<!doctype html><title>cw</title><script type=module src=/assets/a-1.js></script>")},
		"assets/a-1.js":     {Data: []byte(siteText)},
		"assets/f-1.woff2":  {Data: []byte("font")},
		"favicon.svg":       {Data: []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")},
		"deep/v1/notes.txt": {Data: []byte("notes")},
	}
}

func startSite(t *testing.T) (*daemon, door) {
	t.Helper()
	d := startDaemon(t, func(o *api.Options) { dashboards(o); o.Services, o.Site = nil2{}, siteFiles() })
	return d, d.serveTCP(t)
}

// TestSite: which path is which file, with which headers.
func TestSite(t *testing.T) {
	t.Parallel()
	d, at := startSite(t)
	const html, js = "text/html; charset=utf-8", "text/javascript; charset=utf-8"
	for _, c := range []struct {
		method, path string
		status       int
		kind, keep   string
	}{
		{"GET", "/", 200, html, "no-cache"},
		{"GET", "/index.html", 200, html, "no-cache"},
		{"HEAD", "/", 200, html, "no-cache"},
		{"GET", "/agents/brave-otter", 200, html, "no-cache"},
		{"GET", "/agents/brave-otter/", 200, html, "no-cache"},
		{"GET", "/initiatives/spring-sale?task=x.y", 200, html, "no-cache"},
		{"GET", "/assets/a-1.js", 200, js, "max-age=31536000, immutable"},
		{"HEAD", "/assets/a-1.js", 200, js, "max-age=31536000, immutable"},
		{"GET", "/assets/f-1.woff2", 200, "font/woff2", "max-age=31536000, immutable"},
		{"GET", "/favicon.svg", 200, "image/svg+xml", "no-cache"},
		{"GET", "/deep/v1/notes.txt", 200, "text/plain; charset=utf-8", "no-cache"},
		{"GET", "/assets/a-2.js", 404, "", ""},
		{"GET", "/assets", 200, html, "no-cache"},
		{"GET", "/assets/", 404, "", ""},
		{"GET", "/robots.txt", 404, "", ""},
		{"GET", "/../index.html", 404, "", ""},
		{"GET", "/%2e%2e/etc/passwd", 404, "", ""},
		{"GET", "/agents/%2e%2e/x", 404, "", ""},
		{"GET", "//evil.com/x", 404, "", ""},
		{"GET", "/assets/%61-1.js", 200, js, "max-age=31536000, immutable"},
		{"GET", "/v1", 401, "", ""},
		{"GET", "/v1/agents", 401, "", ""},
		{"GET", "/%761/agents", 401, "", ""},
		{"GET", "/v1%2Fagents", 401, "", ""},
		{"GET", "/v1/nothing.js", 401, "", ""},
		{"GET", "/metrics", 401, "", ""},
		{"GET", "/healthz", 200, "application/json", ""},
		{"POST", "/", 401, "", ""},
		{"DELETE", "/assets/a-1.js", 401, "", ""},
		{"OPTIONS", "/", 401, "", ""},
	} {
		got := at.ask(t, c.method, c.path)
		if got.status != c.status || c.kind != "" && !strings.HasPrefix(got.header.Get("Content-Type"), c.kind) {
			t.Errorf("%s %s: %s %q", c.method, c.path, got, got.header.Get("Content-Type"))
		}
		if c.keep == "" {
			checkTCPHeaders(t, got, true)
			continue
		}
		checkSiteHeaders(t, got, c.keep)
		if (got.body == "") != (c.method == "HEAD") {
			t.Errorf("%s %s: %d bytes", c.method, c.path, len(got.body))
		}
	}
	// The socket has no pages.
	if got := send(t, d, "GET", "/", "", nil); got.status != http.StatusNotFound {
		t.Errorf("on the socket: %s", got)
	}
}

func checkSiteHeaders(t *testing.T, got rawReply, keep string) {
	t.Helper()
	for name, value := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
			"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
			"require-trusted-types-for 'script'; trusted-types ProseMirrorClipboard",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
		"Cache-Control":                keep,
	} {
		if values := got.header.Values(name); len(values) != 1 || values[0] != value {
			t.Errorf("%s: %q", name, values)
		}
	}
	for _, name := range []string{"Server", "Set-Cookie", "Access-Control-Allow-Origin"} {
		if got.header.Get(name) != "" {
			t.Errorf("%s: %q", name, got.header.Get(name))
		}
	}
	if got.header.Get("ETag") == "" {
		t.Error("no ETag")
	}
}

// TestSiteEncodings: gzip for who takes it, each form with a tag of its own,
// and nothing for who has it already.
func TestSiteEncodings(t *testing.T) {
	t.Parallel()
	_, at := startSite(t)
	for accept, packed := range map[string]bool{
		"": false, "gzip": true, "gzip, deflate, br, zstd": true, "br;q=1.0, GZIP;q=0.8": true,
		"br": false, "gzip;q=0": false, "gzip; q=0.000": false, "gzip;q=0.001": true, "xgzip": false,
	} {
		got := at.ask(t, "GET", "/assets/a-1.js", "Accept-Encoding: "+accept)
		body := got.body
		if packed {
			r, err := gzip.NewReader(bytes.NewReader([]byte(body)))
			noError(t, err)
			all, err := io.ReadAll(r)
			noError(t, err)
			body = string(all)
		}
		if (got.header.Get("Content-Encoding") == "gzip") != packed || body != siteText || got.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v, %d bytes", accept, got.header, len(got.body))
		}
		tag := got.header.Get("ETag")
		for have, status := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, `"x"`: 200, strings.Trim(tag, `"`): 200} {
			again := at.ask(t, "GET", "/assets/a-1.js", "Accept-Encoding: "+accept, "If-None-Match: "+have)
			if again.status != status || (again.body == "") != (status == 304) {
				t.Errorf("%q with %s: %d, %d bytes", accept, have, again.status, len(again.body))
			}
			checkSiteHeaders(t, again, "max-age=31536000, immutable")
		}
	}
	if got := at.ask(t, "GET", "/assets/f-1.woff2", "Accept-Encoding: gzip"); got.header.Get("Content-Encoding") != "" || got.body != "font" {
		t.Errorf("a font: %v", got.header)
	}
}

// TestSiteVisitors: a browser may go to a page from anywhere, and only the page
// itself reads its parts; nothing else is let through to the API by that.
func TestSiteVisitors(t *testing.T) {
	t.Parallel()
	_, at := startSite(t)
	own := "Origin: http://" + at.host
	for _, c := range []struct {
		lines  []string
		status int
	}{
		{nil, 200},
		{[]string{"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Sec-Fetch-User: ?1"}, 200},
		{[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, 200}, // from the file of cw open
		{[]string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, 200},
		{[]string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script"}, 200},
		{[]string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: script", own}, 200},
		{[]string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: style"}, 200},
		{[]string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: font"}, 200},
		{[]string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"}, 200},
		{[]string{own}, 200},
		{[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"}, 403},
		{[]string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"}, 403},
		{[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: object"}, 403},
		{[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, 403},
		{[]string{"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, 403},
		{[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Origin: null"}, 403},
		{[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script"}, 403},
		{[]string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"}, 403},
		{[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty", "Origin: http://evil.com"}, 403},
		{[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty", "Origin: " + listedOrigin}, 403},
		{[]string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: same-origin", "Sec-Fetch-Dest: serviceworker"}, 403},
		{[]string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: websocket", "Sec-Fetch-Dest: websocket"}, 403},
		{[]string{"Sec-Fetch-Dest: script"}, 403},
		{[]string{"Origin: http://evil.com"}, 403},
		{[]string{"Origin: null"}, 403},
		{[]string{own, own}, 403},
		{[]string{"Connection: Upgrade", "Upgrade: websocket"}, 403},
		{[]string{"Content-Length: 2", "Content-Type: application/json"}, 400},
	} {
		for _, path := range []string{"/", "/agents/brave-otter", "/assets/a-1.js"} {
			got := at.ask(t, "GET", path, c.lines...)
			if got.status != c.status {
				t.Errorf("%s with %v: %s", path, c.lines, got)
			}
		}
		// What opens a page opens nothing behind it.
		if got := at.ask(t, "GET", "/v1/agents", c.lines...); got.status != 401 && got.status != 403 {
			t.Errorf("the API with %v: %s", c.lines, got)
		}
	}
	for _, tr := range tcpTrials(at) { // the host is looked at first, for pages too
		if tr.fails != host {
			continue
		}
		name := tr.host
		if name == "" {
			name = at.host
		}
		target := "/"
		if tr.to != nil {
			target = tr.to(target)
		}
		got, err := at.raw(request("GET", target, append([]string{"Host: " + name}, tr.lines...)))
		if err != nil || got.status != http.StatusForbidden {
			t.Errorf("%s: %v %s", tr.name, err, got)
		}
	}
}

// TestSiteNeedsIndex: files without a first page are a fault of the build.
func TestSiteNeedsIndex(t *testing.T) {
	t.Parallel()
	_, err := api.NewServer(api.Options{
		Services: nil2{}, Site: fstest.MapFS{"a.js": {}}, Identify: func(context.Context, api.Peer) (cw.Actor, error) { return cw.Actor{}, nil },
	})
	if err == nil || !strings.Contains(err.Error(), "index.html") {
		t.Errorf("%v", err)
	}
}
