package e2e

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"cw/internal/cwtest/lab"
)

var update = flag.Bool("update", false, "write the screens of cw top anew")

// glass is a terminal of tmux in which cw top runs, started by a shell that tells
// when it is over.
type glass struct {
	t      *testing.T
	socket string
}

// newGlass opens cw top in a terminal of tmux with colours and UTF-8.
func newGlass(t *testing.T, l *lab.Lab, width, height string, args ...string) *glass {
	t.Helper()
	return newGlassIn(t, l, []string{"LC_ALL=C.UTF-8", "TERM=xterm-256color"}, width, height, args...)
}

// newGlassIn is newGlass for another environment.
func newGlassIn(t *testing.T, l *lab.Lab, env []string, width, height string, args ...string) *glass {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		lab.Lacks(t, "tmux is not installed: the board is not driven in a terminal")
	}
	g := &glass{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	// tmux says which terminal it is; what runs in it is told another one.
	script := `before=$(stty -g); env "$TOLD" "$@"; echo "ENDED $?"; [ "$before" = "$(stty -g)" ] && echo SANE; exec cat`
	open := append([]string{"-u", "-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height, "sh", "-c", script, "sh", binary, "top"}, args...)
	cmd := exec.Command("tmux", append([]string{"-S", g.socket}, open...)...)
	cmd.Env = append(append(l.Environ(), "TOLD=IN=tmux"), env...)
	for _, kv := range env {
		if strings.HasPrefix(kv, "TERM=") {
			cmd.Env = append(cmd.Env, "TOLD="+kv)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", g.socket, "kill-server").Run() }) // with what runs in it
	return g
}

// tmux gives a command to the terminal.
func (g *glass) tmux(args ...string) string {
	g.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", g.socket}, args...)...).CombinedOutput()
	if err != nil {
		g.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// press types keys.
func (g *glass) press(keys ...string) {
	g.t.Helper()
	g.tmux(append([]string{"send-keys"}, keys...)...)
}

// screen is what a person sees.
func (g *glass) screen() string { g.t.Helper(); return g.tmux("capture-pane", "-p") }

// until waits until all texts are on the screen, and gives it.
func (g *glass) until(texts ...string) string {
	g.t.Helper()
	for end := time.Now().Add(pagePatience); ; time.Sleep(pageLook) {
		screen, missing := g.screen(), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return screen
		}
		if time.Now().After(end) {
			g.t.Fatalf("%q is not shown:\n%s", missing, screen)
		}
	}
}

// row gives the line of the screen that holds a text.
func row(t *testing.T, screen, text string) string {
	t.Helper()
	for l := range strings.Lines(screen) {
		if strings.Contains(l, text) {
			return strings.TrimRight(l, "\n")
		}
	}
	t.Fatalf("no line holds %q:\n%s", text, screen)
	return ""
}

// resize gives the terminal another size.
func (g *glass) resize(width, height int) {
	g.t.Helper()
	g.tmux("resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
}

// looks waits until all texts are on the screen and it is the one that is kept
// under a name, but for times.
func (g *glass) looks(name string, texts ...string) {
	g.t.Helper()
	path := filepath.Join("testdata", "top", name+".txt")
	want, err := os.ReadFile(path)
	if err != nil && !*update {
		g.t.Fatal(err)
	}
	var got string
	for end := time.Now().Add(pagePatience); ; time.Sleep(pageLook) {
		if got = timeless(g.until(texts...)); got == string(want) {
			return
		}
		if *update && settled(g, got) {
			must(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(g.t, os.WriteFile(path, []byte(got), 0o644))
			return
		}
		if time.Now().After(end) {
			g.t.Fatalf("%s (-want +got):\n%s", name, cmp.Diff(string(want), got))
		}
	}
}

// settled tells whether a screen stays as it is.
func settled(g *glass, screen string) bool {
	for range 30 {
		time.Sleep(pageLook)
		if timeless(g.screen()) != screen {
			return false
		}
	}
	return true
}

var (
	ages   = regexp.MustCompile(` +\d+[smh](\d\dm)?\b`)
	clocks = regexp.MustCompile(`\d\d:\d\d:\d\d`)
	waits  = regexp.MustCompile(`in \d+ s\.`)
)

// timeless takes the times out of a screen; its columns stay.
func timeless(screen string) string {
	screen = waits.ReplaceAllString(clocks.ReplaceAllString(screen, "hh:mm:ss"), "in # s.")
	screen = ages.ReplaceAllStringFunc(screen, func(age string) string { return strings.Repeat(" ", len(age)-2) + "#t" })
	var out strings.Builder
	for line := range strings.Lines(screen) {
		for strings.Contains(line, "·  #t ·") { // not in a column: what follows moves
			line = strings.Replace(strings.Replace(line, "·  #t ·", "· #t ·", 1), " │\n", "  │\n", 1)
		}
		out.WriteString(line)
	}
	return out.String()
}

// measures fails unless the screen has its size.
func (g *glass) measures(width, height int) {
	g.t.Helper()
	screen := g.screen()
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	if len(lines) != height {
		g.t.Errorf("the screen has %d lines, not %d", len(lines), height)
	}
	for _, line := range lines {
		if ansi.StringWidth(line) > width {
			g.t.Errorf("%d columns: %q", ansi.StringWidth(line), line)
		}
	}
}
