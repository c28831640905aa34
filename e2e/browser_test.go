package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"cw/internal/cwtest/lab"
)

const (
	// pagePatience bounds every wait for a page; a browser on a loaded machine
	// is slow.
	pagePatience = 90 * time.Second
	pageLook     = 50 * time.Millisecond
)

// tab is one page in a real browser, with what it asked of one server.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	answers  []int    // statuses of the server's answers, in order
	requests []string // their addresses
}

// findBrowser gives the path of a Chromium. Without one the test is skipped,
// or failed when CI=true.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	lab.Lacks(t, "no chromium is installed: scripts/install-browser.sh")
	return ""
}

// newTab starts a browser of its own, with a new profile, and opens a tab that
// listens to what the server at host:port answers.
func newTab(t *testing.T, server string, flags ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	path, home := findBrowser(t), t.TempDir()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(filepath.Join(home, "profile")),
		chromedp.Env("HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1000, 900),
	)
	allocator, endBrowser := chromedp.NewExecAllocator(context.Background(), append(options, flags...)...)
	ctx, endTab := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // closes the browser; when that fails it is killed
		endTab()
		endBrowser()
	})
	b := &tab{t: t, ctx: ctx}
	must(t, chromedp.Listen(ctx, func(event any) { b.note(server, event) })) // starts the browser
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	must(t, err)
	return b
}

func (b *tab) note(server string, event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if strings.Contains(e.Request.URL, "://"+server+"/") {
			b.requests = append(b.requests, e.Request.URL)
		}
	case *network.EventResponseReceived:
		if strings.Contains(e.Response.URL, "://"+server+"/") {
			b.answers = append(b.answers, int(e.Response.Status))
		}
	}
}

// asked gives the addresses that hold a word.
func (b *tab) asked(word string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, address := range b.requests {
		if strings.Contains(address, word) {
			out = append(out, address)
		}
	}
	return out
}

// good counts the answers that were no refusals.
func (b *tab) good() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, status := range b.answers {
		if status < http.StatusBadRequest {
			n++
		}
	}
	return n
}

// open goes to an address.
func (b *tab) open(address string) {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, chromedp.Navigate(address)))
}

// eval gives the value of an expression in the page, awaited when it is a
// promise.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	must(b.t, err)
	return out
}

// until waits until an expression in the page is true.
func (b *tab) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(pagePatience); !eval[bool](b, expression); time.Sleep(pageLook) {
		if time.Now().After(end) {
			b.t.Fatalf("never true: %s\nthe page:\n%s", expression, eval[string](b, "document.body.innerText"))
		}
	}
}

// shot keeps a picture of the page for people: go test -artifacts.
func (b *tab) shot(name string) {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	must(b.t, err)
	must(b.t, os.WriteFile(filepath.Join(b.t.ArtifactDir(), name), png, 0o644))
}

// freePort is a port that nobody listens on now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	must(t, l.Close())
	return port
}

// servePages serves the examples, and more pages by path, on a port of its
// own: for a browser that is another origin than the daemon's.
func servePages(t *testing.T, more map[string]string) (port int) {
	t.Helper()
	files := http.FileServer(http.Dir("../docs/examples"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := more[r.URL.Path]; ok {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, page)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().(*net.TCPAddr).Port
}

// door is a lab whose daemon listens on TCP, always on the same port.
type door struct {
	*lab.Lab
	address string // host:port
	token   string
}

// newDoor makes a lab with a port for its daemon, which is not started.
func newDoor(t *testing.T) *door {
	t.Helper()
	return &door{Lab: lab.New(t, binary), address: fmt.Sprintf("127.0.0.1:%d", freePort(t))}
}

// open starts the daemon, which pages of these origins may call, and makes a
// token that may do everything.
func (d *door) open(origins ...string) *door {
	d.T.Helper()
	d.allow(origins...)
	d.Start()
	stdout, stderr, code := d.Run(d.Repo, "token", "create", "--scope", "operate")
	if code != 0 || !strings.HasPrefix(stdout, "cwd_") || strings.Count(stdout, "\n") != 1 || !strings.Contains(stderr, "http://"+d.address) {
		d.T.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	d.token = strings.TrimSpace(stdout)
	return d
}

// allow sets the origins for the next start.
func (d *door) allow(origins ...string) {
	d.Env = []string{"CW_CONFIG_HTTP_ADDRESS=" + d.address}
	if len(origins) > 0 {
		d.Env = append(d.Env, "CW_CONFIG_HTTP_ALLOWEDORIGINS="+strings.Join(origins, ","))
	}
}

// quoted is a string as a page's program writes it.
func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil { // cannot happen
		return `""`
	}
	return string(data)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
