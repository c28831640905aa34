package dispatch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cw/internal/cw"
)

// shownMax is how many names a reason tells.
const shownMax = 3

func reason(code cw.WaitCode, hint, format string, args ...any) *cw.WaitReason {
	return &cw.WaitReason{Code: code, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// phaseClosed tells why no task of a phase is started.
func phaseClosed(ph *cw.Phase) *cw.WaitReason {
	switch ph.Status {
	case cw.PhaseApproved, cw.PhaseRunning:
		return nil
	case cw.PhaseDraft:
		return reason(cw.WaitPhase, "approve it: cw phase approve "+string(ph.ID), "its phase %q is not approved", ph.Name)
	}
	return reason(cw.WaitPhase, "", "its phase %q is %s", ph.Name, ph.Status)
}

func (d *decider) waitPhase(i int) *cw.WaitReason {
	ph := d.g.phase[i]
	if ph == none {
		return reason(cw.WaitPhase, "", "its phase is not there any more")
	}
	return d.closed[ph]
}

func (d *decider) waitCircle(i int) *cw.WaitReason {
	if !d.g.inCircle(i) {
		return nil
	}
	return reason(cw.WaitCircle, "take one of the dependencies away: cw task edit ID --depends-on …", "what comes before it waits for it")
}

func (d *decider) waitPhases(i int) *cw.WaitReason {
	ph := d.g.phase[i]
	if d.later[ph] != nil {
		return d.later[ph]
	}
	for _, before := range d.g.phaseBefore[ph] {
		if !d.g.phaseOver(before) {
			d.later[ph] = d.phaseFirst(before)
			break
		}
	}
	return d.later[ph]
}

// phaseFirst says that a phase comes first, and what it takes where nothing of it
// would ever end by itself.
func (d *decider) phaseFirst(phase int32) *cw.WaitReason {
	p := &d.w.Phases[phase]
	switch {
	case p.Status == cw.PhaseDraft:
		return reason(cw.WaitPhase, "approve it: cw phase approve "+string(p.ID), "the phase %q comes first, and is not approved", p.Name)
	case d.g.all[phase] == 0:
		return reason(cw.WaitPhase, fmt.Sprintf("add one: cw task create --phase %[1]s NAME; or leave it out: cw phase edit %[1]s --status done", p.ID), "the phase %q comes first, and has no tasks", p.Name)
	case d.g.drafts[phase] == d.g.left[phase]:
		return reason(cw.WaitPhase, "accept or dismiss what suggests them: cw proposal list", "the phase %q comes first, and what is left of it are tasks that nobody accepted", p.Name)
	}
	return reason(cw.WaitPhase, "", "the phase %q comes first", p.Name)
}

func (d *decider) waitDependency(i int) *cw.WaitReason {
	first := 0
	for _, b := range d.g.before[i] {
		if d.w.Tasks[b].Status != cw.TaskDone {
			first++
		}
	}
	if first == 0 {
		return nil
	}
	r := &cw.WaitReason{Code: cw.WaitDependency}
	if d.startsOnly {
		return r
	}
	names := make([]string, 0, first)
	r.Tasks = make([]cw.TaskID, 0, first)
	for _, b := range d.g.before[i] {
		if t := &d.w.Tasks[b]; t.Status != cw.TaskDone {
			names, r.Tasks = append(names, strconv.Quote(t.Name)), append(r.Tasks, t.ID)
		}
	}
	r.Text = verb(names) + " first"
	return r
}

// verb says that some come first.
func verb(names []string) string {
	shown := names
	if more := len(names) - shownMax; more > 0 {
		shown = append(shown[:shownMax:shownMax], strconv.Itoa(more)+" more")
	}
	if len(shown) == 1 {
		return shown[0] + " comes"
	}
	last := len(shown) - 1
	return strings.Join(shown[:last], ", ") + " and " + shown[last] + " come"
}

func (d *decider) waitPerson(i int) *cw.WaitReason {
	t := &d.w.Tasks[i]
	if t.Status == cw.TaskBlocked { // a person has said no
		return nil
	}
	switch t.Type {
	case cw.TaskCheckpointDecide:
		if n := len(t.Questions); n > 0 {
			return reason(cw.WaitPerson, fmt.Sprintf("look: cw task show %[1]s; then: cw task done %[1]s --answer QUESTION=ANSWER", t.ID), "a person has to answer %s", counted(n, "question"))
		}
		return reason(cw.WaitPerson, fmt.Sprintf("cw task done %s --comment \"what was decided\"", t.ID), "a person has to decide")
	case cw.TaskCheckpointAction:
		return reason(cw.WaitPerson, "when it is done: cw task done "+string(t.ID), "a person has to do it")
	}
	return nil
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (d *decider) waitBlocked(i int) *cw.WaitReason {
	t := &d.w.Tasks[i]
	if t.Status != cw.TaskBlocked {
		return nil
	}
	why, _, _ := strings.Cut(t.Blocked, "\n")
	if why == "" {
		why = "it is blocked"
	}
	return reason(cw.WaitBlocked, fmt.Sprintf("look: cw task show %[1]s; then: cw dispatch retry %[1]s", t.ID), "%s", why)
}

// projectTrouble tells why nothing is started in the projects of an initiative.
func projectTrouble(w World, in *cw.Initiative, provider Provider) *cw.WaitReason {
	if in.Work.Hold {
		return reason(cw.WaitProject, "start it: cw initiative start "+in.Slug, "the initiative %s is held", in.Slug)
	}
	if len(in.Projects) == 0 {
		return reason(cw.WaitProject, "give it one: cw initiative edit "+in.Slug+" --project PATH", "the initiative %s has no project", in.Slug)
	}
	for _, p := range in.Projects {
		if problem, there := w.Troubles[p.ID]; there {
			return reason(cw.WaitProject, problem.Hint, "%s", problem.Text)
		}
	}
	if problem := provider.Problem; problem != nil {
		return reason(cw.WaitProject, problem.Hint, "%s", problem.Text)
	}
	return nil
}

func (d *decider) waitProject(i int) *cw.WaitReason { return d.groundOf(i).project }

func (d *decider) waitRetry(i int) *cw.WaitReason {
	t := &d.w.Tasks[i]
	if t.RetryAt == nil || !t.RetryAt.After(d.w.Now) {
		return nil
	}
	why, _, _ := strings.Cut(t.Blocked, "\n")
	r := reason(cw.WaitRetry, "at once: cw dispatch retry "+string(t.ID), "it is tried again at %s: %s", clock(*t.RetryAt), why)
	r.Until = t.RetryAt
	return r
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }

func (d *decider) waitPaused(int) *cw.WaitReason {
	switch d.w.State {
	case cw.DispatchPaused:
		return reason(cw.WaitPaused, "go on: cw dispatch resume", "dispatching is paused")
	case cw.DispatchDraining:
		return reason(cw.WaitPaused, "go on: cw dispatch resume", "dispatching drains: nothing new is started")
	}
	return nil
}

func (d *decider) waitPaths(i int) *cw.WaitReason {
	for _, p := range d.groundOf(i).in.Projects {
		c := d.claims[p.ID]
		if c == nil {
			continue
		}
		found := c.find(d.patternsIn(i, p))
		if found < 0 {
			continue
		}
		other, so := &d.w.Tasks[found], "waits longer"
		if working(other.Status) {
			so = "is " + string(other.Status)
		} else if d.startedNow(other.ID) {
			so = "is started first"
		}
		return &cw.WaitReason{Code: cw.WaitPaths, Text: strconv.Quote(other.Name) + " touches the same files, and " + so, Tasks: []cw.TaskID{other.ID}}
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

// budgetSpent tells whether an initiative has used up its budget.
func budgetSpent(w World, in *cw.Initiative) *cw.WaitReason {
	if !slices.Contains(w.OverBudget, in.ID) {
		return nil
	}
	return reason(cw.WaitBudget, "set another: cw budget set initiative "+in.Slug+" USD", "the budget of the initiative %s is spent", in.Slug)
}

func (d *decider) waitBudget(i int) *cw.WaitReason { return d.groundOf(i).budget }

// accountsLimited tells whether no account of a provider can be used.
func accountsLimited(p Provider) *cw.WaitReason {
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

func (d *decider) waitAccount(i int) *cw.WaitReason { return d.groundOf(i).account }

// full is the limit that an initiative has reached, as long as nothing more is
// started.
type full struct {
	reason *cw.WaitReason
	starts int // before it was found
}

func (d *decider) waitLimit(i int) *cw.WaitReason {
	f := &d.full[d.g.initiative[i]]
	if f.reason == nil || f.starts != len(d.out.Starts) {
		*f = full{d.reached(d.groundOf(i)), len(d.out.Starts)}
	}
	return f.reason
}

// reached finds a limit that lets no more agents work for an initiative.
func (d *decider) reached(on *ground) *cw.WaitReason {
	in, p, l := on.in, on.provider, d.w.Limits
	limit := func(key, of string, n, most int) *cw.WaitReason {
		if most <= 0 || n < most {
			return nil
		}
		return reason(cw.WaitLimit, "another limit: cw config set dispatch."+key+" N", "%s %s, as many as may", agentsWork(n), of)
	}
	if r := limit("machine", "on this machine", d.use.machine, l.Machine); r != nil {
		return r
	}
	if r := limit("provider", "with "+p.Name, d.use.provider[p.Name], l.Provider); r != nil {
		return r
	}
	if r := limit("initiative", "for "+in.Slug, d.use.initiative[in.ID], l.Initiative); r != nil {
		return r
	}
	for _, project := range in.Projects {
		if r := limit("project", "in "+project.Name, d.use.project[project.ID], l.Project); r != nil {
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

func (d *decider) waitResources(i int) *cw.WaitReason {
	r := d.w.Room.short(d.groundOf(i).provider.Name, d.free, d.use.machine == 0)
	if r != nil {
		d.out.Pressure = r.Text
	}
	return r
}
