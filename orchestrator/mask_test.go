package orchestrator

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/artifacts"
	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/redact"
)

const canary = "sk-ant-oat01-Zx9k/pQ+4v=AAAAbbbbCCCC"

// TestOutputIsMasked writes output full of secrets in torn pieces, each of them
// read by another follower, as after so many deaths of the daemon. What is stored
// must be what masking the whole at once gives.
func TestOutputIsMasked(t *testing.T) {
	tp := newTape(t, "fake")
	tp.Redact = redact.NewSet()
	tp.Redact.Put("test", canary)
	coded := base64.StdEncoding.EncodeToString([]byte("--" + canary))
	r := rand.New(rand.NewPCG(3, 4))
	var all []byte
	for range 60 {
		all = append(all, canary...)
		all = append(all, []string{" ", "\n", coded + "\n", canary[:20], strings.Repeat(canary, 2500), ""}[r.IntN(6)]...)
	}
	for rest := all; len(rest) > 0; {
		n := min(len(rest), 1+r.IntN([]int{10, 100, 200_000}[r.IntN(3)]))
		tp.write(rest[:n])
		rest = rest[n:]
		tp.once(false)
	}
	tp.once(true)
	want := tp.Redact.Mask(all)
	got := tp.stored()
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes are stored, %d were written; alike up to %d", len(got), len(want), alike(got, want))
	}
	if bytes.Contains(got, []byte(canary)) || bytes.Contains(got, []byte(canary[len(canary)-12:])) || bytes.Equal(want, all) {
		t.Error("a secret, or half of one, is stored")
	}
}

// TestSecretsOfRuns: a run's secrets are known before it has them, to the next
// daemon and to the agent's next run, and for a while after its end.
func TestSecretsOfRuns(t *testing.T) {
	e := newEngine(t)
	keeper := &redact.Keeper{Key: filepath.Join(t.TempDir(), "masks.key")}
	fresh := func() *Orchestrator {
		c := e.Config
		c.Redact, c.Keeper = redact.NewSet(), keeper
		return New(c)
	}
	st := cw.RunState{Agent: cw.Agent{Alias: "otter"}, Run: cw.Run{ID: "run-1", SessionNumber: 1, Dir: e.Home.RunDir("otter", 1)}}
	next := cw.RunState{Agent: st.Agent, Run: cw.Run{ID: "run-2", SessionNumber: 2, Dir: e.Home.RunDir("otter", 2)}}
	for _, dir := range []string{st.Run.Dir, next.Run.Dir} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	o := fresh()
	must(t, o.learnSecrets(st, []string{"first-secret"}))
	must(t, o.learnSecrets(st, []string{"second-secret"})) // the start was done again
	check := func(o *Orchestrator, text, want string) {
		t.Helper()
		if got := o.Redact.MaskString(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
	check(o, "first-secret second-secret", "************ *************")
	o.forgetSecrets(st.Run)
	check(o, "first-secret", "************")

	later := fresh()
	check(later, "first-secret", "first-secret")
	later.recallSecrets(st.Run)
	check(later, "first-secret second-secret", "************ *************")

	after := fresh()
	must(t, after.learnSecrets(next, []string{"third-secret"}))
	check(after, "first-secret third-secret", "************ ************")

	must(t, os.WriteFile(filepath.Join(st.Run.Dir, redact.FileName), []byte("nonsense"), 0o600))
	must(t, after.learnSecrets(st, []string{"fourth-secret"})) // what cannot be read stops nobody
}

func TestNewest(t *testing.T) {
	if got := newest([]string{"a", "b", "a", "c"}, 2); !slices.Equal(got, []string{"a", "c"}) {
		t.Error(got)
	}
}

// TestStoreMasksWhatCWSays: every text of cw's own, wherever it comes from.
func TestStoreMasksWhatCWSays(t *testing.T) {
	tp := newTape(t, "fake")
	set := redact.NewSet()
	set.Put("test", canary)
	s := maskedStore{tp.db, set}
	ctx, st := t.Context(), tp.state
	ev := cw.NewEvent(cw.EventAgentWarning, cw.Actor{Kind: cw.ActorCW}, cw.AgentWarning{Name: st.Agent.Alias, Warning: "git: " + canary}).About(st.Agent.ID, st.Run.ID)
	must(t, s.AddWarning(ctx, st.Agent.ID, "git: "+canary, ev))
	must(t, s.AddEvents(ctx, ev))
	f := finishOf(st, evidence{}, crash(cw.ReasonAgentError, "it says "+canary), nil)
	f.Result, f.Warnings = canary, []string{"a file " + canary}
	f.Assistant = &cw.Message{ID: cw.MessageID(cw.NewID()), AgentID: st.Agent.ID, RunID: st.Run.ID, Role: cw.RoleAssistant, Origin: "agent", Body: canary}
	f.Events = finishEvents(st, f)
	_, err := s.FinishRun(ctx, f)
	must(t, err)
	view, err := tp.db.AgentView(ctx, string(st.Agent.ID))
	must(t, err)
	messages, err := tp.db.MessagePage(ctx, st.Agent.ID, cw.PageQuery{})
	must(t, err)
	last, _, err := tp.db.LastEvent(ctx, st.Agent.ID, cw.EventAgentCrashed)
	must(t, err)
	data, err := json.Marshal([]any{view, messages, last})
	must(t, err)
	if strings.Contains(string(data), canary[:20]) || strings.Count(string(data), strings.Repeat("*", len(canary))) < 4 {
		t.Errorf("%s", data)
	}
}

// TestStderrIsMaskedBeforeItIsCut: the part that people see begins in a secret.
func TestStderrIsMaskedBeforeItIsCut(t *testing.T) {
	tp := newTape(t, "fake")
	tp.Redact = redact.NewSet()
	tp.Redact.Put("test", canary)
	text := canary + strings.Repeat("x", stderrShown-len(canary)/2)
	must(t, os.WriteFile(filepath.Join(tp.state.Run.Dir, stderrFile), []byte(text), 0o600))
	f := tp.follower()
	defer f.close()
	e, _, err := tp.observe(t.Context(), tp.state, f, proc.Observation{State: proc.StateExited, Exit: &proc.Exit{}}, false)
	must(t, err)
	if strings.Contains(e.StderrTail, canary[len(canary)-10:]) || !strings.Contains(e.StderrTail, "**********x") {
		t.Errorf("%.60s", e.StderrTail)
	}
}

func TestMaskSignal(t *testing.T) {
	set := redact.NewSet()
	set.Put("test", canary)
	sig := maskSignal(set, cw.Signal{
		Result: canary, NoChanges: canary, Error: canary, Unknown: []string{canary},
		Questions: []cw.SignalQuestion{{ID: canary, Text: canary, Header: canary, Options: []cw.QuestionOption{{Label: canary, Description: canary}}}},
	})
	data, err := json.Marshal(sig)
	must(t, err)
	if strings.Contains(string(data)+sig.Unknown[0], "sk-ant") {
		t.Errorf("%s", data)
	}
	odd := maskedStore{set: set}.event(cw.Event{Data: []byte(`{"a":"\` + canary + `"}`)})
	if !json.Valid(odd.Data) || strings.Contains(string(odd.Data), "ant-oat") {
		t.Errorf("%s", odd.Data)
	}
}

// alike is how long two texts are the same.
func alike(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestReasonIsMasked: why something is to be deleted may hold a secret, too.
func TestReasonIsMasked(t *testing.T) {
	t.Parallel()
	set := redact.NewSet()
	set.Put("test", canary)
	out := maskOutput(set, artifacts.Output{Pages: []artifacts.Draft{{Delete: true, Reason: "it held " + canary}}})
	if got := out.Pages[0].Reason; strings.Contains(got, canary) || !strings.HasPrefix(got, "it held ***") {
		t.Errorf("the reason is %q", got)
	}
}
