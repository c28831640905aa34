package e2e

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"cw/internal/cwtest/model"
)

// executeTags is the order of the blocks that an execute agent is told.
var executeTags = []string{
	"role", "task", "input_files", "output_format", "id_generation", "signal_format", "session_startup",
	"execution_protocol", "anti_patterns", "scope_rules", "test_integrity", "deviation_rules", "git_workflow",
	"progress_tracking", "context_management", "definition_of_done", "workspace", "inter_agent_communication",
}

const goal = `Write the sentence "Good morning." into greeting.txt.`

// signalOf gives the path of the signal as the prompt tells it.
func signalOf(t *model.Turn) string {
	return t.Find(t.Told("signal_format"), `\.cw/output/signal\.json`)
}

// example takes the JSON that the prompt shows for a status, so that what the
// scenario writes is what the prompt taught.
func example(t *model.Turn, status string) map[string]any {
	return exampleLike(t, `\{"status":"`+status+`".*\}`)
}

// exampleLike takes the first example that a pattern matches.
func exampleLike(t *model.Turn, pattern string) map[string]any {
	line := t.Find(t.Told("signal_format"), `(?m)^`+pattern+`$`)
	var out map[string]any
	t.Require(json.Unmarshal([]byte(line), &out) == nil, "the example is no JSON: %s", line)
	return out
}

func encode(t *model.Turn, v any) string {
	data, err := json.Marshal(v)
	t.Require(err == nil, "encode: %v", err)
	return string(data)
}

// done does the task of the prompt.
func done(t *model.Turn) model.Reply {
	t.RequireTags(executeTags...)
	return work(t, t.Block("task"))
}

// work does an order: it edits, commits on the branch that the workspace block
// names, checks that cw knows it, signals and says goodbye.
func work(t *model.Turn, order string) model.Reply {
	sentence := t.Find(order, `"(.+)"`)
	file := t.Find(order, `into (\S+)\.`)
	branch := t.Find(t.Told("workspace"), `agent/[a-z0-9-]+`)
	dir := t.Find(t.Told("workspace"), "working directory is `([^`]+)`")
	id := t.Find(t.Told("workspace"), "id `([a-z2-7]{12})`")
	t.Require(t.Dir == "" || t.Dir == dir, "it is in %s, not in %s", t.Dir, dir)
	switch t.Number() {
	case 1:
		return model.Say("I look around.").Shell("cd " + dir + " && git rev-parse --abbrev-ref HEAD && cat .cw/input/manifest.json && cw id")
	case 2:
		t.Require(strings.HasPrefix(t.Output(), branch), "on %s, not on %s", t.Output(), branch)
		t.Find(t.Output(), `"agentId": "`+id+`"`)
		t.Find(t.Output(), `(?m)^[a-z2-7]{12}$`) // cw id
		return model.Say("First the file.").Write(file, sentence+"\n")
	case 3:
		t.Output()
		return model.Say("Now the commit.").Shell("git add " + file + " && git commit -qm 'Add " + file + "' && git rev-parse HEAD")
	case 4:
		return signalCommit(t)
	default:
		return model.Say("Wrote " + file + ".")
	}
}

// signalCommit signals the commit that the last command made.
func signalCommit(t *model.Turn) model.Reply {
	signal := example(t, "done")
	signal["result"] = "Committed " + t.Find(t.Output(), `[0-9a-f]{40}`)
	return model.Say("The signal.").Write(signalOf(t), encode(t, signal))
}

// asks signals a question as the prompt shows it.
func asks(t *model.Turn) model.Reply {
	if t.Number() > 1 {
		return model.Say("I have to ask first.")
	}
	return model.Say("Something is unclear.").Write(signalOf(t), encode(t, example(t, "questions")))
}

// givesUp signals an error.
func givesUp(t *model.Turn) model.Reply {
	if t.Number() > 1 {
		return model.Say("It cannot be done.")
	}
	signal := example(t, "error")
	signal["error"] = "there is no compiler"
	return model.Say("This cannot work.").Write(signalOf(t), encode(t, signal))
}

// without plays a scenario as if one block had not been in the prompt.
func without(tag string, s model.Scenario) model.Scenario {
	block := regexp.MustCompile(`(?ms)^<` + tag + `>.*?^</` + tag + `>\s*`)
	return func(t *model.Turn) model.Reply {
		req := *t.Request
		req.Conversation = slices.Clone(req.Conversation)
		for i, m := range req.Conversation {
			if m.Kind == model.KindPrompt {
				m.Text = block.ReplaceAllString(m.Text, "")
				req.Conversation[i] = m
			}
		}
		twin := *t
		twin.Request = &req
		return s(&twin)
	}
}

// slow answers the first request, with a tool call that takes long and leaves
// its session, and never the second one.
func slow(t *model.Turn) model.Reply {
	if t.Number() > 1 {
		return model.Say("Too late.").After(time.Minute)
	}
	return model.Say("This will take a while.").Shell("echo started > .cw/tmp/started; setsid sleep 300")
}
