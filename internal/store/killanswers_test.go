package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

const killQuestions = 40 // of each group

// runAnswerer asks and answers until it is killed: each agent in turn is
// resumed, asks a group of questions, gets the answers in pairs, and is resumed
// with them. It says on stdout what was acknowledged: "<question> <answer>", and
// "r <run>" for a run that is intended.
func runAnswerer(dir string) error {
	ctx := context.Background() // a process of its own: nothing is above it
	db, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	for {
		ready, err := db.ReadyAgents(ctx)
		if err != nil {
			return err
		}
		for _, agent := range ready {
			if err := goOn(ctx, db, agent); err != nil {
				return err
			}
		}
		if err := askAndAnswer(ctx, db); err != nil {
			return err
		}
	}
}

// goOn intends the next run of an agent that is ready.
func goOn(ctx context.Context, db *DB, id cw.AgentID) error {
	agent, err := db.AgentByRef(ctx, string(id))
	if err != nil {
		return err
	}
	next := nextRun(id, agent.SessionNumber+1, "the answers")
	if err := db.IntendRun(ctx, next); err != nil {
		return err
	}
	fmt.Printf("r %s\n", next.Run.ID)
	return nil
}

// askAndAnswer ends the run of every agent that has one with questions, and
// answers all that are open.
func askAndAnswer(ctx context.Context, db *DB) error {
	runs, err := db.UnfinishedRuns(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Agent.Status == cw.StatusStarting {
			err := db.SaveRunning(ctx, cw.Running{AgentID: r.Agent.ID, RunID: r.Run.ID, OpID: r.Op.ID, Handle: []byte("{}")})
			if err != nil {
				return err
			}
		}
		f := cw.Finish{
			AgentID: r.Agent.ID, RunID: r.Run.ID, From: []cw.AgentStatus{cw.StatusRunning}, Status: cw.StatusWaitingForInput,
			Questions: questions(slices.Repeat([]string{"Which?"}, killQuestions)...),
		}
		if _, err := db.FinishRun(ctx, f); err != nil {
			return err
		}
	}
	page, err := db.QuestionPage(ctx, cw.QuestionFilter{PageQuery: cw.PageQuery{Limit: cw.PageMax}, Statuses: []cw.QuestionStatus{cw.QuestionOpen}})
	if err != nil {
		return err
	}
	for pair := range slices.Chunk(page.Items, 2) { // an agent may have an odd one left
		var given []cw.GivenAnswer
		for _, q := range pair {
			given = append(given, say(q.ID, "for "+string(q.ID)))
		}
		if _, err := db.AnswerQuestions(ctx, cw.Answering{Answers: given}); err != nil {
			return err
		}
		for _, g := range given {
			fmt.Printf("%s %s\n", g.QuestionID, g.Answer)
		}
	}
	return nil
}

// TestKilledAnswers kills a process that answers, again and again: what it was
// told is stored, pairs are there whole or not at all, and every answered group
// has at most one run after it.
func TestKilledAnswers(t *testing.T) {
	dir := t.TempDir()
	b := &bench{t: t, dir: dir}
	b.open()
	in := b.restingAgent("brave-otter", cw.StatusWaitingForInput, slices.Repeat([]string{"Which?"}, killQuestions)...)
	b.must(b.Close())
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	times := kills
	if testing.Short() {
		times = 4
	}
	acked, runs := map[string]string{}, map[string]bool{}
	for range times {
		killProcess(t, "answerer", dir, time.Duration(random.IntN(60)+1)*time.Millisecond, func(line string) {
			id, rest, _ := strings.Cut(line, " ")
			if id == "r" {
				runs[rest] = true
			} else {
				acked[id] = rest
			}
		})
		checkAnswers(t, dir, in.Agent.ID, acked, runs)
	}
	if len(acked) == 0 || len(runs) == 0 {
		t.Fatalf("%d answers and %d runs were acknowledged: the kills came too early to show anything", len(acked), len(runs))
	}
	t.Logf("%d answers, %d runs", len(acked), len(runs))
}

func checkAnswers(t *testing.T, dir string, agent cw.AgentID, acked map[string]string, runs map[string]bool) {
	t.Helper()
	db, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{DB: db, t: t, dir: dir}
	defer func() { b.must(db.Close()) }()
	var all []cw.Question
	b.must(db.state.read.Find(&all).Error)
	stored := map[string]string{}
	for _, q := range all {
		if q.Status == cw.QuestionAnswered {
			stored[string(q.ID)] = q.Answer
		}
	}
	for id, answer := range acked {
		if stored[id] != answer {
			t.Fatalf("question %s: acknowledged %q, stored %q", id, answer, stored[id])
		}
	}
	if len(stored)%2 != 0 { // answers come in pairs, and groups are even
		t.Fatalf("%d answers: half of a pair is stored", len(stored))
	}
	v := b.agent(string(agent))
	if groups := len(all) / killQuestions; len(v.Runs) > groups+1 || len(v.Runs) < groups || v.SessionNumber != len(v.Runs) {
		t.Fatalf("%d runs after %d groups, session %d", len(v.Runs), groups, v.SessionNumber)
	}
	for id := range runs {
		if !slices.ContainsFunc(v.Runs, func(r cw.Run) bool { return string(r.ID) == id }) {
			t.Fatalf("run %s was acknowledged and is gone", id)
		}
	}
}
