package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// pageGate decides on what a browser tells about the page behind a request.
// A browser lets no page change these headers (Host, Origin, Sec-Fetch-*), so
// they are to be believed as far as they come from a browser; what comes from
// a program is decided by its token.
//
// Its fields are exact lists. Nothing is parsed, folded or resolved: whoever
// writes an allowed address in another way is refused.
type pageGate struct {
	hosts   []string // Host headers
	origins []string // of pages from elsewhere that may call
	methods string   // that such a page may use
}

// ownNames are what a browser on this machine calls it.
func ownNames() []string { return []string{"127.0.0.1", "[::1]", "localhost"} }

// hostHeaders gives the Host headers of a listener's port. Browsers leave 80,
// which is the scheme's own, out.
func hostHeaders(port int, more []string) []string {
	var out []string
	for _, name := range append(ownNames(), more...) {
		out = append(out, name+":"+strconv.Itoa(port))
		if port == 80 {
			out = append(out, name)
		}
	}
	return out
}

// hostAllowed is the guard against a foreign name that leads here: a page of
// evil.com that resolves to 127.0.0.1 has evil.com as its Host.
func hostAllowed(hosts []string, host string) bool { return slices.Contains(hosts, host) }

// originAllowed tells whether pages of an origin may call through this host:
// its own pages and those of the list. "null" stands for many kinds of pages
// and is never one of them.
func originAllowed(origins []string, host, origin string) bool {
	return origin == "http://"+host || origin != "null" && slices.Contains(origins, origin)
}

// host checks the name that was asked for. An address in the request line
// would win over the header, so there must be none.
func (g pageGate) host(r *http.Request) error {
	if !strings.HasPrefix(r.RequestURI, "/") || !hostAllowed(g.hosts, r.Host) {
		return cw.Errorf(cw.CodeForbidden, "this is not the host that was asked for").
			WithHint("use http://%s/", g.hosts[0])
	}
	return nil
}

// page checks which page asks, and how. Without Origin and Sec-Fetch-* it is a
// program.
func (g pageGate) page(r *http.Request) error {
	if r.Header.Get("Upgrade") != "" || headerHas(r.Header, "Connection", "upgrade") {
		return cw.Errorf(cw.CodeForbidden, "there is nothing to upgrade to here").WithHint("events are read by GET /v1/events")
	}
	fetch, err := fetchOf(r)
	if err != nil || len(fetch) == 0 {
		return err
	}
	origin, told := fetch["Origin"]
	listed := told && g.listed(origin)
	switch {
	case told && !originAllowed(g.origins, r.Host, origin):
		return errPage("Origin").WithHint("http.allowedOrigins lists the pages that may call: cw config set http.allowedOrigins ORIGIN")
	case !siteAllowed(fetch, told, listed):
		return errPage("Sec-Fetch-Site")
	case !oneOf(fetch, "Sec-Fetch-Mode", "cors", "same-origin"):
		return errPage("Sec-Fetch-Mode")
	case !oneOf(fetch, "Sec-Fetch-Dest", "empty"):
		return errPage("Sec-Fetch-Dest")
	}
	return nil
}

// own refuses all but the dashboard's own page, which a browser names as the
// origin of what changes something. A program can name it too: what it sends
// is then decided by the code that it has.
func (g pageGate) own(r *http.Request) error {
	if origins := r.Header["Origin"]; len(origins) != 1 || origins[0] != "http://"+r.Host {
		return errPage("Origin").WithHint("only the page that cw open shows calls here")
	}
	return nil
}

// visit checks who reads a file of the dashboard. Anybody may go to a page of
// it, from wherever, but in a window of its own; its parts are for the page
// itself.
func (g pageGate) visit(r *http.Request) error {
	if r.Header.Get("Upgrade") != "" || headerHas(r.Header, "Connection", "upgrade") {
		return cw.Errorf(cw.CodeForbidden, "there is nothing to upgrade to here")
	}
	fetch, err := fetchOf(r)
	if err != nil || len(fetch) == 0 {
		return err
	}
	origin, told := fetch["Origin"]
	going := fetch["Sec-Fetch-Mode"] == "navigate"
	switch site := fetch["Sec-Fetch-Site"]; {
	case told && origin != "http://"+r.Host:
		return errPage("Origin")
	case going && fetch["Sec-Fetch-Dest"] != "document":
		return errPage("Sec-Fetch-Dest")
	case going && !slices.Contains([]string{"none", "same-origin", "same-site", "cross-site"}, site),
		!going && site != "same-origin" && (site != "" || !told):
		return errPage("Sec-Fetch-Site")
	case !going && !oneOf(fetch, "Sec-Fetch-Mode", "cors", "no-cors", "same-origin"):
		return errPage("Sec-Fetch-Mode")
	case !going && !oneOf(fetch, "Sec-Fetch-Dest", "script", "style", "font", "image", "manifest", "empty"):
		return errPage("Sec-Fetch-Dest")
	}
	return nil
}

// fetchOf gives what a browser tells of the page behind a request, each header
// of which stands there once. Without any it is a program.
func fetchOf(r *http.Request) (map[string]string, error) {
	fetch := map[string]string{}
	for name, values := range r.Header {
		if name == "Origin" || strings.HasPrefix(name, "Sec-Fetch-") {
			if len(values) != 1 {
				return nil, errPage(name)
			}
			fetch[name] = values[0]
		}
	}
	return fetch, nil
}

// siteAllowed checks how far away the page is. Only a page of the list, which
// always tells its origin, may be far away.
func siteAllowed(fetch map[string]string, told, listed bool) bool {
	site, has := fetch["Sec-Fetch-Site"]
	switch {
	case !has:
		return told // older browsers send Origin alone; the other headers never come without this one
	case site == "same-origin":
		return true
	}
	return listed && (site == "same-site" || site == "cross-site")
}

// oneOf tells whether a header, if it is there, is one of the values.
func oneOf(fetch map[string]string, name string, values ...string) bool {
	value, has := fetch[name]
	return !has || slices.Contains(values, value)
}

func errPage(header string) *cw.Error {
	return cw.Errorf(cw.CodeForbidden, "this web page may not call here (%s)", header)
}

// headerHas tells whether a header holds a word of a list, in any case.
func headerHas(h http.Header, name, word string) bool {
	for _, value := range h.Values(name) {
		for one := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(one), word) {
				return true
			}
		}
	}
	return false
}

func (g pageGate) listed(origin string) bool {
	return origin != "null" && slices.Contains(g.origins, origin)
}

// share lets the pages of a listed origin read the answer, errors too. Pages
// of other origins get no such header. Nothing is shared by credentials that a
// browser adds by itself: the token comes from the page.
func (g pageGate) share(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); g.listed(origin) {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Access-Control-Expose-Headers", versionHeader)
	}
}

// preflight answers a browser that asks whether a page of a listed origin may
// send a request. false: it is no such question.
func (g pageGate) preflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" || !g.listed(r.Header.Get("Origin")) {
		return false
	}
	w.Header().Set("Access-Control-Allow-Methods", g.methods)
	w.Header().Set("Access-Control-Allow-Headers", "authorization, content-type, last-event-id, cw-api")
	w.Header().Set("Access-Control-Max-Age", "600")
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		w.Header().Set("Access-Control-Allow-Private-Network", "true")
	}
	return true
}
