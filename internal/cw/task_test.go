package cw_test

import (
	"testing"

	"cw/internal/cw"
)

// TestCheckTaskPaths: a glob stays in the repository.
func TestCheckTaskPaths(t *testing.T) {
	t.Parallel()
	for glob, good := range map[string]bool{
		"prices/**": true, "**": true, "a..b/..c": true, "./x": true, "go.mod": true, "a/...": true,
		"/etc/passwd": false, "/": false, "..": false, "../other/**": false, "prices/../../x": false, "prices/..": false,
	} {
		err := cw.CheckTask(cw.Task{Name: "task", Type: cw.TaskAuto, Size: cw.SizeMedium, Priority: cw.PriorityMedium, Paths: []string{"README.md", glob}})
		if (err == nil) != good || err != nil && (cw.ErrorCode(err) != cw.CodeInvalid || cw.ErrorHint(err) == "") {
			t.Errorf("%q: %v", glob, err)
		}
	}
}
