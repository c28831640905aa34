package live

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

func colour() cw.Question {
	return cw.Question{Text: "Which colour?", Options: []cw.QuestionOption{{Label: "red"}, {Label: "green"}}}
}

// TestAnswer: questions are answered in place, by number and in own words, and sent
// together after the last.
func TestAnswer(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		v := p.spawn("brave-otter")
		p.house.SignalQuestions(v.Alias, colour(), cw.Question{Text: "Which name?"})
		p.look()
		p.press("1", "enter")
		p.shows("brave-otter asks, 1 of 2", "Which colour?", "2 green")
		p.press("2", "enter")
		p.shows("brave-otter asks, 2 of 2", "Which name?")
		p.press("enter")
		p.shows("it offers no options; o answers in your own words")
		p.press("o", "Blue q", "backspace", "backspace")
		p.shows("Answer: Blue▌")
		p.press("enter")
		p.shows("answered: brave-otter goes on")
		p.hides("Which name?")
		qs, err := p.house.Questions(t.Context(), cw.QuestionFilter{})
		if err != nil || len(qs.Items) != 2 || qs.Items[0].Answer != "green" || qs.Items[1].Answer != "Blue" {
			t.Errorf("the questions are %+v, %v", qs.Items, err)
		}
	})
}

// TestAnsweredElsewhere: who was answered meanwhile is not asked for any longer,
// and the person is told.
func TestAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		v := p.spawn("brave-otter")
		p.house.SignalQuestions(v.Alias, colour())
		p.look()
		p.press("a")
		p.shows("brave-otter asks")
		q, err := p.house.Questions(t.Context(), cw.QuestionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.house.Answer(t.Context(), cw.AnswersRequest{Answers: map[cw.QuestionID]string{q.Items[0].ID: "red"}}); err != nil {
			t.Fatal(err)
		}
		p.press("2", "enter")
		p.hides("brave-otter asks")
		p.hides("answered: brave-otter goes on")
		if !p.model.view.Note.Bad {
			t.Errorf("nothing is said:\n%s", p.screen())
		}
	})
}

// TestStop: one agent with all work committed is stopped at once; else it is asked
// first, and no means no; several are asked for together.
func TestStop(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		for _, name := range []string{"brave-otter", "calm-heron", "tidy-mole"} {
			p.spawn(name)
		}
		status := func(name string) cw.AgentStatus {
			v, err := p.house.Agent(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			return v.Status
		}
		p.look()
		p.press("s")
		p.shows("Stopped brave-otter; what was written is kept")
		if got := status("brave-otter"); got != cw.StatusStopped {
			t.Errorf("it is %s", got)
		}
		p.look()
		p.press("j", "xx")
		p.shows("2 selected", "×calm-heron", "×tidy-mole")
		p.press("s")
		p.shows("Stop 2 agents?", "y yes")
		p.press("n")
		if status("calm-heron") != cw.StatusRunning {
			t.Error("no did not mean no")
		}
		p.press("s", "y")
		p.shows("Stopped calm-heron, tidy-mole")
		p.look()
		p.press("s")
		p.shows("nothing to stop")
	})
}

// TestStopAsks: work that is not committed is told of before.
func TestStopAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files, unknown int
		want           string
	}{
		{1, 0, "Stop brave-otter? 1 file is not committed; it stays."},
		{3, 0, "Stop brave-otter? 3 files are not committed; they stay."},
		{0, 1, "Stop brave-otter? What is not committed cannot be told; it stays."},
	} {
		if got := stopQuestion([]cw.AgentView{{Agent: cw.Agent{Alias: "brave-otter"}}}, c.files, c.unknown); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestMessage: a text goes to the selected agent, and letters do nothing else while
// it is typed.
func TestMessage(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		v := p.spawn("brave-otter")
		p.look()
		p.press("m")
		p.shows("Message to brave-otter, for its next run:")
		p.press("quit s")
		p.take(tea.PasteMsg{Content: "oon\nand well"})
		p.press("enter")
		p.shows("brave-otter has it in its next prompt")
		all, err := p.house.Messages(t.Context(), v.Alias, cw.PageQuery{})
		if err != nil || all.Items[len(all.Items)-1].Body != "quit soon and well" || p.quit {
			t.Errorf("messages %+v, %v", all.Items, err)
		}
	})
}

// TestNotSent: words that could not be sent are there again, and nothing else is
// sent in their place.
func TestNotSent(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		v := p.spawn("brave-otter")
		p.house.SignalQuestions(v.Alias, colour())
		p.look()
		away := func(away bool) {
			p.house.mu.Lock()
			defer p.house.mu.Unlock()
			p.house.away = away
		}
		away(true)
		p.press("m", "well done", "enter")
		p.shows("not done, the daemon was away: press the key again")
		p.press("a", "o", "blue", "enter")
		p.shows("not done, the daemon was away", "▌o blue")
		away(false)
		p.press("enter")
		p.shows("answered: brave-otter goes on")
		p.press("m")
		p.shows("well done▌")
		p.press("enter", "m")
		p.hides("well done")
		q, err := p.house.Questions(t.Context(), cw.QuestionFilter{})
		if err != nil || len(q.Items) != 1 || q.Items[0].Answer != "blue" {
			t.Errorf("the questions are %+v, %v", q.Items, err)
		}
		p.press("esc")
		p.house.SignalQuestions(v.Alias, colour())
		p.look()
		away(true)
		p.press("a", "o", "blue", "enter", "2")
		away(false)
		p.press("enter")
		if q, err = p.house.Questions(t.Context(), cw.QuestionFilter{}); err != nil || len(q.Items) != 2 || q.Items[0].Answer != "green" && q.Items[1].Answer != "green" {
			t.Errorf("the questions are %+v, %v", q.Items, err)
		}
	})
}

// TestProposals: what is read is what is accepted, also when the list changes
// meanwhile; a dismissal has its reason.
func TestProposals(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		for _, id := range []cw.ProposalID{"p1", "p2"} {
			p.house.proposals[id] = cw.ProposalView{Proposal: cw.Proposal{ID: id, Title: "Page " + string(id), Action: cw.ActionUpdate, Target: cw.TargetPage}, Diff: "+more"}
			p.house.waits = append(p.house.waits, cw.InboxItem{
				Key: string(id), Kind: cw.InboxProposal, Text: "suggests " + string(id), Count: 1, Agent: "sage-owl", ProposalIDs: []cw.ProposalID{id},
			})
		}
		p.look()
		p.press("1", "enter")
		p.shows("sage-owl suggests a change", "update page Page p1", "+more", "accept all")
		p.house.mu.Lock()
		p.house.waits = p.house.waits[1:]
		p.house.mu.Unlock()
		p.look()
		p.press("y", "y")
		p.shows("accepted")
		p.press("d", "too early", "enter")
		p.shows("dismissed")
		if got := p.house.said(); got != "accept p1; dismiss p2 too early" {
			t.Errorf("said %s", got)
		}
	})
}

// TestCheckpoints: a person says that something is done, that it is not, or decides
// what is asked.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		p.house.tasks["t1"] = cw.Task{ID: "t1", Name: "Migrate staging", Type: cw.TaskCheckpointAction, Body: "Run the migration."}
		p.house.tasks["t2"] = cw.Task{ID: "t2", Name: "Choose a colour", Type: cw.TaskCheckpointDecide, Questions: []cw.TaskQuestion{
			{ID: "q1", Text: "Which colour?", Options: []cw.QuestionOption{{Label: "red"}, {Label: "green"}}},
		}}
		for _, id := range []cw.TaskID{"t1", "t2"} {
			p.house.waits = append(p.house.waits, cw.InboxItem{Key: string(id), Kind: cw.InboxCheckpoint, TaskID: id, Task: p.house.tasks[id].Name, Text: "to do"})
		}
		p.look()
		p.press("1", "enter")
		p.shows("Run the migration.")
		p.press("y")
		p.shows("Is this done: Migrate staging?")
		p.press("y")
		p.press("d", "not yet", "enter")
		p.press("n", "a", "2", "enter")
		if got := p.house.said(); got != "accept t1 ; reject t1 not yet; accept t2 green" {
			t.Errorf("said %s", got)
		}
	})
}

// TestDiff: what an agent changed is read in front of the board.
func TestDiff(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		p.house.uncommitted = []string{"dust.txt"}
		p.spawn("brave-otter")
		p.look()
		p.model.view.Agents[0].Projects = []cw.AgentWorktree{{Project: "shop"}}
		p.press("r")
		p.shows("brave-otter changed since its base", "not committed: dust.txt", "+new line")
		p.press("q")
		p.shows("Agents 1")
		p.press("s")
		p.shows("Stop brave-otter? 1 file is not committed; it stays.")
	})
}

// TestLog: the log of the selected agent is followed, once the selection stays; it
// can be held, and an agent opened.
func TestLog(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		a, b := p.spawn("brave-otter"), p.spawn("calm-heron")
		p.house.Say(a.Alias, 1, "first words\n")
		p.house.Say(b.Alias, 1, "other words\n")
		p.look()
		p.pass(time.Second)
		p.shows("first words")
		p.press("f")
		p.house.Say(a.Alias, 1, "later words\n")
		p.pass(time.Second)
		p.shows("held, 1 new line")
		p.press("f")
		p.shows("later words", "following")
		p.press("j")
		p.pass(time.Second)
		p.shows("other words")
		p.hides("first words")
		p.press("enter")
		p.shows("Work on calm-heron", "q back")
		p.press("q")
		p.shows("Agents 2")
		if p.quit {
			t.Error("q quit from within")
		}
	})
}

// TestLost: figures stay with their age while the daemon is away.
func TestLost(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		p.spawn("brave-otter")
		p.look()
		p.shows("live")
		p.take(seen{err: cw.Errorf(cw.CodeUnreachable, "no daemon")})
		p.shows("Connection lost", "Trying again in 3 s. Agents go on working.", "as of", "brave-otter")
		p.pass(time.Second)
		p.shows("Trying again in 2 s.")
		p.take(seen{err: cw.Errorf(cw.CodeForbidden, "not for you").WithHint("ask the owner")})
		p.look()
		p.shows("live", "not for you; ask the owner")
	})
}

// TestNarrow: the filter narrows while it is typed, Esc widens again, groups go and
// come, keys are listed, and q quits.
func TestNarrow(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		p.spawn("brave-otter")
		p.spawn("calm-heron")
		p.look()
		p.press("/", "her")
		p.shows("calm-heron", "Agents 1")
		p.press("esc")
		p.shows("Agents 2")
		p.press("/", "otter", "enter")
		p.shows("Agents 1", "filter otter")
		p.press("esc")
		p.shows("Agents 2")
		p.press("esc")
		p.shows("q quits")
		p.press("g", "?")
		p.shows("Keys", "hold the log, or follow")
		p.press("q", "tab", "enter")
		p.press("q")
		if !p.quit {
			t.Error("it did not quit")
		}
	})
}

// TestElsewhere: what cannot be done here shows the command that does it.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		p.house.waits = []cw.InboxItem{{Key: "l", Kind: cw.InboxLanding, Text: "shop is done", Hint: "cw pr create shop"}}
		p.look()
		p.press("1", "y")
		p.shows("not from here: cw pr create shop")
		p.press("m")
		p.shows("no agent is behind this: cw pr create shop")
	})
}

// leaving are services of a daemon that goes away without an event.
type leaving struct {
	*servicetest.Memory

	gone atomic.Bool
}

func (l *leaving) Whoami(context.Context) (cw.Whoami, error) {
	if l.gone.Load() {
		return cw.Whoami{}, cw.Errorf(cw.CodeUnreachable, "no daemon")
	}
	return cw.Whoami{}, nil
}

// TestWatchMisses: a daemon that goes away is missed within seconds, though no event
// tells of it, and found again as soon.
func TestWatchMisses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &leaving{Memory: servicetest.NewMemory()}
		ctx, cancel := context.WithCancel(t.Context())
		looks := make(chan error, 100)
		over := make(chan error)
		go func() {
			over <- Watch(ctx, l, func(ctx context.Context) error {
				_, err := l.Whoami(ctx)
				looks <- err
				return err
			})
		}()
		time.Sleep(Quiet / 2)
		l.gone.Store(true)
		time.Sleep(Away + Every)
		l.gone.Store(false)
		time.Sleep(Away + Every)
		cancel()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
		close(looks)
		var seen []bool
		for err := range looks {
			if there := err == nil; len(seen) == 0 || seen[len(seen)-1] != there {
				seen = append(seen, there)
			}
		}
		if !slices.Equal(seen, []bool{true, false, true}) {
			t.Errorf("the daemon was there: %v", seen)
		}
	})
}

// TestWatchAlso: what agents do this second makes look only who asks for it.
func TestWatchAlso(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		also []cw.EventType
		want int
	}{{nil, 1}, {[]cw.EventType{cw.EventAgentActivity}, 2}} {
		synctest.Test(t, func(t *testing.T) {
			m := servicetest.NewMemory()
			ctx, cancel := context.WithCancel(t.Context())
			looks, over := 0, make(chan error)
			go func() {
				over <- Watch(ctx, m, func(context.Context) error { looks++; return nil }, tt.also...)
			}()
			synctest.Wait()
			m.Tell(cw.Event{Type: cw.EventAgentActivity})
			time.Sleep(Quiet / 2)
			cancel()
			if err := <-over; !errors.Is(err, context.Canceled) || looks != tt.want {
				t.Errorf("also %v: %d looks, want %d, %v", tt.also, looks, tt.want, err)
			}
		})
	}
}

// TestWatchEnds: another error than a daemon that is away ends a watch.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		if err := Watch(t.Context(), servicetest.NewMemory(), func(context.Context) error { return boom }); !errors.Is(err, boom) {
			t.Errorf("it ended with %v", err)
		}
	})
}
