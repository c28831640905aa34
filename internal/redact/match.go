package redact

import (
	"iter"
	"slices"
	"strings"
)

const (
	// block is how many bytes decide how far a search may jump.
	block = 3
	// tableBits is the size of the table of jumps: 64 KiB stay in the second
	// cache.
	tableBits = 16
	// jumpMax bounds a jump to what a byte holds.
	jumpMax = 255
)

// matcher finds every form of every secret in one pass (the search of Wu and
// Manber): it looks at the last block of a window as long as the shortest form,
// and jumps on as far as no form can begin before. It is never changed.
type matcher struct {
	shortest, longest int // lengths of forms; 0: there are none
	jump              [1 << tableBits]uint8
	forms             map[uint16][]string  // by the last block of their first shortest bytes, the longest first
	ordered           []string             // all, sorted
	begins            [1 << 16 / 64]uint64 // a bit for each pair of bytes with which a form begins
}

// newMatcher takes all forms of all secrets.
func newMatcher(all []string) *matcher {
	m := &matcher{forms: map[uint16][]string{}, ordered: all}
	slices.Sort(m.ordered)
	m.ordered = slices.Compact(m.ordered)
	if len(m.ordered) == 0 {
		return m
	}
	m.shortest = jumpMax
	for _, f := range m.ordered {
		m.shortest, m.longest = min(m.shortest, len(f)), max(m.longest, len(f))
	}
	for i := range m.jump {
		m.jump[i] = uint8(m.shortest - block + 1)
	}
	for _, f := range m.ordered {
		for end := block; end <= m.shortest; end++ {
			h := hash(f[end-block], f[end-block+1], f[end-block+2])
			m.jump[h] = min(m.jump[h], uint8(m.shortest-end))
		}
		pair := uint16(f[0])<<8 | uint16(f[1])
		m.begins[pair/64] |= 1 << (pair % 64)
		last := hash(f[m.shortest-block], f[m.shortest-block+1], f[m.shortest-block+2])
		m.forms[last] = append(m.forms[last], f)
	}
	for _, bucket := range m.forms {
		slices.SortFunc(bucket, func(a, b string) int { return len(b) - len(a) })
	}
	return m
}

func hash(a, b, c byte) uint16 { return uint16(a) | uint16(b)<<8 ^ uint16(c)<<5 ^ uint16(c)>>3 }

// all yields where forms stand in the text, from and to, by their beginnings.
// Of those that begin at the same byte it gives the longest.
func (m *matcher) all(text []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		if m.longest == 0 {
			return
		}
		for end := m.shortest; end <= len(text); {
			h := hash(text[end-3], text[end-2], text[end-1])
			if j := m.jump[h]; j > 0 {
				end += int(j)
				continue
			}
			from := end - m.shortest
			for _, f := range m.forms[h] {
				if len(f) <= len(text)-from && string(text[from:from+len(f)]) == f {
					if !yield(from, from+len(f)) {
						return
					}
					break
				}
			}
			end++
		}
	}
}

// begun is the length of the longest end of the text with which a form begins
// that is longer than it: how much cannot be decided yet. Of nearly all texts
// the first two bytes of each end say that no form begins so.
func (m *matcher) begun(text []byte) int {
	tail := text[len(text)-min(len(text), m.longest-1):]
	for i := range tail {
		if end := tail[i:]; m.mayBegin(end) && m.begin(string(end)) {
			return len(end)
		}
	}
	return 0
}

// mayBegin tells whether the first bytes of the text are those of a form; of a
// single byte it tells nothing.
func (m *matcher) mayBegin(text []byte) bool {
	if len(text) < 2 {
		return true
	}
	pair := uint16(text[0])<<8 | uint16(text[1])
	return m.begins[pair/64]&(1<<(pair%64)) != 0
}

// begin tells whether a form begins with the text and is longer.
func (m *matcher) begin(text string) bool {
	i, _ := slices.BinarySearch(m.ordered, text)
	for ; i < len(m.ordered) && strings.HasPrefix(m.ordered[i], text); i++ {
		if len(m.ordered[i]) > len(text) {
			return true
		}
	}
	return false
}
