package api

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"cw/internal/cw"
)

// Only what was let go, and only while the server stops, is blamed on it.
func TestWireOfStopping(t *testing.T) {
	t.Parallel()
	s, err := NewServer(plainOptions())
	if err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(t.Context())
	end()
	cut := errors.New("cut short")
	for _, c := range []struct {
		name           string
		stopping, gone bool
		err            error
		want           cw.Code
	}{
		{"caller went", false, true, context.Canceled, cw.CodeInterrupted},
		{"caller went, broken in the middle", false, true, cut, cw.CodeInterrupted},
		{"let go", true, true, context.Canceled, cw.CodeUnreachable},
		{"let go, broken in the middle", true, true, cut, cw.CodeUnreachable},
		{"let go by what it asked", true, false, fmt.Errorf("wait: %w", context.Canceled), cw.CodeUnreachable},
		{"let go, said by the service", true, true, cw.Errorf(cw.CodeInterrupted, "let go"), cw.CodeUnreachable},
		{"its own fault", true, true, cw.Errorf(cw.CodeNotFound, "no such agent"), cw.CodeNotFound},
		{"a broken machine", true, false, cut, cw.CodeInternal},
	} {
		serving, request := t.Context(), t.Context()
		if c.stopping {
			serving = over
		}
		if c.gone {
			request = over
		}
		e := s.wire(context.WithValue(request, stoppingKey{}, serving), c.err)
		if e.Code != c.want {
			t.Errorf("%s: %q, want %q", c.name, e.Code, c.want)
		}
	}
}
