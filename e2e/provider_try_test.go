package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/model"
)

// tried is what `cw provider test` asks of an agent: a file, in a later run the
// same again, which only the session tells, and a long command.
func tried(t *model.Turn) model.Reply {
	const said = "Wrote hello.txt."
	if began(t, said) {
		t.RequireTags("follow_up", "new_run")
		t.Find(t.Block("follow_up"), `once more, into again\.txt\.`)
		return work(t, `Write "`+t.Find(t.Told("task"), `"(hello .+)"`)+`" into again.txt.`)
	}
	t.RequireTags(executeTags...)
	if strings.Contains(t.Block("task"), "sleep 300") {
		return slow(t)
	}
	return work(t, t.Block("task"))
}

// TestProviderTest: the real CLI shows all that cw needs, and nothing of the
// test is left.
func TestProviderTest(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, srv := newLab(t, p, tried)
		temp := t.TempDir()
		l.Env = append(l.Env, "TMPDIR="+temp)
		stdout, stderr, code := l.Run(l.Repo, "provider", "test", p.name, "--json")
		var got cw.ProviderTest
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || !got.OK {
			t.Fatalf("exit %d, %v\n%s\n%s\n%v", code, err, stdout, stderr, srv.TakeErrors())
		}
		for _, s := range got.Steps {
			if s.Seen == (s.Name == cw.TryMCP) {
				t.Errorf("%s: %s", s.Name, s.Text)
			}
			t.Logf("%-10s %8s %s", s.Name, s.Took.Round(1e6), s.Text)
		}
		if !slices.Equal(stepNames(got), cw.TrySteps()) || got.Version == "" || got.Usage.OutputTokens == 0 || got.CostUSD > 0 != p.hasCosts {
			t.Errorf("%+v", got)
		}
		left, err := filepath.Glob(filepath.Join(temp, "cw-test-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
		if own, err := os.ReadDir(l.Home.Runs()); err == nil && len(own) > 0 {
			t.Errorf("in the user's own home are runs: %v", own)
		}
		nothingLeft(t, l)
	})
}

func stepNames(r cw.ProviderTest) []string {
	var names []string
	for _, s := range r.Steps {
		names = append(names, s.Name)
	}
	return names
}
