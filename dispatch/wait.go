package dispatch

import (
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
)

// shownMax is how many names a reason tells.
const shownMax = 3

func reason(code cw.WaitCode, hint, format string, args ...any) *cw.WaitReason {
	return &cw.WaitReason{Code: code, Text: fmt.Sprintf(format, args...), Hint: hint}
}

func (d *decider) waitPhase(t *cw.Task) *cw.WaitReason {
	ph := d.g.phase(t.PhaseID)
	switch {
	case ph == nil:
		return reason(cw.WaitPhase, "", "its phase is not there any more")
	case ph.Status == cw.PhaseDraft:
		return reason(cw.WaitPhase, "approve it: cw phase approve "+string(ph.ID), "its phase %q is not approved", ph.Name)
	case ph.Status != cw.PhaseApproved && ph.Status != cw.PhaseRunning:
		return reason(cw.WaitPhase, "", "its phase %q is %s", ph.Name, ph.Status)
	}
	if d.g.inCircle(*t) {
		return reason(cw.WaitCircle, "take one of the dependencies away: cw task edit ID --depends-on …", "what comes before it waits for it")
	}
	for _, before := range ph.DependsOn {
		if !d.g.phaseOver(before) {
			name := string(before)
			if p := d.g.phase(before); p != nil {
				name = p.Name
			}
			return reason(cw.WaitPhase, "", "the phase %q comes first", name)
		}
	}
	return nil
}

func (d *decider) waitDependency(t *cw.Task) *cw.WaitReason {
	var names []string
	var tasks []cw.TaskID
	for _, id := range t.DependsOn {
		if on := d.g.task(id); on != nil && on.Status != cw.TaskDone {
			names, tasks = append(names, fmt.Sprintf("%q", on.Name)), append(tasks, id)
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	r := reason(cw.WaitDependency, "", "%s first", verb(names))
	r.Tasks = tasks
	return r
}

// verb says that some come first.
func verb(names []string) string {
	shown := names
	if len(names) > shownMax {
		shown = append(append([]string{}, names[:shownMax]...), fmt.Sprintf("%d more", len(names)-shownMax))
	}
	if len(names) == 1 {
		return shown[0] + " comes"
	}
	return strings.Join(shown[:len(shown)-1], ", ") + " and " + shown[len(shown)-1] + " come"
}

func (d *decider) waitPerson(t *cw.Task) *cw.WaitReason {
	if t.Status == cw.TaskBlocked { // a person has said no
		return nil
	}
	switch t.Type {
	case cw.TaskCheckpointDecide:
		return reason(cw.WaitPerson, fmt.Sprintf("cw task done %s --comment \"what was decided\"", t.ID), "a person has to decide")
	case cw.TaskCheckpointAction:
		return reason(cw.WaitPerson, "when it is done: cw task done "+string(t.ID), "a person has to do it")
	}
	return nil
}

func (d *decider) waitBlocked(t *cw.Task) *cw.WaitReason {
	if t.Status != cw.TaskBlocked {
		return nil
	}
	why, _, _ := strings.Cut(t.Blocked, "\n")
	if why == "" {
		why = "it is blocked"
	}
	return reason(cw.WaitBlocked, fmt.Sprintf("look: cw task show %[1]s; then: cw dispatch retry %[1]s", t.ID), "%s", why)
}

func (d *decider) waitProject(t *cw.Task) *cw.WaitReason {
	in := d.g.initiative(*t)
	if in.Work.Hold {
		return reason(cw.WaitProject, "let it go on: cw initiative edit "+in.Slug+" --hold=false", "the initiative %s is held", in.Slug)
	}
	if len(in.Projects) == 0 {
		return reason(cw.WaitProject, "give it one: cw initiative edit "+in.Slug+" --project PATH", "the initiative %s has no project", in.Slug)
	}
	for _, p := range in.Projects {
		if problem, there := d.w.Troubles[p.ID]; there {
			return reason(cw.WaitProject, problem.Hint, "%s", problem.Text)
		}
	}
	if problem := providerOf(d.w, *in).Problem; problem != nil {
		return reason(cw.WaitProject, problem.Hint, "%s", problem.Text)
	}
	return nil
}

func (d *decider) waitRetry(t *cw.Task) *cw.WaitReason {
	if t.RetryAt == nil || !t.RetryAt.After(d.w.Now) {
		return nil
	}
	why, _, _ := strings.Cut(t.Blocked, "\n")
	r := reason(cw.WaitRetry, "at once: cw dispatch retry "+string(t.ID), "it is tried again at %s: %s", clock(*t.RetryAt), why)
	r.Until = t.RetryAt
	return r
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }

func (d *decider) waitPaused(*cw.Task) *cw.WaitReason {
	switch d.w.State {
	case cw.DispatchPaused:
		return reason(cw.WaitPaused, "go on: cw dispatch resume", "dispatching is paused")
	case cw.DispatchDraining:
		return reason(cw.WaitPaused, "go on: cw dispatch resume", "dispatching drains: nothing new is started")
	}
	return nil
}

func (d *decider) waitPaths(i int) *cw.WaitReason {
	for _, p := range d.g.initiative(d.w.Tasks[i]).Projects {
		c := d.claims[p.ID]
		if c == nil {
			continue
		}
		found := c.find(d.pathsOf(i))
		if found < 0 {
			continue
		}
		other := &d.w.Tasks[found]
		r := reason(cw.WaitPaths, "", "%q touches the same files, and waits longer", other.Name)
		if working(other.Status) {
			r.Text = fmt.Sprintf("%q touches the same files, and is %s", other.Name, other.Status)
		} else if d.startedNow(other.ID) {
			r.Text = fmt.Sprintf("%q touches the same files, and is started first", other.Name)
		}
		r.Tasks = []cw.TaskID{other.ID}
		return r
	}
	return nil
}

func (d *decider) startedNow(id cw.TaskID) bool {
	for _, s := range d.out.Starts {
		if s.Task == id {
			return true
		}
	}
	return false
}

func (d *decider) waitBudget(t *cw.Task) *cw.WaitReason {
	in := d.g.initiative(*t)
	for _, id := range d.w.OverBudget {
		if id == in.ID {
			return reason(cw.WaitBudget, "set another: cw budget set initiative "+in.Slug+" USD", "the budget of the initiative %s is spent", in.Slug)
		}
	}
	return nil
}

func (d *decider) waitAccount(t *cw.Task) *cw.WaitReason {
	p := providerOf(d.w, *d.g.initiative(*t))
	if !p.Limited {
		return nil
	}
	r := reason(cw.WaitAccount, "see: cw account list", "every account of %s is at its limit", p.Name)
	if p.Until != nil {
		r.Text += " until " + clock(*p.Until)
		r.Until = p.Until
	}
	return r
}

func (d *decider) waitLimit(t *cw.Task) *cw.WaitReason {
	in := d.g.initiative(*t)
	p := providerOf(d.w, *in)
	l := d.w.Limits
	full := func(key, of string, n, most int) *cw.WaitReason {
		if most <= 0 || n < most {
			return nil
		}
		return reason(cw.WaitLimit, "another limit: cw config set dispatch."+key+" N", "%s %s, as many as may", agentsWork(n), of)
	}
	if r := full("machine", "on this machine", d.use.machine, l.Machine); r != nil {
		return r
	}
	if r := full("provider", "with "+p.Name, d.use.provider[p.Name], l.Provider); r != nil {
		return r
	}
	if r := full("initiative", "for "+in.Slug, d.use.initiative[in.ID], l.Initiative); r != nil {
		return r
	}
	for _, project := range in.Projects {
		if r := full("project", "in "+project.Name, d.use.project[project.ID], l.Project); r != nil {
			return r
		}
	}
	if _, free := d.use.account(l, p); !free {
		return reason(cw.WaitLimit, "another limit: cw config set dispatch.account N", "each account of %s has as many agents as may", p.Name)
	}
	return nil
}

func agentsWork(n int) string {
	if n == 1 {
		return "1 agent works"
	}
	return fmt.Sprintf("%d agents work", n)
}

func (d *decider) waitResources(t *cw.Task) *cw.WaitReason {
	if low := d.w.Room.DiskLow; low != "" {
		d.out.Pressure = low
		return reason(cw.WaitResources, "free some space: cw gc", "%s", low)
	}
	if d.w.Room.FreeMemory == 0 {
		return nil
	}
	p := providerOf(d.w, *d.g.initiative(*t))
	need := d.w.Room.peak(p.Name)
	if d.free >= need || d.use.machine == 0 { // alone it may always try
		return nil
	}
	text := fmt.Sprintf("%d MiB of memory are free beside what is kept, an agent of %s needs %d MiB", max(d.free, 0)>>20, p.Name, need>>20)
	d.out.Pressure = text
	return reason(cw.WaitResources, "", "%s", text)
}
