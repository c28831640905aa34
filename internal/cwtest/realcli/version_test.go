package realcli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestVersions: both versions are there to be drawn, a test that draws has the same
// one each time, and CW_E2E_CLIS chooses.
func TestVersions(t *testing.T) {
	t.Setenv(forcing, "")
	if got := Versions(t); !slices.Equal(got, []Version{Pinned, Newest}) {
		t.Errorf("versions: %v", got)
	}
	seen := map[Version]bool{}
	for i := range 64 {
		program := strings.Repeat("x", i)
		seen[drawn(t, program)] = true
		if first, again := drawn(t, program), drawn(t, program); first != again {
			t.Errorf("%q: %s, then %s", program, first, again)
		}
	}
	if !seen[Pinned] || !seen[Newest] {
		t.Errorf("of 64 only these are drawn: %v", seen)
	}
	for _, v := range []Version{Pinned, Newest} {
		t.Setenv(forcing, string(v))
		if got := drawn(t, "claude"); got != v || len(Versions(t)) != 1 {
			t.Errorf("%s is forced, %s is drawn", v, got)
		}
	}
}

// TestFindVersion: each version is the one of its own package.json.
func TestFindVersion(t *testing.T) {
	t.Parallel()
	for v, folder := range map[Version]string{Pinned: "e2e", Newest: "e2e/newest"} {
		want := filepath.Join(moduleRoot(t), folder, "node_modules", ".bin", "claude")
		if got := Claude(t, v).Path; got != want {
			t.Errorf("%s: %s, want %s", v, got, want)
		}
		if _, err := os.Stat(filepath.Join(moduleRoot(t), folder, "package-lock.json")); err != nil {
			t.Error(err)
		}
	}
}
