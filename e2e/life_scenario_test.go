package e2e

import (
	"slices"
	"strings"

	"cw/internal/cwtest/model"
)

// The scenarios of agents with several runs. In a later run the prompt holds
// only what is new: the rest is in the session, or in the hand-over.

// began tells whether a run goes on with a session, in which a text must stand
// that the model said in an earlier run.
func began(t *model.Turn, said string) bool {
	if len(t.Earlier()) == 0 {
		return false
	}
	t.Require(slices.Contains(t.Earlier().Answers(), said), "the session does not know %q, only %q", said, t.Earlier().Answers())
	return true
}

// afterwards plays a first run, and does in the next one what a person wrote.
func afterwards(first model.Scenario, said string) model.Scenario {
	return func(t *model.Turn) model.Reply {
		if !began(t, said) {
			return first(t)
		}
		t.RequireTags("follow_up", "new_run")
		return work(t, t.Block("follow_up"))
	}
}

// asksFirst asks, and writes what it is answered behind the sentence of its
// task.
func asksFirst(t *model.Turn) model.Reply {
	if !began(t, "Something is unclear.") {
		return asks(t)
	}
	t.RequireTags("answers", "new_run")
	return workWith(t, t.Find(t.Block("answers"), `(?m)^The answer:\n\n> (.+)$`))
}

func workWith(t *model.Turn, answer string) model.Reply {
	return work(t, strings.Replace(t.Told("task"), `." into`, `. `+answer+`." into`, 1))
}

// takesOver asks, and goes on in a session that knows of it by the hand-over
// alone.
func takesOver(t *model.Turn) model.Reply {
	if slices.Equal(t.Prompt().Tags(), executeTags) {
		return asks(t)
	}
	t.RequireTags(append(slices.Clip(executeTags), "hand_over", "new_run")...)
	t.Require(len(t.Earlier()) == 0, "the session is not new")
	t.Find(t.Block("hand_over"), `Something is unclear\.`) // its own words
	return workWith(t, t.Find(t.Block("hand_over"), `(?m)^> The answer:\n> *\n> > (.+)$`))
}

// forgets does its task without a signal, and writes it when it is reminded.
func forgets(t *model.Turn) model.Reply {
	words := reminder(t)
	results := t.Current()[len(t.Current())-1].Kind == model.KindResults
	switch {
	case words == "" && t.Number() <= 3:
		return work(t, t.Told("task"))
	case words == "":
		t.Output()
		return model.Say("Wrote it.")
	case results:
		t.Output()
		return model.Say("Now there is a signal.")
	}
	return model.Say("The signal.").Write(t.Find(words, `\.cw/output/signal\.json`), encode(t, example(t, "done")))
}

// reminder is what the agent was told of its signal: by the hook that holds it
// in its run, or at the beginning of another one.
func reminder(t *model.Turn) string {
	if began(t, "Wrote it.") {
		t.RequireTags("missing_signal", "new_run")
		return t.Block("missing_signal")
	}
	for _, note := range slices.Backward(t.Current().Notes()) {
		if strings.Contains(note, "Do not stop yet") {
			return note
		}
	}
	return ""
}

// insists writes a signal that is none, and never another one. Whoever reminds
// it must say what is wrong.
func insists(t *model.Turn) model.Reply {
	const signal, words = `{"status":"finished"}`, "I am done, believe me."
	trouble := `"status" is "finished"`
	if began(t, words) {
		t.RequireTags("missing_signal", "new_run")
		t.Find(t.Block("missing_signal"), trouble)
		t.Find(t.Block("missing_signal"), `(?m)^> `+signal+`$`)
		trouble = "it is not there" // it was put away
	} else if t.Number() == 1 {
		return model.Say("The signal.").Write(signalOf(t), signal)
	}
	for _, note := range t.Current().Notes() {
		if strings.Contains(note, "Do not stop yet") {
			t.Find(note, trouble)
		}
	}
	return model.Say(words)
}

// leavesWork is done without a commit, and commits when it is asked to, what it
// finds where it is told to look.
func leavesWork(t *model.Turn) model.Reply {
	if !began(t, "Wrote it.") {
		switch t.Number() {
		case 1:
			return model.Say("The file.").Write(t.Find(t.Block("task"), `into (\S+)\.`), "Good morning.\n")
		case 2:
			t.Output()
			return model.Say("The signal.").Write(signalOf(t), encode(t, example(t, "done")))
		}
		return model.Say("Wrote it.")
	}
	t.RequireTags("commit_work", "new_run")
	switch t.Number() {
	case 1:
		folder := t.Find(t.Block("commit_work"), "(?m)^- `(.+)`$")
		return model.Say("I look.").Shell("cd " + folder + " && git status --short && git rev-parse --show-toplevel")
	case 2:
		file, dir := t.Find(t.Output(), `(?m)^\?\? (\S+)$`), t.Find(t.Output(), `(?m)^/.*$`)
		return model.Say("The commit.").Shell("cd " + dir + " && git add " + file + " && git commit -qm 'Add it' && git rev-parse HEAD")
	case 3:
		return signalCommit(t)
	}
	return model.Say("Committed.")
}

// hasNothingToDo is done without a word about why there is no commit, and says
// it when it is asked.
func hasNothingToDo(t *model.Turn) model.Reply {
	signal := example(t, "done")
	if began(t, "There was nothing.") {
		t.RequireTags("nothing_committed", "new_run")
		field := t.Find(t.Block("nothing_committed"), "again with `([a-zA-Z]+)`")
		signal = exampleLike(t, `\{"status":"done".*"`+field+`".*\}`)
	}
	if t.Number() == 1 {
		return model.Say("The signal.").Write(signalOf(t), encode(t, signal))
	}
	return model.Say("There was nothing.")
}

// drafts writes a draft, which it does not commit, and asks. In its next run it
// commits the draft.
func drafts(t *model.Turn) model.Reply {
	if !began(t, "Something is unclear.") {
		if t.Number() == 1 {
			return model.Say("A draft.").Write(t.Find(t.Block("task"), `into (\S+)\.`), "A draft.\n")
		}
		if t.Number() == 2 {
			t.Output()
			return model.Say("Something is unclear.").Write(signalOf(t), encode(t, example(t, "questions")))
		}
		return model.Say("I have to ask first.")
	}
	t.RequireTags("answers", "new_run")
	switch t.Number() {
	case 1:
		return model.Say("I look.").Shell("git status --short")
	case 2:
		file := t.Find(t.Output(), `(?m)^\?\? (\S+)$`)
		message := t.Find(t.Block("answers"), `(?m)^The answer:\n\n> (.+)$`)
		return model.Say("The commit.").Shell("git add " + file + " && git commit -qm '" + message + "' && git rev-parse HEAD")
	case 3:
		return signalCommit(t)
	}
	return model.Say("Committed.")
}
