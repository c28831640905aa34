package providers

import (
	"strings"
	"testing"
)

// TestTrapsAreWhole: what is known to go wrong is told in whole sentences. YAML
// takes a # after a blank for a comment, and cuts the rest of a line off.
func TestTrapsAreWhole(t *testing.T) {
	t.Parallel()
	r, problems := Load("")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, p := range r.All() {
		for _, trap := range p.Traps {
			if !strings.HasSuffix(trap, ".") {
				t.Errorf("%s: %q", p.Name, trap)
			}
		}
	}
}
