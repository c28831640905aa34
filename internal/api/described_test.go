package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// description is the API's description as a client reads it from the daemon.
type description struct {
	doc map[string]any
}

func (d description) at(path ...string) map[string]any {
	here := d.doc
	for _, step := range path {
		here, _ = here[step].(map[string]any)
	}
	return here
}

// fits tells how a value differs from a schema, or "". A field that is not
// described differs too. It knows the words that our description uses.
func (d description) fits(value any, schema map[string]any) string {
	if ref, ok := schema["$ref"].(string); ok {
		return d.fits(value, d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
	}
	if all, ok := schema["allOf"].([]any); ok {
		for _, one := range all {
			if why := d.fits(value, one.(map[string]any)); why != "" && !strings.Contains(why, "not described") {
				return why
			}
		}
		return ""
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if some, ok := schema[word].([]any); ok {
			var whys []string
			for _, one := range some {
				why := d.fits(value, one.(map[string]any))
				if why == "" {
					return ""
				}
				whys = append(whys, why)
			}
			return fmt.Sprintf("none of %q", whys)
		}
	}
	if words, ok := schema["enum"].([]any); ok && !slices.Contains(words, value) {
		return fmt.Sprintf("%v is none of %v", value, words)
	}
	return d.fitsType(value, schema)
}

func (d description) fitsType(value any, schema map[string]any) string {
	types, _ := schema["type"].([]any)
	if one, ok := schema["type"].(string); ok {
		types = []any{one}
	}
	is := map[bool]string{true: "integer", false: "number"}
	kind := "null"
	switch v := value.(type) {
	case string:
		kind = "string"
	case bool:
		kind = "boolean"
	case float64:
		kind = is[v == float64(int64(v)) && !slices.Contains(types, any("number"))]
	case []any:
		kind = "array"
		items, _ := schema["items"].(map[string]any)
		for i, item := range v {
			if why := d.fits(item, items); why != "" {
				return fmt.Sprintf("[%d]: %s", i, why)
			}
		}
	case map[string]any:
		kind = "object"
		if why := d.fitsFields(v, schema); why != "" {
			return why
		}
	}
	if len(types) > 0 && !slices.Contains(types, any(kind)) {
		return fmt.Sprintf("%v is %s, not %v", value, kind, types)
	}
	return ""
}

func (d description) fitsFields(value, schema map[string]any) string {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := value[name.(string)]; !ok {
			return fmt.Sprintf("%s is missing", name)
		}
	}
	fields, ok := schema["properties"].(map[string]any)
	if !ok {
		return ""
	}
	for name, v := range value {
		field, ok := fields[name].(map[string]any)
		if !ok {
			return name + " is not described"
		}
		if why := d.fits(v, field); why != "" {
			return name + ": " + why
		}
	}
	return ""
}

func readDescription(t *testing.T, d *daemon) description {
	t.Helper()
	got := send(t, d, "GET", "/v1/openapi.json", "", nil)
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" {
		t.Fatalf("the description: %.300s", got)
	}
	var out description
	noError(t, json.Unmarshal([]byte(got.body), &out.doc))
	return out
}

// TestAnswersFitTheirDescription: what every JSON route answers, good and bad,
// is what its description says.
func TestAnswersFitTheirDescription(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	about := readDescription(t, d)
	bodies := map[string]string{
		"add-project": `{"path":` + quoted(d.fixture.Repo) + `}`, "spawn-agent": `{"goal":"x","projects":["shop"]}`, "create-token": `{"name":"wall"}`,
		"set-plan": `{"title":"x","steps":[{"title":"y"}]}`, "move-plan-step": `{"status":"skipped"}`,
		"send-message": `{"text":"x"}`, "answer-questions": `{"answers":{"nobody":"x"}}`, "set-project": `{"stall":"resume"}`, "trust-project": `{"digest":"` + servicetest.PreparedDigest() + `"}`,
		"make-backup": `{"path":` + quoted(d.fixture.NoRepo+"/copy.db") + `}`, "add-account": `{"name":"other","token":"sk-ant-oat01-x"}`,
		"ask-people": `{"questions":[]}`, "message-agent": `{"agentId":"execute","content":"x"}`,
		"ask-agent": `{"question":"x","agentId":"calm-heron"}`, "answer-conversation": `{"answer":"x"}`,
		"create-initiative": `{"name":"Sale"}`, "edit-initiative": `{"goal":"x"}`, "create-page": `{"title":"x"}`, "edit-page": `{"title":"y"}`,
		"edit-page-document": `{"revision":1,"document":{"type":"doc"}}`,
		"create-phase":       `{"name":"x"}`, "edit-phase": `{"name":"y"}`, "create-task": `{"phaseId":"nobody","name":"x"}`, "edit-task": `{"name":"y"}`,
		"set-dispatch": `{"state":"running"}`, "decide-task": `{"accept":true}`, "land-initiative": `{"into":"main"}`,
		"render-prompt": `{"mode":"execute","goal":"x"}`, "accept-proposals": `{"ids":["nobody"]}`, "dismiss-proposals": `{"agent":"` + servicetest.PreparedAgent + `"}`,
		"discover-accounts": `{"env":{"ANTHROPIC_API_KEY":"x"}}`, "set-account": `{"priority":2}`, "set-budget": `{"scope":"agent","ref":"brave-otter","limitUsd":5}`,
	}
	account, err := d.client("").AddAccount(t.Context(), cw.AddAccountRequest{Name: "work", Token: cw.NewSecret("sk-ant-oat01-work")})
	noError(t, err)
	planned := plan(t, d, servicetest.PreparedAgent)
	_, err = d.client(tokenSelf).SetPlan(t.Context(), servicetest.PreparedAgent, cw.PlanRequest{Title: "Sell", Steps: []cw.PlanStepRequest{{Title: "Look"}}})
	noError(t, err)
	answered := 0
	for _, row := range api.Routes() {
		responses := about.at("paths", row.Path, strings.ToLower(row.Method), "responses")
		good, _ := responses["200"].(map[string]any)
		content, _ := good["content"].(map[string]any)
		media, ok := content["application/json"].(map[string]any)
		if !ok {
			continue // a stream, or figures
		}
		for _, ref := range []string{servicetest.PreparedAgent, "nobody"} {
			path := strings.ReplaceAll(row.Path, "{id}", ref)
			if strings.HasPrefix(path, "/v1/projects/") {
				path = strings.ReplaceAll(path, "{ref}", map[bool]string{true: "nothing", false: "shop"}[ref == "nobody"])
			}
			if strings.HasPrefix(path, "/v1/accounts/") && ref != "nobody" {
				path = strings.ReplaceAll(path, "{ref}", string(account.ID))
			}
			if strings.HasPrefix(path, "/v1/providers/") && ref != "nobody" {
				path = strings.ReplaceAll(path, "{ref}", "script")
			}
			path = strings.ReplaceAll(path, "{ref}", ref)
			for noun, id := range planned {
				path = strings.ReplaceAll(path, "{"+noun+"}", map[bool]string{true: ref, false: id}[ref == "nobody"])
			}
			if row.ID == "list-tasks" {
				path += "?phase=" + map[bool]string{true: ref, false: planned["phase"]}[ref == "nobody"]
			}
			got := send(t, d, row.Method, path, bodies[row.ID], map[string]string{"Content-Type": "application/json"})
			schema, _ := media["schema"].(map[string]any)
			if got.status != http.StatusOK {
				if _, ok := responses[fmt.Sprint(got.status)]; !ok {
					t.Errorf("%s %s: the status %d is not described", row.Method, path, got.status)
				}
				schema = about.at("components", "schemas", "Problem")
			}
			var value any
			noError(t, json.Unmarshal([]byte(got.body), &value))
			if why := about.fits(value, schema); why != "" {
				t.Errorf("%s %s: %d: %s", row.Method, path, got.status, why)
			}
			answered++
		}
	}
	if answered < 30 {
		t.Errorf("only %d answers", answered)
	}
}

// TestLifeFitsItsDescription: so is what the routes about an agent that asks,
// is answered, told, removed and restored answer in each of its states.
func TestLifeFitsItsDescription(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	about := readDescription(t, d)
	agent := d.fixture.Ask(t)
	view, err := d.memory.Agent(t.Context(), agent)
	noError(t, err)
	var answers []string
	for i, answer := range []string{"red", `["small"]`, "go on"} {
		answers = append(answers, quoted(string(view.PendingQuestions[i].ID))+":"+quoted(answer))
	}
	all := `{"answers":{` + strings.Join(answers, ",") + `}}`
	of := "/v1/agents/" + agent
	for i, c := range []struct {
		method, route, path, body string
		status                    int
	}{
		{"GET", "/v1/questions", "/v1/questions?status=open,answered&agent=" + agent + "&limit=2", "", 200},
		{"GET", "/v1/questions", "/v1/questions?status=opne", "", 400},
		{"GET", "/v1/questions", "/v1/questions?agent=nobody", "", 404},
		{"GET", "/v1/questions/{id}", "/v1/questions/" + string(view.PendingQuestions[0].ID), "", 200},
		{"GET", "/v1/agents/{id}", of, "", 200},
		{"POST", "/v1/agents/{id}/resume", of + "/resume", "", 409},
		{"POST", "/v1/answers", "/v1/answers", `{"answers":{}}`, 400},
		{"POST", "/v1/answers", "/v1/answers", `{"answer":{}}`, 400},
		{"POST", "/v1/answers", "/v1/answers", `{"answers":{"x":1}}`, 400},
		{"POST", "/v1/answers", "/v1/answers", `{"answers":{"x":"a","x":"b"}}`, 400},
		{"POST", "/v1/answers", "/v1/answers", all, 200},
		{"POST", "/v1/answers", "/v1/answers", all, 409},
		{"POST", "/v1/agents/{id}/messages", of + "/messages", `{"text":"x","whenBusy":"refuse"}`, 409},
		{"POST", "/v1/agents/{id}/messages", of + "/messages", `{"text":"x"}`, 200},
		{"POST", "/v1/agents/{id}/remove", of + "/remove", "", 409},
		{"POST", "/v1/agents/{id}/stop", of + "/stop", "", 200},
		{"POST", "/v1/agents/{id}/resume", of + "/resume", "", 200},
		{"POST", "/v1/agents/{id}/stop", of + "/stop", "", 200},
		{"POST", "/v1/agents/{id}/resume", of + "/resume", `{"text":"x"}`, 200},
		{"GET", "/v1/agents/{id}/messages", of + "/messages?limit=3&sort=-createdAt", "", 200},
		{"POST", "/v1/agents/{id}/stop", of + "/stop", "", 200},
		{"POST", "/v1/agents/{id}/remove", of + "/remove", "", 200},
		{"GET", "/v1/agents", "/v1/agents?removed=true", "", 200},
		{"POST", "/v1/agents/{id}/messages", of + "/messages", `{"text":"x"}`, 409},
		{"POST", "/v1/agents/{id}/restore", of + "/restore", "", 200},
		{"POST", "/v1/gc", "/v1/gc", `{"dryRun":true}`, 200},
		{"POST", "/v1/backup", "/v1/backup", `{"path":"x"}`, 400},
		{"POST", "/v1/projects/{ref}/settings", "/v1/projects/shop/settings", `{"autoResume":true}`, 200},
		{"POST", "/v1/projects/{ref}/settings", "/v1/projects/shop/settings", `{"stall":"x"}`, 400},
		{"GET", "/v1/projects/{ref}/file", "/v1/projects/shop/file?at=HEAD", "", 200},
		{"GET", "/v1/projects/{ref}/file", "/v1/projects/shop/file?at=nowhere", "", 400},
		{"POST", "/v1/projects/{ref}/trust", "/v1/projects/shop/trust", `{"digest":"x"}`, 409},
	} {
		got := send(t, d, c.method, c.path, c.body, map[string]string{"Content-Type": "application/json"})
		if got.status != c.status {
			t.Errorf("%d: %s %s: %s, want %d", i, c.method, c.path, got, c.status)
			continue
		}
		responses := about.at("paths", c.route, strings.ToLower(c.method), "responses")
		schema := about.at("components", "schemas", "Problem")
		if _, ok := responses[fmt.Sprint(c.status)]; !ok {
			t.Errorf("%d: %s %s: the status %d is not described", i, c.method, c.path, c.status)
		}
		if c.status == http.StatusOK {
			schema = about.at("paths", c.route, strings.ToLower(c.method), "responses", "200", "content", "application/json", "schema")
		}
		var value any
		noError(t, json.Unmarshal([]byte(got.body), &value))
		if why := about.fits(value, schema); why != "" {
			t.Errorf("%d: %s %s: %s\n%s", i, c.method, c.path, why, got.body)
		}
	}
}

func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// TestItemsFitTheirDescription: so are the items of the streams.
func TestItemsFitTheirDescription(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	about := readDescription(t, d)
	for _, info := range cw.EventTable() {
		d.memory.Tell(cw.NewEvent(info.Type, cw.Actor{Kind: cw.ActorCW}, filled(info)))
	}
	output := "/v1/agents/" + servicetest.PreparedAgent + "/output"
	for target, schema := range map[string]string{"/v1/events?since=3": "AnyEvent", output: "Chunk", output + "?format=events": "OutputEvent"} {
		items := 0
		resp, err := rawClient(t, d).Get("http://cw.sock" + target)
		noError(t, err)
		body, err := io.ReadAll(resp.Body)
		noError(t, err)
		_ = resp.Body.Close()
		for message := range strings.SplitSeq(string(body), "\n\n") {
			if strings.Contains(message, "event:") {
				continue
			}
			for line := range strings.SplitSeq(message, "\n") {
				data, ok := strings.CutPrefix(line, "data:")
				if !ok {
					continue
				}
				var value any
				noError(t, json.Unmarshal([]byte(data), &value))
				if why := about.fits(value, about.at("components", "schemas", schema)); why != "" {
					t.Errorf("%s: %s: %s", target, data, why)
				}
				items++
			}
		}
		if items < 3 {
			t.Errorf("%s has %d items", target, items)
		}
	}
}

// filled gives a payload of an event whose lists are there and whose words
// are some of their type.
func filled(info cw.EventInfo) any {
	switch p := info.Payload.(type) {
	case cw.AgentSpawned:
		p.Mode, p.Projects = cw.ModeExecute, []string{"shop"}
		return p
	case cw.AgentStarting:
		p.Reason = cw.RunSpawn
		return p
	case cw.AgentStopped:
		p.Reason = cw.ReasonDone
		return p
	case cw.AgentCrashed:
		p.Reason = cw.ReasonLost
		return p
	case cw.AgentActivity:
		p.Activity.State, p.Activity.Verb = cw.ActivityBusy, cw.VerbRun
		return p
	case cw.AgentResumed:
		p.Reason = cw.RunAnswers
		return p
	case cw.AgentStalled:
		p.Policy = cw.StallEvent
		return p
	case cw.AgentRemoved:
		p.Trash = []string{"/trash/x"}
		return p
	case cw.ProjectPolicies:
		p.Stall = cw.StallResume
		return p
	case cw.TokenChanged:
		p.Scopes = []cw.Scope{cw.ScopeRead}
		return p
	case cw.MirrorRestored:
		p.Changed = []string{"config"}
		return p
	}
	return info.Payload
}
