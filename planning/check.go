package planning

import (
	"slices"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"
)

// check holds everything that changed against the rules. What was there before
// and did not change is not looked at, so that it never stands in the way.
func (p *plan) check() error {
	checks := []func() error{p.checkCounts, p.checkInitiative, p.checkPages, p.checkPhases, p.checkTasks, p.checkGraph}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkCounts refuses more of everything than an initiative may have.
func (p *plan) checkCounts() error {
	for _, c := range []struct {
		what           string
		had, has, most int
	}{
		{"pages", len(p.before.Pages), livePages(p.Pages), cw.InitiativePages},
		{"phases", len(p.before.Phases), len(p.Phases), cw.InitiativePhases},
		{"tasks", len(p.before.Tasks), len(p.Tasks), cw.InitiativeTasks},
		{"projects", len(p.before.Initiative.Projects), len(p.Initiative.Projects), cw.InitiativeProjects},
	} {
		if c.has > c.had && c.has > c.most {
			return cw.Errorf(cw.CodeInvalid, "the initiative would have %d %s, at most %d are taken", c.has, c.what, c.most).
				WithHint("make another initiative for the rest")
		}
	}
	return nil
}

func livePages(pages []cw.Document) int {
	n := 0
	for _, d := range pages {
		if d.DeletedAt == nil {
			n++
		}
	}
	return n
}

func (p *plan) checkInitiative() error {
	was, now := p.before.Initiative, p.Initiative
	if was.Name != now.Name {
		if err := checkName("initiative", now.Name); err != nil {
			return err
		}
	}
	if was.Goal != now.Goal {
		return checkBody("initiative", now.Goal)
	}
	return nil
}

func (p *plan) checkPages() error {
	tree := treeOf(p.Pages)
	below := tree.waiting()
	for _, s := range steps(p, p.before.Pages, p.Pages, pageKind()) {
		if s.now.DeletedAt != nil {
			if err := p.checkRemoval(s.now, below[string(s.now.ID)]); err != nil {
				return err
			}
			continue
		}
		if err := checkText("page", s.now.Title, s.now.Body); err != nil {
			return err
		}
		if err := p.checkPlace(s.now, tree); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) checkPhases() error {
	for _, s := range steps(p, p.before.Phases, p.Phases, phaseKind()) {
		if err := checkText("phase", s.now.Name, s.now.Body); err != nil {
			return err
		}
		if err := checkDependencies("phase", s.now.Name, len(s.now.DependsOn)); err != nil {
			return err
		}
		if s.was == nil || s.was.Status == s.now.Status {
			continue
		}
		if err := checkStatus("phase", s.now.Name, s.was.Status, s.now.Status, cw.PhaseTransitions()); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) checkTasks() error {
	for _, s := range steps(p, p.before.Tasks, p.Tasks, taskKind()) {
		if s.quiet {
			continue
		}
		if err := checkTask(*s.now); err != nil {
			return err
		}
		if err := p.checkHome(s.was, s.now); err != nil {
			return err
		}
		if s.was == nil || s.was.Status == s.now.Status {
			continue
		}
		if err := checkStatus("task", s.now.Name, s.was.Status, s.now.Status, cw.TaskTransitions()); err != nil {
			return err
		}
	}
	return nil
}

// checkTask refuses a task that breaks a limit, wherever it stands.
func checkTask(t cw.Task) error {
	if err := checkText("task", t.Name, t.Body); err != nil {
		return err
	}
	if err := checkDependencies("task", t.Name, len(t.DependsOn)); err != nil {
		return err
	}
	return cw.CheckTask(t)
}

// checkHome refuses work in a phase that is none, or is archived.
func (p *plan) checkHome(was, now *cw.Task) error {
	ph := p.phase(now.PhaseID)
	if ph == nil {
		return cw.Errorf(cw.CodeNotFound, "the initiative %s has no phase %.60q", p.Initiative.Slug, string(now.PhaseID)).
			WithHint("list its phases: cw phase list %s", p.Initiative.Slug)
	}
	moved := was == nil || was.PhaseID != now.PhaseID || was.Status != now.Status
	if moved && ph.Status == cw.PhaseArchived && now.Status != cw.TaskCancelled && now.Status != cw.TaskDone {
		return cw.Errorf(cw.CodeRefused, "the phase %q (%s) is archived", ph.Name, ph.ID).
			WithHint("take it out of the archive first: cw phase archive %s --undo", ph.ID)
	}
	return nil
}

func checkDependencies(what, name string, n int) error {
	if n > cw.DependenciesMax {
		return cw.Errorf(cw.CodeInvalid, "the %s %q depends on %d others, at most %d are taken", what, name, n, cw.DependenciesMax).
			WithHint("let it depend on the last ones of a chain; the others come before them anyway")
	}
	return nil
}

// checkStatus refuses a change of status that the table does not have.
func checkStatus[S ~string](what, name string, was, now S, table map[S][]S) error {
	if slices.Contains(table[was], now) {
		return nil
	}
	next := make([]string, len(table[was]))
	for i, s := range table[was] {
		next[i] = string(s)
	}
	return cw.Errorf(cw.CodeRefused, "the %s %q is %s and cannot become %s", what, name, string(was), string(now)).
		WithHint("it can become %s", strings.Join(next, ", "))
}

// checkText refuses names and texts that cannot be shown or are too long.
func checkText(what, name, body string) error {
	if err := checkName(what, name); err != nil {
		return err
	}
	return checkBody(what, body)
}

func checkName(what, name string) error {
	if !utf8.ValidString(name) {
		return notText("name", what)
	}
	return cw.CheckName(what, name)
}

func checkBody(what, body string) error {
	if !utf8.ValidString(body) || strings.ContainsRune(body, 0) {
		return notText("text", what)
	}
	return cw.CheckBody(what, body)
}

func notText(part, what string) error {
	return cw.Errorf(cw.CodeInvalid, "the %s of the %s is not plain UTF-8 text", part, what).WithHint("save it as UTF-8, without zero bytes")
}
