package safefile_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// direct are the source files that open files without this package, each with the
// reason for which no agent can have prepared what it opens, or what it does instead.
func direct() map[string]string {
	const (
		ofUser   = "a file that the user names or keeps in their configuration"
		ofCw     = "a file of cw's home that cw replaces as a whole, or its database"
		ofKernel = "/proc, /sys, /dev or a folder"
		lock     = "a lock: opened without following a link, and for reading and writing or with O_NONBLOCK, which never waits"
		makes    = "makes files and opens none that is there"
	)
	return map[string]string{
		"accounts/files.go":                  ofKernel,
		"accounts/lock.go":                   lock,
		"cmd/cw/answers.go":                  ofUser,
		"cmd/cw/connect.go":                  ofCw,
		"cmd/cw/connector.go":                ofCw,
		"cmd/cw/hook.go":                     makes,
		"cmd/cw/provider_try.go":             ofUser,
		"cmd/cw/spawn.go":                    ofUser,
		"internal/acp/servers.go":            "runs in the process of the agent, with its rights",
		"internal/daemon/binary.go":          "the program itself",
		"internal/daemon/config_file.go":     ofUser,
		"internal/daemon/doctor.go":          ofCw,
		"internal/daemon/metrics_process.go": ofKernel,
		"internal/daemon/recover_note.go":    ofCw,
		"internal/daemon/tcpdoor.go":         ofCw,
		"internal/notify/place.go":           ofCw,
		"internal/notify/secret.go":          ofUser,
		"internal/proc/detach.go":            ofKernel,
		"internal/proc/file.go":              "makes files of a run directory before the agent starts, and folders",
		"internal/proc/lock.go":              lock,
		"internal/proc/memory_linux.go":      ofKernel,
		"internal/proc/shim.go":              "standard input, written by cw before the agent starts, and the null device",
		"internal/proc/sys_linux.go":         ofKernel,
		"internal/proc/vitals_linux.go":      ofKernel,
		"internal/service/service.go":        ofUser,
		"internal/store/database.go":         ofCw,
		"internal/store/migrate.go":          ofCw,
		"internal/store/recover.go":          ofCw,
		"internal/store/reserve.go":          ofCw,
		"internal/store/salvage.go":          ofCw,
		"internal/store/seal.go":             ofCw,
		"internal/store/vacuum.go":           ofCw,
		"internal/store/wal.go":              ofCw,
		"providers/prices.go":                ofUser,
		"providers/registry.go":              ofUser,
		"internal/mcp/signal.go":             makes,
		"orchestrator/handover.go":           makes,
		"providers/carry.go":                 makes,
		"worktree/putback.go":                makes,
		"worktree/include.go":                makes,
		"worktree/odd.go":                    "opens a FIFO for reading and writing with O_NONBLOCK, to release git that waits at it",
		"worktree/walk.go":                   ofKernel,
		"worktree/link.go":                   "makes an object of the mirror without following a link",
		"worktree/lock.go":                   lock,
	}
}

// TestDirectOpens fails for a source file that opens files without this package and is
// not in the list. It does not see the method Open of os.Root.
func TestDirectOpens(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(root, path)
		switch {
		case err != nil || relErr != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".") || filepath.ToSlash(name) == "internal/cwtest" || filepath.ToSlash(name) == "internal/safefile"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of := ""
			if x, ok := s.X.(*ast.Ident); ok {
				of = x.Name
			}
			// OpenFile is a method of os.Root as well.
			if s.Sel.Name == "OpenFile" || slices.Contains([]string{"os.Open", "os.ReadFile", "os.DirFS", "os.OpenInRoot", "syscall.Open", "unix.Open"}, of+"."+s.Sel.Name) {
				found[filepath.ToSlash(name)] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	allowed := direct()
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if allowed[name] == "" {
			t.Errorf("%s opens files with package os: use safefile, or give the reason here", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if !found[name] {
			t.Errorf("%s opens no file with package os: take it from the list", name)
		}
	}
}
