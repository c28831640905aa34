package cw

import (
	"regexp"
	"sync"
)

// Pattern gives a regular expression that is compiled at its first use. The
// program starts for every command and every shim, and most need none: ready
// made they would be a tenth of the start. A wrong one panics there, so each
// needs a test that uses it.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
