package orchestrator

import (
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/proc"
	"cw/providers/parsers"
)

const tooMany = "429 Too Many Requests"

// overloadedOnce is a script that ends for too many requests, and does its work
// in the next run.
func overloadedOnce() fakecli.Script {
	next := does()
	return fakecli.Script{Pieces: 3, Stderr: "it tries again\nError: " + tooMany + "\n", Exit: 1, Next: &next}
}

// TestOverload: an agent whose provider takes no more requests goes on with
// another account, and the first one rests for a minute. Without another one it is
// parked for that time.
func TestOverload(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	req := e.sessions(overloadedOnce())
	e.pool("a", "b")
	req.AccountID = "a"
	v := e.idleAfter(e.mustSpawn(req).Alias, 2)
	if v.AccountID != "id-b" || v.Commits() != 1 || v.Runs[0].OutcomeReason != cw.ReasonUsageLimit || v.Runs[1].Reason != cw.RunFailover {
		t.Errorf("account %s, runs %+v", v.AccountID, v.Runs)
	}
	a := e.accountByID("id-a")
	if left := time.Until(*a.ExhaustedUntil); a.ExhaustedKind != kindOverload || left > overloadFirst || left < overloadFirst/4 || !strings.Contains(a.ExhaustedText, tooMany) {
		t.Errorf("account a rests for %s: %s %q", left, a.ExhaustedKind, a.ExhaustedText)
	}
	req = e.sessions(overloadedOnce())
	req.AccountID = "b"
	w := e.mustSpawn(req)
	w = e.until(w.Alias, func(v cw.AgentView) bool { return v.Runs[0].EndedAt != nil })
	if w.Status != cw.StatusParked || w.Reason != cw.ReasonUsageLimit || w.RetryAt == nil || time.Until(*w.RetryAt) > overloadFirst {
		t.Errorf("%s %s until %v: %s", w.Status, w.Reason, w.RetryAt, w.Error)
	}
}

// TestOverloadOf: which ends are for too many requests.
func TestOverloadOf(t *testing.T) {
	t.Parallel()
	said := func(text string) parsers.Summary { return parsers.Summary{LastError: parsers.Failure{Text: text}} }
	passing := said(tooMany)
	passing.Overload = true
	failed := proc.Exit{Code: 1}
	for _, tt := range []struct {
		name    string
		e       evidence
		trouble string
		want    string
	}{
		{"in its stream", evidence{Summary: passing}, "", tooMany},
		{"it went on after that", evidence{Summary: said(tooMany), Exit: failed}, "", ""},
		{"it tried again in vain", evidence{GaveUp: "in vain"}, tooMany, tooMany},
		{"for another reason", evidence{GaveUp: "in vain"}, "no route to host", ""},
		{"it was not ended for that", evidence{}, tooMany, ""},
		{"on stderr", evidence{StderrTail: "a\n" + tooMany + "\n", Exit: failed}, "", tooMany},
		{"earlier on stderr", evidence{StderrTail: tooMany + "\nno such file\n", Exit: failed}, "", ""},
		{"on stderr, and all is well", evidence{StderrTail: tooMany}, "", ""},
		{"on stderr, beside another error", evidence{Summary: said("no such model"), StderrTail: tooMany, Exit: failed}, "", ""},
		{"of a tool on stderr", evidence{StderrTail: "npm ERR! code E429\nnpm ERR! 429 Too Many Requests - GET https://registry.npmjs.org/x\n", Exit: failed}, "", ""},
		{"of another tool", evidence{StderrTail: "Error response from daemon: toomanyrequests: Rate limit\n", Exit: failed}, "", ""},
		{"of a plain program", evidence{NoRetries: true, StderrTail: tooMany, Exit: failed}, "", ""},
		{"nothing", evidence{Exit: failed}, "", ""},
	} {
		if got := overloadOf(tt.e, tt.trouble); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// TestOverloadDecides: it is about the account, also where the CLI cannot say how
// it ended; what the agent says itself counts before.
func TestOverloadDecides(t *testing.T) {
	t.Parallel()
	over := func(e *evidence) { e.Overload = tooMany }
	derived := func(e *evidence) { e.Derived = true }
	for _, tt := range []struct {
		name   string
		e      evidence
		status cw.AgentStatus
		reason cw.Reason
	}{
		{"it ended", ended(over, failedResult), cw.StatusCrashed, cw.ReasonUsageLimit},
		{"cw ended it", ended(over, func(e *evidence) { e.GaveUp = "in vain" }), cw.StatusCrashed, cw.ReasonUsageLimit},
		{"derived, exit 0", ended(over, derived), cw.StatusCrashed, cw.ReasonUsageLimit},
		{"done", ended(over, signalled(cw.Signal{Status: cw.SignalDone, NoChanges: "x"})), cw.StatusIdle, ""},
		{"stopped", ended(over, stop), cw.StatusStopped, cw.ReasonUser},
	} {
		v := outcome(tt.e)
		if v.Status != tt.status || v.Reason != tt.reason {
			t.Errorf("%s: %s %s: %s", tt.name, v.Status, v.Reason, v.Error)
		}
		limit := limitOf(tt.e, v)
		if (limit != nil) != (v.Reason == cw.ReasonUsageLimit) || limit != nil && (limit.Kind != kindOverload || limit.Text != tooMany) {
			t.Errorf("%s: %+v", tt.name, limit)
		}
	}
	if l := limitOf(ended(limited(nil), over), verdict{Reason: cw.ReasonUsageLimit}); l.Text != "limit reached" {
		t.Errorf("a limit beside it: %+v", l)
	}
}

// TestOverloadPause: it doubles with each run that got nowhere, up to the rest of
// a limit without a known end.
func TestOverloadPause(t *testing.T) {
	t.Parallel()
	at := time.Now()
	over := func(id cw.AccountID) cw.Run {
		return cw.Run{AccountID: id, OutcomeReason: cw.ReasonUsageLimit, StartedAt: &at, EndedAt: &at}
	}
	worked, unstarted := over("a"), over("a")
	worked.Usage.OutputTokens = 7
	unstarted.StartedAt = nil
	now := cw.Run{AccountID: "a", StartedAt: &at}
	var many []cw.Run
	for range 20 {
		many = append(many, over("a"))
	}
	for name, c := range map[string]struct {
		runs []cw.Run
		want time.Duration
	}{
		"the first":            {[]cw.Run{now}, time.Minute},
		"the third":            {[]cw.Run{over("a"), over("a"), now}, 4 * time.Minute},
		"others do not count":  {[]cw.Run{over("a"), over("b"), now}, 2 * time.Minute},
		"nor what never began": {[]cw.Run{over("a"), unstarted, now}, 2 * time.Minute},
		"it worked between":    {[]cw.Run{over("a"), worked, over("a"), now}, 2 * time.Minute},
		"it ended otherwise":   {[]cw.Run{over("a"), {AccountID: "a", StartedAt: &at, EndedAt: &at}, now}, time.Minute},
		"often":                {append(many, now), cw.DefaultCooldown},
	} {
		if got := overloadPause(c.runs, "a"); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
