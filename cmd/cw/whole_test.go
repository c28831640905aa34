package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
)

// asker.sh asks in its first run, and in the next one wants to read the answer.
const askerScript = `#!/bin/sh
set -eu
prompt=$(cat)
mkdir -p .cw/output
case "$prompt" in
*"the blue one"*) signal='{"status":"done","result":"it is blue"}' ;;
*) signal='{"status":"questions","questions":[{"question":"Which one?","options":[{"label":"red"},{"label":"green"}]}]}' ;;
esac
printf '%s\n' "$signal" > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
`

// TestAnswerFromNothing is the whole program: an answer starts the daemon, the
// agent goes on with it once, and a second answer is told the first.
func TestAnswerFromNothing(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	home := cw.Home(filepath.Join(temp, "home"))
	env = append(env, "CW_HOME="+string(home))
	t.Cleanup(func() { killDaemon(t, home) })
	script := filepath.Join(temp, "asker.sh")
	if err := os.WriteFile(script, []byte(askerScript), 0o700); err != nil {
		t.Fatal(err)
	}
	does := func(code int, says string, args ...string) string {
		t.Helper()
		out, stderr, got := cli(t, env, args...)
		if got != code || !strings.Contains(out+stderr, says) {
			t.Fatalf("cw %s: exit code %d, want %d and %q\n%s%s", strings.Join(args, " "), got, code, says, out, stderr)
		}
		return out
	}
	does(0, "brave-otter", "agent", "spawn", "--provider", "script", "--script", script, "--name", "brave-otter", "choose")
	does(7, "Which one?", "agent", "attach", "brave-otter")
	var open []cw.QuestionView
	if err := json.Unmarshal([]byte(does(0, "", "question", "list", "--json")), &open); err != nil || len(open) != 1 {
		t.Fatalf("%d questions, %v", len(open), err)
	}
	id := string(open[0].ID)
	does(2, "the answer is empty", "question", "answer", id, "")
	does(2, "no option", "question", "answer", id, "--option", "blue")
	does(0, "stopped", "stop")
	does(0, "brave-otter goes on", "question", "answer", id, "the blue one")
	does(0, "it is blue", "agent", "attach", "brave-otter")
	does(4, "the blue one", "question", "answer", id, "red")
	var after cw.AgentView
	if err := json.Unmarshal([]byte(does(0, "", "agent", "show", "--json", "brave-otter")), &after); err != nil || after.SessionNumber != 2 {
		t.Errorf("session %d, %v", after.SessionNumber, err)
	}
	does(0, "stopped", "stop")
}
