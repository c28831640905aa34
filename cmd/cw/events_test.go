package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func TestEventsOptions(t *testing.T) {
	t.Parallel()
	got, err := parsed(t, []string{"-f", "--since", "7", "--type", "agent:stopped,agent:crashed", "--agent", "brave-otter", "--initiative", "i"},
		func(a *app, f func(context.Context, *eventsOptions) error) runner { return newEventsCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &eventsOptions{
		follow: true, since: 7, types: []string{"agent:stopped", "agent:crashed"}, agent: "brave-otter", initiative: "i",
	}, got)
}

// happened is one event of every type that there is, and one of a later version.
func happened(t *testing.T) []cw.Event {
	t.Helper()
	code, at := 0, epoch
	payloads := map[cw.EventType]any{
		cw.EventProjectAdded:          cw.ProjectChanged{Name: "site", Path: "/work/site"},
		cw.EventProjectRemoved:        cw.ProjectChanged{Name: "site", Path: "/work/site"},
		cw.EventProjectTrusted:        cw.ProjectTrusted{Name: "site", Digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		cw.EventProjectUntrusted:      cw.ProjectTrusted{Name: "site", Digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		cw.EventAgentSpawned:          cw.AgentSpawned{Name: "brave-otter", Mode: cw.ModeExecute, Provider: "claude", Title: "make the tests pass\x1b[2J\nall of them"},
		cw.EventAgentStarting:         cw.AgentStarting{Name: "brave-otter", SessionNumber: 1, Reason: cw.RunSpawn},
		cw.EventAgentRunning:          cw.AgentRunning{Name: "brave-otter", SessionNumber: 1, PID: 4242},
		cw.EventAgentOutput:           cw.AgentOutput{AgentID: "aaaaaaaaaaaa", SessionNumber: 1, ChunkID: 3, Offset: 100, Length: 2048},
		cw.EventAgentActivity:         cw.AgentActivity{AgentID: "aaaaaaaaaaaa", Activity: cw.Activity{State: cw.ActivityBusy, Tool: "Bash"}},
		cw.EventAgentWaiting:          cw.AgentWaiting{Name: "brave-otter", RequestID: "qqqqqqqqqqqq", Questions: 2},
		cw.EventAgentWarning:          cw.AgentWarning{Name: "brave-otter", Warning: "work is not committed"},
		cw.EventAgentStopped:          cw.AgentStopped{Name: "brave-otter", Reason: cw.ReasonDone, Commits: 1, ExitCode: &code},
		cw.EventAgentCrashed:          cw.AgentCrashed{Name: "brave-otter", Reason: cw.ReasonUsageLimit, Error: "the limit is reached", RetryAt: &at},
		cw.EventQuestionRequested:     cw.QuestionRequested{Name: "brave-otter", Question: "Which colour?"},
		cw.EventProjectChanged:        cw.ProjectPolicies{Name: "site", Stall: cw.StallResume, AutoResume: true, AgentSpawn: 1},
		cw.EventAgentResumed:          cw.AgentResumed{Name: "brave-otter", SessionNumber: 2, Reason: cw.RunMissingSignal, Why: "signal.json is not JSON", Fresh: true},
		cw.EventAgentStalled:          cw.AgentStalled{Name: "brave-otter", Seconds: 723, LastTool: "Bash", CPUSeconds: 0.25, Processes: 3, Connections: 1, Policy: cw.StallResume},
		cw.EventAgentRemoved:          cw.AgentRemoved{Name: "brave-otter", Trash: []string{"/home/lead/.cw/trash/brave-otter"}, Until: epoch.Add(cw.TrashKeep)},
		cw.EventAgentRestored:         cw.AgentRestored{Name: "brave-otter", From: "snapshot"},
		cw.EventAgentPurged:           cw.AgentPurged{Name: "brave-otter", Path: "/home/lead/.cw/trash/brave-otter", Bytes: 4 << 20, Reason: "7 days are over"},
		cw.EventQuestionAnswered:      cw.QuestionAnsweredPayload{QuestionID: "qqqqqqqqqqqq", Name: "brave-otter", Answer: `["red","blue"]`, Open: 1},
		cw.EventQuestionWithdrawn:     cw.QuestionWithdrawnPayload{QuestionID: "qqqqqqqqqqqq", Name: "brave-otter", Reason: "the agent was removed"},
		cw.EventQuestionReminded:      cw.QuestionRemindedPayload{QuestionID: "qqqqqqqqqqqq", Name: "brave-otter", Question: "Which\ncolour?", AskedAt: epoch},
		cw.EventConversationCreated:   cw.ConversationCreated{ConversationID: "vvvvvvvvvvvv", From: "brave-otter", FromAgentID: "aaaaaaaaaaaa", Question: "Where is\x1b[2J the parser?"},
		cw.EventConversationDelivered: cw.ConversationMoved{ConversationID: "vvvvvvvvvvvv", From: "brave-otter", To: "calm-fox"},
		cw.EventConversationAnswered:  cw.ConversationMoved{ConversationID: "vvvvvvvvvvvv", From: "brave-otter", To: "calm-fox", Answer: "In\nsrc"},
		cw.EventConversationCancelled: cw.ConversationMoved{ConversationID: "vvvvvvvvvvvv", From: "brave-otter", To: "calm-fox", Reason: "calm-fox was stopped"},
		cw.EventPlanCreated:           cw.PlanChanged{PlanID: "llllllllllll", Name: "brave-otter", Title: "Make it\nfast", Steps: []cw.PlanStep{{ID: "step-0"}, {ID: "step-1"}}, Revision: 1},
		cw.EventPlanRevised:           cw.PlanChanged{PlanID: "llllllllllll", Name: "brave-otter", Title: "Make it fast", Steps: []cw.PlanStep{{ID: "step-0"}}, Revision: 2},
		cw.EventPlanStepStarted:       cw.PlanStepMoved{PlanID: "llllllllllll", Name: "brave-otter", StepID: "step-0", Title: "Measure", Status: cw.StepInProgress, Of: 2},
		cw.EventPlanStepCompleted:     cw.PlanStepMoved{PlanID: "llllllllllll", Name: "brave-otter", StepID: "step-0", Title: "Measure", Status: cw.StepCompleted, Done: 1, Of: 2},
		cw.EventMessageQueued:         cw.MessageQueued{MessageID: "mmmmmmmmmmmm", Name: "brave-otter"},
		cw.EventDiskLow:               cw.DiskState{FreeBytes: 100 << 20, FloorBytes: 1 << 30},
		cw.EventDiskOK:                cw.DiskState{FreeBytes: 2 << 30, FloorBytes: 1 << 30},
		cw.EventTokenCreated:          cw.TokenChanged{TokenID: "tttttttttttt", Name: "wall screen", Scopes: []cw.Scope{cw.ScopeRead, cw.ScopeOperate}},
		cw.EventTokenRevoked:          cw.TokenChanged{TokenID: "tttttttttttt", Name: "wall screen", Scopes: []cw.Scope{cw.ScopeRead}},
		cw.EventSecurityRefused:       cw.SecurityRefused{What: "spawn-agent (POST /v1/agents)", PID: 99},
		cw.EventAgentParked:           cw.AgentParked{Name: "brave-otter", Reason: cw.ReasonUsageLimit, RetryAt: &at, Text: "the account work is at its usage limit"},
		cw.EventAgentAccountSwitched: cw.AgentAccountSwitched{
			Name: "brave-otter", From: "default-claude", FromName: "default", To: "default-codex", ToName: "default",
			FromProvider: "claude", ToProvider: "codex", Reason: cw.ReasonUsageLimit, Session: "handover",
		},
		cw.EventAccountAdded:       cw.AccountChanged{AccountID: "cccccccccccc", Provider: "claude", Name: "work", Text: "it was added"},
		cw.EventAccountChanged:     cw.AccountChanged{AccountID: "cccccccccccc", Provider: "claude", Name: "work", Text: "disabled"},
		cw.EventAccountRemoved:     cw.AccountChanged{AccountID: "cccccccccccc", Provider: "claude", Name: "work", Text: "it was removed"},
		cw.EventAccountRefreshed:   cw.AccountChanged{AccountID: "cccccccccccc", Provider: "claude", Name: "work", Text: "its token was renewed"},
		cw.EventAccountExhausted:   cw.AccountExhausted{AccountID: "cccccccccccc", Provider: "claude", Name: "work", Until: at, Kind: "five_hour", Text: "You've hit your session limit"},
		cw.EventAccountInvalid:     cw.AccountInvalid{AccountID: "cccccccccccc", Provider: "claude", Name: "work", Why: "it was revoked"},
		cw.EventBudgetWarning:      cw.BudgetReached{Scope: cw.BudgetAgent, ScopeID: "aaaaaaaaaaaa", Name: "brave-otter", LimitUSD: 5, SpentUSD: 4},
		cw.EventBudgetSpent:        cw.BudgetReached{Scope: cw.BudgetAccount, ScopeID: "cccccccccccc", Name: "work", LimitUSD: 5, SpentUSD: 5.25},
		cw.EventInitiativeCreated:  cw.InitiativeChanged{InitiativeID: "iiiiiiiiiiii", Name: "Spring sale\x1b[2J", Slug: "spring-sale", Status: cw.InitiativeActive},
		cw.EventInitiativeChanged:  cw.InitiativeChanged{InitiativeID: "iiiiiiiiiiii", Name: "Spring sale", Slug: "spring-sale", Status: cw.InitiativeArchived},
		cw.EventPageCreated:        cw.PageChanged{PageID: "dddddddddddd", ParentID: "eeeeeeeeeeee", Title: "Rounding", Revision: 1},
		cw.EventPageChanged:        cw.PageChanged{PageID: "dddddddddddd", ParentID: "eeeeeeeeeeee", Title: "Rounding\nof prices", Revision: 2},
		cw.EventPageRemoved:        cw.PageChanged{PageID: "dddddddddddd", ParentID: "eeeeeeeeeeee", Title: "Rounding", Revision: 2},
		cw.EventPhaseCreated:       cw.PhaseChanged{PhaseID: "ffffffffffff", Name: "Price rules", Status: cw.PhaseDraft},
		cw.EventPhaseChanged:       cw.PhaseChanged{PhaseID: "ffffffffffff", Name: "Price rules", Status: cw.PhaseApproved},
		cw.EventTaskCreated:        cw.TaskChanged{TaskID: "kkkkkkkkkkkk", PhaseID: "ffffffffffff", Name: "Lower a price", Status: cw.TaskPending},
		cw.EventTaskChanged:        cw.TaskChanged{TaskID: "kkkkkkkkkkkk", PhaseID: "ffffffffffff", Name: "Lower a price", Status: cw.TaskDone},
		cw.EventTaskCheckpoint:     cw.TaskCheckpoint{TaskID: "kkkkkkkkkkkk", Name: "Look\nat it", Type: cw.TaskCheckpointVerify},
		cw.EventTaskBlocked:        cw.TaskBlockedBy{TaskID: "kkkkkkkkkkkk", Name: "Lower a price", Reason: "brave-otter crashed (no_signal)\nmore"},
		cw.EventTaskOutside:        cw.TaskOutside{TaskID: "kkkkkkkkkkkk", Name: "Lower a price", Total: 25, Files: []string{"go.mod", "src/a\nb.go"}},
		cw.EventMergeQueued:        cw.MergeChanged{MergeID: "gggggggggggg", TaskID: "kkkkkkkkkkkk", Task: "Lower a price", Name: "brave-otter", Status: cw.MergeQueued},
		cw.EventMergeChecking:      cw.MergeChanged{MergeID: "gggggggggggg", TaskID: "kkkkkkkkkkkk", Task: "Lower a price", Name: "brave-otter", Status: cw.MergeChecking},
		cw.EventMergeConflicted:    cw.MergeChanged{MergeID: "gggggggggggg", TaskID: "kkkkkkkkkkkk", Task: "Lower a price", Name: "brave-otter", Status: cw.MergeConflicted, Text: "conflicts in a.go"},
		cw.EventMergeRed:           cw.MergeChanged{MergeID: "gggggggggggg", TaskID: "kkkkkkkkkkkk", Task: "Lower a price", Name: "brave-otter", Status: cw.MergeRed, Text: "the check \"test\" fails: exit code 1"},
		cw.EventMergeMerged:        cw.MergeChanged{MergeID: "gggggggggggg", TaskID: "kkkkkkkkkkkk", Task: "Lower a price\x1b[2J", Name: "brave-otter", Status: cw.MergeMerged},
		cw.EventMergeDismissed:     cw.MergeChanged{MergeID: "gggggggggggg", TaskID: "kkkkkkkkkkkk", Task: "Lower a price", Status: cw.MergeDismissed, Text: "its task is cancelled"},
		cw.EventInitiativeLanded:   cw.InitiativeLanded{InitiativeID: "iiiiiiiiiiii", Slug: "spring-sale", Project: "shop", Into: "main", Commit: "0123456789012345678901234567890123456789"},
		cw.EventDispatchChanged:    cw.DispatchChanged{State: cw.DispatchPaused},
		cw.EventProposalCreated:    cw.ProposalChanged{ProposalID: "rrrrrrrrrrrr", Target: cw.TargetPage, TargetID: "dddddddddddd", Action: cw.ActionUpdate, Title: "Rounding"},
		cw.EventProposalAccepted:   cw.ProposalChanged{ProposalID: "rrrrrrrrrrrr", Target: cw.TargetTask, TargetID: "kkkkkkkkkkkk", Action: cw.ActionCreate, Title: "Lower a price"},
		cw.EventProposalDismissed:  cw.ProposalChanged{ProposalID: "rrrrrrrrrrrr", Target: cw.TargetPage, TargetID: "dddddddddddd", Action: cw.ActionDelete, Title: "Rounding", Note: "it is\nneeded"},
		cw.EventProposalSuperseded: cw.ProposalChanged{ProposalID: "rrrrrrrrrrrr", Target: cw.TargetPage, TargetID: "dddddddddddd", Action: cw.ActionUpdate, Title: "Rounding"},
		cw.EventMirrorRestored:     cw.MirrorRestored{Project: "site", Changed: []string{"core.hooksPath", "hooks/post-commit"}},
	}
	var events []cw.Event
	add := func(typ cw.EventType, payload any) {
		e := cw.NewEvent(typ, cw.Actor{Kind: cw.ActorCW}, payload)
		e.At = epoch.Add(time.Duration(len(events)) * time.Second)
		if typ.Stored() {
			e.Seq = int64(len(events) + 1)
		}
		if strings.HasPrefix(string(typ), "agent:") || strings.HasPrefix(string(typ), "question:") || strings.HasPrefix(string(typ), "plan:") || typ == cw.EventMessageQueued {
			e.AgentID = "aaaaaaaaaaaa"
		}
		events = append(events, e)
	}
	for _, row := range cw.EventTable() {
		p, ok := payloads[row.Type]
		if !ok {
			t.Fatalf("there is no example of %s", row.Type)
		}
		add(row.Type, p)
	}
	add("merge:landed", map[string]string{"branch": "agent/brave-otter"})
	return events
}

func TestEvents(t *testing.T) {
	t.Parallel()
	some := func(b *bench) { b.fake.events = happened(t) }
	terminal := func(b *bench) {
		some(b)
		b.outTTY = true
	}
	fails := func(code cw.Code, text, hint string) func(*bench) {
		return func(b *bench) { b.fake.errs["Events"] = cw.Errorf(code, "%s", text).WithHint("%s", hint) }
	}
	sessions(t, "events", []sessionCase{
		{"all", []string{"events"}, some, 0},
		{"none", []string{"events"}, nil, 0},
		{"terminal", []string{"events"}, terminal, 0},
		{"negative", []string{"events", "--since", "-1"}, some, 2},
		{"an empty name", []string{"events", "--agent", ""}, some, 2},
		{"no number", []string{"events", "--since", "x"}, some, 2},
		{"tail alone", []string{"events", "--tail"}, some, 2},
		{"tail and since", []string{"events", "-f", "--tail", "--since", "3"}, some, 2},
		{"gone", []string{"events", "--since", "3"}, fails(cw.CodeGone, "events before number 9 are no longer kept", "leave --since out"), 4},
		{"unknown type", []string{"events", "--type", "agent:stoped"}, fails(cw.CodeInvalid, `there is no event type "agent:stoped"`, "did you mean agent:stopped?"), 2},
	})
}

// TestEventsAsJSON: one event a line, exactly as it is.
func TestEventsAsJSON(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, e := range happened(t) {
		if e.Type.Stored() {
			b.fake.events = append(b.fake.events, e)
		}
	}
	if text, code := b.session(t.Context(), "events", "--json", "--since", "4", "--agent", "brave-otter", "--type", "agent:stopped"); code != 0 {
		t.Fatal(text)
	}
	lines := strings.Split(strings.TrimSuffix(b.stdout.String(), "\n"), "\n")
	if len(lines) != len(b.fake.events) {
		t.Fatalf("%d lines of %d events", len(lines), len(b.fake.events))
	}
	for i, line := range lines {
		var got cw.Event
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if diff := cmp.Diff(b.fake.events[i], got); diff != "" {
			t.Error(diff)
		}
	}
	want := []cw.EventQuery{{After: 4, Agent: "brave-otter", Types: []cw.EventType{cw.EventAgentStopped}}}
	if diff := cmp.Diff(want, b.fake.eventQueries); diff != "" {
		t.Errorf("asked: %s", diff)
	}
}

// TestEventsInterrupted: Ctrl-C ends it with its exit code, and what was shown
// stays shown.
func TestEventsInterrupted(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--follow", "--json"} {
		b := newBench(t)
		b.fake.events = happened(t)
		ctx, cancel := context.WithCancel(t.Context())
		b.out = &closer{Writer: b.stdout, after: len(b.fake.events), close: cancel}
		text, code := b.session(ctx, "events", "--follow", "--agent", "brave-otter", flag)
		if code != 130 || strings.Count(b.stdout.String(), "\n") != len(b.fake.events) {
			t.Errorf("exit code %d\n%s", code, text)
		}
	}
}

// closer calls close after that many lines.
type closer struct {
	Writer interface{ Write([]byte) (int, error) }
	after  int
	close  func()
}

func (c *closer) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	if c.after -= strings.Count(string(b), "\n"); c.after <= 0 {
		c.close()
	}
	return n, err
}

// TestEventLines: whatever an event holds is one clean line, no wider than the
// terminal, and every type that exists says something of its own.
func TestEventLines(t *testing.T) {
	t.Parallel()
	events := happened(t)
	for _, row := range cw.EventTable() {
		for _, data := range []string{"", "null", "[]", `"x"`, `{"name":7}`, `{"name":"a\u001b[31m\nb"}`, "\x1b]0;x\x07", strings.Repeat("ü", 500)} {
			events = append(events, cw.Event{Seq: 1 << 60, Type: row.Type, AgentID: "bbbbbbbbbbbb", Data: []byte(data)})
		}
	}
	events = append(events, cw.Event{Type: "a\x1b[2Jb\nc", AgentID: "x\ny", Data: []byte("{}")})
	lines := eventLines{width: 90, names: map[cw.AgentID]string{}}
	for _, e := range events {
		line := lines.line(e)
		if strings.ContainsAny(line, "\n\r\x1b\x07") || utf8.RuneCountInString(line) > lines.width && e.Seq < 1<<60 {
			t.Errorf("%s %q: %q", e.Type, e.Data, line)
		}
	}
	for _, e := range happened(t)[:len(cw.EventTable())] {
		if text := eventText(e); text == string(e.Data) {
			t.Errorf("%s is shown as it came: %s", e.Type, text)
		}
	}
}

// TestWhyRun: every reason for a run is told in words.
func TestWhyRun(t *testing.T) {
	t.Parallel()
	for _, r := range []cw.RunReason{
		cw.RunSpawn, cw.RunAnswers, cw.RunMissingSignal, cw.RunCommit, cw.RunFollowUp, cw.RunStalled, cw.RunReboot, cw.RunFailover, cw.RunBudget,
	} {
		if text := whyRun(r); text == string(r) {
			t.Errorf("%s has no words", r)
		}
	}
}

// TestEventNames: an event about a task has the name of the task in it, which is
// not that of the agent that does it.
func TestEventNames(t *testing.T) {
	t.Parallel()
	lines := newEventLines(newBench(t).app)
	by := cw.Actor{Kind: cw.ActorCW}
	for _, e := range []cw.Event{
		cw.NewEvent(cw.EventTaskChanged, by, cw.TaskChanged{TaskID: "hhhhhhhhhhhh", Name: "Lower it"}).About("aaaaaaaaaaaa", ""),
		cw.NewEvent(cw.EventAgentRunning, by, cw.AgentRunning{Name: "brave-otter"}).About("aaaaaaaaaaaa", ""),
		cw.NewEvent(cw.EventTaskBlocked, by, cw.TaskBlockedBy{TaskID: "hhhhhhhhhhhh", Name: "Lower it"}).About("aaaaaaaaaaaa", ""),
		cw.NewEvent(cw.EventAgentWarning, by, cw.AgentWarning{}).About("aaaaaaaaaaaa", ""),
	} {
		want := "brave-otter"
		if e.Type == cw.EventTaskChanged { // nobody told yet who it is
			want = "aaaaaaaaaaaa"
		}
		if got := lines.name(e); got != want {
			t.Errorf("%s: %q, want %q", e.Type, got, want)
		}
	}
}
