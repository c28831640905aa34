package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cw/internal/cw"
)

// peers brings agents of one project to running.
func (b *bench) peers(names ...string) map[string]cw.SpawnIntent {
	b.t.Helper()
	p := b.addProject("shared-" + names[0])
	out := map[string]cw.SpawnIntent{}
	for _, name := range names {
		in := intent(name, p)
		b.must(b.IntendSpawn(b.t.Context(), in))
		b.must(b.SaveStarting(b.t.Context(), starting(in)))
		b.must(b.SaveRunning(b.t.Context(), running(in)))
		out[name] = in
	}
	return out
}

// asking is a question to an agent by its name.
func asking(from cw.SpawnIntent, to string) cw.Conversation {
	return cw.Conversation{
		ID: cw.ConversationID(cw.NewID()), FromAgentID: from.Agent.ID, FromRunID: from.Run.ID,
		TargetKind: cw.AskedAgent, TargetID: to, Question: "Where is the parser?",
	}
}

func (b *bench) ask(from cw.SpawnIntent, to string, change ...func(*cw.Conversation)) cw.ConversationView {
	b.t.Helper()
	v, err := b.tryAsk(from, to, change...)
	b.must(err)
	return v
}

func (b *bench) tryAsk(from cw.SpawnIntent, to string, change ...func(*cw.Conversation)) (cw.ConversationView, error) {
	c := asking(from, to)
	for _, f := range change {
		f(&c)
	}
	return b.AskConversation(b.t.Context(), c, nil)
}

func queue(c *cw.Conversation) { c.Queue = true }
func wake(c *cw.Conversation)  { c.Wake = true }

func (b *bench) end(in cw.SpawnIntent, status cw.AgentStatus) {
	b.t.Helper()
	f := finish(in, cw.StatusRunning, status)
	if status == cw.StatusWaitingForInput {
		f.Questions = questions("Which?")
	}
	_, err := b.FinishRun(b.t.Context(), f)
	b.must(err)
}

// next begins another run of an agent at rest and gives its intent.
func (b *bench) next(in cw.SpawnIntent, number int) cw.SpawnIntent {
	b.t.Helper()
	n := nextRun(in.Agent.ID, number)
	b.must(b.IntendRun(b.t.Context(), n))
	in.Run, in.Op = n.Run, n.Op
	return in
}

func (b *bench) conversation(id cw.ConversationID) cw.ConversationView {
	b.t.Helper()
	v, err := b.ConversationByID(b.t.Context(), string(id))
	b.must(err)
	return v
}

func (b *bench) answerPeer(id cw.ConversationID, by cw.SpawnIntent, answer string) (cw.ConversationView, error) {
	return b.AnswerConversation(b.t.Context(), id, asAgent(by), answer)
}

func asAgent(in cw.SpawnIntent) cw.Actor {
	return cw.Actor{Kind: cw.ActorAgent, ID: string(in.Agent.ID), AgentID: in.Agent.ID, RunID: in.Run.ID}
}

// TestConversation goes from the question to the answer and reads everything
// back.
func TestConversation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter", "calm-fox")
	told := len(b.toldEvents())
	v := b.ask(a["brave-otter"], "calm-fox")
	waiting := func() int {
		n, err := b.CountPendingConversations(t.Context())
		b.must(err)
		return n
	}
	same(t, "conversations that wait", waiting(), 1)
	if v.Status != cw.ConversationPending || v.From != "brave-otter" || v.To != "calm-fox" || v.ToAgentID != a["calm-fox"].Agent.ID || v.TaskID != "" || v.PhaseID != "" {
		t.Fatalf("asked: %+v", v)
	}
	pending, over, err := b.ConversationsTo(t.Context(), v.ToAgentID, a["calm-fox"].Run.ID)
	b.must(err)
	if over || len(pending) != 1 || pending[0].ID != v.ID {
		t.Fatalf("pending: %+v, over: %v", pending, over)
	}
	for range 2 { // given twice, told once
		given, err := b.DeliverConversation(t.Context(), v.ID, v.ToAgentID, a["calm-fox"].Run.ID)
		b.must(err)
		same(t, "given", given, true)
	}
	answered, err := b.answerPeer(v.ID, a["calm-fox"], "in src/parse.go")
	b.must(err)
	if answered.Status != cw.ConversationAnswered || answered.Answer != "in src/parse.go" || answered.AnsweredAt == nil || answered.DeliveredRunID != a["calm-fox"].Run.ID {
		t.Fatalf("answered: %+v", answered)
	}
	same(t, "conversations that wait", waiting(), 0)
	again, err := b.answerPeer(v.ID, a["calm-fox"], "in src/parse.go")
	b.must(err)
	same(t, "the same answer again", again, answered)
	_, err = b.answerPeer(v.ID, a["calm-fox"], "elsewhere")
	refuses(t, err, cw.CodeRefused, "in src/parse.go")
	same(t, "events", b.toldTypes(told), []cw.EventType{cw.EventConversationCreated, cw.EventConversationDelivered, cw.EventConversationAnswered})
	for _, e := range b.toldEvents()[told:] {
		if e.ConversationID != v.ID || !strings.Contains(string(e.Data), `"to":"calm-fox"`) {
			t.Errorf("event %s of %q: %s", e.Type, e.ConversationID, e.Data)
		}
	}
	b.must(b.FetchConversation(t.Context(), v.ID))
	if b.conversation(v.ID).FetchedAt == nil {
		t.Error("it is not fetched")
	}
	given, err := b.DeliverConversation(t.Context(), v.ID, v.ToAgentID, a["calm-fox"].Run.ID)
	b.must(err)
	same(t, "an answered one is given", given, false)
}

// TestAnswersOfOthers: nobody but the asked agent answers.
func TestAnswersOfOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter", "calm-fox", "wild-hare")
	v := b.ask(a["brave-otter"], "calm-fox")
	for _, name := range []string{"brave-otter", "wild-hare"} {
		_, err := b.answerPeer(v.ID, a[name], "mine")
		refuses(t, err, cw.CodeForbidden, "another agent")
	}
	_, err := b.answerPeer("nosuchnosuch", a["calm-fox"], "x")
	refuses(t, err, cw.CodeNotFound, "nosuchnosuch")
	given, err := b.DeliverConversation(t.Context(), v.ID, a["wild-hare"].Agent.ID, a["wild-hare"].Run.ID)
	b.must(err)
	same(t, "given to another", given, false)
}

// TestAnsweredOnce: of many answers at once one counts.
func TestAnsweredOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter", "calm-fox")
	v := b.ask(a["brave-otter"], "calm-fox")
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := b.answerPeer(v.ID, a["calm-fox"], fmt.Sprint("answer ", i)); err == nil {
				won.Add(1)
			}
		})
	}
	all.Wait()
	same(t, "answers that were taken", won.Load(), int32(1))
}

// TestAskRefuses: who cannot be asked, and what is said of it.
func TestAskRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter", "calm-fox", "crashed-one", "stopped-one", "removed-one")
	far := b.peers("far-one")
	b.end(a["crashed-one"], cw.StatusCrashed)
	b.end(a["stopped-one"], cw.StatusStopped)
	b.end(a["removed-one"], cw.StatusIdle)
	b.removeAgent(a["removed-one"].Agent.ID)
	otter := a["brave-otter"]
	for to, want := range map[string]struct {
		code cw.Code
		text string
	}{
		"brave-otter":                   {cw.CodeRefused, "cannot ask itself"},
		string(otter.Agent.ID):          {cw.CodeRefused, "cannot ask itself"},
		"nobody":                        {cw.CodeNotFound, "that you can ask"},
		"far-one":                       {cw.CodeNotFound, "that you can ask"},
		string(far["far-one"].Agent.ID): {cw.CodeNotFound, "that you can ask"},
		"crashed-one":                   {cw.CodeRefused, "crashed-one crashed"},
		"stopped-one":                   {cw.CodeRefused, "stopped-one was stopped"},
		"removed-one":                   {cw.CodeRefused, "removed-one was removed"},
	} {
		for _, how := range []func(*cw.Conversation){queue, wake, func(*cw.Conversation) {}} {
			_, err := b.tryAsk(otter, to, how)
			refuses(t, err, want.code, want.text)
		}
	}
	for _, kind := range []cw.AskedAs{cw.AskedTask, cw.AskedPhase} {
		_, err := b.tryAsk(otter, "nosuchnosuch", func(c *cw.Conversation) { c.TargetKind = kind })
		refuses(t, err, cw.CodeNotFound, string(kind))
	}
	b.end(otter, cw.StatusIdle)
	_, err := b.tryAsk(otter, "calm-fox")
	refuses(t, err, cw.CodeForbidden, "is over")
	var rows int64
	b.must(b.state.read.Model(&cw.Conversation{}).Count(&rows).Error)
	same(t, "rows", rows, int64(0))
}

// TestAskAtRest: what becomes of a question to an agent at rest.
func TestAskAtRest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status cw.AgentStatus
		reason string
		wakes  int
	}{
		{cw.StatusIdle, "calm-fox is idle", 1},
		{cw.StatusWaitingForInput, "waits for answers of people", 1},
		{cw.StatusParked, "is parked", 1},
	} {
		t.Run(string(tt.status), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.peers("brave-otter", "calm-fox")
			b.end(a["calm-fox"], tt.status)
			told := len(b.toldEvents())
			cancelled := b.ask(a["brave-otter"], "calm-fox", func(c *cw.Conversation) { c.RequestKey = "key" })
			if cancelled.Status != cw.ConversationCancelled || !strings.Contains(cancelled.Reason, tt.reason) {
				t.Errorf("with neither: %+v", cancelled)
			}
			same(t, "events", b.toldTypes(told), []cw.EventType{cw.EventConversationCreated, cw.EventConversationCancelled})
			again := b.ask(a["brave-otter"], "calm-fox", func(c *cw.Conversation) { c.RequestKey = "key" })
			same(t, "with the same key", again, b.conversation(cancelled.ID))
			queued := b.ask(a["brave-otter"], "calm-fox", queue)
			if queued.Status != cw.ConversationPending || !strings.Contains(queued.Reason, tt.reason) {
				t.Errorf("to queue: %+v", queued)
			}
			ready, err := b.ReadyAgents(t.Context())
			b.must(err)
			same(t, "who goes on with a queued one", len(ready), 0)
			woken := b.ask(a["brave-otter"], "calm-fox", wake)
			same(t, "to wake", woken.Status, cw.ConversationPending)
			n, err := b.WakingConversations(t.Context(), a["calm-fox"].Agent.ID)
			b.must(err)
			same(t, "questions that wake", n, tt.wakes)
			ready, err = b.ReadyAgents(t.Context())
			b.must(err)
			same(t, "an idle one goes on", len(ready) == 1, tt.status == cw.StatusIdle)
		})
	}
}

// TestAskLimits: open questions of one agent, and to one.
func TestAskLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter", "calm-fox", "wild-hare", "shy-mole")
	for i := range cw.ConversationsOpen {
		b.ask(a["brave-otter"], []string{"calm-fox", "wild-hare"}[i%2])
	}
	_, err := b.tryAsk(a["brave-otter"], "shy-mole")
	refuses(t, err, cw.CodeRefused, "try again")
	for range cw.ConversationsOpen / 2 {
		b.ask(a["shy-mole"], "calm-fox")
	}
	_, err = b.tryAsk(a["wild-hare"], "calm-fox")
	refuses(t, err, cw.CodeRefused, "calm-fox is asked 20 questions")
	b.must(b.state.write.Exec("UPDATE conversations SET status = 'answered'").Error)
	b.ask(a["brave-otter"], "shy-mole")
	b.ask(a["wild-hare"], "calm-fox")
}

// TestAskOnce: a second request with the same key gives the first, whatever it
// asks.
func TestAskOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter", "calm-fox", "wild-hare")
	key := func(c *cw.Conversation) { c.RequestKey = "key" }
	var ids sync.Map
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			v, err := b.tryAsk(a["brave-otter"], "calm-fox", key)
			if err != nil {
				t.Error(err)
			}
			ids.Store(v.ID, true)
		})
	}
	all.Wait()
	n := 0
	ids.Range(func(any, any) bool { n++; return true })
	same(t, "conversations", n, 1)
	found, ok, err := b.ConversationByKey(t.Context(), a["brave-otter"].Agent.ID, "key")
	b.must(err)
	if _, known := ids.Load(found.ID); !ok || !known {
		t.Errorf("found: %v %+v", ok, found)
	}
	if other := b.ask(a["wild-hare"], "calm-fox", key); other.ID == found.ID {
		t.Error("keys of different agents are one")
	}
	if _, ok, err = b.ConversationByKey(t.Context(), a["brave-otter"].Agent.ID, ""); ok || err != nil {
		t.Errorf("without a key: %v, %v", ok, err)
	}
}

// TestAskCircle: agents that would wait for each other are told, and of two that
// ask each other at once one is.
func TestAskCircle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter", "calm-fox", "wild-hare")
	b.ask(a["brave-otter"], "calm-fox")
	b.ask(a["calm-fox"], "wild-hare")
	_, err := b.tryAsk(a["wild-hare"], "brave-otter")
	refuses(t, err, cw.CodeRefused, "wild-hare → brave-otter → calm-fox → wild-hare")
	for _, how := range []func(*cw.Conversation){queue, wake} {
		_, err = b.tryAsk(a["wild-hare"], "brave-otter", how)
		refuses(t, err, cw.CodeRefused, "wait for each other")
	}
	b.end(a["brave-otter"], cw.StatusIdle) // it waits no more
	b.ask(a["wild-hare"], "brave-otter", queue)
}

func TestAskCircleAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 20 {
		x, y := fmt.Sprintf("x-%d", i), fmt.Sprintf("y-%d", i)
		a := b.peers(x, y)
		var taken atomic.Int32
		var both sync.WaitGroup
		for from, to := range map[string]string{x: y, y: x} {
			both.Go(func() {
				if _, err := b.tryAsk(a[from], to); err == nil {
					taken.Add(1)
				}
			})
		}
		both.Wait()
		same(t, "questions that were taken", taken.Load(), int32(1))
	}
}

// TestConversationEnds: what becomes of pending questions when an agent of them
// comes to an end.
func TestConversationEnds(t *testing.T) {
	t.Parallel()
	retry := func(b *bench, in cw.SpawnIntent) {
		f := finish(in, cw.StatusRunning, cw.StatusCrashed)
		n := nextRun(in.Agent.ID, 2)
		f.Next = &n
		_, err := b.FinishRun(b.t.Context(), f)
		b.must(err)
	}
	end := func(s cw.AgentStatus) func(*bench, cw.SpawnIntent) {
		return func(b *bench, in cw.SpawnIntent) { b.end(in, s) }
	}
	removed := func(b *bench, in cw.SpawnIntent) { b.end(in, cw.StatusIdle); b.removeAgent(in.Agent.ID) }
	stopParked := func(b *bench, in cw.SpawnIntent) {
		b.end(in, cw.StatusParked)
		b.must(b.StopWaiting(b.t.Context(), in.Agent.ID, event(cw.EventAgentStopped, "x")))
	}
	for _, tt := range []struct {
		name   string
		of     string
		end    func(*bench, cw.SpawnIntent)
		reason string // "": it stays pending
	}{
		{"asked, idle", "calm-fox", end(cw.StatusIdle), ""},
		{"asked, waits", "calm-fox", end(cw.StatusWaitingForInput), ""},
		{"asked, parked", "calm-fox", end(cw.StatusParked), ""},
		{"asked, retried", "calm-fox", retry, ""},
		{"asked, crashed", "calm-fox", end(cw.StatusCrashed), "calm-fox crashed"},
		{"asked, stopped", "calm-fox", end(cw.StatusStopped), "calm-fox was stopped"},
		{"asked, parked and stopped", "calm-fox", stopParked, "calm-fox was stopped (user)"},
		{"asked, removed", "calm-fox", removed, "calm-fox was removed"},
		{"asks, idle", "brave-otter", end(cw.StatusIdle), ""},
		{"asks, crashed", "brave-otter", end(cw.StatusCrashed), ""},
		{"asks, stopped", "brave-otter", end(cw.StatusStopped), ""},
		{"asks, removed", "brave-otter", removed, "brave-otter was removed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.peers("brave-otter", "calm-fox", "wild-hare")
			v := b.ask(a["brave-otter"], "calm-fox")
			other := b.ask(a["wild-hare"], map[string]string{"calm-fox": "brave-otter", "brave-otter": "calm-fox"}[tt.of])
			told := len(b.toldEvents())
			tt.end(b, a[tt.of])
			got := b.conversation(v.ID)
			ended := slices.Contains(b.toldTypes(told), cw.EventConversationCancelled)
			if tt.reason == "" {
				same(t, "status", got.Status, cw.ConversationPending)
				same(t, "it is told as cancelled", ended, false)
				return
			}
			same(t, "status", got.Status, cw.ConversationCancelled)
			same(t, "reason", got.Reason, tt.reason)
			same(t, "it is told as cancelled", ended, true)
			same(t, "another one", b.conversation(other.ID).Status, cw.ConversationPending)
			_, err := b.answerPeer(v.ID, a["calm-fox"], "late")
			refuses(t, err, cw.CodeRefused, tt.reason)
		})
	}
}

// TestCarried: what an agent is asked, and was answered, is in its next prompt:
// questions in each until they are answered, answers once.
func TestCarried(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter", "calm-fox", "wild-hare")
	ctx, otter, fox := t.Context(), a["brave-otter"], a["calm-fox"]
	asked := b.ask(otter, "calm-fox", func(c *cw.Conversation) { c.Question = "first" })
	taken := b.ask(otter, "wild-hare", func(c *cw.Conversation) { c.Question = "second" })
	left := b.ask(otter, "wild-hare", func(c *cw.Conversation) { c.Question = "third" })
	for _, v := range []cw.ConversationView{taken, left} {
		_, err := b.answerPeer(v.ID, a["wild-hare"], "answer to "+v.Question)
		b.must(err)
	}
	b.must(b.FetchConversation(ctx, taken.ID))
	b.end(otter, cw.StatusIdle)
	otter = b.next(otter, 2)
	same(t, "told to the asker", b.runTexts(otter.Run.ID), []string{"answer to third"})
	messages, err := b.RunMessages(ctx, otter.Run.ID)
	b.must(err)
	about, ok := cw.ConversationTextOf(messages[0])
	same(t, "about", about, cw.ConversationText{ConversationID: left.ID, Kind: cw.TextAnswer, From: "wild-hare", Question: "third"})
	if m := messages[0]; !ok || m.Origin != cw.OriginAgent || m.SenderAgentID != a["wild-hare"].Agent.ID {
		t.Errorf("message: %+v", m)
	}

	b.end(fox, cw.StatusIdle)
	fox = b.next(fox, 2)
	same(t, "told to the asked", b.runTexts(fox.Run.ID), []string{"first"})
	if b.conversation(asked.ID).DeliveredRunID != "" {
		t.Error("it is delivered before its run runs")
	}
	told := len(b.toldEvents())
	b.must(b.SaveRunning(ctx, running(fox)))
	same(t, "delivered to", b.conversation(asked.ID).DeliveredRunID, fox.Run.ID)
	same(t, "told", slices.Contains(b.toldTypes(told), cw.EventConversationDelivered), true)
	b.end(fox, cw.StatusIdle)
	third := b.next(fox, 3)
	same(t, "told again", b.runTexts(third.Run.ID), []string{"first"})

	// A run that never began takes nothing with it, and nothing comes twice.
	f := finish(third, cw.StatusStarting, cw.StatusParked)
	_, err = b.FinishRun(ctx, f)
	b.must(err)
	fourth := b.next(fox, 4)
	same(t, "told once", b.runTexts(fourth.Run.ID), []string{"first"})
	f = finish(fourth, cw.StatusStarting, cw.StatusParked)
	_, err = b.FinishRun(ctx, f)
	b.must(err)
	_, err = b.answerPeer(asked.ID, a["calm-fox"], "here")
	b.must(err)
	fifth := b.next(fox, 5)
	same(t, "nothing of what is closed", b.runTexts(fifth.Run.ID), []string(nil))

	b.must(b.SaveRunning(ctx, running(otter)))
	b.end(otter, cw.StatusIdle)
	otter = b.next(otter, 3)
	same(t, "the asker is told once", b.runTexts(otter.Run.ID), []string{"here"})
}

// TestWokenOnce: a question wakes its agent once; then it waits for the next run.
func TestWokenOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter", "calm-fox")
	v := b.ask(a["brave-otter"], "calm-fox", wake)
	for _, want := range []int{1, 0} {
		b.end(a["calm-fox"], cw.StatusIdle)
		n, err := b.WakingConversations(t.Context(), v.ToAgentID)
		b.must(err)
		same(t, "questions that wake it", n, want)
		fox := b.next(a["calm-fox"], 3-want)
		same(t, "its prompt", b.runTexts(fox.Run.ID), []string{"Where is the parser?"})
		b.must(b.SaveRunning(t.Context(), running(fox)))
		a["calm-fox"] = fox
	}
}

// inPlan makes an initiative with a task, and running agents of it: of the task,
// of its phase, and of the initiative alone.
func (b *bench) inPlan() (task cw.Task, agents map[string]cw.SpawnIntent) {
	b.t.Helper()
	i := b.fullInitiative(1, 1)
	task = b.stateOf(i.ID).Tasks[0]
	p := b.addProject("planned")
	agents = map[string]cw.SpawnIntent{}
	for _, name := range []string{"doer-one", "doer-two", "planner", "asker", "outsider"} {
		in := intent(name, p)
		if name != "outsider" {
			in.Agent.InitiativeID = i.ID
		}
		if strings.HasPrefix(name, "doer") {
			in.Agent.TaskID, in.Agent.PhaseID = task.ID, task.PhaseID
		}
		b.must(b.IntendSpawn(b.t.Context(), in))
		b.must(b.SaveStarting(b.t.Context(), starting(in)))
		agents[name] = in
	}
	return task, agents
}

// TestAskByTask: by its task or phase an agent is found, waited for, and found
// when it comes.
func TestAskByTask(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	task, a := b.inPlan()
	b.must(b.SaveRunning(ctx, running(a["asker"])))
	b.must(b.SaveRunning(ctx, running(a["outsider"])))
	byTask := func(c *cw.Conversation) { c.TargetKind = cw.AskedTask }
	byPhase := func(c *cw.Conversation) { c.TargetKind = cw.AskedPhase }
	_, err := b.tryAsk(a["outsider"], string(task.ID), byTask)
	refuses(t, err, cw.CodeNotFound, "that you can ask")
	none := b.ask(a["asker"], string(task.ID), byTask)
	if none.Status != cw.ConversationCancelled || none.Reason != "no agent of the task runs" {
		t.Errorf("nobody runs: %+v", none)
	}
	waits := b.ask(a["asker"], string(task.ID), byTask, queue)
	inPhase := b.ask(a["asker"], string(task.PhaseID), byPhase, queue)
	for _, v := range []cw.ConversationView{waits, inPhase} {
		if v.Status != cw.ConversationPending || v.ToAgentID != "" {
			t.Errorf("it waits: %+v", v)
		}
	}
	b.must(b.SaveRunning(ctx, running(a["planner"])))
	same(t, "to somebody else", b.conversation(waits.ID).To, "")
	b.must(b.SaveRunning(ctx, running(a["doer-one"])))
	if got := b.conversation(waits.ID); got.To != "doer-one" || got.TaskID != task.ID || got.PhaseID != "" || got.Reason != "" {
		t.Errorf("by its task: %+v", got)
	}
	if got := b.conversation(inPhase.ID); got.To != "doer-one" || got.PhaseID != task.PhaseID || got.TaskID != "" {
		t.Errorf("by its phase: %+v", got)
	}
	b.must(b.SaveRunning(ctx, running(a["doer-two"])))
	same(t, "the one with fewer questions", b.ask(a["asker"], string(task.PhaseID), byPhase).To, "doer-two")
	b.end(a["doer-two"], cw.StatusIdle)
	same(t, "the one that runs", b.ask(a["asker"], string(task.PhaseID), byPhase).To, "doer-one")
	b.end(a["doer-one"], cw.StatusIdle)
	same(t, "an idle one to wake", b.ask(a["asker"], string(task.PhaseID), byPhase, wake).To, "doer-two")
	b.end(a["planner"], cw.StatusIdle)
	late, lateInPhase := b.ask(a["asker"], string(task.ID), byTask, queue), b.ask(a["asker"], string(task.PhaseID), byPhase, queue)
	task.Status = cw.TaskDone
	phase := b.stateOf(task.InitiativeID).Phases[0]
	phase.Status = cw.PhaseArchived
	for _, over := range []struct {
		change      cw.InitiativeChange
		ends, stays cw.ConversationID
	}{
		{cw.InitiativeChange{Tasks: []cw.Task{task}}, late.ID, lateInPhase.ID},
		{cw.InitiativeChange{Phases: []cw.Phase{phase}}, lateInPhase.ID, ""},
	} {
		b.must(b.ChangeInitiative(ctx, task.InitiativeID, func(cw.InitiativeState) (cw.InitiativeChange, error) { return over.change, nil }))
		if got := b.conversation(over.ends); got.Status != cw.ConversationCancelled || got.Reason != "what it was asked about is over, and nobody works on it" {
			t.Errorf("asked about what is over: %+v", got)
		}
		if over.stays != "" {
			same(t, "the other one", b.conversation(over.stays).Status, cw.ConversationPending)
		}
	}
	_, err = b.tryAsk(a["asker"], string(task.ID), byTask, queue)
	refuses(t, err, cw.CodeRefused, "is done, and nobody works on it")
	_, err = b.tryAsk(a["asker"], string(task.PhaseID), byPhase, queue)
	refuses(t, err, cw.CodeRefused, "is archived, and nobody works on it")
}

// TestRoomAgain: what waited for an agent that was asked too much is given to it
// when what it was asked is cancelled.
func TestRoomAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	task, a := b.inPlan()
	byTask := func(c *cw.Conversation) { c.TargetKind = cw.AskedTask }
	for _, name := range []string{"asker", "planner"} {
		b.must(b.SaveRunning(ctx, running(a[name])))
	}
	for range cw.ConversationsOpen {
		b.ask(a["asker"], string(task.ID), byTask, queue)
	}
	waits := b.ask(a["planner"], string(task.ID), byTask, queue)
	b.must(b.SaveRunning(ctx, running(a["doer-one"])))
	same(t, "there is no room", b.conversation(waits.ID).To, "")
	b.end(a["asker"], cw.StatusIdle)
	b.removeAgent(a["asker"].Agent.ID)
	same(t, "there is room", b.conversation(waits.ID).To, "doer-one")
}

// TestAssignCircle: a question that waited for an agent is cancelled when the one
// that comes waits for the asking one.
func TestAssignCircle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	task, a := b.inPlan()
	b.must(b.SaveRunning(ctx, running(a["asker"])))
	waits := b.ask(a["asker"], string(task.ID), queue, func(c *cw.Conversation) { c.TargetKind = cw.AskedTask })
	// It asks as soon as it runs, before its start is stored.
	b.ask(a["doer-one"], "asker")
	b.must(b.SaveRunning(ctx, running(a["doer-one"])))
	got := b.conversation(waits.ID)
	if got.Status != cw.ConversationCancelled || !strings.Contains(got.Reason, "asker → doer-one → asker") {
		t.Errorf("assigned: %+v", got)
	}
}

// TestAbortedSpawn: what was asked of an agent that never began.
func TestAbortedSpawn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter")
	in := intent("calm-fox", b.addProject("alone"))
	in.Worktrees[0].ProjectID = a["brave-otter"].Worktrees[0].ProjectID
	b.must(b.IntendSpawn(t.Context(), in))
	v := b.ask(a["brave-otter"], "calm-fox")
	b.must(b.AbortSpawn(t.Context(), in.Op.ID))
	if got := b.conversation(v.ID); got.Status != cw.ConversationCancelled || got.Reason != "calm-fox could not be started" {
		t.Errorf("after it was taken back: %+v", got)
	}
}

func TestConversationPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.peers("brave-otter", "calm-fox", "wild-hare")
	first := b.ask(a["brave-otter"], "calm-fox")
	second := b.ask(a["calm-fox"], "wild-hare")
	_, err := b.answerPeer(first.ID, a["calm-fox"], "x")
	b.must(err)
	for name, tt := range map[string]struct {
		f    cw.ConversationFilter
		want []cw.ConversationID
	}{
		"all, the newest first": {cw.ConversationFilter{}, []cw.ConversationID{second.ID, first.ID}},
		"pending":               {cw.ConversationFilter{Statuses: []cw.ConversationStatus{cw.ConversationPending}}, []cw.ConversationID{second.ID}},
		"two statuses":          {cw.ConversationFilter{Statuses: []cw.ConversationStatus{cw.ConversationPending, cw.ConversationAnswered}}, []cw.ConversationID{second.ID, first.ID}},
		"asks":                  {cw.ConversationFilter{Agent: "brave-otter"}, []cw.ConversationID{first.ID}},
		"asks and is asked":     {cw.ConversationFilter{Agent: "calm-fox"}, []cw.ConversationID{second.ID, first.ID}},
	} {
		page, err := b.ConversationPage(t.Context(), tt.f)
		b.must(err)
		var got []cw.ConversationID
		for _, v := range page.Items {
			got = append(got, v.ID)
		}
		same(t, name, got, tt.want)
	}
	_, err = b.ConversationPage(t.Context(), cw.ConversationFilter{Agent: "nobody"})
	refuses(t, err, cw.CodeNotFound, "nobody")
	_, err = b.ConversationPage(t.Context(), cw.ConversationFilter{Statuses: []cw.ConversationStatus{"opem"}})
	refuses(t, err, cw.CodeInvalid, "opem")
}

// TestSalvageConversations: what was said is taken over, and nobody waits for an
// agent that is lost.
func TestSalvageConversations(t *testing.T) {
	t.Parallel()
	from := newBench(t)
	a := from.peers("brave-otter", "calm-fox", "wild-hare")
	answered := from.ask(a["brave-otter"], "calm-fox")
	_, err := from.answerPeer(answered.ID, a["calm-fox"], "x")
	from.must(err)
	waits := from.ask(a["brave-otter"], "calm-fox")
	lost := from.ask(a["brave-otter"], "wild-hare")
	from.unruled("DELETE FROM agents WHERE alias = 'wild-hare'")
	to := newBench(t)
	_, err = to.Salvage(t.Context(), filepath.Join(from.dir, stateName))
	to.must(err)
	same(t, "the answered one", to.conversation(answered.ID).Answer, "x")
	same(t, "the pending one", to.conversation(waits.ID).Status, cw.ConversationPending)
	same(t, "the lost one", to.conversation(lost.ID).Status, cw.ConversationCancelled)
}
