package inbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func at(minutes int) time.Time {
	return time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute)
}

func agent(id cw.AgentID, status cw.AgentStatus, change func(*cw.AgentView)) cw.AgentView {
	a := cw.AgentView{Agent: cw.Agent{ID: id, Alias: "agent-" + string(id), Status: status, Provider: "claude", UpdatedAt: at(0)}}
	if change != nil {
		change(&a)
	}
	return a
}

func task(id cw.TaskID, status cw.TaskStatus, by cw.AgentID, wait *cw.WaitReason) cw.DispatchTask {
	return cw.DispatchTask{
		ID: id, Name: "task " + string(id), InitiativeID: "in", Initiative: "sale", Status: status, AgentID: by, Agent: "agent-" + string(by), Since: at(1), Wait: wait,
	}
}

func waits(code cw.WaitCode, text string) *cw.WaitReason {
	return &cw.WaitReason{Code: code, Text: text, Hint: "do " + text}
}

// works puts an agent on a task of the initiative.
func works(t cw.TaskID) func(*cw.AgentView) {
	return func(a *cw.AgentView) { a.TaskID, a.InitiativeID = t, "in" }
}

func active(ids ...cw.InitiativeID) (all []cw.Initiative) {
	for _, id := range ids {
		all = append(all, cw.Initiative{ID: id, Slug: map[cw.InitiativeID]string{"in": "sale", "other": "other"}[id], UpdatedAt: at(2)})
	}
	return all
}

// brief is an item in one line: kind, key, count, tasks behind, agent, task,
// initiative, text and hint.
func brief(it cw.InboxItem) string {
	return fmt.Sprintf("%s %s ×%d +%d [%s|%s|%s] %s → %s", it.Kind, it.Key, it.Count, it.Behind, it.Agent, it.TaskID, it.Initiative, it.Text, it.Hint)
}

func TestItems(t *testing.T) {
	t.Parallel()
	last, until := at(-30), at(500)
	behind := func(d cw.DispatchTask, n int) cw.DispatchTask { d.Behind = n; return d }
	for name, tc := range map[string]struct {
		o    Observed
		want []string
	}{
		"nothing": {Observed{}, nil},
		"questions asked at once are one item, with the task and those behind it": {
			Observed{
				Initiatives: active("in"), Agents: []cw.AgentView{agent("a", cw.StatusWaitingForInput, works("t"))},
				Questions: []cw.QuestionView{
					{Question: cw.Question{ID: "q2", RequestID: "r", AgentID: "a", Seq: 2, Text: "And then?"}, Agent: "agent-a"},
					{Question: cw.Question{ID: "q1", RequestID: "r", AgentID: "a", Seq: 1, Text: "Blue\n or  red?"}, Agent: "agent-a"},
					{Question: cw.Question{ID: "q3", RequestID: "s", AgentID: "gone", Seq: 1, Text: "Anybody?"}, Agent: "old-yak"},
				},
				Dispatch: cw.DispatchStatus{Running: []cw.DispatchTask{behind(task("t", cw.TaskRunning, "a", nil), 3)}},
			},
			[]string{
				"question question:r ×2 +3 [agent-a|t|sale] Blue or red? → cw agent answer agent-a",
				"question question:s ×1 +0 [old-yak||] Anybody? → cw agent answer old-yak",
			},
		},
		"a decision, an action and a result to look at": {
			Observed{Initiatives: active("in"), Dispatch: cw.DispatchStatus{
				Waiting: []cw.DispatchTask{behind(task("d", cw.TaskReady, "", waits(cw.WaitPerson, "decide")), 1), task("w", cw.TaskPending, "", waits(cw.WaitDependency, "d comes first"))},
				Running: []cw.DispatchTask{behind(task("v", cw.TaskVerifying, "a", nil), 2), task("r", cw.TaskRunning, "b", nil)},
				Merges:  []cw.Merge{{ID: "m", TaskID: "v", Status: cw.MergeQueued, Verify: true, Wait: "a person looks at the result"}},
			}},
			[]string{
				"checkpoint checkpoint:v ×1 +2 [agent-a|v|sale] look at the result: task v → cw task show v",
				"checkpoint checkpoint:d ×1 +1 [agent-|d|sale] task d → do decide",
			},
		},
		"a result that somebody looked at already waits for nobody": {
			Observed{Initiatives: active("in"), Dispatch: cw.DispatchStatus{
				Running: []cw.DispatchTask{task("v", cw.TaskVerifying, "a", nil)},
				Merges:  []cw.Merge{{ID: "m", TaskID: "v", Status: cw.MergeQueued, Verify: true, VerifiedBy: "user"}},
			}},
			nil,
		},
		"proposals of one agent are one item": {
			Observed{
				Initiatives: active("in"), Agents: []cw.AgentView{agent("a", cw.StatusIdle, nil)},
				Proposals: []cw.Proposal{
					{ID: "p1", AgentID: "a", InitiativeID: "in", Target: cw.TargetTask, Action: cw.ActionCreate, Title: "Round"},
					{ID: "p2", AgentID: "a", InitiativeID: "in", Target: cw.TargetTask, Action: cw.ActionCreate, Title: "Show"},
					{ID: "p3", AgentID: "a", InitiativeID: "in", Target: cw.TargetPage, Action: cw.ActionUpdate, Title: "Prices"},
					{ID: "p4", AgentID: "gone", InitiativeID: "in", Target: cw.TargetPhase, Action: cw.ActionDelete, Title: "Old"},
					{ID: "p5", AgentID: "a2", InitiativeID: "archived", Target: cw.TargetPhase, Action: cw.ActionDelete, Title: "Older"},
				},
			},
			[]string{
				"proposal proposal:a ×3 +0 [agent-a||sale] 1 page, 2 tasks: Round, … → cw proposal list --agent agent-a",
				"proposal proposal:gone ×1 +0 [||sale] delete phase: Old → cw proposal list --agent gone",
			},
		},
		"a silent agent, and one that tries again": {
			Observed{Initiatives: active("in"), Agents: []cw.AgentView{
				agent("a", cw.StatusRunning, func(a *cw.AgentView) { a.Activity = &cw.Activity{State: cw.ActivityStalled, LastAt: &last} }),
				agent("b", cw.StatusRunning, func(a *cw.AgentView) { a.Activity = &cw.Activity{State: cw.ActivityRetrying} }),
			}},
			[]string{"stalled stalled:a ×1 +0 [agent-a||] no output since " + last.Local().Format(time.TimeOnly) + " → cw agent logs agent-a"},
		},
		"agents at one limit are one item": {
			Observed{
				Initiatives: active("in"),
				Agents: []cw.AgentView{
					agent("b", cw.StatusParked, func(a *cw.AgentView) { works("t")(a); a.AccountID, a.AccountName, a.RetryAt = "acc", "team", &until }),
					agent("a", cw.StatusParked, func(a *cw.AgentView) { a.AccountID, a.AccountName, a.RetryAt = "acc", "team", &until }),
					agent("c", cw.StatusParked, func(a *cw.AgentView) { a.Provider = "codex" }),
				},
				Dispatch: cw.DispatchStatus{Running: []cw.DispatchTask{behind(task("t", cw.TaskRunning, "b", nil), 4)}},
			},
			[]string{
				"limit limit:claude/acc ×2 +4 [||] claude/team is at its limit; 2 agents wait until " + until.Local().Format("Mon 15:04") + " → cw account list",
				"limit limit:codex/ ×1 +0 [agent-c||] codex is at its limit; 1 agent waits → cw account list",
			},
		},
		"a spent budget": {
			Observed{Initiatives: active("in"), Dispatch: cw.DispatchStatus{Waiting: []cw.DispatchTask{
				task("t", cw.TaskPending, "", waits(cw.WaitBudget, "spent")), task("u", cw.TaskPending, "", waits(cw.WaitBudget, "spent")),
			}}},
			[]string{"limit budget:in:spent ×2 +2 [||sale] spent → do spent"},
		},
		"a crash waits for somebody only when nothing goes on by itself": {
			Observed{
				Initiatives: active("in"),
				Agents: []cw.AgentView{
					agent("alone", cw.StatusCrashed, func(a *cw.AgentView) { a.Error = "exit code 3\nmore" }),
					agent("wordless", cw.StatusCrashed, func(a *cw.AgentView) { a.Reason = cw.ReasonNoSignal }),
					agent("removed", cw.StatusCrashed, func(a *cw.AgentView) { now := at(0); a.DeletedAt = &now }),
					agent("before", cw.StatusCrashed, works("t")),  // another one does it now
					agent("retried", cw.StatusCrashed, works("u")), // it is tried again
					agent("over", cw.StatusCrashed, works("done")),
					agent("blocked", cw.StatusCrashed, works("w")),
				},
				Dispatch: cw.DispatchStatus{
					Running: []cw.DispatchTask{task("t", cw.TaskRunning, "next", nil)},
					Waiting: []cw.DispatchTask{
						task("u", cw.TaskPending, "retried", waits(cw.WaitRetry, "again")), task("w", cw.TaskBlocked, "blocked", waits(cw.WaitBlocked, "it crashed twice")),
						task("x", cw.TaskBlocked, "", waits(cw.WaitBlocked, "the set-up fails")),
					},
				},
			},
			[]string{
				"crashed crashed:alone ×1 +0 [agent-alone||] exit code 3 more → cw agent show agent-alone",
				"crashed crashed:blocked ×1 +0 [agent-blocked|w|sale] it crashed → cw task show w",
				"crashed crashed:wordless ×1 +0 [agent-wordless||] it crashed: no_signal → cw agent show agent-wordless",
				"blocked blocked:x ×1 +0 [agent-|x|sale] the set-up fails → do the set-up fails",
			},
		},
		"merges that a person has to look at, and those that their agents mend": {
			Observed{Initiatives: active("in"), Dispatch: cw.DispatchStatus{
				Running: []cw.DispatchTask{task("q", cw.TaskVerifying, "a", nil), task("c", cw.TaskVerifying, "b", nil), task("n", cw.TaskVerifying, "e", nil)},
				Waiting: []cw.DispatchTask{task("r", cw.TaskBlocked, "d", waits(cw.WaitBlocked, "red three times"))},
				Merges: []cw.Merge{
					{ID: "m1", TaskID: "q", Status: cw.MergeQueued, Wait: "cw.yaml is not trusted", WaitCode: cw.WaitProject},
					{ID: "m2", TaskID: "c", Status: cw.MergeConflicted}, {ID: "m5", TaskID: "n", Status: cw.MergeQueued, Wait: "the disk is full", WaitCode: cw.WaitRetry},
					{ID: "m3", TaskID: "r", Status: cw.MergeRed},
				},
			}},
			[]string{
				"merge merge:m1 ×1 +0 [agent-a|q|sale] cw.yaml is not trusted → cw merge list sale",
				"merge merge:m3 ×1 +0 [agent-d|r|sale] red three times → do red three times",
			},
		},
		"what is to be set up is told once, and what is held on purpose is not": {
			Observed{
				Initiatives: append(active("in"), cw.Initiative{ID: "other", Slug: "other", Work: cw.WorkSettings{Hold: true}}),
				Dispatch: cw.DispatchStatus{Waiting: []cw.DispatchTask{
					task("a", cw.TaskPending, "", waits(cw.WaitProject, "not trusted")), task("b", cw.TaskPending, "", waits(cw.WaitProject, "not trusted")),
					task("c", cw.TaskPending, "", waits(cw.WaitCircle, "a circle")),
					{ID: "h", InitiativeID: "other", Wait: waits(cw.WaitProject, "held")},
				}},
			},
			[]string{"project project:in:not trusted ×2 +2 [||sale] not trusted → do not trusted", "project project:in:a circle ×1 +1 [||sale] a circle → do a circle"},
		},
		"one that is done": {
			Observed{Initiatives: active("in"), Dispatch: cw.DispatchStatus{Landing: []cw.InitiativeRef{{ID: "in", Slug: "sale"}, {ID: "archived", Slug: "old"}}}},
			[]string{"landing landing:in ×1 +0 [||sale] every task is done: sale can be landed → cw merge sale"},
		},
		"of one initiative nothing else is told": {
			Observed{
				Only: "sale", Initiatives: active("in", "other"),
				Agents: []cw.AgentView{
					agent("a", cw.StatusCrashed, nil), agent("b", cw.StatusParked, nil), agent("o", cw.StatusParked, func(a *cw.AgentView) { a.InitiativeID = "other" }),
					agent("c", cw.StatusCrashed, func(a *cw.AgentView) { a.InitiativeID, a.Error = "in", "exit code 1" }),
				},
				Questions: []cw.QuestionView{{Question: cw.Question{ID: "q", RequestID: "r", AgentID: "a"}, Agent: "agent-a"}},
			},
			[]string{"crashed crashed:c ×1 +0 [agent-c||sale] exit code 1 → cw agent show agent-c"},
		},
		"of an archived initiative nothing waits": {
			Observed{Only: "old", Agents: []cw.AgentView{agent("c", cw.StatusCrashed, func(a *cw.AgentView) { a.InitiativeID = "archived" })}}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			items := Items(tc.o)
			for _, it := range items {
				got = append(got, brief(it))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || items == nil {
				t.Errorf("items (-want +got), null %v:\n%s", items == nil, diff)
			}
		})
	}
}

// TestItemsInOrder: whatever there is, kinds come in their order, and within one
// those for which most wait, then the oldest; no key comes twice, and each item
// has a line and a command.
func TestItemsInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := Observed{Initiatives: active("in", "other")}
		initiatives := rapid.SampledFrom([]cw.InitiativeID{"in", "other", "archived"})
		texts := rapid.SampledFrom([]string{"a\x00b\nc", strings.Repeat("ü", 500), "", "plain"})
		codes, statuses := rapid.SampledFrom(cw.WaitCodes()), rapid.SampledFrom([]cw.AgentStatus{cw.StatusRunning, cw.StatusParked, cw.StatusCrashed, cw.StatusWaitingForInput, cw.StatusIdle})
		for i := range rapid.IntRange(0, 30).Draw(t, "agents") {
			id := cw.AgentID(fmt.Sprint("a", i))
			a := agent(id, statuses.Draw(t, "status"), nil)
			a.InitiativeID, a.TaskID, a.Error, a.UpdatedAt = initiatives.Draw(t, "of"), cw.TaskID(fmt.Sprint("t", i)), texts.Draw(t, "error"), at(rapid.IntRange(0, 99).Draw(t, "at"))
			o.Agents = append(o.Agents, a)
			d := task(a.TaskID, cw.TaskBlocked, id, &cw.WaitReason{Code: codes.Draw(t, "code"), Text: texts.Draw(t, "text"), Hint: "x"})
			d.InitiativeID, d.Behind = a.InitiativeID, rapid.IntRange(0, 5).Draw(t, "behind")
			o.Dispatch.Waiting = append(o.Dispatch.Waiting, d)
			if rapid.Bool().Draw(t, "asks") {
				o.Questions = append(o.Questions, cw.QuestionView{Question: cw.Question{RequestID: cw.RequestID(id), AgentID: id, Text: texts.Draw(t, "question"), CreatedAt: at(i)}, Agent: a.Alias})
			}
		}
		items, keys := Items(o), map[string]bool{}
		for i, it := range items {
			if keys[it.Key] || it.Hint == "" || it.Count < 1 || strings.ContainsAny(it.Text, "\n\t") || len(it.Text) > textMax+len("…") || it.InitiativeID == "archived" {
				t.Fatalf("item %d is %+v", i, it)
			}
			keys[it.Key] = true
			if i == 0 {
				continue
			}
			before := items[i-1]
			a, b := slices.Index(cw.InboxKinds(), before.Kind), slices.Index(cw.InboxKinds(), it.Kind)
			if a > b || a == b && (before.Behind < it.Behind || before.Behind == it.Behind && before.Since.After(it.Since)) {
				t.Fatalf("%s comes before %s", brief(before), brief(it))
			}
		}
	})
}
