package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// TestListParameters: every parameter of a list arrives, and what is nearly
// one, or stands there twice, is refused by name on every route.
func TestListParameters(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	page, err := d.client("").Agents(t.Context(), cw.AgentFilter{PageQuery: cw.PageQuery{Limit: 1, Sort: "name"}})
	noError(t, err)
	output := "/v1/agents/" + servicetest.PreparedAgent + "/output"
	for target, want := range map[string]string{ // "": 200
		"/v1/agents?sort=name&limit=1&cursor=" + url.QueryEscape(page.Next): "",
		"/v1/agents?provider=script&initiative=&status=idle,running":        "",
		"/v1/agents?sort=-updatedAt&limit=1000":                             "",
		"/v1/agents?limit=0":                                                "",
		"/v1/agents?limit=1001":                                             "cannot have 1001 items",
		"/v1/agents?limit=":                                                 "",
		"/v1/agents?limit=1.5":                                              "limit",
		"/v1/agents?sort=goal":                                              "cannot be sorted",
		"/v1/agents?status=runing":                                          "no status",
		"/v1/agents?cursor=nowhere":                                         "not of this list",
		"/v1/agents?cursor=" + url.QueryEscape(page.Next):                   "another order",
		"/v1/projects?sort=name&cursor=" + url.QueryEscape(page.Next):       "another list",
		"/v1/tokens?sort=name&cursor=" + url.QueryEscape(page.Next):         "another list",
		"/v1/projects?limit=-1":                                             "cannot have -1 items",
		"/v1/tokens?limit=1001":                                             "cannot have 1001 items",
		"/v1/agents?stauts=idle":                                            `no parameter "stauts"`,
		"/v1/agents?limit=1&limit=2":                                        "2 times",
		"/v1/agents?status=idle&status=running":                             "2 times",
		"/v1/costs?limit=1001":                                              "cannot have 1001 items",
		"/v1/costs?cursor=nowhere":                                          "not of this list",
		"/v1/agents?colour=red":                                             "",
		"/v1/agents?limit=%zz":                                              "cannot be read",
		"/v1/events?sinse=5":                                                `no parameter "sinse"`,
		output + "?ofset=5":                                                 `no parameter "ofset"`,
		"/v1/agents/" + servicetest.PreparedAgent + "?limt=1":               "", // it has none
		"/v1/agents/" + servicetest.PreparedAgent + "/diff?stats=true":      `no parameter "stats"`,
	} {
		got := send(t, d, "GET", target, "", nil)
		if (got.status == http.StatusOK) != (want == "") || want != "" && (got.status != http.StatusBadRequest ||
			got.err.Code != cw.CodeInvalid || !strings.Contains(got.err.Message, want)) {
			t.Errorf("%s: %.300s, want %q", target, got, want)
		}
	}
}

// TestCostsInPages: the sums come in pages as long as was asked for, each with the
// place of the next one, and the client reads them all.
func TestCostsInPages(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	all, err := d.client("").Costs(t.Context(), cw.CostQuery{By: cw.CostByRun})
	noError(t, err)
	if len(all) < 2 {
		t.Fatalf("%d sums make no two pages", len(all))
	}
	var keys []string
	for cursor := ""; ; {
		var page cw.Page[cw.CostRow]
		got := send(t, d, "GET", "/v1/costs?by=run&limit=1&cursor="+url.QueryEscape(cursor), "", nil)
		noError(t, json.Unmarshal([]byte(got.body), &page))
		if got.status != http.StatusOK || len(page.Items) != 1 {
			t.Fatalf("%.300s", got)
		}
		keys = append(keys, page.Items[0].Key)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for i, row := range all {
		if len(keys) != len(all) || keys[i] != row.Key {
			t.Fatalf("pages have %v, the client %+v", keys, all)
		}
	}
}

// An agent sees itself in lists, whatever it asks for, and a cursor of its own
// list leads nowhere else.
func TestAgentsListOnlyThemselves(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	all, err := d.client("").Agents(t.Context(), cw.AgentFilter{PageQuery: cw.PageQuery{Limit: 1}})
	noError(t, err)
	for _, f := range []cw.AgentFilter{
		{}, {PageQuery: cw.PageQuery{Limit: 1, Sort: "name"}}, {Provider: "script"}, {Project: servicetest.PreparedProject},
	} {
		page, err := d.client(tokenSelf).Agents(t.Context(), f)
		noError(t, err)
		if len(page.Items) != 1 || page.Items[0].Alias != servicetest.PreparedAgent || page.Next != "" {
			t.Errorf("%+v: %d agents, next %q", f, len(page.Items), page.Next)
		}
	}
	_, err = d.client(tokenSelf).Agents(t.Context(), cw.AgentFilter{PageQuery: cw.PageQuery{Cursor: all.Next}})
	if cw.ErrorCode(err) != cw.CodeInvalid {
		t.Errorf("the cursor of a person's list: %v", err)
	}
	none, err := d.client(tokenOther).Agents(t.Context(), cw.AgentFilter{Project: servicetest.PreparedProject})
	if err != nil || len(none.Items) != 0 {
		t.Errorf("somebody else's project: %v %v", none.Items, err)
	}
}

// TestTwoLastEventIDs: one of them would be taken, and which is anybody's guess.
func TestTwoLastEventIDs(t *testing.T) {
	t.Parallel()
	at := startDaemon(t, dashboards).serveTCP(t)
	auth := bearerLine(tokenRead)
	for _, target := range []string{"/v1/events", "/v1/agents/brave-otter/output"} {
		got := at.ask(t, "GET", target, auth, "Last-Event-ID: 5", "Last-Event-ID: 5")
		if got.status != http.StatusBadRequest || got.err.Hint == "" || !strings.Contains(got.err.Message, "2 times") {
			t.Errorf("%s: %s", target, got)
		}
		if got := at.ask(t, "GET", target, auth, "Last-Event-ID: 5"); got.status != http.StatusOK {
			t.Errorf("%s with one: %s", target, got)
		}
	}
}
