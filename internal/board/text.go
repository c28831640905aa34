package board

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"cw/internal/inert"
)

// tabWidth is how wide a tab of a patch or a log is shown.
const tabWidth = 4

// lineMax is how many bytes of one text are looked at: no screen shows more in a
// line, and texts of agents may be long.
const lineMax = 2048

// bounded cuts a text that is too long for a line.
func bounded(s string) string {
	if len(s) <= lineMax {
		return s
	}
	return strings.ToValidUTF8(s[:lineMax], "") + "…"
}

// flat makes foreign text one line that is safe to show, with single spaces.
func flat(s string) string { return strings.Join(strings.Fields(even(inert.Line(bounded(s)))), " ") }

// spaced makes one line of foreign text safe to show and keeps its spaces.
func spaced(s string) string {
	s = strings.ReplaceAll(inert.Clean(bounded(s)), "\n", " ")
	return even(strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabWidth)))
}

// rigid is spaced for what is aligned, patches and logs: nothing is behind it.
func rigid(s string) string { return strings.TrimRight(spaced(s), " ") }

// even takes away what has no width of its own, and what terminals do not agree
// on how wide it is: a line has its width on all of them.
func even(s string) string {
	if strings.IndexFunc(s, foreign) < 0 {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case hidden(r):
			return -1
		}
		return r
	}, s)
	var b strings.Builder
	last := " " // what stands before it: it must not join that
	eachCluster(s, func(cluster string, width int) {
		if width > 0 && width == ansi.WcWidth.StringWidth(cluster) && len(cluster) <= clusterMax && (b.Len() > 0 || apart(cluster)) {
			b.WriteString(cluster)
			last = cluster
			return
		}
		for _, r := range cluster { // its letters stand beside each other
			if one := string(r); wide(one) > 0 && agreed(one) && agreed(last+one) && (b.Len() > 0 || apart(one)) {
				b.WriteString(one)
				last = one
			}
		}
	})
	if out := b.String(); agreed(out) { // what stands beside each other now may join
		return out
	}
	return strings.Map(func(r rune) rune {
		if foreign(r) {
			return '?'
		}
		return r
	}, b.String())
}

// clusterMax bounds the bytes of what is shown as one character: marks can be
// piled up without end.
const clusterMax = 16

// apart tells whether a text stays as wide as it is behind a space: marks, and the
// colours of skin, join what is before them.
func apart(s string) bool { return wide(" "+s) == 1+wide(s) }

// agreed tells whether a text is as wide for terminals that count characters as
// for those that count what people see as one.
func agreed(s string) bool { return ansi.WcWidth.StringWidth(s) == ansi.GraphemeWidth.StringWidth(s) }

// hidden tells whether a character shows nothing: it could hide what a line says.
func hidden(r rune) bool {
	switch {
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Co, r), unicode.IsControl(r):
		return true
	case r == '\u034f', r == '\u115f', r == '\u1160', r == '\u17b4', r == '\u17b5', r == '\u2800', r == '\u3164', r == '\uffa0':
		return true
	}
	return false
}

// eachCluster gives what people see as one character, each with its width.
func eachCluster(s string, f func(cluster string, width int)) {
	for len(s) > 0 {
		cluster, width, n, _ := ansi.GraphemeWidth.DecodeSequenceInString(s, ansi.NormalState, nil)
		if n <= 0 {
			return
		}
		f(cluster, width)
		s = s[n:]
	}
}

// wide is how many columns a text takes.
func wide(s string) int {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || foreign(r) }) < 0 {
		return len(s)
	}
	return ansi.GraphemeWidth.StringWidth(s)
}

// shorten makes a text at most n columns wide.
func shorten(s string, n int) string {
	switch {
	case n <= 0:
		return ""
	case wide(s) <= n:
		return s
	}
	return ansi.GraphemeWidth.Truncate(s, n, "…")
}

// left makes a text exactly n columns wide, its end cut or filled; right fills its
// beginning.
func left(s string, n int) string {
	s = shorten(s, n)
	return s + strings.Repeat(" ", max(n-wide(s), 0))
}

func right(s string, n int) string {
	s = shorten(s, n)
	return strings.Repeat(" ", max(n-wide(s), 0)) + s
}

// wrap breaks a text into lines of at most n columns.
func wrap(s string, n int) []string {
	if n <= 0 {
		return nil
	}
	return strings.Split(ansi.GraphemeWidth.Wrap(s, n, ""), "\n")
}

// fit makes a line exactly n columns wide.
func fit(ln line, n int) line {
	out, room := make(line, 0, len(ln)+1), n
	for _, s := range ln {
		if w := wide(s.text); w > room {
			s.text = left(s.text, room)
		}
		room -= wide(s.text)
		out = append(out, s)
	}
	if room > 0 {
		out = append(out, span{strings.Repeat(" ", room), plain})
	}
	return out
}
