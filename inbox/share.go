package inbox

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// shared lets callers who ask for the same have one look. A look may have read
// what its caller has just changed before it was changed, so nobody gets one
// that began before the call: whoever comes while one is under way waits for the
// next, together with all who do. So there is one look of a key at a time, and
// nobody waits longer than for two.
//
// A look that is over is never given again, however young: what agents do and
// how long they are silent changes without an event that would tell.
type shared[T any] struct {
	mu      sync.Mutex
	running map[string]*look[T]
	next    map[string]*look[T] // begins when the running one of its key ends
}

// look is one look and those who wait for it.
type look[T any] struct {
	read    func() (T, error)
	cancel  context.CancelFunc // ends read, when nobody waits any more
	waiting int                // guarded by shared.mu
	done    chan struct{}
	result  T // from done on
	err     error
}

// get gives what read gives, which begins after the call. A caller whose context
// ends leaves the look to the others; the last one ends it.
func (s *shared[T]) get(ctx context.Context, key string, read func(context.Context) (T, error)) (T, error) {
	l := s.join(ctx, key, read)
	defer s.leave(key, l)
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case <-l.done:
		return l.result, l.err
	}
}

// join takes a seat in a look that has not begun.
func (s *shared[T]) join(ctx context.Context, key string, read func(context.Context) (T, error)) *look[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.next[key]
	if l == nil {
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		l = &look[T]{read: func() (T, error) { return read(own) }, cancel: cancel, done: make(chan struct{})}
		if s.running[key] == nil {
			s.running[key] = l
			go s.run(key, l)
		} else {
			s.next[key] = l
		}
	}
	l.waiting++
	return l
}

// leave gives a seat up. A look without any ends, or does not begin.
func (s *shared[T]) leave(key string, l *look[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.waiting--; l.waiting > 0 {
		return
	}
	l.cancel()
	if s.next[key] == l {
		delete(s.next, key)
	}
}

// run looks for as long as somebody waits.
func (s *shared[T]) run(key string, l *look[T]) {
	for l != nil {
		l.run()
		l = s.turn(key)
	}
}

// turn puts the next look in the place of the one that is over.
func (s *shared[T]) turn(key string) *look[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.next[key]
	delete(s.next, key)
	if l == nil {
		delete(s.running, key)
	} else {
		s.running[key] = l
	}
	return l
}

// run reads. A panic is that of a request and must not end the daemon.
func (l *look[T]) run() {
	defer close(l.done)
	defer func() {
		if value := recover(); value != nil {
			l.err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
		}
	}()
	l.result, l.err = l.read()
}
