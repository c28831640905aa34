package dispatch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func TestGlobsIn(t *testing.T) {
	t.Parallel()
	both := []cw.InitiativeProject{{ID: "s", Name: "shop"}, {ID: "a", Name: "api"}}
	for _, tt := range []struct {
		globs   []string
		project string
		all     []cw.InitiativeProject
		want    []string
	}{
		{[]string{"src/**"}, "shop", both, []string{"src/**"}},
		{[]string{"shop:src/**", "api: docs/**"}, "shop", both, []string{"src/**"}},
		{[]string{"shop:src/**", "api: docs/**"}, "api", both, []string{"docs/**"}},
		{[]string{"shop/src/**"}, "shop", both, []string{"shop/src/**", "src/**"}},
		{[]string{"./shop/src/**"}, "shop", both, []string{"./shop/src/**", "src/**"}},
		{[]string{"shop/src/**"}, "api", both, []string{"shop/src/**"}},
		{[]string{"shop/src/**", "shop:src/a"}, "shop", both[:1], []string{"shop/src/**", "src/a"}},
		{[]string{"c:/x", "other:y"}, "shop", both, []string{"c:/x", "other:y"}}, // names of files may have a colon
		{nil, "shop", both, []string{}},
	} {
		if diff := cmp.Diff(tt.want, globsIn(tt.globs, tt.project, tt.all)); diff != "" {
			t.Errorf("%q in %s: %s", tt.globs, tt.project, diff)
		}
	}
}
