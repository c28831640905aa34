package servicetest

import (
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// providersCase: the presets by name, each found by its name and its aliases,
// with what is installed on the PATH that was asked about.
func providersCase(t *testing.T, f Fixture) {
	s, nowhere := f.Services, "/no/such folder:/no;such?folder#%2F&path=x"
	views, err := s.Providers(soon(t), nowhere)
	ok(t, err)
	names := []string{}
	for _, v := range views {
		names = append(names, v.Name)
		completeProvider(t, v)
		for _, name := range append([]string{v.Name}, v.Aliases...) {
			one, err := s.Provider(soon(t), name, nowhere)
			ok(t, err)
			if diff := cmp.Diff(v, one); diff != "" {
				t.Errorf("%s alone: %s", name, diff)
			}
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("providers %v", names)
	}
	for name, installed := range map[string]bool{"script": true, "codex": false} {
		at := slices.Index(names, name)
		if at < 0 || views[at].Installed != installed || views[at].Command != "" || views[at].Version != "" {
			t.Errorf("%s of %v, installed: want %v", name, names, installed)
		}
	}
	for _, name := range []string{unknown, "..", "a/b"} {
		_, err = s.Provider(soon(t), name, "")
		wantHint(t, "Provider of an odd name", err, cw.CodeNotFound, "script")
	}
}

// completeProvider holds what programs count on.
func completeProvider(t *testing.T, v cw.ProviderView) {
	t.Helper()
	if v.Title == "" || v.Origin == "" || v.Trouble != "" || len(v.SpawnArgv) == 0 || v.Resume == "" || v.Signal == "" || v.Driver == "" || v.StopSignal == "" {
		t.Errorf("%+v", v)
	}
	for what, list := range map[string][]string{
		"aliases": v.Aliases, "changes": v.Changes, "argv": v.ResumeArgv, "env": v.EnvNames, "accountEnv": v.AccountEnv, "traps": v.Traps,
	} {
		if list == nil {
			t.Errorf("%s: %s are null", v.Name, what)
		}
	}
	if can := v.Resume != "none"; can != (len(v.ResumeArgv) > 0) {
		t.Errorf("%s resumes by %s: %s", v.Name, v.Resume, strings.Join(v.ResumeArgv, " "))
	}
}
