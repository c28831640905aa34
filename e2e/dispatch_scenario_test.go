package e2e

import (
	"regexp"
	"slices"
	"strings"

	"cw/internal/cwtest/model"
)

// The scenarios of tasks that the dispatcher starts. What they begin from, what
// was done before them and with what they conflict, they know from the files they
// are given, from git and from the prompt.

// The bodies of the tasks: which of them an agent does is in its prompt alone.
const (
	firstTask  = goal
	secondTask = `Copy the sentence of the task before into farewell.txt, and put the sentence "Good night." behind it.`
)

// sideTask is one of two tasks that want different things of one line.
func sideTask(sentence string) string {
	return `In farewell.txt say "` + sentence + `" instead of "Good night.".`
}

// doesTasks plays the agent of any task of the initiative. Both that change the
// same line wait before their commit until other tells that the other one began,
// too: so they begin from the same commit.
func doesTasks(other <-chan struct{}) model.Scenario {
	return func(t *model.Turn) model.Reply {
		order := t.Told("task")
		switch {
		case strings.Contains(order, firstTask):
			return done(t)
		case strings.Contains(order, secondTask):
			t.RequireTags(executeTags...)
			return builds(t, order)
		case !began(t, "The signal."):
			t.RequireTags(executeTags...)
			return changes(t, order, other)
		}
		return resolves(t)
	}
}

// readsTasks is the command that reads the tasks around an agent's own.
func readsTasks(t *model.Turn) string {
	manifest := t.Find(t.Told("input_files"), `\.cw/input/manifest\.json`)
	folder := t.Find(t.Told("input_files"), "`(context/tasks/)`")
	return "set -e\ncat " + manifest + "\ncat .cw/input/" + folder + "*"
}

// builds does a task on top of what the one before it committed: the commit is in
// the summary that it left, and the sentence is in the worktree.
func builds(t *model.Turn, order string) model.Reply {
	file := t.Find(order, `into (\S+),`)
	switch t.Number() {
	case 1:
		return model.Say("What was before me?").Shell(readsTasks(t))
	case 2:
		before := t.Find(t.Output(), `(?s)status: done\n.*?summary: "?Committed ([0-9a-f]{40})`)
		return model.Say("Is it here?").Shell("git merge-base --is-ancestor " + before + " HEAD && git show --name-only --format= " + before + " && cat $(git show --name-only --format= " + before + ")")
	case 3:
		sentence := t.Find(t.Output(), `(?m)^([A-Z].*\.)$`)
		return model.Say("The file.").Write(file, sentence+" "+t.Find(order, `put the sentence "(.+?)"`)+"\n")
	case 4:
		t.Output()
		return model.Say("The commit.").Shell("git add " + file + " && git commit -qm 'Add " + file + "' && git rev-parse HEAD")
	case 5:
		return signalCommit(t)
	}
	return model.Say("Wrote " + file + ".")
}

// changes changes a line that another task changes, too.
func changes(t *model.Turn, order string, other <-chan struct{}) model.Reply {
	file, to, from := t.Find(order, `In (\S+) say`), t.Find(order, `say "(.+?)"`), t.Find(order, `instead of "(.+?)"`)
	switch t.Number() {
	case 1:
		return model.Say("What does it say?").Shell("cat " + file)
	case 2:
		t.Require(strings.Contains(t.Output(), from), "%s says %q", file, t.Output())
		return model.Say("The change.").Write(file, strings.Replace(t.Output(), from, to, 1)).Until(other)
	case 3:
		t.Output()
		return model.Say("The commit.").Shell("git add " + file + " && git commit -qm 'Say " + to + "' && git rev-parse HEAD")
	case 4:
		return signalCommit(t)
	}
	return model.Say("Changed " + file + ".")
}

// hunk is what a hand-back quotes of a conflict: what is on the branch, and what
// the agent made of the same lines.
var hunk = regexp.MustCompile(`(?m)^> <<<<<<< .*\n> (.+)\n> =======\n> (.+)\n> >>>>>>> .*$`)

// resolves merges the branch that the hand-back names, and keeps both sides of the
// lines that it quotes.
func resolves(t *model.Turn) model.Reply {
	t.RequireTags("handed_back", "new_run")
	told := t.Block("handed_back")
	branch := t.Find(told, "`git merge (cw/[a-z0-9-]+)`")
	file := t.Find(told, `(?m)^(\S+) \(contents\)$`)
	quoted := hunk.FindStringSubmatch(told)
	t.Require(quoted != nil, "the hand-back quotes no conflicting lines: %s", told)
	mine := t.Find(t.Told("task"), `say "(.+?)"`)
	for _, side := range quoted[1:] {
		t.Require(strings.HasPrefix(side, "Good morning. "), "the line %q is none of %s", side, file)
	}
	t.Find(quoted[1]+quoted[2], regexp.QuoteMeta(mine))
	// Both intents: its own, and that of the task that was merged.
	t.Find(told, `(?m)^What your task wants: Say `+regexp.QuoteMeta(mine)+`$`)
	t.Find(told, `(?m)^What is on the branch already: Say [A-Z]`)
	switch t.Number() {
	case 1:
		return model.Say("I merge it.").Shell("git merge " + branch + " > .cw/tmp/merge; cat " + file)
	case 2:
		for _, side := range quoted[1:] {
			t.Require(slices.Contains(strings.Split(t.Output(), "\n"), side), "%s does not say %q: %q", file, side, t.Output())
		}
		t.Require(strings.Contains(t.Output(), "<<<<<<< "), "there is no conflict: %q", t.Output())
		return model.Say("Both.").Shell("printf '%s\\n' '" + quoted[1] + "' '" + quoted[2] + "' > " + file)
	case 3:
		t.Output()
		return model.Say("The commit.").Shell("git add " + file + " && git commit -q --no-edit && git rev-parse HEAD && git rev-list --parents -n 1 HEAD")
	case 4:
		t.Find(t.Output(), `(?m)^[0-9a-f]{40} [0-9a-f]{40} [0-9a-f]{40}$`) // two parents
		return signalCommit(t)
	}
	return model.Say("Both are in.")
}

// withoutHunks plays a scenario as if a hand-back quoted nothing.
func withoutHunks(s model.Scenario) model.Scenario {
	quoted := regexp.MustCompile(`(?m)^> .*\n`)
	return func(t *model.Turn) model.Reply {
		req := *t.Request
		req.Conversation = slices.Clone(req.Conversation)
		for i, m := range req.Conversation {
			if m.Kind == model.KindPrompt && slices.Contains(model.Prompt(m.Text).Tags(), "handed_back") {
				req.Conversation[i].Text = quoted.ReplaceAllString(m.Text, "")
			}
		}
		twin := *t
		twin.Request = &req
		return s(&twin)
	}
}

// changing tells whether a request is of an agent that is about to say a sentence
// instead of another one.
func changing(r *model.Request, sentence string) bool {
	task, _ := r.Prompt().Block("task")
	return r.Number() == 2 && strings.Contains(task, sideTask(sentence))
}
