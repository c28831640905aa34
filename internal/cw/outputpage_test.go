package cw_test

import (
	"testing"

	"cw/internal/cw"
)

func TestOutputPlace(t *testing.T) {
	t.Parallel()
	order := []string{"0", "1", "1:0", "1:0:0", "1:0:1", "1:9:0", "1:10", "1:10:0", "2:0:0", "3", "10:0:0"}
	for i, a := range order {
		p, err := cw.ParseOutputPlace(a)
		if err != nil || p.String() != a {
			t.Errorf("%s is %s: %v", a, p, err)
		}
		for j, b := range order {
			q, err := cw.ParseOutputPlace(b)
			if err != nil || p.Compare(q) < 0 != (i < j) || p.Compare(q) == 0 != (i == j) {
				t.Errorf("%s and %s: %d, %v", a, b, p.Compare(q), err)
			}
		}
	}
	for _, bad := range []string{"", ":", "1:2:", "1:2:3:4", "1:2:3x", "a:b:c", "-1", "1:-2", "+1", "1:2:99999999999999999999", "99999999999999"} {
		if _, err := cw.ParseOutputPlace(bad); cw.ErrorCode(err) != cw.CodeInvalid || cw.ErrorHint(err) == "" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
