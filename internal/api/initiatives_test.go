package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// plan makes an initiative with one of everything for an agent, and gives what
// each is called.
func plan(t *testing.T, d *daemon, agent string) map[string]string {
	t.Helper()
	ctx, person := t.Context(), d.client("")
	i, err := person.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: "Sale of " + agent})
	noError(t, err)
	page, err := person.CreatePage(ctx, cw.CreatePageRequest{Initiative: i.Slug, Title: "Rounding"})
	noError(t, err)
	phase, err := person.CreatePhase(ctx, cw.CreatePhaseRequest{Initiative: i.Slug, Name: "Rules"})
	noError(t, err)
	task, err := person.CreateTask(ctx, cw.CreateTaskRequest{PhaseID: phase.ID, Name: "Lower a price"})
	noError(t, err)
	proposal := cw.Proposal{
		ID: cw.ProposalID(cw.NewID()), Target: cw.TargetPage, TargetID: cw.NewID(), Action: cw.ActionCreate, Title: "Colours",
	}
	d.memory.Assign(agent, i.ID)
	d.memory.Suggest(agent, proposal)
	return map[string]string{
		"initiative": i.Slug, "page": string(page.ID), "phase": string(phase.ID), "task": string(task.ID), "proposal": string(proposal.ID),
	}
}

// TestAgentsReadTheirInitiative: an agent reads what belongs to its own
// initiative, nothing of another's and nothing that is not there, and changes
// nothing at all; each refusal is told.
func TestAgentsReadTheirInitiative(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	own, others := plan(t, d, servicetest.PreparedAgent), plan(t, d, servicetest.PreparedStandalone)
	readable, refused := 0, 0
	for _, row := range api.Routes() {
		for whose, names := range map[string]map[string]string{"own": own, "others": others, "nobody's": {}} {
			path := row.Path
			for _, noun := range []string{"initiative", "page", "phase", "task", "proposal"} {
				name := names[noun]
				if name == "" {
					name = "nobody"
				}
				path = strings.ReplaceAll(path, "{"+noun+"}", name)
			}
			if path == row.Path && !strings.HasPrefix(path, "/v1/initiatives") && !strings.HasPrefix(path, "/v1/tasks") && !strings.HasPrefix(path, "/v1/proposals") {
				continue // it is about something else
			}
			want := http.StatusForbidden
			if whose == "own" && row.Method == http.MethodGet && path != row.Path && !forPeople(row) {
				want = http.StatusOK
				readable++
			}
			before := len(d.refusals())
			got := send(t, d, row.Method, path, bodyFor(row), map[string]string{"Authorization": "Bearer " + tokenSelf})
			if got.status != want {
				t.Errorf("%s %s (%s): %.200s, want %d", row.Method, path, whose, got, want)
			}
			if told := len(d.refusals()) - before; (told == 1) != (want == http.StatusForbidden) {
				t.Errorf("%s %s (%s): OnRefused was called %d times", row.Method, path, whose, told)
			}
			if want == http.StatusForbidden {
				refused++
				if got.err.Hint == "" || strings.Contains(got.body, "Rounding") {
					t.Errorf("%s %s (%s): %s", row.Method, path, whose, got)
				}
			}
		}
	}
	if readable != 9 || refused < 40 {
		t.Errorf("%d routes can be read, %d requests were refused", readable, refused)
	}
}

// forPeople tells whether a route tells of an initiative what no agent of it
// needs: how its tasks are dispatched and merged.
func forPeople(row api.Route) bool {
	return slices.Contains([]string{"get-dispatch-plan", "list-merges", "list-integrations", "get-task-diff", "get-initiative-diff"}, row.ID)
}

// TestAgentsOfNoInitiative: an agent without an initiative reads none, also not
// what belongs to none.
func TestAgentsOfNoInitiative(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	others := plan(t, d, servicetest.PreparedStandalone)
	for _, path := range []string{"/v1/initiatives/" + others["initiative"], "/v1/initiatives/", "/v1/tasks/" + others["task"], "/v1/pages/nobody"} {
		got := send(t, d, "GET", path, "", map[string]string{"Authorization": "Bearer " + tokenSelf})
		if got.status != http.StatusForbidden && path != "/v1/initiatives/" {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := send(t, d, "GET", "/v1/tasks/"+others["task"], "", map[string]string{"Authorization": "Bearer " + tokenOther}); got.status != http.StatusOK {
		t.Errorf("its own task: %s", got)
	}
}

// TestAgentsLearnOfNoInitiative: an agent that lists agents by an initiative is
// told the same of one that is another's as of one that is none.
func TestAgentsLearnOfNoInitiative(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	own, others := plan(t, d, servicetest.PreparedAgent), plan(t, d, servicetest.PreparedStandalone)
	for ref, has := range map[string]string{own["initiative"]: servicetest.PreparedAgent, others["initiative"]: "", others["initiative"] + "s": "", "nobody": ""} {
		got := send(t, d, "GET", "/v1/agents?initiative="+ref, "", map[string]string{"Authorization": "Bearer " + tokenSelf})
		if none := got.body == `{"items":[]}`+"\n"; got.status != http.StatusOK || none != (has == "") || !strings.Contains(got.body, has) {
			t.Errorf("%s: %s", ref, got)
		}
	}
}

// TestDashboardsAndInitiatives: a dashboard reads with the scope read and
// changes with the scope operate.
func TestDashboardsAndInitiatives(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	own := plan(t, d, servicetest.PreparedAgent)
	for _, path := range []string{
		"/v1/initiatives", "/v1/initiatives/" + own["initiative"], "/v1/initiatives/" + own["initiative"] + "/pages", "/v1/pages/" + own["page"],
		"/v1/phases/" + own["phase"], "/v1/tasks?phase=" + own["phase"], "/v1/tasks/" + own["task"], "/v1/proposals?status=open", "/v1/proposals/" + own["proposal"],
	} {
		if got := at.ask(t, "GET", path, bearerLine(tokenRead)); got.status != http.StatusOK {
			t.Errorf("%s: %s", path, got)
		}
		if got := at.ask(t, "GET", path); got.status != http.StatusUnauthorized {
			t.Errorf("%s by a stranger: %s", path, got)
		}
	}
	if got := at.ask(t, "DELETE", "/v1/pages/"+own["page"], bearerLine(tokenRead)); got.status != http.StatusForbidden {
		t.Errorf("removed by a reader: %s", got)
	}
	if got := at.ask(t, "DELETE", "/v1/pages/"+own["page"], bearerLine(tokenOperate)); got.status != http.StatusOK {
		t.Errorf("removed by an operator: %s", got)
	}
}

// TestPlanParameters: filters that are none, or nearly one, are refused by name.
func TestPlanParameters(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	own := plan(t, d, servicetest.PreparedAgent)
	for target, status := range map[string]int{
		"/v1/initiatives?archived=true": 200,
		"/v1/initiatives?sort=goal":     400,
		"/v1/initiatives?archved=true":  400,
		"/v1/tasks":                     400,
		"/v1/tasks?initiative=" + own["initiative"] + "&phase=" + own["phase"]: 200,
		"/v1/tasks?phase=nobody":                                              404,
		"/v1/tasks?initiative=" + own["initiative"] + "&status=redy":          400,
		"/v1/initiatives/" + own["initiative"] + "/tasks?status=pending,done": 200,
		"/v1/initiatives/" + own["initiative"] + "/tasks?status=x":            400,
		"/v1/proposals?status=opn":                                            400,
		"/v1/proposals?initiative=nobody":                                     404,
		"/v1/proposals?limit=1&sort=-createdAt":                               200,
	} {
		if got := send(t, d, "GET", target, "", nil); got.status != status {
			t.Errorf("%s: %s, want %d", target, got, status)
		}
	}
	for body, status := range map[string]int{
		`{"ids":[]}`: 400, `{}`: 400, `{"id":["x"]}`: 400, `{"ids":["x"],"agent":"y"}`: 400, `{"ids":"x"}`: 400, `{"ids":["nobody"]}`: 404,
		`{"agent":"nobody"}`: 404,
	} {
		for _, act := range []string{"accept", "dismiss"} {
			if got := send(t, d, "POST", "/v1/proposals/"+act, body, nil); got.status != status {
				t.Errorf("%s %s: %s, want %d", act, body, got, status)
			}
		}
	}
	big := `{"title":"x","body":"` + strings.Repeat(`\n`, cw.BodyMax) + `"}`
	if got := send(t, d, "POST", "/v1/pages/"+own["page"], big, nil); got.status != http.StatusOK {
		t.Errorf("a text of the greatest length, all of it escaped: %.200s", got)
	}
}

// planCalls read everything that was planned, and what was not.
func planCalls(ctx context.Context, planned map[string]string) map[string]func(cw.Services) answer {
	calls := map[string]func(cw.Services) answer{
		"initiatives":          func(s cw.Services) answer { return one(s.Initiatives(ctx, cw.InitiativeFilter{})) },
		"archived initiatives": func(s cw.Services) answer { return one(s.Initiatives(ctx, cw.InitiativeFilter{Archived: true})) },
		"proposals": func(s cw.Services) answer {
			return one(s.Proposals(ctx, cw.ProposalFilter{
				PageQuery: cw.PageQuery{Limit: 1, Sort: "-createdAt"}, Agent: servicetest.PreparedAgent, Statuses: cw.ProposalStatuses()[:2],
			}))
		},
		"dispatch":       func(s cw.Services) answer { return one(s.Dispatch(ctx, "")) },
		"no state":       func(s cw.Services) answer { return one(s.SetDispatch(ctx, cw.DispatchRequest{State: "stopped"})) },
		"nobody's tasks": func(s cw.Services) answer { return one(s.Tasks(ctx, cw.TaskFilter{})) },
		"tasks by all": func(s cw.Services) answer {
			return one(s.Tasks(ctx, cw.TaskFilter{
				Initiative: planned["initiative"], PhaseID: cw.PhaseID(planned["phase"]), Statuses: cw.TaskStatuses()[:3],
			}))
		},
		"accept nothing": func(s cw.Services) answer { return one(s.AcceptProposals(ctx, cw.ProposalChoice{})) },
		"dismiss nothing": func(s cw.Services) answer {
			return one(s.DismissProposals(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{"x"}}))
		},
	}
	for _, names := range []map[string]string{planned, {"initiative": "no such", "page": "../x", "phase": "%2F", "task": "a b", "proposal": "."}} {
		for noun, name := range names {
			switch noun {
			case "initiative":
				calls["initiative "+name] = func(s cw.Services) answer { return one(s.Initiative(ctx, name)) }
				calls["pages of "+name] = func(s cw.Services) answer { return one(s.Pages(ctx, name)) }
				calls["phases of "+name] = func(s cw.Services) answer { return one(s.Phases(ctx, name)) }
				calls["tasks of "+name] = func(s cw.Services) answer { return one(s.Tasks(ctx, cw.TaskFilter{Initiative: name})) }
				calls["dispatch of "+name] = func(s cw.Services) answer { return one(s.Dispatch(ctx, name)) }
				calls["inbox of "+name] = func(s cw.Services) answer { return one(s.Inbox(ctx, name)) }
				calls["plan of "+name] = func(s cw.Services) answer { return one(s.DispatchPlan(ctx, name)) }
				calls["merges of "+name] = func(s cw.Services) answer { return one(s.Merges(ctx, name)) }
				calls["branches of "+name] = func(s cw.Services) answer { return one(s.Integrations(ctx, name)) }
				calls["land "+name] = func(s cw.Services) answer { return one(s.Land(ctx, name, cw.LandRequest{Into: "main"})) }
				calls["diff of "+name] = func(s cw.Services) answer { return one(s.InitiativeDiff(ctx, name, cw.DiffRequest{Stat: true})) }
			case "page":
				calls["page "+name] = func(s cw.Services) answer { return one(s.PageByID(ctx, cw.PageID(name))) }
			case "phase":
				calls["phase "+name] = func(s cw.Services) answer { return one(s.Phase(ctx, cw.PhaseID(name))) }
				calls["tasks in "+name] = func(s cw.Services) answer { return one(s.Tasks(ctx, cw.TaskFilter{PhaseID: cw.PhaseID(name)})) }
			case "task":
				calls["task "+name] = func(s cw.Services) answer { return one(s.Task(ctx, cw.TaskID(name))) }
				calls["retry "+name] = func(s cw.Services) answer { return one(s.RetryTask(ctx, cw.TaskID(name))) }
				calls["accept "+name] = func(s cw.Services) answer {
					return one(s.DecideTask(ctx, cw.TaskID(name), cw.TaskVerdict{Accept: true}))
				}
				calls["reject "+name] = func(s cw.Services) answer { return one(s.DecideTask(ctx, cw.TaskID(name), cw.TaskVerdict{})) }
				calls["diff of the task "+name] = func(s cw.Services) answer {
					return one(s.TaskDiff(ctx, cw.TaskID(name), cw.DiffRequest{Project: "shop"}))
				}
			case "proposal":
				calls["proposal "+name] = func(s cw.Services) answer { return one(s.Proposal(ctx, cw.ProposalID(name))) }
			}
		}
	}
	return calls
}
