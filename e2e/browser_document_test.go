package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// TestDashboardsDocument runs the shell of docs/dashboards.md from its top to
// its end, as a reader would, but for the port. What stands behind a # at the
// end of a command must be in what that command prints.
func TestDashboardsDocument(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		lab.Lacks(t, "curl is not installed")
	}
	document, err := os.ReadFile("../docs/dashboards.md")
	must(t, err)
	l := lab.New(t, binary)
	l.Start()
	l.Rest(l.MustSpawn(fakecli.Script{Signal: `{"status":"done","noChanges":"only looked"}`}).Alias)

	script, want := dashboardScript(string(document), freePort(t))
	if len(want) < 10 {
		t.Fatalf("the document has only %d commands with what they print", len(want))
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = l.Repo
	cmd.Env = append(l.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	answers := strings.Split(string(out), "-- next\n")
	for i, text := range want {
		if !strings.Contains(answers[i+1], text) {
			t.Errorf("command %d prints no %q:\n%s", i+1, text, answers[i+1])
		}
	}
}

// dashboardScript takes the shell out of the document. Before each command
// that tells what it prints there is a mark.
func dashboardScript(document string, port int) (script string, want []string) {
	var out strings.Builder
	out.WriteString("set -eu\n")
	told := regexp.MustCompile(`^(.*\S) +# (.+)$`)
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(document, -1) {
		block := strings.ReplaceAll(block[1], "\\\n", " ")
		for line := range strings.Lines(block) {
			line = strings.TrimSuffix(line, "\n")
			m := told.FindStringSubmatch(line)
			if m == nil {
				out.WriteString(line + "\n")
				continue
			}
			want = append(want, m[2])
			out.WriteString("echo; echo '-- next'\n" + m[1] + "\n")
		}
	}
	return strings.ReplaceAll(out.String(), ":7420", ":"+strconv.Itoa(port)), want
}
