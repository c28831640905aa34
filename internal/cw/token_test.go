package cw_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func TestTokenRequest(t *testing.T) {
	t.Parallel()
	read, both := []cw.Scope{cw.ScopeRead}, []cw.Scope{cw.ScopeRead, cw.ScopeOperate}
	for _, tt := range []struct {
		name   string
		scopes []cw.Scope
		want   []cw.Scope // nil: refused
		text   string     // of the refusal
	}{
		{"", nil, read, ""},
		{"grafana", read, read, ""},
		{"wall screen 2", []cw.Scope{cw.ScopeOperate}, both, ""},
		{"büro", []cw.Scope{cw.ScopeOperate, cw.ScopeRead, cw.ScopeRead}, both, ""},
		{strings.Repeat("n", cw.TokenNameMax), []cw.Scope{}, read, ""},
		{strings.Repeat("n", cw.TokenNameMax+1), nil, nil, "longer than 64 bytes"},
		{"-rf", nil, nil, "hyphen"},
		{" x", nil, nil, "space"},
		{"x ", nil, nil, "space"},
		{" ", nil, nil, "space"},
		{"a\nb", nil, nil, "cannot be seen"},
		{"a\x1b[2Jb", nil, nil, "cannot be seen"},
		{"a\u202eb", nil, nil, "cannot be seen"},
		{"a\x00", nil, nil, "cannot be seen"},
		{"\xff", nil, nil, "cannot be seen"},
		{"..", nil, nil, "address"},
		{"/", nil, nil, "address"},
		{"abcdefgh2345", nil, nil, "id"},
		{"", []cw.Scope{"Reed"}, nil, "did you mean read?"},
		{"", []cw.Scope{"operator"}, nil, "did you mean operate?"},
		{"", []cw.Scope{"self:read"}, nil, "read and operate"},
		{"", []cw.Scope{cw.Scope(strings.Repeat("x", 1<<20))}, nil, "read and operate"},
		{"", []cw.Scope{""}, nil, "read and operate"},
	} {
		got, err := cw.TokenRequest{Name: tt.name, Scopes: tt.scopes}.Complete()
		if tt.want == nil {
			said := ""
			if err != nil {
				said = err.Error() + " " + cw.ErrorHint(err)
			}
			if cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(said, tt.text) || len(said) > 400 {
				t.Errorf("%.40q %.80v: %q (%s), want %q", tt.name, tt.scopes, said, cw.ErrorCode(err), tt.text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q %v: %v", tt.name, tt.scopes, err)
		}
		if diff := cmp.Diff(cw.TokenRequest{Name: tt.name, Scopes: tt.want}, got); diff != "" {
			t.Errorf("%q %v: %s", tt.name, tt.scopes, diff)
		}
	}
}

// FuzzTokenName: what passes can be shown in one line, typed as an argument
// and put into an address.
func FuzzTokenName(f *testing.F) {
	for _, name := range []string{"grafana", "-x", "a b", "\x7f", "ü", "..", "\u200e"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := cw.TokenRequest{Name: name}.Complete()
		if err != nil {
			if cw.ErrorCode(err) != cw.CodeInvalid || cw.ErrorHint(err) == "" {
				t.Errorf("%q: %v", name, err)
			}
			return
		}
		if got.Name != name || len(name) > cw.TokenNameMax || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\r\n\t\x1b\x00") {
			t.Errorf("%q passed", name)
		}
	})
}

func TestFreeTokenName(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	for _, want := range []string{"dashboard", "dashboard-2", "dashboard-3"} {
		name, err := cw.FreeTokenName("dashboard", func(name string) (bool, error) { return taken[name], nil })
		if err != nil || name != want {
			t.Errorf("%q (%v), want %q", name, err, want)
		}
		taken[name] = true
	}
	broken := errors.New("broken")
	if _, err := cw.FreeTokenName("dashboard", func(string) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	a, b, run := cw.NewDashboardToken(), cw.NewDashboardToken(), cw.NewToken()
	if a == b || len(a) != len("cwd_")+52 || !strings.HasPrefix(a, "cwd_") || strings.HasPrefix(run, "cwd_") {
		t.Errorf("tokens %q, %q; of a run %q", a, b, run)
	}
}
