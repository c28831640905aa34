package dispatch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestAfterRun: what an agent of each status means for a task of each status.
func TestAfterRun(t *testing.T) {
	t.Parallel()
	agent := func(s cw.AgentStatus, change ...func(*cw.TaskAgent)) *cw.TaskAgent {
		a := &cw.TaskAgent{ID: "a", Alias: "brave-otter", Status: s}
		for _, f := range change {
			f(a)
		}
		return a
	}
	reason := func(r cw.Reason) func(*cw.TaskAgent) { return func(a *cw.TaskAgent) { a.Reason = r } }
	commits := func(a *cw.TaskAgent) { a.Commits = 1 }
	tests := []struct {
		name  string
		agent *cw.TaskAgent
		merge *cw.Merge
		tries int
		want  afterKind // of a task that runs
		why   string
	}{
		{"is gone", nil, nil, 0, afterBlock, "gone"},
		{"was removed", agent(cw.StatusIdle, commits, func(a *cw.TaskAgent) { a.Removed = true }), nil, 0, afterBlock, "removed"},
		{"is cleared up after", agent(cw.StatusIdle, commits, func(a *cw.TaskAgent) { a.Settling = true }), nil, 0, afterNothing, ""},
		{"is being made", agent(cw.StatusPending), nil, 0, afterNothing, ""},
		{"starts", agent(cw.StatusStarting), nil, 0, afterNothing, ""},
		{"works", agent(cw.StatusRunning), nil, 0, afterNothing, ""},
		{"asks people", agent(cw.StatusWaitingForInput), nil, 0, afterNothing, ""},
		{"is parked", agent(cw.StatusParked), nil, 0, afterNothing, ""},
		{"is done", agent(cw.StatusIdle, commits), nil, 0, afterQueue, ""},
		{"goes on by itself", agent(cw.StatusIdle, commits, func(a *cw.TaskAgent) { a.Queued = 1 }), nil, 0, afterNothing, ""},
		{"left files", agent(cw.StatusIdle, commits, func(a *cw.TaskAgent) { a.Dirty = 2 }), nil, 0, afterBlock, "2 files"},
		{"had nothing to do", agent(cw.StatusIdle, func(a *cw.TaskAgent) { a.NoChanges = "it is so already" }), nil, 0, afterClose, "it is so already"},
		{"took everything back", agent(cw.StatusIdle), &cw.Merge{Status: cw.MergeRed}, 0, afterQueue, ""},
		{"left nothing", agent(cw.StatusIdle), nil, 0, afterRetry, "no commits"},
		{"left nothing again", agent(cw.StatusIdle), nil, 1, afterBlock, "no commits"},
		{"left no signal", agent(cw.StatusCrashed, reason(cw.ReasonNoSignal)), nil, 0, afterRetry, "no_signal"},
		{"said error", agent(cw.StatusCrashed, reason(cw.ReasonAgentError), func(a *cw.TaskAgent) { a.Error = "no compiler" }), nil, 0, afterRetry, "no compiler"},
		{"was killed", agent(cw.StatusCrashed, reason(cw.ReasonKilled)), nil, 0, afterRetry, "killed"},
		{"was killed again", agent(cw.StatusCrashed, reason(cw.ReasonKilled)), nil, 1, afterBlock, "killed"},
		{"did not start again", agent(cw.StatusCrashed, reason(cw.ReasonStartFailed)), nil, 1, afterBlock, "start_failed"},
		{"was lost", agent(cw.StatusCrashed, reason(cw.ReasonLost)), nil, 1, afterRetry, "lost"},
		{"is at its limit", agent(cw.StatusCrashed, reason(cw.ReasonUsageLimit)), nil, 1, afterRetry, "usage_limit"},
		{"may not log in", agent(cw.StatusCrashed, reason(cw.ReasonAuth)), nil, 1, afterRetry, "auth"},
		{"went with the machine", agent(cw.StatusCrashed, reason(cw.ReasonReboot)), nil, 1, afterRetry, "reboot"},
		{"was silent", agent(cw.StatusStopped, reason(cw.ReasonStalled)), nil, 0, afterRetry, "silent"},
		{"was silent again", agent(cw.StatusStopped, reason(cw.ReasonStalled)), nil, 1, afterBlock, "silent"},
		{"was stopped", agent(cw.StatusStopped, reason(cw.ReasonUser)), nil, 0, afterBlock, "cw agent resume brave-otter"},
		{"has spent its budget", agent(cw.StatusStopped, reason(cw.ReasonBudget)), nil, 0, afterBlock, "budget"},
	}
	for _, tt := range tests {
		for _, status := range cw.TaskStatuses() {
			want := tt.want
			if status != cw.TaskRunning {
				want = afterNothing
				back := status == cw.TaskBlocked || status == cw.TaskVerifying || status == cw.TaskPending
				if back && tt.agent != nil && tt.agent.Alive() { // somebody started it again
					want = afterWork
				}
			}
			task := cw.Task{ID: "t", AgentID: "a", Status: status, Type: cw.TaskAuto, Tries: tt.tries}
			got := afterRun(task, tt.agent, tt.merge, Policy{Retries: 1}, noon)
			if got.kind != want || want == tt.want && !strings.Contains(got.why, tt.why) {
				t.Errorf("the agent of a task that is %s %s: %+v, want %d", status, tt.name, got, want)
			}
			if outside := tt.tries > 0 && want == afterRetry; got.outside != outside {
				t.Errorf("the agent of a task that is %s %s: outside is %v", status, tt.name, got.outside)
			}
		}
	}
	verify := cw.Task{Status: cw.TaskRunning, Type: cw.TaskCheckpointVerify}
	if got := afterRun(verify, agent(cw.StatusIdle, func(a *cw.TaskAgent) { a.NoChanges = "so already" }), nil, Policy{}, noon); got.kind != afterQueue {
		t.Errorf("a result at which a person looks: %+v", got)
	}
}

// TestOutsideUsesUpNoTry: however often it happens.
func TestOutsideUsesUpNoTry(t *testing.T) {
	t.Parallel()
	task := cw.Task{Status: cw.TaskRunning, Setbacks: 1000}
	back := noon.Add(time.Hour)
	a := cw.TaskAgent{Status: cw.StatusCrashed, Reason: cw.ReasonUsageLimit}
	got := afterRun(task, &a, nil, Policy{Retries: 0}, noon)
	if got.kind != afterRetry || !got.outside || !got.at.Equal(noon.Add(backoffMost)) {
		t.Errorf("%+v", got)
	}
	a.RetryAt = &back
	if got := afterRun(task, &a, nil, Policy{Retries: 0}, noon); !got.at.Equal(back) {
		t.Errorf("it is tried again at %s, not when the limit ends", got.at)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{
		1: 10 * time.Second, 2: 20 * time.Second, 3: 40 * time.Second, 4: 80 * time.Second, 5: 160 * time.Second, 6: 5 * time.Minute, 7: 5 * time.Minute, 1 << 40: 5 * time.Minute,
	} {
		if got := backoff(n); got != want {
			t.Errorf("backoff(%d) is %s, want %s", n, got, want)
		}
	}
}

func TestStartFailed(t *testing.T) {
	t.Parallel()
	refused := cw.Errorf(cw.CodeRefused, "little space is left").WithHint("cw gc")
	tests := []struct {
		name            string
		err             error
		tries, setbacks int
		kind            afterKind
		outside         bool
	}{
		{"refused", refused, 0, 0, afterRetry, true},
		{"refused, wrapped", fmt.Errorf("spawn: %w", refused), 1, 0, afterRetry, true},
		{"refused, nearly for good", refused, 1, startSetbacks - 2, afterRetry, true},
		{"refused for good", refused, 0, startSetbacks - 1, afterBlock, false},
		{"failed", cw.Errorf(cw.CodeFailed, "the set-up failed"), 0, 0, afterRetry, false},
		{"failed again", cw.Errorf(cw.CodeFailed, "the set-up failed"), 1, 0, afterBlock, false},
		{"failed without a code", errors.New("no such file"), 1, 0, afterBlock, false},
	}
	for _, tt := range tests {
		got := startFailed(cw.Task{Status: cw.TaskPending, Tries: tt.tries, Setbacks: tt.setbacks}, Policy{Retries: 1}, noon, tt.err)
		if got.kind != tt.kind || got.outside != tt.outside || !strings.Contains(got.why, tt.err.Error()) || !strings.Contains(got.why, cw.ErrorHint(tt.err)) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

func TestAgain(t *testing.T) {
	t.Parallel()
	if got := again(cw.Task{Blocked: "it failed"}); got != "" {
		t.Errorf("the first agent is told of one before it: %q", got)
	}
	got := again(cw.Task{Starts: 1, Blocked: "it failed\nhere", Comment: "take the other one"})
	for _, want := range []string{"An agent before you", "> it failed\n> here", "A person said", "> take the other one"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not told: %s", want, got)
		}
	}
	if got := again(cw.Task{Starts: 1, Blocked: strings.Repeat("é", quotedMax) + "end"}); len(got) > quotedMax+500 || !strings.HasSuffix(got, "end") || strings.Contains(got, "\uFFFD") {
		t.Errorf("%d bytes are told, ending in %q", len(got), got[len(got)-5:])
	}
}
