package daemon_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// TestPrintedSecretsAreMasked lets agents print six secrets in six encodings, in
// every place where cw reads what agents say, torn over chunks and over the death
// of the daemon. None of them may be anywhere but in the raw files.
func TestPrintedSecretsAreMasked(t *testing.T) {
	t.Parallel()
	for place, found := range printSecrets(t, "") {
		t.Errorf("%s: %s", place, strings.Join(found, ", "))
	}
}

// TestPrintedSecretsAreFound is its control: without the mask the same search
// finds them.
func TestPrintedSecretsAreFound(t *testing.T) {
	t.Parallel()
	places := printSecrets(t, "masked")
	for _, place := range []string{"cw.db", "log.db", "events", "output of asks", "events of asks", "asks", "errs", "mute", "backup.db", "backup.db.log", "signal.json"} {
		found := false
		for name := range places {
			found = found || strings.HasPrefix(name, place) || strings.HasSuffix(name, place)
		}
		if !found {
			t.Errorf("without the mask nothing is found in %s: %q", place, slices.Sorted(maps.Keys(places)))
		}
	}
}

// printer is a CLI of the test. What it prints is prepared for it once its token
// is known: what goes out at once, what it prints while no daemon is there, its
// standard error, its files, its signal and its exit code.
const printer = `#!/bin/sh
cat >/dev/null
mine="%s/$CW_AGENT_ID"
mkdir -p "$mine"
[ -f "$mine/code" ] && exit "$(cat "$mine/code")"
printf %%s "$CW_TOKEN" >"$mine/token.half" && mv "$mine/token.half" "$mine/token"
while ! [ -f "$mine/go" ]; do sleep 0.05; done
cat "$mine/first"; cat "$mine/stderr" >&2; touch "$mine/said"
while ! [ -f "$mine/rest" ]; do sleep 0.05; done
cat "$mine/rest"
mkdir -p .cw/output
while read -r name; do echo secret >"$name"; done <"$mine/names"
[ -f "$mine/signal" ] && cp "$mine/signal" .cw/output/signal.json
exit "$(cat "$mine/code")"
`

// printSecrets does it all, with guards taken out, and gives what was found, by
// place.
func printSecrets(t *testing.T, guards string) map[string][]string {
	t.Helper()
	l := lab.New(t, binary)
	known := map[string]string{}
	secret := func(what, prefix string) string {
		known[what] = prefix + cw.NewID() + cw.NewID() + cw.NewID()
		return known[what]
	}
	l.Env = []string{
		"CW_CONFIG_HTTP_ADDRESS=127.0.0.1:0", "CW_CONFIG_LOG_LEVEL=debug", "CW_GUARD_OFF=" + guards,
		"ANTHROPIC_API_KEY=" + secret("key of the environment", "sk-ant-api03-"),
	}
	program := filepath.Join(l.Books, "print.sh")
	must(t, os.WriteFile(program, fmt.Appendf(nil, printer, l.Books), 0o700))
	must(t, os.WriteFile(filepath.Join(l.Home.Providers(), "printer.yaml"), fmt.Appendf(nil, `name: printer
title: Printer
command: {paths: [%q]}
spawn: {args: [run]}
promptMode: stdin
parser: lines
account: {key: PRINTER_KEY}
stop: {grace: 1s}
`, program), 0o600))
	l.Start()
	addSecrets(t, l, known, secret)

	names := []string{"asks", "errs", "mute"}
	agents := map[string]cw.AgentView{}
	for _, name := range names {
		cmd := exec.Command(l.Binary, "agent", "spawn", "--provider", "printer", "--name", name, "--project", l.Repo, "print")
		cmd.Dir, cmd.Env = l.Repo, append(l.Environ(), "PRINTER_KEY="+secret("key of the caller of "+name, "pk-"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		v, err := l.Client().Agent(t.Context(), name)
		must(t, err)
		agents[name] = v
	}
	for _, name := range names {
		mine := filepath.Join(l.Books, string(agents[name].ID))
		known["token of "+name] = string(awaitFile(t, filepath.Join(mine, "token")))
		prepare(t, mine, name, known)
	}
	commands := map[string]string{}
	seen := func() {
		for _, p := range lab.Processes(string(l.Home)) {
			commands[fmt.Sprintf("command line of %d", p.PID)] = p.Command
		}
	}
	for _, name := range names {
		awaitFile(t, filepath.Join(l.Books, string(agents[name].ID), "said"))
		seen()
		l.Until(name, func(v cw.AgentView) bool { // part of the long line is stored
			stored, _ := storedOutput(t, l, v)
			return len(stored) > 100<<10
		})
	}
	l.Kill()
	for _, name := range names { // they end while nobody reads
		mine := filepath.Join(l.Books, string(agents[name].ID))
		must(t, os.Rename(filepath.Join(mine, "later"), filepath.Join(mine, "rest")))
		awaitFile(t, filepath.Join(string(l.Home), "runs", name, "1", "exit.json"))
	}
	l.Start()
	places := map[string]string{}
	for _, name := range names {
		v := l.Rest(name)
		want := map[string]cw.AgentStatus{"asks": cw.StatusWaitingForInput, "errs": cw.StatusCrashed, "mute": cw.StatusCrashed}[name]
		if v.Status != want {
			t.Errorf("%s is %s: %s", name, v.Status, v.Error)
		}
		stored, events := storedOutput(t, l, v)
		raw, err := os.ReadFile(filepath.Join(l.Home.RunDir(name, 1), "output.jsonl"))
		must(t, err)
		if !sameButMasks(raw, stored) || guards == "" && bytes.Count(stored, []byte("********")) < 500 {
			t.Errorf("%s: %d bytes are stored, %d were printed, %d masks", name, len(stored), len(raw), bytes.Count(stored, []byte("********")))
		}
		places["output of "+name], places["events of "+name] = string(stored), events
		places[name] = over(t, l, "/v1/agents/"+name)
		places["logs of "+name], _, _ = l.Run(l.Repo, "agent", "logs", "--raw", name)
	}
	seen()
	maps.Copy(places, commands)
	backup := filepath.Join(filepath.Dir(string(l.Home)), "backup.db")
	_, err := l.Client().Backup(t.Context(), cw.BackupRequest{Path: backup, Logs: true})
	must(t, err)
	for _, file := range []string{backup, backup + ".log"} {
		data, err := os.ReadFile(file)
		must(t, err)
		places[filepath.Base(file)] = string(data)
	}
	maps.Copy(places, masked(written(t, l, "asks")))
	places["the events"] = strings.Join(allEvents(t, l), "\n")
	places["questions"] = over(t, l, "/v1/questions")
	return search(places, known)
}

// addSecrets gives cw a token, a key and a login, and makes a dashboard's token.
func addSecrets(t *testing.T, l *lab.Lab, known map[string]string, secret func(what, prefix string) string) {
	t.Helper()
	add := func(req cw.AddAccountRequest) {
		t.Helper()
		req.Provider = "claude"
		_, err := l.Client().AddAccount(t.Context(), req)
		must(t, err)
	}
	add(cw.AddAccountRequest{Name: "token", Token: cw.NewSecret(secret("token of an account", "sk-ant-oat01-"))})
	add(cw.AddAccountRequest{Name: "key", APIKey: cw.NewSecret(secret("key of an account", "sk-ant-api03-"))})
	login := fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":%q,"expiresAt":%d}}`,
		secret("access token", "sk-ant-oat01-"), secret("refresh token", "sk-ant-ort01-"), time.Now().Add(24*time.Hour).UnixMilli())
	add(cw.AddAccountRequest{Name: "login", Token: cw.NewSecret(login)})
	board, err := l.Client().CreateToken(t.Context(), cw.TokenRequest{Name: "board"})
	must(t, err)
	known["token of a dashboard"] = board.Secret
}

// encodings are the six ways in which agents print a secret.
func encodings(secret string) map[string]string {
	var json, percent strings.Builder
	for _, u := range utf16.Encode([]rune(secret)) {
		fmt.Fprintf(&json, `\u%04x`, u)
	}
	for i := range len(secret) {
		fmt.Fprintf(&percent, "%%%02X", secret[i])
	}
	return map[string]string{
		"plain": secret, "base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"hex": hex.EncodeToString([]byte(secret)), "percent": percent.String(), "json": json.String(),
	}
}

// prepare writes what one agent is to print: every secret but those of others.
func prepare(t *testing.T, mine, name string, known map[string]string) {
	t.Helper()
	var lines, one, files []string
	for what, value := range known {
		if strings.HasPrefix(what, "token of ") && what != "token of "+name && !strings.HasSuffix(what, " account") && !strings.HasSuffix(what, " dashboard") {
			continue
		}
		for how, text := range encodings(value) {
			lines = append(lines, fmt.Sprintf("%s of %s", text, how))
			one = append(one, text)
			if how != "json" && !strings.Contains(text, "/") && len(text) < 200 {
				files = append(files, text)
			}
		}
	}
	signal := map[string]string{
		"asks": `{"status":"questions","result":"%[1]s","questions":[{"question":"%[1]s","header":"%[2]s","options":["%[2]s","no"]}]}`,
		"errs": `{"status":"error","error":"%[1]s","result":"%[1]s"}`,
		"mute": `{"status":"%[2]s","result":"%[1]s"`,
	}[name]
	// A line that is longer than a chunk, and torn in a secret once more where
	// the daemon dies.
	long := strings.Repeat(strings.Join(one, " ")+" ", 1+(200<<10)/len(strings.Join(one, " ")))
	torn := long + one[0]
	cut := len(torn) - len(one[0])/2
	write := func(file, text string) {
		must(t, os.WriteFile(filepath.Join(mine, file), []byte(text), 0o600))
	}
	write("first", strings.Join(lines, "\n")+"\n"+torn[:cut])
	write("later", torn[cut:]+" "+long+"\n"+strings.Join(lines, "\n")) // without an end of line
	write("stderr", strings.Join(lines, "\n")+"\n")
	write("names", strings.Join(files, "\n")+"\n")
	write("signal", fmt.Sprintf(signal, strings.Join(one, " "), one[1]))
	write("code", map[string]string{"asks": "0", "errs": "1", "mute": "3"}[name])
	write("go", "")
}

// awaitFile waits for a file and gives what is in it.
func awaitFile(t *testing.T, name string) []byte {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		data, err := os.ReadFile(name)
		if err == nil {
			return data
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// storedOutput is what is stored of an agent's first run, and what the streams
// tell of it, by bytes and by events.
func storedOutput(t *testing.T, l *lab.Lab, v cw.AgentView) (stored []byte, events string) {
	t.Helper()
	q := cw.OutputQuery{Session: 1, Only: true, Until: cw.UntilNow}
	var told strings.Builder
	for ev, err := range l.Client().OutputEvents(t.Context(), string(v.ID), q) {
		must(t, err)
		told.WriteString(ev.Event.Text + "\n")
	}
	return l.Raw(string(v.ID), 1), told.String()
}

// sameButMasks tells whether what is stored is what was printed, but for masks.
func sameButMasks(raw, stored []byte) bool {
	if len(raw) != len(stored) {
		return false
	}
	for i, b := range stored {
		if b != '*' && b != raw[i] {
			return false
		}
	}
	return true
}

// masked leaves out the raw files: what an agent itself wrote is in them as it
// wrote it.
func masked(files map[string]string) map[string]string {
	maps.DeleteFunc(files, func(name, _ string) bool {
		base := filepath.Base(name)
		return strings.HasPrefix(name, "runs/") && (base == "output.jsonl" || base == "stderr.log" || strings.Contains(name, "/output/")) ||
			strings.HasPrefix(name, ".cw-worktrees/")
	})
	return files
}

// search gives what is found of the secrets, by place.
func search(places, known map[string]string) map[string][]string {
	found := map[string][]string{}
	for what, value := range known {
		all := append(forms(value), slices.Collect(maps.Values(encodings(value)))...)
		for place, text := range places {
			if i := slices.IndexFunc(all, func(form string) bool { return strings.Contains(text, strings.TrimRight(form, "=")) }); i >= 0 {
				found[place] = append(found[place], fmt.Sprintf("%s (as %.40s)", what, all[i]))
			}
		}
	}
	return found
}

// TestNoCoreFiles: what dies leaves no memory behind.
func TestNoCoreFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only /proc tells the limits of another process")
	}
	l := lab.New(t, binary)
	l.Start()
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", l.Serving().PID))
	must(t, err)
	if !regexp.MustCompile(`(?m)^Max core file size +0 +0 `).Match(limits) {
		t.Errorf("%s", limits)
	}
}
