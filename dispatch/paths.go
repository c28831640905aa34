package dispatch

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Overlap tells whether some path may match both globs, in the language of
// doublestar: *, ?, classes, {a,b} and **; what is below a folder that matches
// counts, too. It may say so of two that never do (it takes a class for any
// character, and gives up on globs that are too much to compare), never the other
// way round; only that a name like prices.go is a folder it believes just where
// the other glob spells it out, as otherwise it would overlap with **/x.
func Overlap(a, b string) bool {
	m := meter(comparedMax)
	for _, x := range patternsOf(a) {
		for _, y := range patternsOf(b) {
			if m.overlap(x, y) {
				return true
			}
		}
	}
	return false
}

// comparedMax bounds one comparison, or one search, in steps: globs with many
// stars and braces, which nobody writes by hand, count as overlapping.
const comparedMax = 1 << 20

// meter is how many steps are left.
type meter int

// spent takes steps away; true when none are left.
func (m *meter) spent(steps int) bool {
	*m -= meter(steps)
	return *m < 0
}

// pattern is a glob without braces, as the segments between its slashes. It ends
// in **, as a folder stands for what is below it, unless it names a file.
type pattern []segment

// segment is what may stand between two slashes.
type segment struct {
	text string // of one that is nothing but characters
	wild []rune // of one that is more; nil otherwise
	deep bool   // **: any number of segments
}

func (s segment) plain() bool { return s.wild == nil && !s.deep }

// plainLen is the number of segments before the first that is more than a name.
func (p pattern) plainLen() int {
	for i, s := range p {
		if !s.plain() {
			return i
		}
	}
	return len(p)
}

// patternsOf reads a glob.
func patternsOf(glob string) []pattern { return new(reader).read(nil, glob) }

// reader reads globs, many into one piece of memory.
type reader struct {
	free []segment
	made int // segments that there was made room for last
}

// roomMax is how many segments a reader makes room for at once.
const roomMax = 512

// room gives an empty pattern that may get so many segments.
func (r *reader) room(n int) pattern {
	if len(r.free) < n {
		r.made = max(n, min(2*r.made, roomMax))
		r.free = make([]segment, r.made)
	}
	p := pattern(r.free[:0:n])
	r.free = r.free[n:]
	return p
}

// readAll reads globs; never nil.
func (r *reader) readAll(globs []string) []pattern {
	out := make([]pattern, 0, len(globs))
	for _, g := range globs {
		out = r.read(out, g)
	}
	return out
}

// read adds what a glob stands for.
func (r *reader) read(out []pattern, glob string) []pattern {
	if !strings.Contains(glob, "{") {
		return append(out, r.pattern(glob))
	}
	for _, g := range alternatives(glob) {
		out = append(out, r.pattern(g))
	}
	return out
}

// alternativesMax bounds how many globs one with braces stands for; one that
// stands for more matches everything.
const alternativesMax = 64

// alternatives writes out the braces of a glob.
func alternatives(glob string) []string {
	done, open := []string{}, []string{glob}
	for len(open) > 0 {
		if len(done)+len(open) > alternativesMax {
			return []string{"**"}
		}
		g := open[0]
		open = open[1:]
		from, to, choices := firstBraces(g)
		if choices == nil {
			done = append(done, g)
			continue
		}
		for _, c := range choices {
			open = append(open, g[:from]+c+g[to:])
		}
	}
	return done
}

// firstBraces finds the first pair of braces and what stands in it.
func firstBraces(g string) (from, to int, choices []string) {
	depth, start := 0, 0
	for i := 0; i < len(g); i++ {
		switch g[i] {
		case '\\':
			i++
		case '[': // what stands in a class is no brace
			if end := classEnd(g, i); end > 0 {
				i = end
			}
		case '{':
			if depth++; depth == 1 {
				from, start = i, i+1
			}
		case ',':
			if depth == 1 {
				choices, start = append(choices, g[start:i]), i+1
			}
		case '}':
			if depth == 0 {
				continue
			}
			if depth--; depth == 0 {
				return from, i + 1, append(choices, g[start:i])
			}
		}
	}
	return 0, 0, nil
}

// classEnd finds the end of the class that begins at a place; -1 for none.
func classEnd(g string, from int) int {
	i := from + 1
	if i < len(g) && (g[i] == '!' || g[i] == '^') {
		i++
	}
	if i < len(g) && g[i] == ']' { // a class is never empty
		return -1
	}
	for ; i < len(g); i++ {
		switch g[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return -1
}

// What stands for characters in a segment; no character of a path is negative.
const (
	anyOne  rune = -1
	anyMany rune = -2
)

// pattern reads a glob without braces.
func (r *reader) pattern(g string) pattern {
	if !utf8.ValidString(g) { // as characters, whichever way they are read
		g = string([]rune(g))
	}
	p, folder := r.room(strings.Count(g, "/")+2), strings.HasSuffix(g, "/")
	p, g = names(p, g)
	now := make([]rune, 0, len(g)) // its parts become the segments
	wild := false
	end := func() {
		switch {
		case len(now) == 2 && now[0] == anyMany && now[1] == anyMany:
			p = append(p, segment{deep: true})
		case wild:
			p = append(p, segment{wild: now[:len(now):len(now)]})
		case len(now) > 0 && string(now) != ".":
			p = append(p, segment{text: string(now)})
		}
		now, wild = now[len(now):], false
	}
	for i := 0; i < len(g); i++ {
		switch c := g[i]; c {
		case '/':
			end()
		case '*':
			now, wild = append(now, anyMany), true
		case '?':
			now, wild = append(now, anyOne), true
		case '[':
			last := classEnd(g, i)
			switch {
			case last < 0:
				now = append(now, '[')
			case crosses(g[i+1 : last]):
				return append(p, segment{deep: true})
			default:
				now, wild, i = append(now, anyOne), true, last
			}
		case '\\':
			if i+1 < len(g) && g[i+1] != '/' {
				i++
				r, size := utf8.DecodeRuneInString(g[i:])
				now = append(now, r)
				i += size - 1
			}
		default:
			r, size := utf8.DecodeRuneInString(g[i:])
			now = append(now, r)
			i += size - 1
		}
	}
	end()
	if len(p) == 0 || folder || !p[len(p)-1].file() {
		p = append(p, segment{deep: true})
	}
	return p
}

// names reads the segments of a glob before the first with a wildcard in a name:
// they are parts of the glob as it stands. It gives what is left.
func names(p pattern, g string) (pattern, string) {
	for g != "" {
		name, rest, _ := strings.Cut(g, "/")
		switch {
		case name == "**":
			p = append(p, segment{deep: true})
		case strings.ContainsAny(name, `*?[\`):
			return p, g
		case name != "" && name != ".": // a//b and ./a are other ways to write a path
			p = append(p, segment{text: name})
		}
		g = rest
	}
	return p, ""
}

// file tells whether a name looks like that of a file: it ends in a dot and a few
// letters. That of a folder like conf.d or v1.2 does not.
func (s segment) file() bool {
	name := s.text
	if s.wild != nil {
		name = string(s.wild) // what stands for characters is no letter there
	}
	dot := strings.LastIndexByte(name, '.')
	if s.deep || dot < 1 {
		return false
	}
	ending := name[dot+1:]
	first, _ := utf8.DecodeRuneInString(ending)
	return unicode.IsLetter(first) && utf8.RuneCountInString(ending) <= extensionMax && ending != "d" &&
		!strings.ContainsFunc(ending, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// extensionMax bounds the letters after the dot of a file's name.
const extensionMax = 5

// crosses tells whether a class may stand for a slash: one that says what it does
// not stand for does, and a range may.
func crosses(class string) bool {
	if class[0] == '!' || class[0] == '^' || strings.Contains(class, "/") || strings.Contains(class, "--") {
		return true
	}
	below := func(r rune) bool { return r < '/' && r != '-' }
	return strings.Contains(class, "-") && strings.ContainsFunc(class, below)
}

// overlap walks both patterns at once: a place in each that can be reached
// together, from the start to the end.
func (m *meter) overlap(a, b pattern) bool {
	for len(a) > 0 && len(b) > 0 && a[0].plain() && b[0].plain() {
		if m.spent(1); a[0].text != b[0].text {
			return false
		}
		a, b = a[1:], b[1:]
	}
	if len(a) == 0 || len(b) == 0 { // one is what the other is, or below it
		return true
	}
	if x, y := a[len(a)-1], b[len(b)-1]; x.plain() && y.plain() && x.text != y.text {
		return false
	}
	return m.walk(len(a), len(b), func(i int) bool { return a[i].deep }, func(j int) bool { return b[j].deep },
		func(i, j int) bool { return m.names(a[i], b[j]) })
}

// names does the same for two segments and their characters.
func (m *meter) names(a, b segment) bool {
	if a.plain() && b.plain() {
		return a.text == b.text
	}
	x, y := a.runes(), b.runes()
	return m.walk(len(x), len(y), func(i int) bool { return x[i] == anyMany }, func(j int) bool { return y[j] == anyMany },
		func(i, j int) bool { return x[i] == y[j] || x[i] == anyOne || y[j] == anyOne })
}

func (s segment) runes() []rune {
	if s.wild != nil {
		return s.wild
	}
	return []rune(s.text)
}

// walk tells whether two lists have a common reading: manyA and manyB name the
// places that stand for any number of things, same those that can be the same
// thing. It takes at most as many steps as there are pairs of places.
func (m *meter) walk(a, b int, manyA, manyB func(int) bool, same func(i, j int) bool) bool {
	here, next := make([]bool, b+1), make([]bool, b+1)
	here[0] = true
	for i := 0; i <= a; i++ {
		some := false
		for j := 0; j <= b; j++ {
			if !here[j] {
				continue
			}
			if m.spent(1) {
				return true
			}
			some = true
			starA, starB := i < a && manyA(i), j < b && manyB(j)
			if i < a && (starA || starB) {
				next[j] = true
			}
			if j < b && (starA || starB) {
				here[j+1] = true
			}
			if i < a && j < b && !starA && !starB && same(i, j) {
				next[j+1] = true
			}
		}
		if i == a {
			return here[b]
		}
		if !some {
			return false
		}
		here, next = next, here
		clear(next)
	}
	return false
}

// claims keeps which task has which paths, so that what overlaps is found
// without looking at all: in a tree by the segments before the first wildcard.
type claims struct{ root claimNode }

type claimNode struct {
	below map[string]*claimNode
	order []*claimNode // below, as they came: the same question has the same answer
	here  []claim      // whose segments without a wildcard end here
}

type claim struct {
	pattern pattern
	task    int // index
}

// readPaths reads globs; never nil.
func readPaths(globs []string) []pattern { return new(reader).readAll(globs) }

// add notes the paths of a task.
func (c *claims) add(paths []pattern, task int) {
	for _, p := range paths {
		node := &c.root
		for _, s := range p[:p.plainLen()] {
			node = node.child(s.text)
		}
		node.here = append(node.here, claim{p, task})
	}
}

func (n *claimNode) child(name string) *claimNode {
	child := n.below[name]
	if child == nil {
		child = &claimNode{}
		if n.below == nil {
			n.below = map[string]*claimNode{}
		}
		n.below[name], n.order = child, append(n.order, child)
	}
	return child
}

// find gives a task that has paths in common with these; -1 for none.
func (c *claims) find(paths []pattern) int {
	m := meter(comparedMax)
	for _, p := range paths {
		if t := c.findOne(p, &m); t >= 0 {
			return t
		}
	}
	return -1
}

func (c *claims) findOne(p pattern, m *meter) int {
	node := &c.root
	for _, s := range p[:p.plainLen()] {
		if t := node.at(p, m); t >= 0 {
			return t
		}
		if node = node.below[s.text]; node == nil {
			return -1
		}
	}
	return node.anywhere(p, m)
}

func (n *claimNode) at(p pattern, m *meter) int {
	for _, c := range n.here {
		if m.overlap(c.pattern, p) {
			return c.task
		}
	}
	return -1
}

func (n *claimNode) anywhere(p pattern, m *meter) int {
	if t := n.at(p, m); t >= 0 {
		return t
	}
	for _, child := range n.order {
		if t := child.anywhere(p, m); t >= 0 {
			return t
		}
	}
	return -1
}
