package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// plans puts an initiative in, with everything that there is to show, and one
// that is archived. Texts of agents hold what a terminal would obey.
func plans(b *bench) {
	page := func(id, parent, title string) cw.Document {
		return cw.Document{
			ID: cw.PageID(id), InitiativeID: "iiiiiiiiiiii", ParentID: cw.PageID(parent), Title: title, Revision: 3, UpdatedBy: "person",
			CreatedAt: epoch, UpdatedAt: epoch,
		}
	}
	phase := func(id, name string, status cw.PhaseStatus, after ...cw.PhaseID) cw.Phase {
		return cw.Phase{
			ID: cw.PhaseID(id), InitiativeID: "iiiiiiiiiiii", Name: name, Body: "What is to come out of it:\n\n- \x1b[31mrules\x1b[0m\n", Status: status,
			DependsOn: append([]cw.PhaseID{}, after...), CreatedAt: epoch, UpdatedAt: epoch,
		}
	}
	task := func(id, phase, name string, status cw.TaskStatus, change func(*cw.Task)) cw.Task {
		t := cw.Task{
			ID: cw.TaskID(id), InitiativeID: "iiiiiiiiiiii", PhaseID: cw.PhaseID(phase), Name: name, Body: "Extend `prices/rule.go`.\n", Type: cw.TaskAuto,
			Size: cw.SizeMedium, Priority: cw.PriorityMedium, Paths: []string{}, Checks: []string{}, DependsOn: []cw.TaskID{}, Status: status,
			CreatedAt: epoch, UpdatedAt: epoch,
		}
		if change != nil {
			change(&t)
		}
		return t
	}
	b.fake.initiatives = []cw.InitiativeView{{
		Initiative: cw.Initiative{
			ID: "iiiiiiiiiiii", Name: "Spring sale", Slug: "spring-sale", Goal: "Prices can be lowered for a time.\n\nNot in summer\x1b]0;title\a.\n",
			Status: cw.InitiativeActive, RootPageID: "aaaaaaaaaaaa", CreatedBy: "person", CreatedAt: epoch.Add(-48 * time.Hour), UpdatedAt: epoch,
			Projects: []cw.InitiativeProject{{ID: "pppppppppppp", Name: "shop"}, {ID: "qqqqqqqqqqqq", Name: "docs"}},
		},
		Branch: "cw/spring-sale",
		Pages: []cw.Document{
			page("aaaaaaaaaaaa", "", "Spring sale"), page("bbbbbbbbbbbb", "aaaaaaaaaaaa", "How prices\x1b[2J are rounded"),
			page("cccccccccccc", "bbbbbbbbbbbb", "Cents"), page("dddddddddddd", "aaaaaaaaaaaa", "Shops"),
		},
		Phases: []cw.Phase{
			phase("eeeeeeeeeeee", "Price rules", cw.PhaseApproved), phase("ffffffffffff", "Shop window \"<b>\" #1; `x`", cw.PhaseDraft, "eeeeeeeeeeee"),
			phase("gggggggggggg", "Later", cw.PhaseDraft, "ffffffffffff", "zzzzzzzzzzzz"),
		},
		Tasks: []cw.Task{
			task("hhhhhhhhhhhh", "eeeeeeeeeeee", "Lower a price for a time", cw.TaskDone, func(t *cw.Task) {
				t.Summary, t.Paths, t.Checks = "It is \x1b[1mlowered\x1b[0m.\nTests pass.", []string{"prices/**", "*.md"}, []string{"go test ./prices passes"}
			}),
			task("jjjjjjjjjjjj", "eeeeeeeeeeee", "Choose the colour", cw.TaskReady, func(t *cw.Task) {
				t.Type, t.Size, t.Priority, t.DependsOn = cw.TaskCheckpointDecide, cw.SizeSmall, cw.PriorityHigh, []cw.TaskID{"hhhhhhhhhhhh"}
			}),
			task("kkkkkkkkkkkk", "ffffffffffff", "Show it", cw.TaskPending, nil),
		},
		OpenProposals: 2,
	}, {
		Initiative: cw.Initiative{
			ID: "oooooooooooo", Name: "Autumn", Slug: "autumn", Goal: "Autumn", Status: cw.InitiativeArchived, Projects: []cw.InitiativeProject{},
			CreatedBy: "person", CreatedAt: epoch.Add(-500 * time.Hour), UpdatedAt: epoch,
		},
		Branch: "cw/autumn", Pages: []cw.Document{}, Phases: []cw.Phase{}, Tasks: []cw.Task{},
	}}
	b.fake.bodies = map[cw.PageID]string{"bbbbbbbbbbbb": "# Rounding\n\nTo whole cents\x1b[5m.\n"}
	b.fake.proposals = []cw.ProposalView{suggested("rrrrrrrrrrrr", nil), suggested("ssssssssssss", func(v *cw.ProposalView) {
		v.Changed, v.Theirs = true, "--- before\n+++ now\n@@ -1 +1 @@\n-To whole cents.\n+To half cents.\n"
		v.Current, v.Merged, v.Conflicts, v.Seen = "To half cents.\n", "<<<<<<< the page\n", 1, "5c1f90a7be23"
	}), suggested("uuuuuuuuuuuu", func(v *cw.ProposalView) {
		at := epoch
		v.Status, v.DecidedBy, v.DecidedAt, v.Note = cw.ProposalDismissed, "person", &at, "prices are\x1b[0m never rounded up"
	})}
}

func suggested(id string, change func(*cw.ProposalView)) cw.ProposalView {
	v := cw.ProposalView{
		Proposal: cw.Proposal{
			ID: cw.ProposalID(id), InitiativeID: "iiiiiiiiiiii", AgentID: "nnnnnnnnnnnn", RunID: "mmmmmmmmmmmm", Target: cw.TargetPage,
			TargetID: "bbbbbbbbbbbb", Action: cw.ActionUpdate, Title: "How prices are rounded\x1b[31m", File: "pages/bbbbbbbbbbbb.md",
			BaseRevision: 3, Status: cw.ProposalOpen, CreatedAt: epoch.Add(-5 * time.Minute),
		},
		Agent: "brave-otter",
		Diff:  "--- now\n+++ suggested\n@@ -1,3 +1,3 @@\n # Rounding\n \n-To whole cents.\n+To whole cents, half up.\n",
	}
	if change != nil {
		change(&v)
	}
	return v
}

// removal is plans with one proposal that something goes.
func removal(b *bench) {
	plans(b)
	v := suggested("rrrrrrrrrrrr", nil)
	v.Action, v.Reason, v.Diff = cw.ActionDelete, "The page \"Cart\" says it,\nand it was\x1b[31m wrong.", "--- now\n+++ suggested\n@@ -1 +0,0 @@\n-# Rounding\n"
	b.fake.proposals = []cw.ProposalView{v}
}

func TestInitiative(t *testing.T) {
	t.Parallel()
	sessions(t, "initiative", []sessionCase{
		{"create", []string{"initiative", "create", "Spring sale", "--goal", "-", "--project", "shop", "--project", "../docs"}, stdin("Lower prices\n"), 0},
		{"create json", []string{"initiative", "create", "Spring sale", "--json"}, nil, 0},
		{"create nothing", []string{"initiative", "create"}, nil, 2},
		{"create two lines", []string{"initiative", "create", "a\nb"}, nil, 2},
		{"create bad goal", []string{"initiative", "create", "a", "--goal", "-"}, stdin("\xff"), 2},
		{"create long goal", []string{"initiative", "create", "a", "--goal", "-"}, stdin(strings.Repeat("x", cw.BodyMax+1)), 2},
		{"create in an unknown folder", []string{"initiative", "create", "Spring sale", "--project", "../docs"}, func(b *bench) {
			b.fake.errs["AddProject"] = cw.Errorf(cw.CodeInvalid, "/work/docs is no git repository").WithHint("make one: git init /work/docs")
		}, 2},
		{"edit in a new folder", []string{"initiative", "edit", "spring-sale", "--project", "../docs"}, plans, 0},
		{"create empty project", []string{"initiative", "create", "a", "--project", ""}, nil, 2},
		{"create no project", []string{"initiative", "create", "a", "--project", "shp"}, func(b *bench) {
			b.fake.errs["CreateInitiative"] = cw.Errorf(cw.CodeNotFound, `there is no project "shp"`).WithHint("see: cw project list")
		}, 3},
		{"list", []string{"initiative", "list"}, plans, 0},
		{"list archived", []string{"initiative", "ls", "--archived"}, plans, 0},
		{"list json", []string{"initiative", "list", "--json"}, plans, 0},
		{"list empty", []string{"initiative", "list"}, nil, 0},
		{"list empty json", []string{"initiative", "list", "--json"}, nil, 0},
		{"list bad sort", []string{"initiative", "list", "--limit", "-1"}, nil, 2},
		{"show", []string{"initiative", "show", "spring-sale"}, plans, 0},
		{"show on terminal", []string{"initiative", "show", "spring-sale"}, func(b *bench) { plans(b); b.outTTY = true }, 0},
		{"show json", []string{"initiative", "show", "spring-sale", "--json"}, plans, 0},
		{"show empty", []string{"initiative", "show", "autumn"}, plans, 0},
		{"show graph", []string{"initiative", "show", "spring-sale", "--graph"}, plans, 0},
		{"show graph json", []string{"initiative", "show", "spring-sale", "--graph", "--json"}, plans, 0},
		{"show mistyped", []string{"initiative", "show", "sprng-sale"}, plans, 3},
		{"show unknown json", []string{"initiative", "show", "nothing-like-it", "--json"}, plans, 3},
		{"edit", []string{"initiative", "edit", "spring-sale", "--name", "Summer sale"}, plans, 0},
		{"edit nothing", []string{"initiative", "edit", "spring-sale"}, plans, 2},
		{"edit hold wrong", []string{"initiative", "edit", "spring-sale", "--hold=x"}, plans, 2},
		{"show work", []string{"initiative", "show", "spring-sale"}, func(b *bench) {
			plans(b)
			b.fake.initiatives[0].Work = cw.WorkSettings{Provider: "script", Script: "/x.sh", Hold: true}
		}, 0},
		{"edit both", []string{"initiative", "edit", "spring-sale", "--project", "shop", "--no-projects"}, plans, 2},
		{"archive", []string{"initiative", "archive", "spring-sale"}, plans, 0},
		{"archive undo", []string{"initiative", "archive", "autumn", "--undo", "--json"}, plans, 0},
		{"archive working", []string{"initiative", "archive", "spring-sale"}, func(b *bench) {
			plans(b)
			b.fake.errs["EditInitiative"] = cw.Errorf(cw.CodeRefused, "agents of the initiative spring-sale have work under way: brave-otter").
				WithHint("stop them first: cw agent stop NAME")
		}, 4},
		{"no such command", []string{"initiative", "shw"}, nil, 2},
	})
}

func TestPages(t *testing.T) {
	t.Parallel()
	sessions(t, "page", []sessionCase{
		{"list", []string{"page", "list", "spring-sale"}, plans, 0},
		{"list json", []string{"page", "ls", "spring-sale", "--json"}, plans, 0},
		{"list nothing", []string{"page", "list"}, nil, 2},
		{"show", []string{"page", "show", "bbbbbbbbbbbb"}, plans, 0},
		{"show raw", []string{"page", "show", "bbbbbbbbbbbb", "--raw"}, plans, 0},
		{"show raw on terminal", []string{"page", "show", "bbbbbbbbbbbb", "--raw"}, func(b *bench) { plans(b); b.outTTY = true }, 0},
		{"show json", []string{"page", "show", "bbbbbbbbbbbb", "--json"}, plans, 0},
		{"show mistyped", []string{"page", "show", "bbbbbbbbbxbb"}, plans, 3},
		{"create", []string{"page", "create", "spring-sale", "How prices are rounded", "--body", "-", "--parent", "aaaaaaaaaaaa"}, stdin("To cents.\n", plans), 0},
		{"create one word", []string{"page", "create", "spring-sale"}, plans, 2},
		{"create empty", []string{"page", "create", "spring-sale", " "}, plans, 2},
		{"create no file", []string{"page", "create", "spring-sale", "x", "--body", "/nowhere/x.md"}, plans, 2},
		{"edit", []string{"page", "edit", "bbbbbbbbbbbb", "--body", "-", "--revision", "3"}, stdin("New.\n", plans), 0},
		{"edit nothing", []string{"page", "edit", "bbbbbbbbbbbb", "--revision", "3"}, plans, 2},
		{"edit bad revision", []string{"page", "edit", "bbbbbbbbbbbb", "--title", "x", "--revision", "x"}, plans, 2},
		{"edit changed", []string{"page", "edit", "bbbbbbbbbbbb", "--title", "x", "--revision", "2"}, func(b *bench) {
			plans(b)
			b.fake.errs["EditPage"] = cw.Errorf(cw.CodeRefused, "the page has revision 3, and revision 2 was edited").WithHint("look at it: cw page show bbbbbbbbbbbb")
		}, 4},
		{"move", []string{"page", "move", "cccccccccccc", "--parent", "aaaaaaaaaaaa", "--position", "0"}, plans, 0},
		{"move nowhere", []string{"page", "move", "cccccccccccc"}, plans, 2},
		{"move to a word", []string{"page", "move", "cccccccccccc", "--position", "first"}, plans, 2},
		{"remove", []string{"page", "rm", "cccccccccccc"}, plans, 0},
		{"remove json", []string{"page", "remove", "cccccccccccc", "--json"}, plans, 0},
	})
}

func TestPhases(t *testing.T) {
	t.Parallel()
	sessions(t, "phase", []sessionCase{
		{"list", []string{"phase", "list", "spring-sale"}, plans, 0},
		{"list json", []string{"phase", "ls", "spring-sale", "--json"}, plans, 0},
		{"list empty", []string{"phase", "list", "autumn"}, plans, 0},
		{"show", []string{"phase", "show", "eeeeeeeeeeee"}, plans, 0},
		{"show json", []string{"phase", "show", "eeeeeeeeeeee", "--json"}, plans, 0},
		{"show mistyped", []string{"phase", "show", "eeeeeeeeeee"}, plans, 3},
		{"create", []string{"phase", "create", "spring-sale", "Prices", "--depends-on", "eeeeeeeeeeee,ffffffffffff"}, plans, 0},
		{"edit", []string{"phase", "edit", "ffffffffffff", "--name", "Window", "--no-dependencies", "--position", "0"}, plans, 0},
		{"edit json", []string{"phase", "edit", "ffffffffffff", "--status", "done", "--json"}, plans, 0},
		{"edit nothing", []string{"phase", "edit", "ffffffffffff"}, plans, 2},
		{"edit circle", []string{"phase", "edit", "eeeeeeeeeeee", "--depends-on", "gggggggggggg"}, func(b *bench) {
			plans(b)
			b.fake.errs["EditPhase"] = cw.Errorf(cw.CodeInvalid, "they run in a circle: a → b → a").WithHint("leave one out")
		}, 2},
		{"approve", []string{"phase", "approve", "ffffffffffff", "gggggggggggg"}, plans, 0},
		{"approve some json", []string{"phase", "approve", "ffffffffffff", "gggggggggxgg", "--json"}, plans, 3},
		{"approve nothing", []string{"phase", "approve"}, plans, 2},
		{"archive", []string{"phase", "archive", "gggggggggggg", "--json"}, plans, 0},
		{"archive undo", []string{"phase", "archive", "gggggggggggg", "--undo"}, plans, 0},
	})
}

func TestTasks(t *testing.T) {
	t.Parallel()
	sessions(t, "task", []sessionCase{
		{"list", []string{"task", "list", "spring-sale"}, plans, 0},
		{"list of phase", []string{"task", "list", "--phase", "eeeeeeeeeeee", "--status", "ready,done"}, plans, 0},
		{"list json", []string{"task", "ls", "spring-sale", "--json"}, plans, 0},
		{"list bad status", []string{"task", "list", "spring-sale", "--status", "redy"}, plans, 2},
		{"list nothing", []string{"task", "list"}, nil, 2},
		{"list both", []string{"task", "list", "spring-sale", "--phase", "eeeeeeeeeeee"}, nil, 2},
		{"show", []string{"task", "show", "hhhhhhhhhhhh"}, plans, 0},
		{"show blocked", []string{"task", "show", "kkkkkkkkkkkk"}, func(b *bench) {
			plans(b)
			t := &b.fake.initiatives[0].Tasks[2]
			t.Status, t.AgentID, t.Starts, t.Blocked, t.Comment = cw.TaskBlocked, "aaaaaaaaaaaa", 2, "test: exit code 1\n--- FAIL\x1b[2J\n", "not\nlike this"
		}, 0},
		{"show outside", []string{"task", "show", "kkkkkkkkkkkk"}, func(b *bench) {
			plans(b)
			b.fake.initiatives[0].Tasks[2].Outside = &cw.OutsideFiles{Total: 3, Files: []string{"go.mod", "src/a\nb.go"}}
		}, 0},
		{"show retried", []string{"task", "show", "kkkkkkkkkkkk"}, func(b *bench) {
			plans(b)
			t := &b.fake.initiatives[0].Tasks[2]
			at := epoch.Add(time.Minute)
			t.AgentID, t.Starts, t.Blocked, t.RetryAt = "aaaaaaaaaaaa", 1, "brave-otter crashed (no_signal)", &at
		}, 0},
		{"show result", []string{"task", "show", "kkkkkkkkkkkk"}, func(b *bench) {
			plans(b)
			three(b)
			t := &b.fake.initiatives[0].Tasks[2]
			t.Type, t.Status, t.AgentID = cw.TaskCheckpointVerify, cw.TaskVerifying, "calm-fox"
			b.fake.projects = []cw.Project{{ID: b.fake.agents[1].Projects[0].ProjectID, Name: "repo"}}
			b.fake.file = cw.ProjectFileView{Present: true, File: cw.ProjectFile{Run: "npm start\x1b[2J\nopen http://localhost"}}
		}, 0},
		{"show result that cannot be read", []string{"task", "show", "kkkkkkkkkkkk"}, func(b *bench) {
			plans(b)
			t := &b.fake.initiatives[0].Tasks[2]
			t.Type, t.Status, t.AgentID = cw.TaskCheckpointVerify, cw.TaskVerifying, "gone"
		}, 0},
		{"show json", []string{"task", "show", "hhhhhhhhhhhh", "--json"}, plans, 0},
		{"show mistyped", []string{"task", "show", "hhhhhhhhhhhhh"}, plans, 3},
		{"create", []string{
			"task", "create", "--phase", "eeeeeeeeeeee", "Lower a price", "--path", "prices/{a,b}/**", "--path", "*.md", "--check", "tests pass, all",
			"--depends-on", "hhhhhhhhhhhh", "--type", "auto", "--size", "small", "--priority", "high", "--body", "-",
		}, stdin("Do it.\n", plans), 0},
		{"create without phase", []string{"task", "create", "Lower a price"}, plans, 2},
		{"create in mistyped phase", []string{"task", "create", "--phase", "eeeeeeeeexee", "Lower"}, func(b *bench) {
			plans(b)
			b.fake.errs["CreateTask"] = cw.Errorf(cw.CodeNotFound, `there is no phase "eeeeeeeeexee"`)
		}, 3},
		{"edit", []string{"task", "edit", "jjjjjjjjjjjj", "--no-dependencies", "--type", "auto", "--phase", "ffffffffffff"}, plans, 0},
		{"edit nothing", []string{"task", "edit", "jjjjjjjjjjjj"}, plans, 2},
		{"edit both", []string{"task", "edit", "jjjjjjjjjjjj", "--path", "x", "--no-paths"}, plans, 2},
		{"done", []string{"task", "done", "jjjjjjjjjjjj", "kkkkkkkkkkkk", "--json"}, plans, 0},
		{"cancel", []string{"task", "cancel", "kkkkkkkkkkkk"}, plans, 0},
		{"cancel undo", []string{"task", "cancel", "kkkkkkkkkkkk", "--undo"}, plans, 0},
	})
}

func TestProposals(t *testing.T) {
	t.Parallel()
	sessions(t, "proposal", []sessionCase{
		{"list", []string{"proposal", "list"}, plans, 0},
		{"list all json", []string{"proposal", "ls", "--status", "all", "--json"}, plans, 0},
		{"list bad status", []string{"proposal", "list", "--status", "opn"}, plans, 2},
		{"list empty", []string{"proposal", "list"}, nil, 0},
		{"show", []string{"proposal", "show", "rrrrrrrrrrrr"}, plans, 0},
		{"show removal", []string{"proposal", "show", "rrrrrrrrrrrr"}, removal, 0},
		{"diff removal", []string{"proposal", "diff", "rrrrrrrrrrrr"}, removal, 0},
		{"list removal json", []string{"proposal", "list", "--json"}, removal, 0},
		{"show dismissed", []string{"proposal", "show", "uuuuuuuuuuuu"}, plans, 0},
		{"show json", []string{"proposal", "show", "rrrrrrrrrrrr", "--json"}, plans, 0},
		{"show mistyped", []string{"proposal", "show", "rrrrrrrrrrr"}, plans, 3},
		{"diff", []string{"proposal", "diff", "rrrrrrrrrrrr"}, plans, 0},
		{"diff changed", []string{"proposal", "diff", "ssssssssssss"}, plans, 0},
		{"accept", []string{"proposal", "accept", "rrrrrrrrrrrr"}, plans, 0},
		{"accept all json", []string{"proposal", "accept", "--all", "spring-sale", "--json"}, plans, 0},
		{"accept none open", []string{"proposal", "accept", "--agent", "brave-otter"}, plans, 0},
		{"accept nothing", []string{"proposal", "accept"}, plans, 2},
		{"accept two ways", []string{"proposal", "accept", "rrrrrrrrrrrr", "--all", "spring-sale"}, plans, 2},
		{"accept changed", []string{"proposal", "accept", "ssssssssssss"}, func(b *bench) {
			plans(b)
			b.fake.errs["AcceptProposals"] = cw.Errorf(cw.CodeRefused, "the page changed since ssssssssssss was suggested").WithHint("cw proposal diff ssssssssssss")
		}, 4},
		{"dismiss", []string{"proposal", "dismiss", "rrrrrrrrrrrr", "--note", "never"}, plans, 0},
		{"dismiss mistyped", []string{"proposal", "dismiss", "rrrrrrrrrrxr"}, plans, 3},
	})
}

// told puts a prompt in, with words of the project's own in it.
func told(b *bench) {
	plans(b)
	b.fake.prompt = cw.PromptView{
		Text: "<role>\nYou are a planner.\x1b[2J\n</role>\n\n<rules>\nBe short.\n</rules>\n", Tokens: 17,
		Blocks: []cw.PromptBlock{
			{Tag: "role", Source: cw.PromptBuiltin, Bytes: 40, Tokens: 10},
			{Tag: "rules", Source: ".cw/prompts/rules.md, .cw/prompts/plan/rules.extend.md", Bytes: 27, Tokens: 7},
		},
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	sessions(t, "prompt", []sessionCase{
		{"show", []string{"prompt", "show", "plan", "--initiative", "spring-sale"}, told, 0},
		{"blocks", []string{"prompt", "show", "detail", "--phase", "eeeeeeeeeeee", "--blocks"}, told, 0},
		{"json", []string{"prompt", "show", "execute", "--task", "hhhhhhhhhhhh", "--json"}, told, 0},
		{"mistyped mode", []string{"prompt", "show", "plam", "--initiative", "spring-sale"}, told, 2},
		{"mistyped task", []string{"prompt", "show", "execute", "--task", "hhhhhhhhhhxh"}, told, 3},
		{"no mode", []string{"prompt", "show"}, told, 2},
		{"no initiative", []string{"prompt", "show", "discuss"}, told, 2},
		{"no task", []string{"prompt", "show", "execute"}, told, 2},
	})
}

// TestPlansArrive: what the flags say is what the daemon is asked, and what they
// do not say stays.
func TestPlansArrive(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "body.md")
	if err := os.WriteFile(file, []byte("From a file.\r\n\tas it is \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := func(s string) *string { return &s }
	zero, none, no := 0, []string{}, false
	pageID, phaseID, kind := cw.PageID("aaaaaaaaaaaa"), cw.PhaseID("ffffffffffff"), cw.TaskAuto
	for _, c := range []struct {
		args []string
		want any
	}{
		{[]string{"initiative", "edit", "spring-sale", "--hold"}, cw.InitiativeEdit{Work: &cw.WorkEdit{Hold: new(true)}}},
		{[]string{"initiative", "edit", "spring-sale", "--hold=false", "--provider", "", "--model", "m", "--script", "./x.sh"}, cw.InitiativeEdit{Work: &cw.WorkEdit{
			Hold: new(false), Provider: text(""), Model: text("m"), Script: text("/work/repo/x.sh"),
		}}},
		{[]string{"initiative", "edit", "spring-sale", "--no-projects"}, cw.InitiativeEdit{Projects: &none}},
		{[]string{"initiative", "edit", "spring-sale", "--goal", "", "--name", "x"}, cw.InitiativeEdit{Goal: text(""), Name: text("x")}},
		{[]string{"initiative", "edit", "spring-sale", "--project", "./shop", "--project", "docs"}, cw.InitiativeEdit{Projects: &[]string{"/work/repo/shop", "docs"}}},
		{[]string{"initiative", "archive", "autumn", "--undo"}, cw.InitiativeEdit{Archived: &no}},
		{[]string{"page", "create", "spring-sale", "x", "--body", file}, cw.CreatePageRequest{Initiative: "spring-sale", Title: "x", Body: "From a file.\r\n\tas it is \n"}},
		{[]string{"page", "edit", "bbbbbbbbbbbb", "--body", file, "--revision", "7"}, cw.PageEdit{Body: text("From a file.\r\n\tas it is \n"), Revision: 7}},
		{[]string{"page", "move", "cccccccccccc", "--position", "0"}, cw.PageEdit{Position: &zero}},
		{[]string{"page", "move", "cccccccccccc", "--parent", "aaaaaaaaaaaa"}, cw.PageEdit{ParentID: &pageID}},
		{[]string{"phase", "edit", "ffffffffffff", "--no-dependencies"}, cw.PhaseEdit{DependsOn: &[]cw.PhaseID{}}},
		{[]string{"phase", "create", "spring-sale", "x", "--depends-on", "eeeeeeeeeeee"}, cw.CreatePhaseRequest{Initiative: "spring-sale", Name: "x", DependsOn: []cw.PhaseID{"eeeeeeeeeeee"}}},
		{[]string{"task", "create", "--phase", "eeeeeeeeeeee", "x", "--path", "a,b", "--check", "c, d"}, cw.CreateTaskRequest{
			PhaseID: "eeeeeeeeeeee", Name: "x", Paths: []string{"a,b"}, Checks: []string{"c, d"}, DependsOn: []cw.TaskID{},
		}},
		{[]string{"task", "edit", "kkkkkkkkkkkk", "--phase", "ffffffffffff", "--type", "auto", "--no-checks", "--depends-on", "hhhhhhhhhhhh"}, cw.TaskEdit{
			PhaseID: &phaseID, Type: &kind, Checks: &none, DependsOn: &[]cw.TaskID{"hhhhhhhhhhhh"},
		}},
		{[]string{"proposal", "dismiss", "--agent", "brave-otter", "--note", "no"}, cw.ProposalChoice{IDs: []cw.ProposalID{}, Agent: "brave-otter", Note: "no"}},
		{[]string{"prompt", "show", "execute", "--project", ".", "--project", "docs", "--provider", "codex", "--goal", "do it"}, cw.PromptRequest{
			Mode: cw.ModeExecute, Projects: []string{"/work/repo", "docs"}, Provider: "codex", Goal: "do it",
		}},
		{[]string{"proposal", "accept", "rrrrrrrrrrrr"}, cw.ProposalChoice{IDs: []cw.ProposalID{"rrrrrrrrrrrr"}}},
	} {
		b := newBench(t)
		plans(b)
		b.fake.projects = []cw.Project{{ID: "pppppppppppp", Name: "shop", Path: "/work/repo/shop"}}
		if code := b.execute(t.Context(), c.args); code != 0 {
			t.Errorf("cw %s: exit %d: %s", strings.Join(c.args, " "), code, b.stderr)
		}
		if diff := cmp.Diff([]any{c.want}, b.fake.asksPlans); diff != "" {
			t.Errorf("cw %s asks (-want +got):\n%s", strings.Join(c.args, " "), diff)
		}
	}
}

// TestPlansAreClean: nothing that people or agents wrote reaches the terminal as
// a control sequence, on any of the commands that show it.
func TestPlansAreClean(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"initiative show spring-sale", "initiative show spring-sale --graph", "page list spring-sale", "page show bbbbbbbbbbbb", "page show bbbbbbbbbbbb --raw",
		"phase show eeeeeeeeeeee", "phase list spring-sale", "task show hhhhhhhhhhhh", "task list spring-sale", "proposal list --status all",
		"proposal show uuuuuuuuuuuu", "initiative show spring-sale --json", "proposal diff ssssssssssss",
		"prompt show plan --initiative spring-sale", "prompt show plan --initiative spring-sale --blocks",
	} {
		b := newBench(t)
		told(b)
		b.outTTY, b.env["NO_COLOR"] = true, "1"
		if code := b.execute(t.Context(), strings.Fields(line)); code != 0 {
			t.Errorf("cw %s: exit %d: %s", line, code, b.stderr)
		}
		if strings.ContainsRune(b.stdout.String(), '\x1b') {
			t.Errorf("cw %s prints a control sequence:\n%q", line, b.stdout)
		}
	}
}

// TestPageTreeLosesNothing: every page is drawn once, also one whose parent is
// not there, and pages that are below each other.
func TestPageTreeLosesNothing(t *testing.T) {
	t.Parallel()
	page := func(id, parent cw.PageID) cw.Document {
		return cw.Document{ID: id, ParentID: parent, Title: "of " + string(id)}
	}
	for _, pages := range [][]cw.Document{
		{page("a", ""), page("b", "a"), page("c", "b"), page("d", "gone")},
		{page("a", "b"), page("b", "a"), page("c", "c")},
		{page("b", "a"), page("a", "")},
	} {
		var b strings.Builder
		printTree(&b, paint{}, pageTree(pages))
		for _, d := range pages {
			if n := strings.Count(b.String(), "of "+string(d.ID)+"\n"); n != 1 {
				t.Errorf("%s is drawn %d times:\n%s", d.ID, n, &b)
			}
		}
	}
}
