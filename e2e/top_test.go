package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// named starts an agent under a name.
func named(t *testing.T, l *lab.Lab, name, title string, s fakecli.Script) cw.AgentView {
	t.Helper()
	s.Book = l.Books
	v, err := l.Client().Spawn(t.Context(), cw.SpawnRequest{
		RequestKey: cw.NewID(), Goal: s.Goal(), Title: title, Name: name, Projects: []string{l.Repo}, Provider: "fake",
		Env: map[string]string{"PATH": os.Getenv("PATH")},
	})
	must(t, err)
	return v
}

// asksWhich is an agent that asks for colours and a name, and goes on with the
// answers.
func asksWhich() fakecli.Script {
	return fakecli.Script{
		Tame: true, Raw: "I look at the shop.\n",
		Ask: &cw.PeopleRequest{Questions: []cw.ToolQuestion{{
			Header: "Colour", Question: "Which colours has the door?", MultiSelect: true,
			Options: []cw.QuestionOption{{Label: "Red", Description: "as before"}, {Label: "Green", Description: "the new one"}, {Label: "Blue"}},
		}, {
			Header: "Name", Question: "What stands on it?",
			Options: []cw.QuestionOption{{Label: "Open"}, {Label: "Closed"}},
		}}},
		File: "door.txt", Content: "painted", Commit: "Paint the door", Signal: `{"status":"done"}`,
		Next: &fakecli.Script{Raw: "Once more.\n", Signal: `{"status":"done"}`},
	}
}

// sweeps is an agent that leaves a file that is not committed, and goes on.
func sweeps(what string) fakecli.Script {
	return fakecli.Script{Tame: true, Raw: what + "\n", Call: []string{"sh", "-c", "echo dust > dust.txt"}, Hang: true}
}

// shop is a daemon with an agent that asks and two that sweep.
func shop(t *testing.T) (*lab.Lab, map[string]cw.AgentView) {
	t.Helper()
	l := lab.New(t, binary)
	l.Start()
	agents := map[string]cw.AgentView{}
	for _, a := range []struct {
		name, title string
		script      fakecli.Script
	}{
		{"brave-otter", "Paint the door", asksWhich()},
		{"calm-heron", "Sweep the floor", sweeps("Sweeping the floor")},
		{"tidy-mole", "Sweep the yard", sweeps("Sweeping the yard")},
	} {
		agents[a.name] = named(t, l, a.name, a.title, a.script)
	}
	l.Until("brave-otter", func(v cw.AgentView) bool { return len(v.PendingQuestions) == 2 })
	return l, agents
}

// TestTop: all that is done at the board with single keys, on 80 columns and 24
// lines. It leaves the terminal as it was.
func TestTop(t *testing.T) {
	t.Parallel()
	l, agents := shop(t)
	g := newGlass(t, l, "80", "24")
	g.looks("begin", "Needs you 1", "Agents 3", "live", "I look at the shop.")
	g.measures(80, 24)

	t.Log("help, and moving")
	g.press("?")
	g.looks("help", "Keys")
	g.press("Escape")
	g.until("── Agents 3")
	g.press("G")
	g.until("▌○ tidy-mole", "── tidy-mole ─", "Sweeping the yard")
	g.press("Home", "Down", "k", "j")
	g.until("▌○ calm-heron", "Sweeping the floor")

	t.Log("opening an agent, holding its log")
	g.press("Enter")
	g.looks("opened", "Sweep the floor", "following", "q back")
	g.press("f")
	g.until("held, f follows")
	g.press("f", "a")
	g.until("following", "calm-heron asks nothing now")
	g.press("q")
	g.until("── Agents 3")

	t.Log("the filter")
	g.press("/", "mole")
	g.until("Filter: mole", "── Agents 1")
	g.press("Escape")
	g.until("── Agents 3")
	g.press("/", "sweep", "Enter")
	g.until("── Agents 2", "filter sweep")
	g.press("Escape")
	g.until("── Agents 3")

	t.Log("answering")
	g.press("Tab", "Enter")
	g.looks("asks", "brave-otter asks, 1 of 2", "1 Red", "2 Green", "the new one", "send answer")
	g.press("1", "j", "j", "x")
	g.until("1*", "3*")
	g.press("Enter")
	g.until("brave-otter asks, 2 of 2", "What stands on it?")
	g.press("o", "Ring me", "BSpace", "BSpace", "the bell", "C-w", "twice")
	g.until("Answer: Ring the twice")
	g.press("Enter")
	g.until("Nothing waits for you.", "answered: brave-otter goes on")
	l.Rest("brave-otter")
	questions, err := l.Client().Questions(t.Context(), cw.QuestionFilter{Agent: "brave-otter"})
	must(t, err)
	if q := questions.Items; len(q) != 2 || q[0].Answer != `["Red","Blue"]` || q[1].Answer != "Ring the twice" {
		t.Errorf("the questions are %+v", q)
	}

	t.Log("what it changed")
	g.press("2", "Home")
	g.until("▌✓ brave-otter")
	g.press("r")
	g.looks("diff", "brave-otter changed since its base", "+painted")
	g.press("q")

	t.Log("messages")
	g.press("m", "once more", "Enter")
	g.until("brave-otter goes on with it")
	l.Until("brave-otter", func(v cw.AgentView) bool { return v.SessionNumber == 2 && v.Status.AtRest() && !v.Settling })
	g.until("── session 2")
	g.press("j", "m")
	g.until("Message to calm-heron, for its next run:")
	g.press("and the stairs", "Enter")
	g.until("calm-heron has it in its next prompt")
	messages, err := l.Client().Messages(t.Context(), "calm-heron", cw.PageQuery{})
	must(t, err)
	if m := messages.Items; len(m) == 0 || m[len(m)-1].Body != "and the stairs" {
		t.Errorf("the messages are %+v", m)
	}

	t.Log("stopping one, then those that are selected")
	g.press("s")
	g.until("Stop calm-heron? 1 file is not committed; it stays.", "y yes")
	g.press("n")
	g.until("j/k move")
	g.press("x", "x")
	g.until("2 selected", "×calm-heron", "×tidy-mole")
	g.press("s")
	g.looks("stop", "Stop 2 agents? 2 files are not committed; they stay.")
	g.press("y")
	g.until("■ calm-heron", "■ tidy-mole")
	for _, name := range []string{"calm-heron", "tidy-mole"} {
		if v := l.Rest(string(agents[name].ID)); v.Status != cw.StatusStopped {
			t.Errorf("%s is %s", name, v.Status)
		}
	}

	g.press("q")
	if screen := g.until("ENDED 0", "SANE"); strings.Contains(screen, "Agents 3") {
		t.Errorf("the board stays on the terminal:\n%s", screen)
	}
	if shown := g.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}"); strings.TrimSpace(shown) != "0 1" {
		t.Errorf("alternate screen and cursor: %s", shown)
	}
}

// TestTopSizes: the board follows the size of the terminal, with a question open
// too, and says what it needs where there is too little.
func TestTopSizes(t *testing.T) {
	t.Parallel()
	l, _ := shop(t)
	g := newGlass(t, l, "80", "24")
	g.until("── Agents 3", "live", "I look at the shop.")
	for _, size := range []struct {
		width, height int
		name          string
		texts         []string
	}{
		{160, 50, "160x50", []string{"this second", "┌─ Needs you 1", "└"}},
		{139, 24, "139x24", []string{"── Agents 3"}},
		{79, 23, "79x23", []string{"── Agents 3"}},
		{40, 12, "40x12", []string{"── Agents 3"}},
		{30, 8, "30x8", []string{"── Agents 3"}},
		{29, 8, "29x8", []string{"Too small: 29×8."}},
		{80, 7, "80x7", []string{"Too small: 80×7. cw top needs 30×8."}},
		{20, 5, "20x5", []string{"Too small: 20×5."}},
		{80, 24, "begin", []string{"── Agents 3"}},
	} {
		g.resize(size.width, size.height)
		g.looks(size.name, size.texts...)
		g.measures(size.width, size.height)
	}
	g.press("a")
	g.looks("asks-80x24", "brave-otter asks, 1 of 2")
	g.resize(160, 50)
	g.looks("asks-160x50", "┌─ Needs you 1", "brave-otter asks, 1 of 2")
	g.measures(160, 50)
	g.resize(10, 3)
	g.until("Too small")
	g.press("C-c")
	g.until("ENDED 0", "SANE")
}

// TestTopPlain: without colours, and in what ssh may lead to, the same is told.
func TestTopPlain(t *testing.T) {
	t.Parallel()
	l, _ := shop(t)
	// One after the other: whoever waits for its turn beside other tests finds agents that
	// have stalled meanwhile.
	for name, c := range map[string]struct {
		env            []string
		args           []string
		colours, ascii bool
	}{
		"colours":       {env: []string{"LC_ALL=C.UTF-8", "TERM=xterm-256color"}, colours: true},
		"xterm":         {env: []string{"LC_ALL=C.UTF-8", "TERM=xterm"}, colours: true},
		"NO_COLOR":      {env: []string{"LC_ALL=C.UTF-8", "TERM=xterm-256color", "NO_COLOR=1"}},
		"no colour":     {env: []string{"LC_ALL=C.UTF-8", "TERM=xterm-256color"}, args: []string{"--no-color"}},
		"no locale":     {env: []string{"LC_ALL=", "LC_CTYPE=", "LANG=", "TERM=xterm"}, colours: true, ascii: true},
		"POSIX locale":  {env: []string{"LC_ALL=POSIX", "LANG=en_US.UTF-8", "TERM=vt100"}, colours: true, ascii: true},
		"ascii, no ink": {env: []string{"LC_ALL=C.UTF-8", "TERM=xterm"}, args: []string{"--ascii", "--no-color"}, ascii: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGlassIn(t, l, c.env, "80", "24", c.args...)
			screen := "begin"
			if c.ascii {
				screen = "ascii"
			}
			g.looks(screen, "Needs you 1", "Agents 3", "live", "I look at the shop.")
			shown := g.tmux("capture-pane", "-p", "-e")
			for code, what := range map[string]string{"\x1b[33m": "yellow", "\x1b[34m": "blue"} {
				if strings.Contains(shown, code) != c.colours {
					t.Errorf("%s is on the screen: %v", what, !c.colours)
				}
			}
			if !c.colours && strings.Contains(shown, "\x1b[") {
				t.Errorf("there are sequences:\n%q", shown)
			}
			if c.ascii && strings.IndexFunc(shown, func(r rune) bool { return r > '~' }) >= 0 {
				t.Errorf("there are other characters than those of ASCII:\n%s", shown)
			}
			g.press("q")
			g.until("ENDED 0", "SANE")
		})
	}
	t.Run("dumb", func(t *testing.T) {
		g := newGlassIn(t, l, []string{"TERM=dumb"}, "80", "24")
		g.until("top needs a terminal that it can draw on", "cw status --watch", "ENDED 2", "SANE")
	})
}

// TestTopWithoutDaemon: figures stay with their age when the daemon goes away, the
// board says so, and all is live again when it is back.
func TestTopWithoutDaemon(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	door := t.TempDir() + "/go"
	named(t, l, "calm-heron", "Sweep the floor", fakecli.Script{
		Tame: true, Raw: "Sweeping\n", Wait: door, Shell: "true", Signal: `{"status":"done","noChanges":"all was clean"}`,
	})
	g := newGlass(t, l, "80", "24")
	g.until("Agents 1", "live", "▌○ calm-heron", "\n Sweeping\n")
	for range 2 {
		l.Kill()
		g.press("j")
		g.looks("lost", "Connection lost", "Trying again in", "Agents go on working.", "as of", "calm-heron", "\n Sweeping\n")
		g.press("m", "hello", "Enter")
		g.until("Connection lost")
		l.Start()
		g.until("live", "not done, the daemon was away")
		g.press("m")
		g.until("Message to calm-heron", "hello▌")
		g.press("Escape")
		g.until("live", "j/k move", "▌○ calm-heron", "\n Sweeping\n")
	}
	must(t, os.WriteFile(door, nil, 0o600))
	g.until("✓ calm-heron", "Idle")
	g.press("q")
	g.until("ENDED 0", "SANE")
}

// TestTopTwo: of two people who answer the same question the second is told that
// it is answered, and nothing is taken back.
func TestTopTwo(t *testing.T) {
	t.Parallel()
	l, _ := shop(t)
	first, second := newGlass(t, l, "80", "24"), newGlass(t, l, "80", "24", "--ascii")
	for _, g := range []*glass{first, second} {
		g.until("Needs you 1", "live")
		g.press("1", "Enter")
		g.until("brave-otter asks, 1 of 2")
		g.press("2", "Enter", "2")
		g.until("brave-otter asks, 2 of 2", "2 Closed")
	}
	first.press("Enter")
	first.until("Nothing waits for you.", "answered: brave-otter goes on")
	second.press("Enter")
	second.until("Nothing waits for you.", "was answered")
	questions, err := l.Client().Questions(t.Context(), cw.QuestionFilter{Agent: "brave-otter"})
	must(t, err)
	for _, q := range questions.Items {
		if q.Answer != `["Green"]` && q.Answer != "Closed" {
			t.Errorf("the question is %+v", q)
		}
	}
}

// TestTopHostile: whatever an agent says, a screen has its size, and nothing of it
// is obeyed.
func TestTopHostile(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	const evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[5;5Hgone\u202egnp.exe\u200b 日本語 🙂👩‍👩‍👧‍👦🏳️‍🌈 e\u0301\u0301\u0301 \u0634\u0643\u0631\u0627 क्षत्रिय\u2028🇩🇪\u009b2J"
	script := asksWhich()
	script.Raw = evil + "\n" + strings.Repeat(evil, 20) + "\nfast\rslow\n"
	script.Ask.Questions[0].Question = evil
	script.Ask.Questions[0].Options[1].Description = evil
	script.Ask.Questions[0].Options[2].Label = "日本語 🙂 " + strings.Repeat("wide 日本", 8)
	named(t, l, "brave-otter", evil, script)
	l.Until("brave-otter", func(v cw.AgentView) bool { return len(v.PendingQuestions) == 2 })
	g := newGlass(t, l, "80", "24")
	g.looks("hostile", "Needs you 1", "live", "fast")
	g.measures(80, 24)
	g.press("Enter")
	g.looks("hostile-opened", "q back", "fast")
	g.measures(80, 24)
	g.press("q", "a")
	g.looks("hostile-asks", "brave-otter asks")
	g.measures(80, 24)
	g.resize(160, 50)
	g.looks("hostile-160x50", "┌─ Needs you 1")
	g.measures(160, 50)
	if title := g.tmux("display-message", "-p", "#{pane_title}"); strings.TrimSpace(title) != "cw top" {
		t.Errorf("the terminal's title is %q", title)
	}
	g.press("C-c")
	g.until("ENDED 0", "SANE")
}

// TestTopLongLog: the log of an agent that wrote much is there at once, from its
// end, and its beginning is one key away.
func TestTopLongLog(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	script := filepath.Join(t.TempDir(), "agent.sh")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\nseq -f 'number %.0f' 100000\n"+`echo '{"status":"done","noChanges":"nothing to do"}' > .cw/output/signal.json`+"\n"), 0o700))
	v, err := l.Client().Spawn(t.Context(), cw.SpawnRequest{
		RequestKey: cw.NewID(), Goal: "Count.", Name: "brave-otter", Projects: []string{l.Repo}, Provider: "script", Script: script,
		Env: map[string]string{"PATH": os.Getenv("PATH")},
	})
	must(t, err)
	l.Rest(string(v.ID))
	g := newGlass(t, l, "80", "24")
	g.until(" number 100000")
	g.press("Enter", "Home")
	g.until(" number 1\n", "held, f follows")
	g.press("f")
	g.until(" number 100000", "following")
}
