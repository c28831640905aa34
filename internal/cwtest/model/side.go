package model

import (
	"fmt"
	"regexp"
)

// side is a kind of request that a CLI makes beside its agent's work, and what
// satisfies it.
type side struct {
	name  string
	asks  *regexp.Regexp // in the system prompt, or in the latest prompt
	reply string
}

// sides are the kinds that are known of the CLIs that speak chat and gemini. The
// first two were seen in runs; the texts of the others stand in the programs.
var sides = []side{
	{"title", regexp.MustCompile(`^You are a title generator`), "Work on the task"}, // opencode
	{"router", regexp.MustCompile(`Task Routing AI[\s\S]*complexity_score`), // gemini without --model
		`{"complexity_reasoning": "A simple task.", "complexity_score": 10}`},
	{"summary", regexp.MustCompile(`^Summarize the user's primary intent or goal`), "Work on the task"}, // gemini
	{"who speaks next", regexp.MustCompile(`^Analyze \*only\* the content and structure of your immediately preceding response`),
		`{"reasoning": "The work is done.", "next_speaker": "user"}`}, // gemini, qwen
	{"title", regexp.MustCompile(`^Generate a concise, sentence-case title`), `{"title": "Work on the task"}`},                  // qwen
	{"recap", regexp.MustCompile(`^You generate session recaps`), "<recap>Work on the task</recap>"},                            // qwen
	{"memory", regexp.MustCompile(`^You are selecting memories`), `{"selected_memories": []}`},                                  // qwen
	{"memory", regexp.MustCompile(`^You are (?:now acting as the managed memory|performing a managed memory)`), "Nothing new."}, // qwen
	{"suggestion", regexp.MustCompile(`^\[SUGGESTION MODE`), ""},                                                                // qwen
	{"label", regexp.MustCompile(`^Write a short summary label`), "Worked"},                                                     // qwen
}

// judge tells the agent's own work from what the CLI asks beside it. Who offers
// no tools is not at work: what else it may want must be known, so that nothing
// is answered by a guess.
func (r *Request) judge() error {
	for _, s := range sides {
		if s.asks.MatchString(r.System) || s.asks.MatchString(string(r.Prompt())) {
			r.Side = s.name
			return nil
		}
	}
	if len(r.Tools) == 0 {
		return fmt.Errorf("a request without tools that is of no known kind: system %s, prompt %s",
			shorten(r.System), shorten(string(r.Prompt())))
	}
	return nil
}

// sideReply satisfies a side request. Of those that anthropic and responses know
// only a title is wanted, as JSON; of the others nobody reads the answer.
func sideReply(r *Request) Reply {
	for _, s := range sides {
		if s.name == r.Side && (s.asks.MatchString(r.System) || s.asks.MatchString(string(r.Prompt()))) {
			return Say(s.reply)
		}
	}
	return Say(`{"title": "Work on the task", "isNewTopic": false}`)
}
