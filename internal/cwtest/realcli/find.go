package realcli

import (
	"os"
	"path/filepath"
	"testing"
)

// DummyKey is the key in the environment of a CLI. It opens nothing.
const DummyKey = "dummy"

// surroundings is the environment that every CLI gets.
func surroundings(home, url string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"LANG=C.UTF-8",
		"HOME=" + home,
		// Whatever else it tries to reach ends at the model server, which
		// refuses and records it.
		"HTTPS_PROXY=" + url,
		"NO_PROXY=127.0.0.1,localhost",
		// git without the user's own settings.
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1",
	}
}

// withNode puts the programs of e2e first on the PATH: the node that is pinned
// there is among them, and qwen does not run with an older one.
func withNode(t testing.TB, env []string) []string {
	t.Helper()
	bin := filepath.Join(moduleRoot(t), "e2e", "node_modules", ".bin")
	return append(env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// write writes a file of a CLI's own settings, its directories too.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// find returns the path of an executable of the npm packages in a folder.
func find(t testing.TB, folder, name string) string {
	t.Helper()
	path := filepath.Join(moduleRoot(t), folder, "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		missing := "real " + name + " not installed: run scripts/install-clis.sh"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return path
}

// moduleRoot is the nearest directory above the test's with a go.mod.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the working directory of the test")
		}
		dir = up
	}
}
