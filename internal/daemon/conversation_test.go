package daemon_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// comesTrue waits until something is so.
func comesTrue(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); !is(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// lines are the whole lines of a file that may be there.
func lines(path string) []string {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	parts := strings.Split(string(data), "\n")
	return parts[:len(parts)-1]
}

// running tells whether a process of the home has such a command line.
func running(l *lab.Lab, command string) bool {
	for _, p := range lab.Processes(string(l.Home)) {
		if strings.Contains(p.Command, command) && !strings.Contains(p.Command, "sh -c") {
			return true
		}
	}
	return false
}

// TestAgentsTalk: agents ask, listen and answer from inside of their runs, while
// the daemon is killed and restarted under all that wait. Nothing is lost, and
// nothing comes twice.
func TestAgentsTalk(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	in := func(name string) string { return filepath.Join(l.Books, name) }
	asked := l.MustSpawn(fakecli.Script{Signal: doneSignal, Shell: fmt.Sprintf(`cd %s
cw listen --follow >heard 2>listen.err &
listener=$!
while [ ! -e go ]; do sleep 0.05; done
sed 's/.*"conversationId":"\([^"]*\)".*/\1/' heard | while read -r id; do
  cw answer "for $id: in <parser>/, ü" --conversation-id "$id" >>said 2>>said.err || echo "exit $?" >>said.err
done
kill $listener
wait $listener || :
`, l.Books)})
	ask := func(name string) cw.AgentView {
		return l.MustSpawn(fakecli.Script{Signal: doneSignal, Shell: fmt.Sprintf(
			"cd %s; cw ask 'Which parser, %s?' --agent-id %s >%s.out 2>%s.err; echo $? >%s.code", l.Books, name, asked.Alias, name, name, name)})
	}
	comesTrue(t, "the listener listens", func() bool { return running(l, "cw listen") })
	first := ask("first")
	comesTrue(t, "the first question is heard", func() bool { return len(lines(in("heard"))) == 1 })
	l.Kill()
	l.Start()
	second := ask("second")
	comesTrue(t, "the second question is heard", func() bool { return len(lines(in("heard"))) == 2 })
	l.Kill()
	must(t, os.WriteFile(in("go"), nil, 0o600))
	comesTrue(t, "an answer is tried", func() bool { return running(l, "cw answer") })
	if !running(l, "cw ask") {
		t.Error("nobody waits for an answer any more")
	}
	l.Start()
	for name, asker := range map[string]cw.AgentView{"first": first, "second": second} {
		if v := l.Rest(string(asker.ID)); v.Status != cw.StatusIdle {
			t.Errorf("%s: %s %s: %s", name, v.Status, v.Reason, v.Error)
		}
		page, err := l.Client().Conversations(t.Context(), cw.ConversationFilter{Agent: string(asker.ID)})
		must(t, err)
		if len(page.Items) != 1 {
			t.Fatalf("%s asked %d times", name, len(page.Items))
		}
		c := page.Items[0]
		want := fmt.Sprintf("for %s: in <parser>/, ü", c.ID)
		got, _ := os.ReadFile(in(name + ".out")) // not there: empty
		said, _ := os.ReadFile(in(name + ".err"))
		if string(got) != want+"\n" || len(said) > 0 || strings.Join(lines(in(name+".code")), "") != "0" {
			t.Errorf("%s: exit %v, stdout %q, want %q\n%s", name, lines(in(name+".code")), got, want, said)
		}
		if c.Status != cw.ConversationAnswered || c.Answer != want || c.FetchedAt == nil || c.DeliveredAt == nil {
			t.Errorf("%s: %+v", name, c)
		}
		if line := fmt.Sprintf(`{"conversationId":%q,"status":"answered"}`, c.ID); strings.Count(strings.Join(lines(in("said")), "\n"), line) != 1 {
			t.Errorf("cw answer printed %q", lines(in("said")))
		}
	}
	l.Rest(string(asked.ID))
	heard := lines(in("heard"))
	for i, line := range heard {
		var p cw.PendingConversation
		must(t, json.Unmarshal([]byte(line), &p))
		if !strings.HasPrefix(p.Question, "Which parser, ") || p.FromAgentID != []cw.AgentID{first.ID, second.ID}[i] {
			t.Errorf("heard %s", line)
		}
	}
	if len(heard) != 2 {
		t.Errorf("%d lines were heard", len(heard))
	}
	if said := lines(in("said.err")); len(said) > 0 {
		t.Errorf("cw answer: %s", said)
	}
	out, _, code := l.Run(l.Repo, "conversation", "list")
	if code != 0 || strings.Count(out, "answered") != 2 {
		t.Errorf("cw conversation list: exit %d\n%s", code, out)
	}
}

// attack is one try to be heard as somebody.
type attack struct {
	command, tree, token, claim string
}

// passes tells whether the caller is whom it claims to be.
func (a attack) passes() bool {
	return (a.token == "own" || a.token == "none") && (a.claim == "nobody" || a.claim == "itself")
}

// script is the attack for sh: it leaves its exit code in N.code.
func (a attack) script(n int, claims map[string]string) string {
	flag := map[string]string{"listen": "--agent-id", "ask": "--from"}[a.command]
	words := map[string]string{"listen": "cw listen", "ask": "cw ask 'x?' --agent-id nobody-at-all"}[a.command]
	if claim := claims[a.claim]; claim != "" {
		words += " " + flag + " " + claim
	}
	token := map[string]string{
		"own": "", "none": "env -u CW_TOKEN ", "forged": "env CW_TOKEN=cwa_forged ",
		"stolen": `env CW_TOKEN="$(cat stolen)" `, "old": `env CW_TOKEN="$(cat old)" `,
	}[a.token]
	tree := map[string]string{
		"plain": "sh", "setsid": "setsid -w sh", "double fork": "setsid sh",
		"without its variables":    "env -u CW_RUN -u CW_AGENT_ID -u CW_SOCKET sh",
		"with another's variables": "env CW_RUN=rrrrrrrrrrrr CW_AGENT_ID=" + claims["another"] + " sh",
	}[a.tree]
	inner := fmt.Sprintf("%s --timeout 50s >%d.out 2>%d.err; echo $? >%d.tmp; mv %d.tmp %d.code", token+words, n, n, n, n, n)
	call := fmt.Sprintf("%s -c '%s'", tree, strings.ReplaceAll(inner, "'", `'\''`))
	if a.tree == "double fork" {
		call = "( ( " + call + " & ) & )"
	}
	return call + fmt.Sprintf("\nwhile [ ! -e %d.code ]; do sleep 0.02; done\n", n)
}

func attacks() []attack {
	var out []attack
	for _, command := range []string{"listen", "ask"} {
		for _, tree := range []string{"plain", "setsid", "double fork", "without its variables", "with another's variables"} {
			for _, token := range []string{"own", "none", "stolen", "old", "forged"} {
				for _, claim := range []string{"nobody", "itself", "another", "unknown"} {
					out = append(out, attack{command, tree, token, claim})
				}
			}
		}
	}
	return out
}

// TestNobodySpeaksForAnother: 200 ways to call from inside of a run, by process
// tree, token and claimed name. What the daemon knows of the caller decides; each
// refusal says what is wrong, and is an event.
func TestNobodySpeaksForAnother(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		lab.Lacks(t, "there is no setsid")
	}
	l := lab.New(t, binary)
	l.Start()
	in := func(name string) string { return filepath.Join(l.Books, name) }
	keep := func(name string) string {
		return fmt.Sprintf("printf %%s \"$CW_TOKEN\" >%[1]s.new && mv %[1]s.new %[1]s", in(name))
	}
	victim := l.MustSpawn(fakecli.Script{Shell: keep("stolen") + " && sleep 600"})
	own := l.MustSpawn(fakecli.Script{Shell: keep("old"), Signal: doneSignal})
	l.Rest(string(own.ID))
	comesTrue(t, "the tokens are there", func() bool {
		_, err := os.Stat(in("stolen"))
		_, err2 := os.Stat(in("old"))
		return err == nil && err2 == nil
	})
	claims := map[string]string{"nobody": "", "itself": string(own.ID), "another": string(victim.ID), "unknown": "nobody-at-all"}
	all := attacks()
	var script strings.Builder
	fmt.Fprintf(&script, "cd %s\n while [ ! -e go ]; do sleep 0.02; done\n", l.Books)
	for n, a := range all {
		script.WriteString(a.script(n, claims))
	}
	must(t, os.WriteFile(in("attacks.sh"), []byte(script.String()), 0o600))
	_, err := l.Client().Resume(t.Context(), own.Alias, cw.ResumeRequest{
		Text: fakecli.Script{Book: l.Books, Shell: "sh " + in("attacks.sh"), Signal: doneSignal}.Text(),
	})
	must(t, err)
	l.Until(own.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	asker := l.MustSpawn(fakecli.Script{Shell: "cw ask 'Are you there?' --agent-id " + own.Alias + " || :", Signal: doneSignal})
	comesTrue(t, "a question is there to be heard", func() bool {
		page, err := l.Client().Conversations(t.Context(), cw.ConversationFilter{Agent: asker.Alias})
		return err == nil && len(page.Items) == 1
	})
	must(t, os.WriteFile(in("go"), nil, 0o600))
	// They are hundreds of processes: a busy machine takes minutes for them.
	last := in(fmt.Sprintf("%d.code", len(all)-1))
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if _, err := os.Stat(last); err == nil {
			break
		}
	}
	if v := l.Rest(string(own.ID)); v.Status != cw.StatusIdle {
		t.Fatalf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	judge(t, l, all)
	refused := 0
	for e, err := range l.Client().Events(t.Context(), cw.EventQuery{Types: []cw.EventType{cw.EventSecurityRefused}}) {
		must(t, err)
		refused++
		_ = e
	}
	if refused < 20 { // the most that one caller adds in a while
		t.Errorf("%d refusals are stored", refused)
	}
}

// judge compares what came of all attacks with what had to come.
func judge(t *testing.T, l *lab.Lab, all []attack) {
	t.Helper()
	passed := 0
	for n, a := range all {
		out, _ := os.ReadFile(filepath.Join(l.Books, fmt.Sprintf("%d.out", n))) // not there: empty
		said, _ := os.ReadFile(filepath.Join(l.Books, fmt.Sprintf("%d.err", n)))
		code := strings.Join(lines(filepath.Join(l.Books, fmt.Sprintf("%d.code", n))), "")
		want := "4"
		if a.passes() {
			passed++
			want = map[string]string{"listen": "0", "ask": "3"}[a.command] // whom it asks is not there
		}
		if code != want {
			t.Errorf("%+v: exit %s, want %s\n%s%s", a, code, want, out, said)
		}
		heard := strings.Contains(string(out), "Are you there?")
		if heard != (a.passes() && a.command == "listen") {
			t.Errorf("%+v: heard %q", a, out)
		}
		if !a.passes() && (!strings.Contains(string(said), "cw: ") || !strings.Contains(string(said), "hint: ")) {
			t.Errorf("%+v: the refusal is not explained: %s", a, said)
		}
	}
	if len(all) != 200 || passed != 40 {
		t.Errorf("%d of %d pass", passed, len(all))
	}
}
