package daemon

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
)

// Limits of codes.
const (
	codesLiving = 20 // at once; the oldest goes first
	codeTries   = 60 // wrong ones, in codeWhile
	codeWhile   = time.Minute
)

// codes are those of cw open that live. Only their hashes are kept, and only
// here: they die with the daemon. That the look-up is by hash keeps its time
// from telling how close a guess was.
type codes struct {
	tries  *api.Allowance
	mu     sync.Mutex
	living []openCode // oldest first
}

type openCode struct {
	hash  [sha256.Size]byte
	until time.Time
	end   *time.Timer // lets forget run
	gone  func()      // is called once, when the code is good no longer
}

func newCodes() *codes { return &codes{tries: api.NewAllowance(codeTries, codeWhile)} }

// add lets a code be redeemed until its life is over. gone is called when it
// was, or was not in time.
func (c *codes) add(code string, gone func()) (until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := openCode{hash: sha256.Sum256([]byte(code)), until: time.Now().Add(cw.OpenCodeLife), gone: gone}
	one.end = time.AfterFunc(cw.OpenCodeLife, c.expire)
	c.living = append(c.living, one)
	if len(c.living) > codesLiving {
		c.drop(0)
	}
	return one.until
}

// redeem tells whether a code is good, once. CodeUnauthorized for one that is
// not, CodeTooMany when too many of these were tried. Those keep nobody out who
// has a good one: whoever runs on this machine can try.
func (c *codes) redeem(code string) error {
	c.expire()
	switch {
	case c.use(sha256.Sum256([]byte(code))):
		return nil
	case !c.tries.Take("", time.Now()):
		return cw.Errorf(cw.CodeTooMany, "too many wrong codes were tried").WithHint("wait a minute, or run cw open again: a new code is good at once")
	}
	return cw.BadOpenCode()
}

// use takes the code with a hash, and tells whether there was one.
func (c *codes) use(hash [sha256.Size]byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.living, func(one openCode) bool { return one.hash == hash })
	if i >= 0 {
		c.drop(i)
	}
	return i >= 0
}

// expire drops what has expired. All live equally long, so that is the head.
func (c *codes) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for now := time.Now(); len(c.living) > 0 && !now.Before(c.living[0].until); {
		c.drop(0)
	}
}

// drop forgets one code.
func (c *codes) drop(i int) {
	c.living[i].end.Stop()
	c.living[i].gone()
	c.living = slices.Delete(c.living, i, i+1)
}
