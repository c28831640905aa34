package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// scriptsVariable names the folder of the scripts to an actor.
const scriptsVariable = "ACTOR_SCRIPTS"

// script is what agents do whose prompt has certain words. Scripts are files
// *.json of one folder, and the first in the order of their names counts whose
// words are all in the prompt.
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

	Ask    *cw.PeopleRequest `json:"ask,omitempty"`    // told: asks people by a call, and waits
	Limit  *limit            `json:"limit,omitempty"`  // told: how much of the account's window is used
	Cost   *cost             `json:"cost,omitempty"`   // told: tokens and money
	Signal json.RawMessage   `json:"signal,omitempty"` // left as .cw/output/signal.json

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

// stepsFor gives the steps of an agent's nth run, from 1.
func stepsFor(scripts []script, prompt string, n int) ([]step, error) {
	prompt = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(prompt)
	for _, s := range scripts {
		if len(s.Runs) == 0 || slices.ContainsFunc(s.Match, func(word string) bool { return !strings.Contains(prompt, word) }) {
			continue
		}
		return s.Runs[min(n, len(s.Runs))-1], nil
	}
	return nil, errors.New("no script is for this prompt")
}

// readScripts reads all scripts of a folder, in the order of their names.
func readScripts(dir string) ([]script, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []script
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var s script
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// countRun counts the runs of an agent, this one too, in a file beside the
// scripts. One agent has one run at a time.
func countRun(dir, agent string) (int, error) {
	f, err := os.OpenFile(filepath.Join(dir, agent+".runs"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.WriteString("."); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}
