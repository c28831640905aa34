package crashlab

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/draw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/proc"
)

// mutation is a guard that is taken out of the program, and the scenario that
// must notice.
type mutation struct {
	guard     string // as the program names it
	guarantee string // of docs/guarantees.md
	invariant string // that must be found broken; G and a number where none says it
	points    []string
	drive     func(c *course)
}

func mutations() []mutation {
	return []mutation{
		{"output-drained", "1", "I1", nil, endsWithinALine},
		{"own-token", "3", "G3", nil, usesAnOldToken},
		{"lost-tree-ended", "4", "I2", nil, toLost},
		{"stop-first", "4", "I3", nil, stopsTruly},
		{"signal-of-this-run", "4", "I3", nil, leavesNoSecondSignal},
		{"reboot-known", "5", "I3", []string{"spawn/started"}, rebooted},
		{"look-again", "7", "I4", []string{"cleanup/looked"}, writesBetween},
		{"snapshot-first", "7", "I4", nil, losesTheTrash},
		{"handle-stored", "8", "G8", nil, namesAStranger},
		{"answer-open", "11", "I8", nil, answersTwice},
		{"answer-once", "11", "I11", nil, answersPeerTwice},
		{"branch-of-user", "7", "I5", nil, hasABranch},
		{"no-page", "13", "G13", nil, asksFromAPage},
		{"env-named", "14", "I7", nil, toDone},
		{"masked", "14", "I7", nil, tellsSecrets},
		{"mirror-own", "15", "G15", nil, spoilsTheMirror},
	}
}

// TestMutations takes one guard after the other out of the running program. The
// same scenario that is green with it must turn red without, and name the
// invariant that the guard is there for. A crash or a wait in vain does not
// count: it ends the test.
func TestMutations(t *testing.T) {
	for _, m := range draw.Third(mutations()) {
		t.Run(m.guard, func(t *testing.T) {
			t.Parallel()
			for _, p := range attempt(t, m, "") {
				t.Errorf("with its guard: %s", p)
			}
			found := attempt(t, m, m.guard)
			if !slices.ContainsFunc(found, func(p problem) bool { return p.invariant == m.invariant }) {
				t.Errorf("without the guard %s, %s stays whole: %v", m.guard, m.invariant, found)
				return
			}
			results.row("guard taken out: "+m.guard+" (guarantee "+m.guarantee+")", "red: %.160s", first(found, m.invariant))
		})
	}
}

func first(all []problem, invariant string) string {
	i := slices.IndexFunc(all, func(p problem) bool { return p.invariant == invariant })
	return strings.ReplaceAll(all[i].String(), "|", "·")
}

// attempt drives the scenario and gives what is broken at its end.
func attempt(t *testing.T, m mutation, guards string) []problem {
	t.Helper()
	c := newCourse(t, m.points...)
	c.guards, c.uncounted = guards, guards != ""
	c.begin()
	m.drive(c)
	return append(c.seen, c.finish()...)
}

// expect notes what a scenario finds by itself.
func (c *course) expect(invariant string, ok bool, format string, args ...any) {
	if !ok {
		c.seen = append(c.seen, problem{invariant, fmt.Sprintf(format, args...)})
	}
}

// endsWithinALine: the last line of output has no end.
func endsWithinALine(c *course) {
	s := works("work.txt")
	s.Raw = "the last words, without an end of line"
	c.start(s)
	c.settled(1)
}

// stopsTruly: a stopped agent is stopped, whatever its exit looks like.
func stopsTruly(c *course) {
	toStopped(c)
	v := c.settled(1)
	c.expect("I3", v.Status == cw.StatusStopped, "a person stopped it, and it is %s %s", v.Status, v.Reason)
}

// leavesNoSecondSignal: the second run leaves no signal, and that of the first
// must not count for it.
func leavesNoSecondSignal(c *course) {
	c.start(works("work.txt"))
	v := c.settled(1)
	next, last := works("more.txt"), fakecli.Script{Signal: nothing}
	next.Book, next.Signal, next.Next = c.Books, "", &last
	c.need(c.send(v, next.Text()))
	v = c.settled(2)
	c.expect("I3", len(v.Runs) == 3 && v.Runs[2].Reason == cw.RunMissingSignal, "run 2 left no signal, and nobody asked for it: %d runs", len(v.Runs))
}

// rebooted: the machine was restarted under a run before its daemon had stored
// its process, as far as the program can tell.
func rebooted(c *course) {
	c.atDeath = func() {
		for _, p := range lab.Processes(string(c.Home)) {
			c.killed[p.Run] = "boot"
			lab.KillProcess(p)
		}
		file := filepath.Join(c.Home.RunDir(name, 1), "started.json")
		data, err := os.ReadFile(file)
		c.need(err)
		of := regexp.MustCompile(`"bootId": *"[^"]*"`)
		changed := of.ReplaceAllFunc(data, func(old []byte) []byte { // the file keeps its length
			return append(old[:len(old)-6:len(old)-6], `00000"`...)
		})
		c.need(os.WriteFile(file, changed, 0o600))
	}
	c.start(hangs())
	v := c.settled(1)
	c.expect("I3", v.Reason == cw.ReasonReboot, "the machine was restarted, and the reason is %s", v.Reason)
}

// writesBetween: a person writes into the worktree after it was found clean and
// before it goes.
func writesBetween(c *course) {
	c.atDeath = func() { c.puts(filepath.Join(c.Home.Worktree(name), "late.txt"), "written late\n") }
	c.start(works("work.txt"))
	c.settled(1)
}

// losesTheTrash: an agent with uncommitted work is removed, and then the trash
// is gone, too. The snapshot still has everything.
func losesTheTrash(c *course) {
	leavesWork(c)
	c.removed()
	c.need(os.RemoveAll(c.Home.Trash()))
}

// answersTwice: a question is answered, and then somebody answers it again.
func answersTwice(c *course) {
	toAnswered(c)
	v := c.settled(2)
	for id := range c.given {
		_, err := c.Client().Answer(c.T.Context(), cw.AnswersRequest{Answers: map[cw.QuestionID]string{id: "blue, on second thoughts"}})
		c.expect("I8", cw.ErrorCode(err) == cw.CodeRefused, "%s: a second answer gave %v", v.Alias, err)
	}
}

// usesAnOldToken: an agent calls with the token of a run that is over.
func usesAnOldToken(c *course) {
	token, code := filepath.Join(c.Books, "token"), filepath.Join(c.Books, "code")
	first, second := works("work.txt"), works("more.txt")
	first.Shell = fmt.Sprintf(`printf %%s "$CW_TOKEN" > '%s'`, token)
	second.Shell = fmt.Sprintf(`CW_TOKEN=$(cat '%s') cw agent list > /dev/null 2>&1; echo $? > '%s'`, token, code)
	c.start(first)
	c.settled(1)
	v, err := c.spawn(second, "")
	c.need(err)
	_, err = c.until(v.Alias, "it rests", atRest)
	c.need(err)
	got, err := os.ReadFile(code)
	c.need(err)
	c.expect("G3", strings.TrimSpace(string(got)) == "4", "with the token of another run cw ended with code %s", got)
}

// namesAStranger: an agent writes into its run directory that its supervisor is
// a process of somebody else. Then it is stopped.
func namesAStranger(c *course) {
	stranger := exec.Command("sleep", "1000")
	c.need(stranger.Start())
	gone := make(chan struct{})
	go func() { _ = stranger.Wait(); close(gone) }() // ends with the process
	c.T.Cleanup(func() { _ = stranger.Process.Kill(); <-gone })
	id, err := proc.IdentityOf(stranger.Process.Pid)
	c.need(err)
	c.start(hangs())
	v := c.writes()
	started := filepath.Join(c.Home.RunDir(name, 1), "started.json")
	data, err := os.ReadFile(started)
	c.need(err)
	lie := regexp.MustCompile(`("shimPid": *)\d+`).ReplaceAll(data, fmt.Appendf(nil, "${1}%d", id.PID))
	lie = regexp.MustCompile(`("shimStart": *)\d+`).ReplaceAll(lie, fmt.Appendf(nil, "${1}%d", id.StartTime))
	c.need(os.WriteFile(started, lie, 0o600))
	c.Kill()
	c.launch()
	c.need(c.stop(v))
	c.settled(1)
	select {
	case <-gone:
		c.expect("G8", false, "process %d, which cw never started, was ended with the agent", id.PID)
	default:
	}
}

// asksFromAPage: a web page that found a way to the socket asks for the agents.
func asksFromAPage(c *course) {
	toDone(c)
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", c.Socket())
		},
	}}
	req, err := http.NewRequestWithContext(c.T.Context(), http.MethodGet, "http://cw.sock/v1/agents", nil)
	c.need(err)
	req.Header.Set("Origin", "http://evil.example")
	resp, err := client.Do(req)
	c.need(err)
	c.need(resp.Body.Close())
	c.expect("G13", resp.StatusCode == http.StatusForbidden, "a page got the answer %d", resp.StatusCode)
}

// tellsSecrets: an agent prints its key and its token, and puts the key into its
// signal.
func tellsSecrets(c *course) {
	c.tells = true
	s := works("work.txt")
	s.Signal = ""
	s.Shell = fmt.Sprintf(`printf 'I have %%s, and %%s\n' "$%[1]s" "$CW_TOKEN" >> /proc/$PPID/fd/1
		mkdir -p .cw/output && printf '{"status":"done","result":"I have %%s"}' "$%[1]s" > .cw/output/signal.json`, fakecli.KeyVariable)
	c.start(s)
	v := c.settled(1)
	stored, _ := c.stored(v, 1)
	c.expect("I1", bytes.Contains(stored, []byte("I have *****")) || c.guards != "", "the secrets were not printed, or not as masks: %q", stored[max(0, len(stored)-100):])
}

// hasABranch: the user has a branch of the agent's name that has gone another
// way.
func hasABranch(c *course) {
	s := works("work.txt")
	s.Wait = filepath.Join(c.Books, "go")
	c.start(s)
	c.writes()
	commit := lab.Git(c.T, c.Repo, "commit-tree", "-p", "HEAD", "-m", "Mine", "HEAD^{tree}")
	branch := "refs/heads/agent/" + name
	lab.Git(c.T, c.Repo, "update-ref", branch, commit)
	c.need(os.WriteFile(s.Wait, nil, 0o600))
	c.settled(1)
	now := lab.Git(c.T, c.Repo, "rev-parse", branch)
	c.expect("I5", now == commit, "the user's branch was at %s and is at %s", commit, now)
}

// spoilsTheMirror: an agent writes nonsense into the configuration that all git
// in the mirror reads.
func spoilsTheMirror(c *course) {
	s := works("work.txt")
	s.Shell = `echo '[nonsense' >> "$(git rev-parse --git-common-dir)/config"`
	c.start(s)
	v := c.settled(1)
	for _, dir := range c.gits() { // where it is still there, nobody could look
		config, err := os.ReadFile(filepath.Join(dir, "config"))
		c.need(err)
		c.need(os.WriteFile(filepath.Join(dir, "config"), bytes.ReplaceAll(config, []byte("[nonsense\n"), nil), 0o600))
	}
	c.expect("G15", v.Projects[0].HandedOver == "refs/heads/"+v.Branch, "an agent spoilt the mirror, and its branch came out as %q", v.Projects[0].HandedOver)
}
