package api_test

import (
	"fmt"
	"strconv"
	"strings"
)

// The stages of a way in at which a request may fail.
type stage int

const (
	passes  stage = iota
	broken        // net/http refuses it: no Host, two of them
	host          // another host than the one that was asked for
	page          // a web page that may not call
	auth          // credentials that are none
	version       // another major version
	form          // no JSON, or too long
)

// trial is one set of headers.
type trial struct {
	name  string
	fails stage
	host  string                   // Host; "": the right one
	lines []string                 // further headers
	to    func(path string) string // another target
	own   bool                     // it has its own credentials: tried once for each route
}

// noHost marks a trial whose lines have the Host, or that has none.
const noHost = "-"

// tcpTrials are sets of headers at a TCP listener.
func tcpTrials(d door) []trial {
	p := d.port()
	n, _ := strconv.Atoi(p)
	out := []trial{{name: "nothing"}}
	add := func(fails stage, name string, lines ...string) {
		out = append(out, trial{name: name + " " + strings.Join(lines, ", "), fails: fails, lines: lines})
	}
	for _, h := range []string{"127.0.0.1:" + p, "localhost:" + p, "[::1]:" + p, listedHost + ":" + p} {
		out = append(out, trial{name: "host " + h, host: h})
	}
	for _, h := range []string{
		"evil.com", "evil.com:" + p, "127.0.0.1", "localhost", "[::1]", "127.0.0.1:80", fmt.Sprintf("127.0.0.1:%d", n+1), "127.0.0.1:0" + p,
		"LOCALHOST:" + p, "Localhost:" + p, "localhost.:" + p, "127.0.0.1.:" + p, "127.1:" + p, "0x7f.1:" + p, "2130706433:" + p, "0177.0.0.1:" + p,
		"127.0.0.1.nip.io:" + p, "localhost.evil.com:" + p, "evil.localhost:" + p, "[::ffff:127.0.0.1]:" + p, "[0:0:0:0:0:0:0:1]:" + p, "::1:" + p,
		"0.0.0.0:" + p, "127.0.0.2:" + p, "cw.sock", "127.0.0.1:" + p + ",evil.com", "Box.test:" + p, "box.test", ":" + p, "127.0.0.1:",
	} {
		out = append(out, trial{name: "host " + h, host: h, fails: host})
	}
	out = append(out,
		trial{name: "no host", host: noHost, fails: broken},
		trial{name: "host with a user", host: "user@" + d.host, fails: broken},
		trial{name: "two hosts", host: noHost, lines: []string{"Host: " + d.host, "Host: evil.com"}, fails: broken},
		trial{name: "the same host twice", host: noHost, lines: []string{"Host: " + d.host, "Host: " + d.host}, fails: broken},
		trial{name: "another address in the line", fails: host, to: func(path string) string { return "http://evil.com" + path }},
		trial{name: "the right address in the line, another host", host: "evil.com", fails: host, to: func(path string) string { return "http://" + d.host + path }},
	)
	own := "Origin: http://" + d.host
	listed := "Origin: " + listedOrigin
	add(passes, "own page", own)
	add(passes, "own page", own, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty")
	add(passes, "own page", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: same-origin")
	add(passes, "listed page", listed)
	add(passes, "listed page", listed, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty")
	add(passes, "listed page", listed, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors")
	add(version, "own page", own, "Cw-Api: 2.0")
	add(form, "own page", own, "Content-Type: text/plain")
	for _, o := range []string{
		"null", "", "https://evil.com", "http://evil.com:" + p, "http://localhost:" + p, "https://127.0.0.1:" + p, "http://127.0.0.1", "http://127.0.0.1:" + p + "/",
		"http://127.0.0.1:" + p + ".evil.com", "HTTP://127.0.0.1:" + p, "http://127.0.0.1:" + p + " http://evil.com", "http://127.0.0.1:" + p + ", http://evil.com",
		"file://", "http://[::ffff:127.0.0.1]:" + p, "*", "http://127.0.0.1:51730", "http://127.0.0.1:517", "https://127.0.0.1:5173", listedOrigin + "/", "127.0.0.1:5173",
		"http://user@127.0.0.1:5173", "chrome-extension://abcdef", "http://" + listedHost + ":" + p,
	} {
		add(page, "origin", "Origin: "+o)
		add(page, "origin", "Origin: "+o, "Sec-Fetch-Site: same-origin")
	}
	for _, lines := range [][]string{
		{own, own}, {own, "Origin: http://evil.com"}, {listed, "Origin: null"},
		{"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"}, {"Sec-Fetch-Site: none"}, {"Sec-Fetch-Site: "}, {"Sec-Fetch-Site: Same-Origin"},
		{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: same-origin"}, {own, "Sec-Fetch-Site: cross-site"}, {own, "Sec-Fetch-Site: same-site"}, {own, "Sec-Fetch-Site: none"},
		{listed, "Sec-Fetch-Site: none"}, {listed, "Sec-Fetch-Site: near"}, {"Sec-Fetch-Mode: cors"}, {"Sec-Fetch-Dest: empty"}, {"Sec-Fetch-User: ?1"}, {"Sec-Fetch-New: 1"},
		{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate"}, {"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: websocket"}, {"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: no-cors"},
		{own, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, {listed, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"},
		{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: iframe"}, {listed, "Sec-Fetch-Dest: image"}, {"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-User: ?1"},
		{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="},
		{own, "Connection: keep-alive, upgrade", "Upgrade: websocket"}, {"Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"}, {"Upgrade: websocket"}, {"Connection: UPGRADE"},
	} {
		add(page, "page", lines...)
	}
	for _, lines := range [][]string{
		{bearerLine(tokenOperate), bearerLine(tokenOperate)}, {"Authorization: Basic dTpw"}, {"Authorization: Bearer"}, {"Authorization: Bearer "}, {"Authorization: "},
		{"Authorization: " + tokenOperate}, {"Cookie: token=" + tokenOperate + "; Authorization=Bearer " + tokenOperate}, {"X-Api-Key: " + tokenOperate},
		{"Proxy-Authorization: Bearer " + tokenOperate}, {"Authorization: Bearer " + tokenOperate + " x"},
	} {
		out = append(out, trial{name: "credentials " + strings.Join(lines, ", "), fails: auth, lines: lines, own: true})
	}
	for _, query := range []string{"token=" + tokenOperate, "access_token=" + tokenOperate, "Authorization=Bearer%20" + tokenOperate, "ticket=" + tokenOperate, "ticket=", "ticket=a&ticket=b"} {
		out = append(out, trial{name: "query " + query, fails: auth, own: true, to: func(path string) string { return with(path, query) }})
	}
	out = append(out, trial{name: "ticket and token", fails: auth, own: true, lines: []string{bearerLine(tokenOperate)}, to: func(path string) string { return with(path, "ticket=x") }})
	return append(out, formTrials()...)
}

// formTrials are the same at both listeners.
func formTrials() []trial {
	out := []trial{
		{name: "newer API", fails: version, lines: []string{"Cw-Api: 2.0"}},
		{name: "odd API", fails: version, lines: []string{"Cw-Api: x"}},
		{name: "same API", lines: []string{"Cw-Api: 1.99"}},
		{name: "two types", fails: form, lines: []string{"Content-Type: application/json", "Content-Type: text/plain"}},
	}
	for _, kind := range []string{"text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonp", "application/json, text/plain", ";"} {
		out = append(out, trial{name: "content type " + kind, fails: form, lines: []string{"Content-Type: " + kind}})
	}
	return out
}

// socketTrials are sets of headers at the socket.
func socketTrials(d door) []trial {
	out := []trial{{name: "nothing"}}
	for _, h := range []string{
		"evil.com", "localhost", "127.0.0.1", "[::1]", "cw.sock.", "CW.SOCK", "cw.sock:80", "cw.sock:443", "a.cw.sock", "cw.sock.evil.com", "xcw.sock", "cw.socks",
	} {
		out = append(out, trial{name: "host " + h, host: h, fails: host})
	}
	out = append(out,
		trial{name: "no host", host: noHost, fails: broken},
		trial{name: "two hosts", host: noHost, lines: []string{"Host: " + d.host, "Host: evil.com"}, fails: broken},
		trial{name: "another address in the line", fails: host, to: func(path string) string { return "http://evil.com" + path }},
	)
	for _, line := range []string{
		"Origin: null", "Origin: ", "Origin: http://cw.sock", "Origin: https://evil.com", "Referer: http://cw.sock/", "Referer: ", "ORIGIN: null",
		"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: empty", "Sec-Fetch-User: ?1", "sec-fetch-new: ",
	} {
		out = append(out, trial{name: "page " + line, fails: page, lines: []string{line}})
	}
	for _, lines := range [][]string{
		{bearerLine("a"), bearerLine("b")}, {"Authorization: Basic dTpw"}, {"Authorization: Bearer"}, {"Authorization: "}, {"Authorization: " + tokenSelf},
	} {
		out = append(out, trial{name: "credentials " + strings.Join(lines, ", "), fails: auth, lines: lines, own: true})
	}
	return append(out, formTrials()...)
}

func with(path, query string) string {
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}
