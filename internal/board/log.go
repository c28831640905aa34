package board

import (
	"strings"

	"cw/internal/cw"
)

// logMax is how many lines of an agent are kept to be looked at.
const logMax = 2000

// Log are the last lines of one agent. It follows, unless it is held.
type Log struct {
	Agent cw.AgentID
	Held  bool

	lines []string
	back  int // lines below the last one in sight
	news  int // lines that came while it is held
}

// Add adds lines at the end. What is in sight stays while the log is held.
func (g *Log) Add(lines ...string) {
	for _, l := range lines {
		g.lines = append(g.lines, rigid(l))
	}
	if g.Held {
		g.back, g.news = g.back+len(lines), g.news+len(lines)
	}
	if over := len(g.lines) - logMax; over > 0 {
		g.lines = g.lines[over:]
	}
	g.back = min(g.back, max(len(g.lines)-1, 0))
}

// Scroll moves by so many lines, down when by is positive. Reaching the end
// follows again, leaving it holds.
func (g *Log) Scroll(by int) {
	g.back = min(max(g.back-by, 0), max(len(g.lines)-1, 0))
	if g.Held = g.back > 0; !g.Held {
		g.news = 0
	}
}

// Toggle holds the log, or follows again.
func (g *Log) Toggle() {
	if g.Held = !g.Held; !g.Held {
		g.back, g.news = 0, 0
	}
}

// tail gives the last lines in sight.
func (g *Log) tail(rows int) []string {
	end := len(g.lines) - g.back
	return g.lines[max(end-max(rows, 0), 0):end]
}

// state says whether it follows.
func (g *Log) state() string {
	switch {
	case !g.Held:
		return "following"
	case g.news > 0:
		return "held, " + count(g.news, "new line") + ", f follows"
	}
	return "held, f follows"
}

// logLine gives a line of a log its inks: what went wrong is seen at once.
func logLine(text string) line {
	for prefix, look := range map[string]ink{
		"→ ": work, "± ": done, "error:": fail, "  failed:": fail, "  refused:": fail, "ended with an error:": fail,
		"warning:": need, "tries again": need, "usage limit": held, "near the usage limit": held, "── ": dim, "done:": dim, "model ": dim,
	} {
		if rest, is := strings.CutPrefix(text, prefix); is {
			if look == dim {
				return line{{text, dim}}
			}
			return line{{prefix, look}, {rest, plain}}
		}
	}
	return line{{text, plain}}
}
