package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// says is a run that waits for a file, unless that is "", and is done with a word.
func says(l *lab.Lab, word, gate string) fakecli.Script {
	return fakecli.Script{Book: l.Books, Wait: gate, Signal: fmt.Sprintf(`{"status":"done","result":%q,"noChanges":"only talked"}`, word)}
}

// callTool is a call of agents_message as a CLI writes it: one line.
func callTool(t *testing.T, id int, arguments map[string]any) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": cw.ToolAgentsMessage, "arguments": arguments},
	})
	must(t, err)
	return string(data) + "\n"
}

// toolAnswers are what the tool server answered to the call of a number.
func toolAnswers(t *testing.T, file string, id int) (out []cw.AgentMessageResult) {
	t.Helper()
	for _, line := range lines(file) {
		var answer struct {
			ID     int
			Result struct {
				IsError           bool
				Content           []struct{ Text string }
				StructuredContent *cw.AgentMessageResult
			}
		}
		must(t, json.Unmarshal([]byte(line), &answer))
		if answer.ID != id {
			continue
		}
		result := answer.Result.StructuredContent
		if answer.Result.IsError {
			t.Errorf("call %d: %s", id, line)
		}
		if result == nil {
			result = new(cw.AgentMessageResult)
			must(t, json.Unmarshal([]byte(answer.Result.Content[0].Text), result))
		}
		out = append(out, *result)
	}
	return out
}

// TestMessagesOutliveTheDaemon: an agent messages another by cw's tool server,
// while that one runs and while it is idle, waiting and not. The daemon is killed
// under each wait. Each text is one run, and each response comes once.
func TestMessagesOutliveTheDaemon(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	in := func(name string) string { return filepath.Join(l.Books, name) }
	open := func(name string) { t.Helper(); must(t, os.WriteFile(in(name), nil, 0o600)) }
	b := l.MustSpawn(says(l, "first word", in("first")))
	l.Until(b.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	work := func(id int, mode cw.MessageMode, word, gate string) string {
		return callTool(t, id, map[string]any{"agentId": "execute", "session": b.Alias, "mode": mode, "content": says(l, word, gate).Text()})
	}
	must(t, os.WriteFile(in("2.call"), []byte(work(2, cw.MessageSync, "second word", in("second"))), 0o600))
	must(t, os.WriteFile(in("3.call"), []byte(work(3, cw.MessageSync, "third word", in("third"))), 0o600))
	must(t, os.WriteFile(in("4.call"), []byte(work(4, cw.MessageAsync, "fourth word", "")), 0o600))
	must(t, os.WriteFile(in("1.call"), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"fake","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"), 0o600))
	a := l.MustSpawn(fakecli.Script{Signal: doneSignal, Shell: fmt.Sprintf(`cd %s
{ for n in 1 2 3 4; do while [ ! -e call$n ]; do sleep 0.02; done; cat $n.call; done; while [ ! -e enough ]; do sleep 0.02; done; } | cw mcp >answers 2>mcp.err
`, l.Books)})
	answered := func(id int) bool { return len(toolAnswers(t, in("answers"), id)) > 0 }
	runs := func(n int) {
		t.Helper()
		l.Until(b.Alias, func(v cw.AgentView) bool { return v.SessionNumber == n && v.Status == cw.StatusRunning })
	}
	open("call1")
	open("call2")
	// It runs, so the text waits for its next run, also across a daemon.
	if v := l.Until(b.Alias, func(v cw.AgentView) bool { return v.QueuedMessages == 1 }); v.SessionNumber != 1 || v.Status != cw.StatusRunning {
		t.Errorf("it is %s in session %d", v.Status, v.SessionNumber)
	}
	l.Kill()
	open("first") // its run ends while no daemon is there
	l.Start()
	runs(2)
	l.Kill()
	open("second")
	if answered(2) {
		t.Error("there is a response before the run is over")
	}
	l.Start()
	comesTrue(t, "the second word is there", func() bool { return answered(2) })
	l.Rest(b.Alias)
	// It is idle, so it starts with the text.
	open("call3")
	runs(3)
	l.Kill()
	l.Start()
	open("third")
	comesTrue(t, "the third word is there", func() bool { return answered(3) })
	l.Rest(b.Alias)
	open("call4")
	comesTrue(t, "the message is taken", func() bool { return answered(4) })
	b = l.Until(b.Alias, func(v cw.AgentView) bool { return v.SessionNumber == 4 && v.Status.AtRest() && !v.Settling })
	open("enough")
	a = l.Rest(a.Alias)
	if a.Status != cw.StatusIdle || b.Status != cw.StatusIdle || b.QueuedMessages != 0 {
		t.Errorf("they are %s (%s) and %s (%s)", a.Status, a.Error, b.Status, b.Error)
	}
	for id, want := range map[int]string{2: "second word", 3: "third word", 4: ""} {
		got := toolAnswers(t, in("answers"), id)
		if len(got) != 1 || got[0].Response != want || got[0].SessionID != b.ID || (got[0].Status == cw.MessageComplete) != (want != "") {
			t.Errorf("call %d: %+v", id, got)
		}
	}
	sentOnce(t, l, a, b, 3)
}

// sentOnce checks that one agent got so many texts of another, each with a run of
// its own that was started once.
func sentOnce(t *testing.T, l *lab.Lab, from, to cw.AgentView, want int) {
	t.Helper()
	page, err := l.Client().Messages(t.Context(), to.Alias, cw.PageQuery{})
	must(t, err)
	runs := map[cw.RunID]bool{}
	for _, m := range page.Items {
		if m.Origin == cw.OriginAgent && m.SenderAgentID == from.ID && m.DeliveredAt != nil {
			runs[m.RunID] = true
			want--
		}
	}
	if _, starts := booksOf(t, l, to); want != 0 || len(runs) != len(to.Runs)-1 || starts != len(to.Runs) {
		t.Errorf("%d texts are missing, in %d of %d runs, which were started %d times", want, len(runs), len(to.Runs), starts)
	}
}

// inside is a script of a run that waits to be stopped, and calls of others come
// out of it; with the client for these.
func inside(t *testing.T, l *lab.Lab) (fakecli.Script, *api.Client) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cwin") // the path of a socket is short
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	return fakecli.Script{Book: l.Books, Hang: true, Door: socket}, api.NewClient(api.ClientOptions{Socket: socket})
}

// tryToMake lets an agent try to make another one in every way, and gives what
// came of that.
func tryToMake(ctx context.Context, as *api.Client) map[string]error {
	_, spawn := as.Spawn(ctx, cw.SpawnRequest{RequestKey: cw.NewID(), Goal: "x"})
	message := func(definition, session string) error {
		_, err := as.MessageAgent(ctx, cw.AgentMessageRequest{AgentID: definition, Session: session, Content: "x", Mode: cw.MessageAsync})
		return err
	}
	return map[string]error{
		"POST /v1/agents": spawn, "create": message("execute", cw.SessionCreate), "latest-or-create": message("detail", cw.SessionLatestOrCreate),
	}
}

// TestAgentsMakeAgents: agents make agents as deep as their project says, by a
// request and for a message, and no deeper; also when the daemon is killed before
// the answer is there, only one is made.
func TestAgentsMakeAgents(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	opened := func(v cw.AgentView, client *api.Client) {
		t.Helper()
		l.Until(v.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
		comesTrue(t, "calls come out of "+v.Alias, func() bool {
			_, err := client.Status(t.Context()) // agents may not ask for it, and are told so
			return cw.ErrorCode(err) != cw.CodeUnreachable
		})
	}
	refused := func(who string, client *api.Client) {
		t.Helper()
		before := agents(t, l)
		for what, err := range tryToMake(t.Context(), client) {
			want, hint := cw.CodeRefused, "agentSpawn 1"
			switch what {
			case "POST /v1/agents":
				want, hint = cw.CodeForbidden, "" // its run has not the right
			case "latest-or-create":
				want, hint = cw.CodeNotFound, "may not make agents" // nobody of that definition is there
			}
			if cw.ErrorCode(err) != want || !strings.Contains(cw.ErrorHint(err), hint) {
				t.Errorf("%s, %s: %v (%s)", who, what, err, cw.ErrorHint(err))
			}
		}
		if now := agents(t, l); !slices.Equal(now, before) {
			t.Errorf("%s made %v of %v", who, now, before)
		}
	}
	script, as := inside(t, l)
	early := l.MustSpawn(script)
	opened(early, as)
	refused("agentSpawn 0", as)
	_, err := l.Client().Stop(t.Context(), early.Alias, cw.StopRequest{Now: true})
	must(t, err)
	l.Rest(early.Alias)
	_, err = l.Client().Remove(t.Context(), early.Alias) // else it is the latest
	must(t, err)
	project := early.Projects[0].Project
	answersBy(t, l, "project", "set", project, "agentSpawn", "1") // it counts for runs that begin after it
	script, as = inside(t, l)
	a := l.MustSpawn(script)
	opened(a, as)

	message := cw.AgentMessageRequest{RequestKey: "made", AgentID: "execute", Content: says(l, "made", filepath.Join(l.Books, "go")).Text()}
	first, err := as.MessageAgent(t.Context(), message)
	must(t, err)
	l.Kill()
	must(t, os.WriteFile(filepath.Join(l.Books, "go"), nil, 0o600))
	l.Start()
	again, err := as.MessageAgent(t.Context(), message)
	must(t, err)
	if !first.Created || again.ResponseID != first.ResponseID || again.SessionID != first.SessionID {
		t.Errorf("%+v, and again %+v", first, again)
	}
	done, err := as.AwaitMessage(t.Context(), string(first.ResponseID))
	must(t, err)
	if done.Status != cw.MessageComplete || done.Response != "made" || !done.Created {
		t.Errorf("%+v", done)
	}
	l.Rest(first.SessionName)
	message.RequestKey, message.Content = "more", says(l, "there already", "").Text()
	more, err := cw.MessageAndWait(t.Context(), as, message)
	must(t, err)
	if more.Created || more.SessionID != first.SessionID || more.Response != "there already" {
		t.Errorf("%+v", more)
	}
	made := l.Rest(first.SessionName)
	if made.ParentID != a.ID || made.SessionNumber != 2 {
		t.Errorf("%+v", made.Agent)
	}

	script, asChild := inside(t, l)
	req := cw.SpawnRequest{RequestKey: "child", Goal: script.Goal()}
	child, err := as.Spawn(t.Context(), req)
	must(t, err)
	if child.ParentID != a.ID || child.Projects[0].ProjectID != a.Projects[0].ProjectID {
		t.Errorf("%+v", child.Agent)
	}
	same, err := as.Spawn(t.Context(), req)
	must(t, err)
	if same.ID != child.ID {
		t.Errorf("the same request made %s and %s", child.Alias, same.Alias)
	}
	opened(child, asChild)
	refused("depth 1", asChild)
	if got := agents(t, l); len(got) != 3 {
		t.Errorf("there are %v", got)
	}
	answersBy(t, l, "project", "set", project, "agentSpawn", "0") // it is looked at again for each
	if _, err := as.Spawn(t.Context(), cw.SpawnRequest{Goal: "x"}); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "agentSpawn 1") {
		t.Errorf("when it is not allowed any more: %v (%s)", err, cw.ErrorHint(err))
	}
}

// agents are the names of all agents.
func agents(t *testing.T, l *lab.Lab) (names []string) {
	t.Helper()
	all, err := cw.AllAgents(t.Context(), l.Client(), cw.AgentFilter{})
	must(t, err)
	for _, v := range all {
		names = append(names, v.Alias)
	}
	slices.Sort(names)
	return names
}
