package daemon

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
)

// TestCodeLife: a code is good once and for a minute, and what it left behind
// goes with it, once.
func TestCodeLife(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		wait time.Duration
		good bool
	}{
		{"at once", 0, true},
		{"just in time", cw.OpenCodeLife - time.Nanosecond, true},
		{"at the end", cw.OpenCodeLife, false},
		{"too late", time.Hour, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, code, gone := newCodes(), cw.NewOpenCode(), 0
				if until := c.add(code, func() { gone++ }); time.Until(until) != cw.OpenCodeLife {
					t.Errorf("good until %s", until)
				}
				time.Sleep(tt.wait)
				synctest.Wait()
				if err := c.redeem(code); (err == nil) != tt.good || !tt.good && cw.ErrorCode(err) != cw.CodeUnauthorized {
					t.Errorf("redeem: %v", err)
				}
				if err := c.redeem(code); cw.ErrorCode(err) != cw.CodeUnauthorized {
					t.Errorf("a second time: %v", err)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if gone != 1 {
					t.Errorf("what it left behind went %d times", gone)
				}
			})
		})
	}
}

// TestUnusedCodeGoes: nobody has to ask for what a code left behind to go.
func TestUnusedCodeGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, gone := newCodes(), false
		c.add(cw.NewOpenCode(), func() { gone = true })
		time.Sleep(cw.OpenCodeLife)
		synctest.Wait()
		if !gone || len(c.living) != 0 {
			t.Errorf("gone %v, %d live", gone, len(c.living))
		}
	})
}

// TestCodeRace: of many that use one code at once exactly one is let in.
func TestCodeRace(t *testing.T) {
	t.Parallel()
	for range 50 {
		c, code := newCodes(), cw.NewOpenCode()
		c.add(code, func() {})
		var in atomic.Int64
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				if c.redeem(code) == nil {
					in.Add(1)
				}
			})
		}
		wait.Wait()
		if in.Load() != 1 {
			t.Fatalf("%d were let in", in.Load())
		}
	}
}

// TestCodesAreBounded: the oldest of too many goes.
func TestCodesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, gone := newCodes(), 0
		first, last := cw.NewOpenCode(), cw.NewOpenCode()
		c.add(first, func() { gone++ })
		for range codesLiving - 1 {
			c.add(cw.NewOpenCode(), func() { gone++ })
		}
		c.add(last, func() { gone++ })
		if gone != 1 || c.redeem(first) == nil || c.redeem(last) != nil {
			t.Errorf("%d went", gone)
		}
		time.Sleep(cw.OpenCodeLife) // nothing is left behind
		synctest.Wait()
	})
}

// TestGuesses: many wrong tries are refused as such and keep no right code out,
// and the next minute all is well.
func TestGuesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCodes()
		wrong := func(n int, want cw.Code) {
			t.Helper()
			for range n {
				if err := c.redeem(cw.NewOpenCode()); cw.ErrorCode(err) != want || cw.ErrorHint(err) == "" {
					t.Fatalf("%v, want %s", err, want)
				}
			}
		}
		right := func(n int) {
			t.Helper()
			for range n {
				code := cw.NewOpenCode()
				c.add(code, func() {})
				if err := c.redeem(code); err != nil {
					t.Fatalf("a right one: %v", err)
				}
			}
		}
		right(codeTries + 1) // they do not count
		wrong(codeTries, cw.CodeUnauthorized)
		wrong(10, cw.CodeTooMany)
		right(1)
		time.Sleep(codeWhile)
		synctest.Wait()
		wrong(1, cw.CodeUnauthorized)
	})
}
