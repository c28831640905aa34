package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cwtest/lab"
)

// document is the API's description, as it is committed.
const document = "../docs/openapi.json"

// TestDocumentIsLinted: the description of the API passes the recommended
// rules of a public linter without an error or a warning.
func TestDocumentIsLinted(t *testing.T) {
	t.Parallel()
	if faults := lint(t, document); len(faults) > 0 {
		t.Errorf("docs/openapi.json:\n%s", strings.Join(faults, "\n"))
	}
}

// TestLinterFinds: the same call finds what is wrong with a description that
// was spoilt, so a silent linter is not a passed one.
func TestLinterFinds(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for rule, spoil := range map[string][2]string{
		"no-unresolved-refs": {`"$ref": "#/components/schemas/PageAgentView"`, `"$ref": "#/components/schemas/Nothing"`},
		"struct":             {`"operationId": "list-agents"`, `"operationIdd": "list-agents"`},
		"security-defined":   {`"ticket": [`, `"tickeet": [`},
	} {
		spoilt := strings.Replace(string(data), spoil[0], spoil[1], 1)
		if spoilt == string(data) {
			t.Errorf("%s is not in the document", spoil[0])
			continue
		}
		path := filepath.Join(t.TempDir(), "spoilt.json")
		if err := os.WriteFile(path, []byte(spoilt), 0o600); err != nil {
			t.Fatal(err)
		}
		if faults := strings.Join(lint(t, path), "\n"); !strings.Contains(faults, rule) {
			t.Errorf("%s was not found: %q", rule, faults)
		}
	}
}

// lint gives the errors and warnings of a description, one line each.
func lint(t *testing.T, path string) []string {
	t.Helper()
	linter, err := filepath.Abs("node_modules/.bin/redocly")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(linter); err != nil {
		lab.Lacks(t, "redocly is not installed: make deps")
	}
	cmd := exec.CommandContext(t.Context(), linter, "lint", path, "--config", "redocly.yaml", "--format", "json", "--max-problems", "1000")
	// It would ask the network for a newer version of itself, and tell of its use.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true",
		"HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1",
	}
	out, runErr := cmd.Output() // the exit status tells of errors only
	var report struct {
		Totals   *struct{ Errors, Warnings, Ignored int }
		Problems []struct {
			RuleID, Severity, Message string
			Location                  []struct{ Pointer string }
		}
	}
	if err := json.Unmarshal(out, &report); err != nil || report.Totals == nil {
		t.Fatalf("the linter says no report: %v, %v\n%s", err, runErr, out)
	}
	var faults []string
	for _, p := range report.Problems {
		where := ""
		if len(p.Location) > 0 {
			where = p.Location[0].Pointer
		}
		faults = append(faults, p.Severity+" "+p.RuleID+" at "+where+": "+p.Message)
	}
	if n := report.Totals.Errors + report.Totals.Warnings + report.Totals.Ignored; n != len(faults) {
		t.Errorf("%d faults are counted, %d are told", n, len(faults))
	}
	return faults
}
