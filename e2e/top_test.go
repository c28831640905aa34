package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// glass is a terminal of tmux in which cw top runs, started by a shell that tells
// when it is over.
type glass struct {
	t      *testing.T
	socket string
}

// newGlass opens cw top in a terminal of tmux with colours and UTF-8.
func newGlass(t *testing.T, l *lab.Lab, width, height string, args ...string) *glass {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		lab.Lacks(t, "tmux is not installed: the board is not driven in a terminal")
	}
	g := &glass{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	script := `before=$(stty -g); "$@"; echo "ENDED $?"; [ "$before" = "$(stty -g)" ] && echo SANE; exec cat`
	open := append([]string{"-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height, "sh", "-c", script, "sh", binary, "top"}, args...)
	cmd := exec.Command("tmux", append([]string{"-S", g.socket}, open...)...)
	cmd.Env = append(l.Environ(), "LC_ALL=C.UTF-8", "TERM=xterm-256color")
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

// asksWhich is an agent that asks for a colour and goes on with the answer.
func asksWhich() fakecli.Script {
	return fakecli.Script{
		Tame: true, Raw: "I look at the shop.\n",
		Ask: &cw.PeopleRequest{Questions: []cw.ToolQuestion{{
			Header: "Colour", Question: "Which colour has the door?",
			Options: []cw.QuestionOption{{Label: "Red", Description: "as before"}, {Label: "Green", Description: "the new one"}},
		}}},
		File: "door.txt", Content: "painted", Commit: "Paint the door", Signal: `{"status":"done"}`,
	}
}

// TestTop: the board in a terminal of 80 columns and 24 lines shows who waits and
// who works; a question is answered, an agent stopped and a difference read with
// single keys; it follows the size of the terminal, and leaves it as it was.
func TestTop(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	asker := l.MustSpawn(asksWhich())
	worker := l.MustSpawn(fakecli.Script{
		Tame: true, Raw: "Sweeping \x1b]0;owned\x07\x1b[2Jthe floor \u202e日本\n", Call: []string{"sh", "-c", "echo dust > dust.txt"}, Hang: true,
	})
	l.Until(string(asker.ID), func(v cw.AgentView) bool { return len(v.PendingQuestions) == 1 })
	g := newGlass(t, l, "80", "24")

	screen := g.until("Needs you 1", "Which colour has the door?", "Agents 2", "live", "I look at the shop.")
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	if len(lines) != 24 {
		t.Errorf("the screen has %d lines", len(lines))
	}
	for _, line := range lines {
		if ansi.StringWidth(line) > 80 {
			t.Errorf("%d columns: %q", ansi.StringWidth(line), line)
		}
	}
	for text, want := range map[string]string{
		" cw top":                  "2 running",
		"? Question":               asker.Alias,
		"▌○ " + asker.Alias[:4]:    "Asks Which colour has the door?",
		"── " + asker.Alias + " ─": "following",
		" j/k move":                "? keys",
		worker.Alias[:4]:           "Running",
	} {
		if line := row(t, screen, text); !strings.Contains(line, want) {
			t.Errorf("the line with %q has no %q:\n%s", text, want, screen)
		}
	}

	g.press("1", "Enter")
	g.until(asker.Alias+" asks", "1 Red", "2 Green", "the new one", "send answer")
	g.press("2", "Enter")
	g.until("Nothing waits for you.")
	l.Rest(string(asker.ID))
	questions, err := l.Client().Questions(t.Context(), cw.QuestionFilter{Agent: asker.Alias})
	must(t, err)
	if q := questions.Items; len(q) != 1 || q[0].Answer != "Green" {
		t.Errorf("the questions are %+v", q)
	}
	g.until("✓ " + asker.Alias[:4])

	g.press("2", "r")
	g.until(asker.Alias+" changed since its base", "+painted")
	g.press("q", "j")
	g.until("▌○ "+worker.Alias[:4], "Sweeping the floor 日本")

	g.press("s")
	g.until("Stop "+worker.Alias+"? 1 file is not committed; it stays.", "y yes")
	g.press("y")
	g.until("■ " + worker.Alias[:4])
	if v := l.Rest(string(worker.ID)); v.Status != cw.StatusStopped {
		t.Errorf("%s is %s", v.Alias, v.Status)
	}

	g.tmux("resize-window", "-x", "160", "-y", "50")
	g.until("this second", "┌─ Needs you 0", "└")
	g.tmux("resize-window", "-x", "20", "-y", "5")
	g.until("Too small: 20×5.")
	g.tmux("resize-window", "-x", "80", "-y", "24")
	g.until("── Agents 2")

	g.press("q")
	if screen := g.until("ENDED 0", "SANE"); strings.Contains(screen, "Agents 2") {
		t.Errorf("the board stays on the terminal:\n%s", screen)
	}
	if shown := g.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}"); strings.TrimSpace(shown) != "0 1" {
		t.Errorf("alternate screen and cursor: %s", shown)
	}
}

// TestTopWithoutDaemon: figures stay with their age when the daemon goes away, the
// board says so, and is live again when it is back.
func TestTopWithoutDaemon(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	worker := l.MustSpawn(fakecli.Script{Tame: true, Raw: "Sweeping\n", Hang: true})
	g := newGlass(t, l, "80", "24", "--ascii", "--no-color")
	g.until("Agents 1", "live", ">o "+worker.Alias[:4])
	if coloured := g.tmux("capture-pane", "-p", "-e"); strings.ContainsAny(coloured, "\x1b─│…") {
		t.Errorf("there are colours, or other characters than those of ASCII:\n%q", coloured)
	}
	l.Kill()
	l.T.Log("the daemon is gone")
	g.press("j")
	g.until("Connection lost", "Trying again in", "Agents go on working.", "as of", worker.Alias[:4])
	l.Start()
	g.until("live", "j/k move")
	g.press("q")
	g.until("ENDED 0", "SANE")
}
