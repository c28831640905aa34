package live

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"cw/internal/cw"
)

// hold begins what a key asks for, and gives what delivers the reply.
func (p *player) hold(key rune) (deliver func()) {
	press := tea.KeyPressMsg{Code: key}
	if key != tea.KeyEnter {
		press.Text = string(key)
	}
	_, cmd := p.model.Update(press)
	return func() { p.update(cmd()) }
}

// settle takes what is under way.
func (p *player) settle() { p.take(tea.WindowSizeMsg{Width: 80, Height: 24}) }

// TestLateQuestions: who pressed a key twice, and typed meanwhile, keeps what was
// typed: the second reply opens nothing anew, and the first comes too late.
func TestLateQuestions(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		v := p.spawn("brave-otter")
		p.house.SignalQuestions(v.Alias, colour())
		p.look()
		p.press("1")
		first, second := p.hold(tea.KeyEnter), p.hold(tea.KeyEnter)
		first()
		p.settle()
		p.hides("brave-otter asks")
		second()
		p.settle()
		p.shows("brave-otter asks")
		p.press("o", "blue")
		first()
		second()
		p.settle()
		p.shows("blue▌")
		p.press("enter")
		p.shows("answered: brave-otter goes on")
		q, err := p.house.Questions(t.Context(), cw.QuestionFilter{})
		if err != nil || len(q.Items) != 1 || q.Items[0].Answer != "blue" {
			t.Errorf("the questions are %+v, %v", q.Items, err)
		}
	})
}

// TestEnterChoosesNothing: enter alone takes no option.
func TestEnterChoosesNothing(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		v := p.spawn("brave-otter")
		p.house.SignalQuestions(v.Alias, colour())
		p.look()
		p.press("1", "enter", "enter")
		p.shows("nothing is chosen yet", " 1 red", " 2 green")
		p.press("j")
		p.shows("▌1 red")
		p.press("enter")
		p.shows("answered: brave-otter goes on")
	})
}

// TestLateConfirm: what is to be confirmed never covers a line that is typed.
func TestLateConfirm(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		p.house.uncommitted = []string{"a.txt"}
		p.spawn("brave-otter")
		p.look()
		p.model.view.Agents[0].Projects = []cw.AgentWorktree{{Project: "shop"}}
		stop := p.hold('s')
		p.press("m", "hello ")
		stop()
		p.settle()
		p.press("you")
		p.shows("hello you▌")
		if p.press("esc"); p.model.view.Confirm != "" {
			t.Errorf("it asks %q", p.model.view.Confirm)
		}
		stop = p.hold('s')
		p.press("j")
		stop()
		p.settle()
		p.shows("nothing was stopped", "press s again")
		p.press("y")
		if a, err := p.house.Agent(t.Context(), "brave-otter"); err != nil || !a.Status.Alive() {
			t.Errorf("it is %s, %v", a.Status, err)
		}
		p.press("s")
		p.shows("Stop brave-otter?")
	})
}

// TestLateSheet: no text opens over what a person does meanwhile, and what is
// settled late closes no other text than its own.
func TestLateSheet(t *testing.T) {
	t.Parallel()
	play(t, func(p *player) {
		p.house.tasks["t1"] = cw.Task{ID: "t1", Name: "Migrate staging", Type: cw.TaskCheckpointAction, Body: "Run the migration."}
		p.house.waits = []cw.InboxItem{{Key: "t1", Kind: cw.InboxCheckpoint, TaskID: "t1", Task: "Migrate staging", Text: "to do"}}
		p.look()
		p.press("1")
		for _, key := range []string{"/", "?", "2"} {
			read := p.hold(tea.KeyEnter)
			p.press(key)
			read()
			p.settle()
			p.hides("Run the migration.")
			p.press("esc", "1")
		}
		p.press("enter")
		p.shows("Run the migration.")
		p.press("y")
		settled := p.hold('y')
		p.press("q", "?")
		settled()
		p.settle()
		if p.model.view.Sheet == nil {
			t.Error("the keys were closed")
		}
		if got := p.house.said(); got != "accept t1 " {
			t.Errorf("said %s", got)
		}
	})
}
