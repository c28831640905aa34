package api_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"

	"github.com/google/go-cmp/cmp"
)

// The client over a real socket does what the services do.
func TestServicesThroughTheWire(t *testing.T) {
	t.Parallel()
	servicetest.Exercise(t, func(t *testing.T) servicetest.Fixture {
		d := startDaemon(t, nil)
		f := d.fixture
		f.Services = d.client("")
		talk := f.Talk
		f.Talk = func(t *testing.T) (string, cw.Services) {
			name, _ := talk(t)
			return name, d.client(tokenOf + name)
		}
		return f
	})
}

// answers is what a caller gets: a value or an error, comparable.
type answer struct {
	Value any
	Code  cw.Code
	Hint  string
}

func one[T any](v T, err error) answer {
	if err != nil {
		return answer{Code: cw.ErrorCode(err), Hint: cw.ErrorHint(err)}
	}
	return answer{Value: v}
}

func all[T any](seq iter.Seq2[T, error]) answer {
	var items []T
	for item, err := range seq {
		if err != nil {
			return one(items, err)
		}
		items = append(items, item)
	}
	return answer{Value: items}
}

// Every method with many arguments: the very same answers with and without the
// wire.
func TestSameAnswers(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	ctx := t.Context()
	asks := d.fixture.Ask(t)
	_, err := d.memory.Remove(ctx, d.fixture.Ask(t))
	noError(t, err)
	calls := map[string]func(cw.Services) answer{
		"status":         func(s cw.Services) answer { return one(s.Status(ctx)) },
		"projects":       func(s cw.Services) answer { return one(s.Projects(ctx, cw.PageQuery{})) },
		"add no project": func(s cw.Services) answer { return one(s.AddProject(ctx, cw.ProjectRequest{Path: d.fixture.NoRepo})) },
		"remove in use":  func(s cw.Services) answer { return one(s.RemoveProject(ctx, d.fixture.Project)) },
		"spawn no goal":  func(s cw.Services) answer { return one(s.Spawn(ctx, cw.SpawnRequest{})) },
		"spawn bad name": func(s cw.Services) answer { return one(s.Spawn(ctx, cw.SpawnRequest{Goal: "x", Name: "../x"})) },
		"agents":         func(s cw.Services) answer { return one(s.Agents(ctx, cw.AgentFilter{})) },
		"agents limited": func(s cw.Services) answer {
			return one(s.Agents(ctx, cw.AgentFilter{PageQuery: cw.PageQuery{Limit: 1}}))
		},
		"agents in":      func(s cw.Services) answer { return one(s.Agents(ctx, cw.AgentFilter{Project: "shop"})) },
		"agents nowhere": func(s cw.Services) answer { return one(s.Agents(ctx, cw.AgentFilter{Project: "no such"})) },
		"agents by state": func(s cw.Services) answer {
			return one(s.Agents(ctx, cw.AgentFilter{Statuses: cw.AgentStatuses()[2:4]}))
		},
		"agents of none": func(s cw.Services) answer {
			return one(s.Agents(ctx, cw.AgentFilter{Statuses: []cw.AgentStatus{"odd"}}))
		},
		"agents removed": func(s cw.Services) answer { return one(s.Agents(ctx, cw.AgentFilter{Removed: true})) },
		"questions":      func(s cw.Services) answer { return one(s.Questions(ctx, cw.QuestionFilter{})) },
		"questions by all": func(s cw.Services) answer {
			return one(s.Questions(ctx, cw.QuestionFilter{
				PageQuery: cw.PageQuery{Limit: 2, Sort: "-createdAt"}, Statuses: cw.QuestionStatuses()[:2], Agent: asks,
			}))
		},
		"questions odd": func(s cw.Services) answer {
			return one(s.Questions(ctx, cw.QuestionFilter{Statuses: []cw.QuestionStatus{"odd"}}))
		},
		"answer nothing": func(s cw.Services) answer { return one(s.Answer(ctx, cw.AnswersRequest{})) },
		"answer nobody": func(s cw.Services) answer {
			return one(s.Answer(ctx, cw.AnswersRequest{Answers: map[cw.QuestionID]string{"": "x", "y": "<&>"}}))
		},
		"set nothing":      func(s cw.Services) answer { return one(s.SetProject(ctx, "shop", cw.ProjectSettings{})) },
		"look for garbage": func(s cw.Services) answer { return one(s.CollectGarbage(ctx, cw.GCRequest{DryRun: true})) },
		"try hooks":        func(s cw.Services) answer { return one(s.TryHooks(ctx)) },
		"open no request": func(s cw.Services) answer {
			return one(s.CreatePullRequest(ctx, "no such", cw.PullRequestRequest{Title: "<&>", GitHubToken: cw.NewSecret("test-0123456789")}))
		},
		"open a bad request": func(s cw.Services) answer {
			return one(s.CreatePullRequest(ctx, "a/../b", cw.PullRequestRequest{Forge: "gitea"}))
		},
		"back up nowhere": func(s cw.Services) answer { return one(s.Backup(ctx, cw.BackupRequest{Path: "x", Logs: true})) },
		"events": func(s cw.Services) answer {
			return all(s.Events(ctx, cw.EventQuery{After: 3, Agent: servicetest.PreparedAgent}))
		},
		"events of output": func(s cw.Services) answer {
			return all(s.Events(ctx, cw.EventQuery{Types: []cw.EventType{cw.EventAgentOutput}}))
		},
		"events gone": func(s cw.Services) answer { return all(s.Events(ctx, cw.EventQuery{After: 1})) },
	}
	for _, name := range []string{"", ".", "..", "no one", "a/../b", servicetest.PreparedAgent, servicetest.PreparedStandalone, string(d.agent(t, "brave-otter")), asks} {
		if name != "" {
			calls["agent "+name] = func(s cw.Services) answer { return one(s.Agent(ctx, name)) }
			calls["project "+name] = func(s cw.Services) answer { return one(s.Project(ctx, name)) }
			calls["plan "+name] = func(s cw.Services) answer { return one(s.Plan(ctx, name)) }
			calls["set no plan "+name] = func(s cw.Services) answer { return one(s.SetPlan(ctx, name, cw.PlanRequest{})) }
			calls["move "+name] = func(s cw.Services) answer {
				return one(s.MoveStep(ctx, name, "a/.. b", cw.StepRequest{Status: cw.StepSkipped}))
			}
			calls["question "+name] = func(s cw.Services) answer { return one(s.Question(ctx, name)) }
			calls["messages "+name] = func(s cw.Services) answer { return one(s.Messages(ctx, name, cw.PageQuery{Limit: 1})) }
			calls["send nothing "+name] = func(s cw.Services) answer { return one(s.Send(ctx, name, cw.SendRequest{})) }
			calls["restore "+name] = func(s cw.Services) answer { return one(s.Restore(ctx, name)) }
			if name == "no one" || name == "a/../b" { // of one that is there it says another moment each time
				calls["open "+name] = func(s cw.Services) answer { return one(s.OpenWorktree(ctx, name)) }
			}
			calls["diff "+name] = func(s cw.Services) answer { return one(s.Diff(ctx, name, cw.DiffRequest{})) }
			calls["stat "+name] = func(s cw.Services) answer { return one(s.Diff(ctx, name, cw.DiffRequest{Stat: true})) }
			calls["output "+name] = func(s cw.Services) answer { return all(s.Output(ctx, name, cw.OutputQuery{Session: 1, Offset: 4})) }
			calls["page "+name] = func(s cw.Services) answer {
				return one(s.OutputPage(ctx, name, cw.OutputPageQuery{Before: "2:9:1", Limit: 3, Contains: "<&>"}))
			}
			calls["parsed "+name] = func(s cw.Services) answer { return all(s.OutputEvents(ctx, name, cw.OutputQuery{})) }
		}
	}
	for name, call := range planCalls(ctx, plan(t, d, servicetest.PreparedAgent)) {
		calls[name] = call
	}
	client := d.client("")
	for name, call := range calls {
		if diff := cmp.Diff(call(d.memory), call(client), sameEmpty()); diff != "" {
			t.Errorf("%s (- direct, + through the wire):\n%s", name, diff)
		}
	}
	t.Logf("%d calls compared", len(calls))
}

// sameEmpty takes nil and empty lists for the same: JSON lists are never null.
func sameEmpty() cmp.Option {
	return cmp.FilterValues(func(a, b []cw.AgentView) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
}

func TestShutdownAndEmptyName(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	if _, err := d.client("").Shutdown(t.Context()); err != nil || !d.memory.ShutdownAsked() {
		t.Errorf("shutdown: %v, asked %v", err, d.memory.ShutdownAsked())
	}
	_, err := d.client("").Agent(t.Context(), "")
	if cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("an empty name: %v", err)
	}
}

func TestBigGoal(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	for _, goal := range []string{
		strings.Repeat("g", 1<<20),
		"-x\n" + strings.Repeat("\"\n", cw.GoalMax/4), // doubled by JSON
		strings.Repeat("g", cw.GoalMax),
	} {
		view, err := d.client("").Spawn(t.Context(), cw.SpawnRequest{Goal: goal})
		if err != nil || view.Title == "" {
			t.Errorf("a goal of %d bytes: %v", len(goal), err)
		}
	}
	_, err := d.client("").Spawn(t.Context(), cw.SpawnRequest{Goal: strings.Repeat("g", api.BodyMax)})
	if cw.ErrorCode(err) != cw.CodeInvalid {
		t.Errorf("a body over the limit: %v", err)
	}
}

// failing answers with errors of every kind.
type failing struct {
	cw.Services
	err   error
	panic any
}

func (f failing) Projects(context.Context, cw.PageQuery) (cw.Page[cw.Project], error) {
	if f.panic != nil {
		panic(f.panic)
	}
	return cw.Page[cw.Project]{}, f.err
}

func (f failing) Events(context.Context, cw.EventQuery) iter.Seq2[cw.Event, error] {
	return func(yield func(cw.Event, error) bool) {
		if !yield(cw.Event{Seq: 1, Type: "agent:odd", Data: []byte("{}")}, nil) {
			return
		}
		if f.panic != nil {
			panic(f.panic)
		}
		yield(cw.Event{}, f.err)
	}
}

// Every code crosses the wire intact, before and after the start of a stream.
func TestErrorsKeepTheirCode(t *testing.T) {
	t.Parallel()
	for code := range cw.Outcomes() {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			sent := cw.Errorf(code, "what <is> wrong & \"how\"").WithHint("do\nthis").Because(errors.New("secret cause"))
			d := startDaemon(t, func(o *api.Options) { o.Services = failing{Services: o.Services, err: sent} })
			_, err := d.client("").Projects(t.Context(), cw.PageQuery{})
			checkError(t, err, sent)
			var last error
			for _, err := range d.client("").Events(t.Context(), cw.EventQuery{}) {
				last = err
			}
			checkError(t, last, sent)
		})
	}
}

func checkError(t *testing.T, err error, want *cw.Error) {
	t.Helper()
	var got *cw.Error
	if !errors.As(err, &got) || got.Code != want.Code || got.Message != want.Message || got.Hint != want.Hint || got.Err != nil {
		t.Errorf("got %#v, want %#v", err, want)
	}
}

// What is no cw.Error, and what panics, is shown as an id that the log
// explains, once.
func TestInternalErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]failing{
		"error":        {err: errors.New("secret cause")},
		"panic":        {panic: "secret cause"},
		"panic error":  {panic: errors.New("secret cause")},
		"unknown code": {err: cw.Errorf("odd", "secret cause")},
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDaemon(t, func(o *api.Options) { f.Services = o.Services; o.Services = f })
			_, err := d.client("").Projects(t.Context(), cw.PageQuery{})
			checkInternal(t, d, err)
			var last error
			for _, err := range d.client("").Events(t.Context(), cw.EventQuery{}) {
				last = err
			}
			checkInternal(t, d, last)
			if n := strings.Count(d.log.String(), "secret cause"); n < 2 || n > 4 { // a stack may repeat it
				t.Errorf("the log has the cause %d times:\n%s", n, d.log)
			}
			if _, err := d.client("").Status(t.Context()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func checkInternal(t *testing.T, d *daemon, err error) {
	t.Helper()
	if cw.ErrorCode(err) != cw.CodeInternal || strings.Contains(err.Error(), "secret") {
		t.Fatalf("got %v", err)
	}
	_, id, found := strings.Cut(err.Error(), "(log id ")
	if !found || !strings.Contains(d.log.String(), "logId="+strings.TrimSuffix(id, ")")) {
		t.Errorf("the log does not know %q:\n%s", err, d.log)
	}
}
