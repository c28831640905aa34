package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// scriptsVariable names the folder of the scripts to an actor.
const scriptsVariable = "ACTOR_SCRIPTS"

// script is what agents do whose prompt has certain words, or the files that
// their prompt names. Scripts are files *.json of one folder.
type script struct {
	Match []string `json:"match"`
	// Runs are the steps of an agent's first run, its second one and so on; the
	// last of them also of all that follow.
	Runs [][]step `json:"runs"`
}

// step is one thing that an actor does. One of its fields is set; those marked
// as told are also told on standard output as Claude Code tells them.
type step struct {
	Say   string     `json:"say,omitempty"`   // told
	Think string     `json:"think,omitempty"` // told
	Plan  []planItem `json:"plan,omitempty"`  // told: the whole list
	Tool  *toolCall  `json:"tool,omitempty"`  // told, and nothing is done
	Write *file      `json:"write,omitempty"` // told: a file of the worktree
	Sh    string     `json:"sh,omitempty"`    // told: run by sh; it may fail
	Quiet string     `json:"quiet,omitempty"` // run by sh and not told; a failure ends the actor
	Flood *flood     `json:"flood,omitempty"` // told
	Raw   string     `json:"raw,omitempty"`   // bytes for standard output, as they are
	Error string     `json:"error,omitempty"` // for standard error

	Ask    *cw.PeopleRequest       `json:"ask,omitempty"`    // told: asks people by a call, and waits
	Steps  *cw.PlanRequest         `json:"steps,omitempty"`  // makes the agent's own plan by a call, as its tool does
	Tell   *cw.AgentMessageRequest `json:"tell,omitempty"`   // gives another agent a text by a call, as its tool does
	Limit  *limit                  `json:"limit,omitempty"`  // told: how much of the account's window is used
	Cost   *cost                   `json:"cost,omitempty"`   // told: tokens and money
	Signal json.RawMessage         `json:"signal,omitempty"` // left as .cw/output/signal.json

	Sleep int    `json:"sleep,omitempty"` // milliseconds
	Wait  string `json:"wait,omitempty"`  // until a file of this name is in the folder of the scripts
	Hang  bool   `json:"hang,omitempty"`  // until it is killed
	Exit  *int   `json:"exit,omitempty"`  // ends the actor at once
}

type planItem struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress, completed
}

type toolCall struct {
	Name   string `json:"name"`
	Input  any    `json:"input"`
	Output string `json:"output"`
	Failed bool   `json:"failed,omitempty"`
	Takes  int    `json:"takes,omitempty"` // milliseconds between call and result
}

type file struct {
	Path string `json:"path"`
	Text string `json:"text"`
	Hide bool   `json:"hide,omitempty"` // it is not told
}

// flood is many events, evenly in time: PerSecond for Seconds, or Count at once.
type flood struct {
	PerSecond int `json:"perSecond,omitempty"`
	Seconds   int `json:"seconds,omitempty"`
	Count     int `json:"count,omitempty"`
}

type limit struct {
	Status  string  `json:"status"` // allowed_warning, rejected
	Kind    string  `json:"kind"`   // five_hour, seven_day
	Used    float64 `json:"used"`   // 0 to 1
	Minutes int     `json:"minutes"`
}

type cost struct {
	USD     float64 `json:"usd"`
	Input   int     `json:"input"`
	Output  int     `json:"output"`
	Context int     `json:"context"` // tokens in the context
}

// memory is what an actor knows of its agent from run to run: which script it
// follows, and how many runs of the agent followed it.
type memory struct {
	Script string `json:"script"`
	Runs   int    `json:"runs"`
}

// next gives the memory after a run with this prompt has begun. Of the scripts
// whose words are all there the one counts whose first word comes first: what is
// to be done stands before what others did. Without one the agent goes on with
// the script that it has.
func (m memory) next(scripts map[string]script, prompt string) (memory, error) {
	prompt = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(prompt)
	found, first := "", len(prompt)
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		if at := scripts[name].at(prompt); at >= 0 && at < first {
			found, first = name, at
		}
	}
	switch {
	case found == "" && m.Script == "":
		return m, errors.New("no script is for this prompt")
	case found == "" || found == m.Script:
		m.Runs++
	default:
		m = memory{Script: found, Runs: 1}
	}
	return m, nil
}

// steps are those of the run that has begun.
func (m memory) steps(scripts map[string]script) []step {
	runs := scripts[m.Script].Runs
	return runs[min(m.Runs, len(runs))-1]
}

// at is where the script's first word is in a prompt that has all of them; -1
// where one is missing.
func (s script) at(prompt string) int {
	if len(s.Runs) == 0 || len(s.Match) == 0 || slices.ContainsFunc(s.Match, func(word string) bool { return !strings.Contains(prompt, word) }) {
		return -1
	}
	return strings.Index(prompt, s.Match[0])
}

// readScripts reads all scripts of a folder, by name.
func readScripts(dir string) (map[string]script, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	out := map[string]script{}
	for _, name := range names {
		var s script
		if err := readJSON(name, &s); err != nil {
			return nil, err
		}
		out[filepath.Base(name)] = s
	}
	return out, nil
}

func readJSON(name string, into any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// begin gives the steps of a run of an agent, and remembers it. One agent has one
// run at a time.
func begin(dir, agent, prompt string) (steps []step, run int, err error) {
	scripts, err := readScripts(dir)
	if err != nil {
		return nil, 0, err
	}
	name := filepath.Join(dir, agent+".memory")
	var m memory
	if err := readJSON(name, &m); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	if m, err = m.next(scripts, prompt); err != nil {
		return nil, 0, err
	}
	data, err := json.Marshal(m)
	if err != nil { // plain fields always encode
		panic(err)
	}
	return m.steps(scripts), m.Runs, os.WriteFile(name, data, 0o600)
}
