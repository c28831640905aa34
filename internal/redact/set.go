package redact

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// SecretMin is the length in bytes from which on a secret is masked: shorter
	// ones would cover ordinary words.
	SecretMin = 8
	// SecretMax bounds a secret, in bytes. A longer one is masked as far as
	// that; what follows has no form of a credential.
	SecretMax = 16 << 10
	// mask stands for every byte of a secret.
	mask = '*'
)

// Set is the secrets that live now. It is safe for concurrent use; who masks
// is never held up by who changes it. A nil Set learns nothing and masks nothing.
type Set struct {
	mu      sync.Mutex
	owners  map[string][]string // guarded by mu; sorted, without doubles
	forms   map[string][]string // guarded by mu: of each secret that an owner has
	current atomic.Pointer[matcher]
}

// NewSet makes a set without secrets.
func NewSet() *Set {
	s := &Set{owners: map[string][]string{}, forms: map[string][]string{}}
	s.current.Store(newMatcher(nil))
	return s
}

// Put replaces the secrets of one owner, which is any name; none takes the owner
// away. Secrets shorter than SecretMin are left out.
func (s *Set) Put(owner string, secrets ...string) {
	if s == nil {
		return
	}
	own := slices.DeleteFunc(slices.Clone(secrets), func(t string) bool { return len(t) < SecretMin })
	for i, t := range own {
		own[i] = t[:min(len(t), SecretMax)]
	}
	slices.Sort(own)
	own = slices.Compact(own)
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Equal(s.owners[owner], own) {
		return
	}
	if s.owners[owner] = own; len(own) == 0 {
		delete(s.owners, owner)
	}
	s.current.Store(newMatcher(s.allForms()))
}

// allForms gives the forms of every secret that an owner has. Those that were
// known before are not made again: with many runs there are thousands.
func (s *Set) allForms() []string {
	known := map[string][]string{}
	var all []string
	for _, own := range s.owners {
		for _, secret := range own {
			if known[secret] != nil {
				continue
			}
			if known[secret] = s.forms[secret]; known[secret] == nil {
				known[secret] = forms(secret)
			}
			all = append(all, known[secret]...)
		}
	}
	s.forms = known
	return all
}

// matcher finds the secrets that live now; nil when there are none.
func (s *Set) matcher() *matcher {
	if s == nil {
		return nil
	}
	if m := s.current.Load(); m.longest > 0 {
		return m
	}
	return nil
}

// Reach is how many bytes before and after a piece can decide about the masks
// in it: the longest form of a secret but one byte.
func (s *Set) Reach() int {
	if m := s.matcher(); m != nil {
		return m.longest - 1
	}
	return 0
}

// Mask gives the text with every secret masked. It gives text itself when there
// is none, and never changes it.
func (s *Set) Mask(text []byte) []byte {
	masked, _ := s.MaskWindow(nil, text, true)
	return masked
}

// MaskString is Mask for a string.
func (s *Set) MaskString(text string) string {
	m := s.matcher()
	if m == nil || len(text) < SecretMin {
		return text
	}
	return string(s.Mask([]byte(text)))
}

// MaskWindow masks a piece of a longer text. before is what stands right before
// the piece, unmasked; only its last Reach bytes count.
//
// masked has the length of the piece. Its first final bytes are as they would be
// were the whole text masked at once; from there on a secret may have begun that
// ends behind the piece. With end, when nothing follows, final is the whole
// length. masked is the piece itself when nothing was masked; piece is never
// changed.
func (s *Set) MaskWindow(before, piece []byte, end bool) (masked []byte, final int) {
	m := s.matcher()
	if m == nil {
		return piece, len(piece)
	}
	before = before[len(before)-min(len(before), m.longest-1):]
	masked = m.cover(piece, piece, 0)
	// Secrets that began before the piece end in its first bytes.
	if len(before) > 0 {
		head := piece[:min(len(piece), m.longest-1)]
		masked = m.cover(slices.Concat(before, head), masked, len(before))
	}
	if end {
		return masked, len(piece)
	}
	tail := piece
	if short := m.longest - 1 - len(piece); short > 0 {
		tail = slices.Concat(before[len(before)-min(len(before), short):], piece)
	}
	return masked, max(0, len(piece)-m.begun(tail))
}

// cover masks in piece what is found in text, whose part from skip on is the
// beginning of piece. It copies the piece once it must change it: while text is
// piece itself, or shares no byte with it, the search sees the raw bytes.
func (m *matcher) cover(text, piece []byte, skip int) []byte {
	out, done := piece, 0
	for from, to := range m.all(text) {
		from, to = max(from-skip, done), to-skip
		if to <= from {
			continue
		}
		if done == 0 {
			out = bytes.Clone(piece)
		}
		for i := from; i < to; i++ {
			out[i] = mask
		}
		done = to
	}
	return out
}
