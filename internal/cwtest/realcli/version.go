package realcli

import (
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Version names one of the two versions of a CLI that the tests run.
type Version string

// The versions.
const (
	Pinned Version = "pinned" // of e2e/package.json
	Newest Version = "newest" // of e2e/newest/package.json, where the pinned one is older
)

// forcing is the variable that names the one version to be run.
const forcing = "CW_E2E_CLIS"

// Versions returns the versions of claude and codex that a test may run: both, or
// the one that CW_E2E_CLIS names.
func Versions(t testing.TB) []Version {
	t.Helper()
	switch v := Version(os.Getenv(forcing)); v {
	case "":
		return []Version{Pinned, Newest}
	case Pinned, Newest:
		return []Version{v}
	default:
		t.Fatalf("%s=%s: write %s or %s", forcing, v, Pinned, Newest)
		return nil
	}
}

// drawn is the version of a program that a test runs which asks for none: another
// in the next process, the same all through one test.
func drawn(t testing.TB, program string) Version {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	versions := Versions(t)
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(strconv.Itoa(os.Getpid()) + " " + program + " " + test)) // never fails
	return versions[sum.Sum64()>>32%uint64(len(versions))]
}

// findVersion returns the path of an executable in one of its versions; "": the drawn
// one.
func findVersion(t testing.TB, program string, v Version) string {
	t.Helper()
	if v == "" {
		v = drawn(t, program)
	}
	t.Logf("%s is the %s: %s=%s repeats it", program, v, forcing, v)
	folder := "e2e"
	if v == Newest {
		folder = filepath.Join("e2e", "newest")
	}
	return find(t, folder, program)
}
