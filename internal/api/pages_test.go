package api

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

const fuzzPort = "4747"

var fuzzHosts = []string{"127.0.0.1:4747", "[::1]:4747", "localhost:4747", "box.test:4747"}

const fuzzOrigin = "http://127.0.0.1:5173"

func fuzzGate() pageGate {
	return pageGate{hosts: hostHeaders(4747, []string{"box.test"}), origins: []string{fuzzOrigin, "null"}, methods: "GET"}
}

func TestHostHeaders(t *testing.T) {
	t.Parallel()
	if got := hostHeaders(4747, []string{"box.test"}); !slices.Equal(got, fuzzHosts) {
		t.Errorf("%q", got)
	}
	at80 := hostHeaders(80, nil)
	for _, host := range []string{"127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:80", "localhost", "localhost:80"} {
		if !hostAllowed(at80, host) {
			t.Errorf("%s is refused at port 80", host)
		}
	}
	if len(at80) != 6 {
		t.Errorf("%q", at80)
	}
}

// Only a host of the list passes, however a request spells it.
func FuzzHost(f *testing.F) {
	for _, host := range append([]string{
		"", "evil.com", "LOCALHOST:4747", "localhost.:4747", "127.0.0.1", "0x7f.1:4747", "127.1:4747", "[::ffff:127.0.0.1]:4747", "[0::1]:4747", "localhost:04747",
		"localhost:4747.evil.com", "evil.com:4747", "localhost:4747,evil.com", "user@localhost:4747", "localhost:4747/", "localhost%3A4747", " localhost:4747 ",
		"localhost:4747\r\nHost: evil.com", "localhost\u3002:4747", "ⅼocalhost:4747",
	}, fuzzHosts...) {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		want := slices.Contains(fuzzHosts, host)
		if got := hostAllowed(fuzzGate().hosts, host); got != want {
			t.Fatalf("%q: %v", host, got)
		}
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n")))
		if err != nil || len(r.Header) > 0 { // a line break made more of it
			return
		}
		// What HTTP itself leaves out around a value is not ours to tell.
		want = slices.Contains(fuzzHosts, strings.Trim(host, " \t\r\n"))
		if err := fuzzGate().host(r); (err == nil) != want {
			t.Fatalf("%q, read as %q: %v", host, r.Host, err)
		}
	})
}

// Only the own origin and those of the list pass, whatever else is said.
func FuzzOrigin(f *testing.F) {
	for _, origin := range []string{
		"", "null", "*", "http://evil.com", fuzzOrigin, fuzzOrigin + "/", "https://127.0.0.1:5173", "http://127.0.0.1:51730", "HTTP://127.0.0.1:5173",
		"http://127.0.0.1:" + fuzzPort, "http://localhost:" + fuzzPort, fuzzOrigin + " http://evil.com", fuzzOrigin + ",http://evil.com", "http://127.0.0.1:5173.evil.com",
	} {
		f.Add(origin, "cross-site", "cors", uint8(0))
		f.Add(origin, "same-origin", "navigate", uint8(0))
		f.Add(origin, "", "", uint8(1))
	}
	f.Fuzz(func(t *testing.T, origin, site, mode string, which uint8) {
		host := fuzzHosts[int(which)%len(fuzzHosts)]
		own := origin == "http://"+host
		if got := originAllowed(fuzzGate().origins, host, origin); got != (own || origin == fuzzOrigin) {
			t.Fatalf("%q at %q: %v", origin, host, got)
		}
		r := &http.Request{Host: host, Header: http.Header{"Origin": {origin}}}
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		if mode != "" {
			r.Header.Set("Sec-Fetch-Mode", mode)
		}
		want := own && (site == "" || site == "same-origin") || origin == fuzzOrigin && slices.Contains([]string{"", "same-origin", "same-site", "cross-site"}, site)
		want = want && slices.Contains([]string{"", "cors", "same-origin"}, mode)
		if err := fuzzGate().page(r); (err == nil) != want || err != nil && cw.ErrorCode(err) != cw.CodeForbidden {
			t.Fatalf("%v: %v", r.Header, err)
		}
	})
}
