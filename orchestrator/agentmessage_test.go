package orchestrator

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// worksOn makes an agent that runs until its file is there, and then is done with
// a word.
func (e *engine) worksOn(name string) (v cw.AgentView, finish func()) {
	e.t.Helper()
	file := filepath.Join(e.books, "finish-"+cw.NewID())
	s := fakecli.Script{Pieces: 1, Linger: file, Signal: `{"status":"done","result":"first word","noChanges":"nothing to do"}`}
	req := e.sessions(s)
	req.Name = name
	v = e.until(e.mustSpawn(req).Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	return v, func() { must(e.t, writeFile(file, nil)) }
}

func withWord(word string) string {
	return fakecli.Script{Signal: `{"status":"done","result":"` + word + `","noChanges":"nothing to do"}`}.Text()
}

func toExecute(content string) cw.AgentMessageRequest {
	return cw.AgentMessageRequest{AgentID: "execute", Content: content, Session: cw.SessionLatest}
}

// A message to an idle agent starts it, and its final word is the response; to
// one that runs it waits for the next run, and is framed as another agent's.
func TestMessageAgent(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	a, _ := e.worksOn("brave-otter")
	b, finish := e.worksOn("calm-heron")
	req := toExecute(withWord("second word"))
	req.RequestKey, req.Mode = "k1", cw.MessageAsync
	started, err := e.MessageAgent(e.as(a), req)
	must(t, err)
	if started.Status != cw.MessageStarted || started.SessionID != b.ID || started.SessionName != b.Alias || started.AgentID != "execute" || started.Created || started.ResponseID == "" {
		t.Fatalf("%+v", started)
	}
	again, err := e.MessageAgent(e.as(a), req)
	must(t, err)
	if again.ResponseID != started.ResponseID {
		t.Errorf("the same request again: %+v", again)
	}
	hurried, cancel := context.WithCancel(e.as(a))
	cancel()
	if _, err := e.AwaitMessage(hurried, string(started.ResponseID)); !errors.Is(err, context.Canceled) {
		t.Errorf("an await that was let go: %v", err)
	}
	finish()
	done, err := e.AwaitMessage(e.as(a), string(started.ResponseID))
	must(t, err)
	if done.Status != cw.MessageComplete || done.Response != "second word" || done.DurationMS < 0 || done.Message != "" {
		t.Errorf("%+v", done)
	}
	v := e.idleAfter(b.Alias, 2)
	prompt := e.prompt(v, 2)
	if !strings.Contains(prompt, "The agent `brave-otter` wrote to you") || !strings.Contains(prompt, "no person wrote them") {
		t.Errorf("prompt:\n%s", prompt)
	}
	woken, err := cw.MessageAndWait(e.as(a), e, toExecute(withWord("third word")))
	must(t, err)
	if woken.Status != cw.MessageComplete || woken.Response != "third word" || woken.Mode != cw.MessageSync {
		t.Errorf("%+v", woken)
	}
	e.idleAfter(b.Alias, 3)
}

// Who is not a peer, does not run again, or is oneself gets nothing, and only the
// sender and people get the response.
func TestMessageRefused(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	a, _ := e.worksOn("brave-otter")
	b, _ := e.worksOn("calm-heron")
	alone := e.request(fakecli.Script{Hang: true})
	alone.Projects, alone.Name = nil, "quiet-fox"
	e.mustSpawn(alone)
	crashed := e.request(fakecli.Script{Signal: `{"status":"error","error":"no"}`})
	crashed.Name = "sad-crow"
	e.rest(e.mustSpawn(crashed).Alias)
	named := func(definition, session string) cw.AgentMessageRequest {
		return cw.AgentMessageRequest{AgentID: definition, Content: "x", Session: session}
	}
	for _, c := range []struct {
		name string
		ctx  context.Context
		req  cw.AgentMessageRequest
		code cw.Code
		text string
	}{
		{"a person", t.Context(), named("execute", b.Alias), cw.CodeForbidden, ""},
		{"itself", e.as(a), named("execute", a.Alias), cw.CodeRefused, "itself"},
		{"no peer", e.as(a), named("execute", "quiet-fox"), cw.CodeNotFound, ""},
		{"nobody", e.as(a), named("execute", "no-such"), cw.CodeNotFound, ""},
		{"another definition", e.as(a), named("plan", b.Alias), cw.CodeInvalid, "execute"},
		{"none of the definition", e.as(a), named("plan", cw.SessionLatest), cw.CodeNotFound, "plan"},
		{"none, and none may be made", e.as(a), named("plan", ""), cw.CodeNotFound, "plan"},
		{"a new one", e.as(a), named("execute", cw.SessionCreate), cw.CodeRefused, "may not make agents"},
		{"a crashed one", e.as(a), named("execute", "sad-crow"), cw.CodeRefused, "crashed"},
	} {
		_, err := e.MessageAgent(c.ctx, c.req)
		if cw.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	sent, err := e.MessageAgent(e.as(a), named("execute", b.Alias))
	must(t, err)
	for name, ctx := range map[string]context.Context{"the other agent": e.as(b)} {
		if _, err := e.AwaitMessage(ctx, string(sent.ResponseID)); cw.ErrorCode(err) != cw.CodeNotFound {
			t.Errorf("%s awaits it: %v", name, err)
		}
	}
	_, err = e.Stop(t.Context(), b.Alias, cw.StopRequest{Now: true})
	must(t, err)
	if _, err := e.AwaitMessage(e.as(a), string(sent.ResponseID)); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("the agent was stopped before it had the message: %v", err)
	}
}

// Two agents never wait for each other: the one that would close the circle is
// told, and nothing of its message is stored.
func TestMessageCircle(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	a, _ := e.worksOn("brave-otter")
	b, _ := e.worksOn("calm-heron")
	end, circle := e.waits.begin(a.ID, b.ID, nil)
	if circle != nil {
		t.Fatal(circle)
	}
	req := toExecute("x")
	req.Session = a.Alias
	if _, err := e.MessageAgent(e.as(b), req); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "calm-heron → brave-otter → calm-heron") {
		t.Fatalf("a circle: %v", err)
	}
	_, err := e.Ask(e.as(b), cw.AskRequest{Question: "x", AgentID: a.Alias})
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "calm-heron → brave-otter → calm-heron") {
		t.Fatalf("a question that closes the circle: %v", err)
	}
	if v, err := e.Agent(t.Context(), a.Alias); err != nil || v.QueuedMessages != 0 {
		t.Errorf("%d texts wait, %v", v.QueuedMessages, err)
	}
	req.Mode = cw.MessageAsync
	sent, err := e.MessageAgent(e.as(b), req)
	must(t, err)
	if _, err := e.AwaitMessage(e.as(b), string(sent.ResponseID)); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("waiting after all: %v", err)
	}
	end()
	must(t, e.mayWait(t.Context(), b.ID, a.ID))
	_, err = e.Ask(e.as(b), cw.AskRequest{Question: "x", AgentID: a.Alias})
	must(t, err)
}

// Where the project allows it an agent makes another one, with what it has
// itself, and that one's first word is the response.
func TestMessageNewAgent(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	a, _ := e.worksOn("brave-otter")
	if _, err := e.Spawn(e.as(a), cw.SpawnRequest{Goal: "x"}); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("before it is allowed: %v", err)
	}
	one := 1
	_, err := e.SetProject(t.Context(), "shop", cw.ProjectSettings{AgentSpawn: &one})
	must(t, err)
	s := fakecli.Script{Book: e.books, Signal: `{"status":"done","result":"made","noChanges":"nothing to do"}`}
	req := cw.AgentMessageRequest{AgentID: "execute", Content: s.Text(), RequestKey: "k"}
	done, err := cw.MessageAndWait(e.as(a), e, req)
	must(t, err)
	if !done.Created || done.Response != "made" || done.SessionID == a.ID {
		t.Errorf("%+v", done)
	}
	again, err := e.MessageAgent(e.as(a), req)
	must(t, err)
	if again.SessionID != done.SessionID || again.ResponseID != done.ResponseID || !again.Created {
		t.Errorf("again: %+v", again)
	}
	child := e.rest(done.SessionName)
	if child.ParentID != a.ID || child.Depth != 1 || child.Origin != "agent" || child.CreatedBy != string(a.ID) || child.Provider != a.Provider ||
		child.BaseCommit != a.BaseCommit || child.AccountID != a.AccountID {
		t.Errorf("%+v", child.Agent)
	}
	if !strings.Contains(e.prompt(child, 1), "This comes from the agent brave-otter") {
		t.Error(e.prompt(child, 1))
	}
	child.Status = cw.StatusRunning
	if _, err := e.Spawn(e.as(child), cw.SpawnRequest{Goal: "x"}); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("one level too deep: %v", err)
	}
}
