package board

import (
	"strings"

	"cw/internal/cw"
)

// Log is a piece of what one agent wrote, in lines. It follows the end, unless it
// is held.
type Log struct {
	Agent cw.AgentID
	Held  bool
	More  bool // the end of what the agent wrote is not in the piece
	Busy  bool // it is read

	lines []string
	back  int // lines below the last one in sight
	rows  int // lines in sight
	news  int // lines that came while it is held
}

// Add adds lines that came now at the end. What is in sight stays while the log is
// held.
func (g *Log) Add(lines ...string) {
	if g.Extend(lines); g.Held {
		g.news += len(lines)
	}
}

// Extend is Add for lines that were there before.
func (g *Log) Extend(lines []string) {
	g.lines = append(g.lines, rigidLines(lines)...)
	if g.Held {
		g.back += len(lines)
	}
}

// Replace takes another piece of the same log. What is in sight stays where it is
// counted from the end, or from the beginning: that of both which is in both.
func (g *Log) Replace(lines []string, fromBeginning bool) {
	end := len(g.lines) - g.back
	if g.lines = rigidLines(lines); fromBeginning {
		g.back = len(g.lines) - end
	}
	g.settle(g.rows)
}

// Top shows the beginning of the piece.
func (g *Log) Top() { g.Scroll(-len(g.lines)) }

// Scroll moves by so many lines, down when by is positive. Reaching the end
// follows again, leaving it holds.
func (g *Log) Scroll(by int) {
	g.back -= by
	g.settle(g.rows)
	if g.Held = g.back > 0 || g.More; !g.Held {
		g.news = 0
	}
}

// Toggle holds the log, or follows again.
func (g *Log) Toggle() {
	if g.Held = !g.Held; !g.Held {
		g.back, g.news = 0, 0
	}
}

// Around tells how many lines there are above and below those in sight.
func (g *Log) Around() (above, below int) { return max(len(g.lines)-g.back-g.rows, 0), g.back }

// Rows is how many lines are in sight.
func (g *Log) Rows() int { return g.rows }

// settle keeps as many lines in sight as there is room for.
func (g *Log) settle(rows int) {
	g.rows = max(rows, 0)
	g.back = max(min(g.back, len(g.lines)-g.rows), 0)
}

// tail gives the last lines in sight.
func (g *Log) tail(rows int) []string {
	end := len(g.lines) - g.back
	return g.lines[max(end-max(rows, 0), 0):end]
}

// state says whether it follows.
func (g *Log) state() string {
	switch {
	case g.Busy:
		return "reading"
	case !g.Held:
		return "following"
	case g.news > 0:
		return "held, " + count(g.news, "new line") + ", f follows"
	}
	return "held, f follows"
}

func rigidLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = rigid(l)
	}
	return out
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
