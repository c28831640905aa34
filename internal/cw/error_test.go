package cw_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"cw/internal/cw"
)

func TestErrorCodes(t *testing.T) {
	t.Parallel()
	refused := cw.Errorf(cw.CodeRefused, "agent %s runs", "brave-otter").WithHint("stop it first").Because(io.EOF)
	wrapped := fmt.Errorf("remove: %w", refused)
	if cw.ErrorCode(wrapped) != cw.CodeRefused || cw.ErrorHint(wrapped) != "stop it first" || !errors.Is(wrapped, io.EOF) {
		t.Errorf("%v", wrapped)
	}
	if got := refused.Error(); got != "agent brave-otter runs: EOF" {
		t.Errorf("%q", got)
	}
	for err, want := range map[error]int{nil: 0, io.EOF: 1, wrapped: 4, cw.Errorf(cw.CodeWaiting, "x"): 7} {
		if got := cw.ExitCode(err); got != want {
			t.Errorf("exit code of %v is %d, want %d", err, got, want)
		}
	}
	if cw.ErrorCode(nil) != "" || cw.ErrorCode(io.EOF) != cw.CodeInternal {
		t.Error("codes of nil and of a foreign error")
	}
}

// TestOutcomes: every code has a status of its own kind and one of the exit
// codes that the manual names.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	exits := map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 130: true}
	for code, o := range cw.Outcomes() {
		if o.HTTPStatus < 400 || o.HTTPStatus > 599 || !exits[o.ExitCode] {
			t.Errorf("%s: %+v", code, o)
		}
	}
}
