package inbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// textMax is the length of the one line of an item, in bytes.
const textMax = 300

// Observed is what an inbox is made of, as of one moment.
type Observed struct {
	Only        string            // id or slug of an initiative; "": all
	Initiatives []cw.Initiative   // active ones
	Agents      []cw.AgentView    // that run, ask, crashed, are parked, or suggest
	Questions   []cw.QuestionView // open ones, oldest first
	Proposals   []cw.Proposal     // open ones, oldest first
	Dispatch    cw.DispatchStatus
}

// Items puts together what waits for a person: by kind, then those for which
// most tasks wait, then the oldest. What belongs to an archived initiative waits
// for nobody.
func Items(o Observed) []cw.InboxItem {
	m := &maker{
		o: o, agents: map[cw.AgentID]*cw.AgentView{}, tasks: map[cw.TaskID]*cw.DispatchTask{}, slugs: map[cw.InitiativeID]string{},
		merges: map[cw.TaskID]*cw.Merge{}, out: []cw.InboxItem{},
	}
	for i := range o.Agents {
		m.agents[o.Agents[i].ID] = &o.Agents[i]
	}
	for _, list := range [][]cw.DispatchTask{o.Dispatch.Running, o.Dispatch.Ready, o.Dispatch.Waiting} {
		for i := range list {
			m.tasks[list[i].ID] = &list[i]
		}
	}
	for i := range o.Dispatch.Merges {
		m.merges[o.Dispatch.Merges[i].TaskID] = &o.Dispatch.Merges[i]
	}
	for _, in := range o.Initiatives {
		if o.Only == "" || o.Only == in.Slug || o.Only == string(in.ID) {
			m.slugs[in.ID] = in.Slug
		}
	}
	m.questions()
	m.proposals()
	m.silent()
	m.limits()
	m.crashed()
	m.work()
	m.setUps()
	m.landings()
	order := map[cw.InboxKind]int{}
	for i, k := range cw.InboxKinds() {
		order[k] = i
	}
	slices.SortStableFunc(m.out, func(a, b cw.InboxItem) int {
		return cmp.Or(cmp.Compare(order[a.Kind], order[b.Kind]), cmp.Compare(b.Behind, a.Behind), a.Since.Compare(b.Since), cmp.Compare(a.Key, b.Key))
	})
	return m.out
}

type maker struct {
	o      Observed
	agents map[cw.AgentID]*cw.AgentView
	tasks  map[cw.TaskID]*cw.DispatchTask // that are not over
	merges map[cw.TaskID]*cw.Merge        // that are not merged
	slugs  map[cw.InitiativeID]string     // of those that are shown
	out    []cw.InboxItem
}

// add adds an item, unless it belongs to an initiative that is not shown.
func (m *maker) add(it cw.InboxItem) {
	if !m.shows(it.InitiativeID) {
		return
	}
	it.Initiative, it.Text = m.slugs[it.InitiativeID], line(it.Text)
	if it.Count == 0 {
		it.Count = 1
	}
	m.out = append(m.out, it)
}

// shows tells whether what belongs to an initiative is shown; "" is none.
func (m *maker) shows(id cw.InitiativeID) bool {
	_, active := m.slugs[id]
	return active || id == "" && m.o.Only == ""
}

// line is a text in one line.
func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > textMax {
		text = strings.ToValidUTF8(text[:textMax], "") + "…"
	}
	return text
}

// of fills in what is known of an agent, and of the task that it does.
func (m *maker) of(it cw.InboxItem, id cw.AgentID) cw.InboxItem {
	it.AgentID = id
	a := m.agents[id]
	if a == nil {
		return it
	}
	it.Agent, it.InitiativeID = a.Alias, a.InitiativeID
	if a.Activity != nil {
		it.Activity = a.Activity.State
	}
	if t := m.tasks[a.TaskID]; t != nil && t.AgentID == id {
		it = m.onTask(it, t)
	}
	return it
}

// onTask fills in what is known of a task.
func (m *maker) onTask(it cw.InboxItem, t *cw.DispatchTask) cw.InboxItem {
	it.TaskID, it.Task, it.InitiativeID, it.Behind = t.ID, t.Name, t.InitiativeID, t.Behind
	if it.AgentID == "" {
		it.AgentID, it.Agent = t.AgentID, t.Agent
	}
	return it
}

// questions makes one item of those that an agent asked at once.
func (m *maker) questions() {
	groups := map[cw.RequestID][]cw.QuestionView{}
	var order []cw.RequestID
	for _, q := range m.o.Questions {
		if groups[q.RequestID] == nil {
			order = append(order, q.RequestID)
		}
		groups[q.RequestID] = append(groups[q.RequestID], q)
	}
	for _, id := range order {
		asked := groups[id]
		slices.SortStableFunc(asked, func(a, b cw.QuestionView) int { return cmp.Compare(a.Seq, b.Seq) })
		it := m.of(cw.InboxItem{
			Key: "question:" + string(id), Kind: cw.InboxQuestion, Text: asked[0].Text, Count: len(asked), Since: asked[0].CreatedAt,
			Agent: asked[0].Agent, Hint: "cw agent answer " + asked[0].Agent,
		}, asked[0].AgentID)
		for _, q := range asked {
			it.QuestionIDs = append(it.QuestionIDs, q.ID)
			if q.CreatedAt.Before(it.Since) {
				it.Since = q.CreatedAt
			}
		}
		m.add(it)
	}
}

// proposals makes one item of those that an agent suggests.
func (m *maker) proposals() {
	groups := map[cw.AgentID][]cw.Proposal{}
	var order []cw.AgentID
	for _, p := range m.o.Proposals {
		if groups[p.AgentID] == nil {
			order = append(order, p.AgentID)
		}
		groups[p.AgentID] = append(groups[p.AgentID], p)
	}
	for _, id := range order {
		open := groups[id]
		it := m.of(cw.InboxItem{Key: "proposal:" + string(id), Kind: cw.InboxProposal, Text: proposed(open), Count: len(open), Since: open[0].CreatedAt}, id)
		it.InitiativeID, it.Hint = open[0].InitiativeID, "cw proposal list --agent "+cmp.Or(it.Agent, string(id))
		for _, p := range open {
			it.ProposalIDs = append(it.ProposalIDs, p.ID)
		}
		m.add(it)
	}
}

// proposed says what is suggested: the change when it is one, else how many of
// which.
func proposed(open []cw.Proposal) string {
	if len(open) == 1 {
		p := open[0]
		return fmt.Sprintf("%s %s: %s", p.Action, p.Target, p.Title)
	}
	counts := map[cw.ProposalTarget]int{}
	for _, p := range open {
		counts[p.Target]++
	}
	var parts []string
	for _, target := range cw.ProposalTargets() {
		switch n := counts[target]; n {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprintf("1 %s", target))
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", n, target))
		}
	}
	return strings.Join(parts, ", ") + ": " + open[0].Title + ", …"
}

// silent adds agents that gave no output for longer than they should need.
func (m *maker) silent() {
	for _, a := range m.o.Agents {
		if a.Status != cw.StatusRunning || a.Activity == nil || a.Activity.State != cw.ActivityStalled {
			continue
		}
		it := cw.InboxItem{
			Key: "stalled:" + string(a.ID), Kind: cw.InboxStalled, Text: "no output for a long time", Since: a.UpdatedAt, Hint: "cw agent logs " + a.Alias,
		}
		if last := a.Activity.LastAt; last != nil {
			it.Text, it.Since = "no output since "+last.Local().Format(time.TimeOnly), *last
		}
		m.add(m.of(it, a.ID))
	}
}

// limits adds one item for each account that holds agents, and for each budget
// that holds tasks.
func (m *maker) limits() {
	held := map[string][]cw.AgentView{}
	var order []string
	for _, a := range m.o.Agents {
		if a.Status != cw.StatusParked || !m.shows(a.InitiativeID) {
			continue
		}
		key := "limit:" + a.Provider + "/" + string(a.AccountID)
		if held[key] == nil {
			order = append(order, key)
		}
		held[key] = append(held[key], a)
	}
	for _, key := range order {
		m.add(m.parked(key, held[key]))
	}
	for _, g := range m.byReason(func(r cw.WaitReason) bool { return r.Code == cw.WaitBudget }) {
		m.add(g.item("budget", cw.InboxLimit))
	}
}

// parked tells about the agents that wait for an account. Those of one initiative
// are told with it, those of several belong to none.
func (m *maker) parked(key string, agents []cw.AgentView) cw.InboxItem {
	it := m.of(cw.InboxItem{}, agents[0].ID)
	it.Key, it.Kind, it.Count, it.Since, it.Until = key, cw.InboxLimit, len(agents), agents[0].UpdatedAt, agents[0].RetryAt
	it.AccountID, it.Hint = agents[0].AccountID, "cw account list"
	for i, a := range agents {
		it.Agents = append(it.Agents, a.Alias)
		if a.UpdatedAt.Before(it.Since) {
			it.Since = a.UpdatedAt
		}
		if a.RetryAt != nil && (it.Until == nil || a.RetryAt.Before(*it.Until)) {
			it.Until = a.RetryAt
		}
		if t := m.tasks[a.TaskID]; i > 0 && t != nil && t.AgentID == a.ID {
			it.Behind += t.Behind
		}
	}
	slices.Sort(it.Agents)
	account := agents[0].Provider
	if agents[0].AccountName != "" {
		account += "/" + agents[0].AccountName
	}
	it.Text = fmt.Sprintf("%s is at its limit; %s", account, counted(len(agents), "agent waits", "agents wait"))
	if it.Until != nil {
		it.Text += " until " + it.Until.Local().Format("Mon 15:04")
	}
	if len(agents) > 1 {
		it.AgentID, it.Agent, it.TaskID, it.Task = "", "", "", ""
		for _, a := range agents {
			if a.InitiativeID != agents[0].InitiativeID {
				it.InitiativeID = ""
			}
		}
	}
	return it
}

func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// crashed adds agents that crashed and with which nothing goes on by itself: one
// whose task is done by another agent, or is over, or is tried again, is none.
func (m *maker) crashed() {
	for _, a := range m.o.Agents {
		if a.Status != cw.StatusCrashed || a.DeletedAt != nil {
			continue
		}
		if t := m.tasks[a.TaskID]; a.TaskID != "" && (t == nil || t.AgentID != a.ID || t.Status != cw.TaskBlocked || m.merges[t.ID] != nil) {
			continue
		}
		text := cmp.Or(a.Error, strings.TrimSuffix("it crashed: "+string(a.Reason), ": "))
		it := m.of(cw.InboxItem{Key: "crashed:" + string(a.ID), Kind: cw.InboxCrashed, Text: text, Since: a.UpdatedAt, Hint: "cw agent show " + a.Alias}, a.ID)
		if it.TaskID != "" {
			it.Hint = "cw task show " + string(it.TaskID)
		}
		m.add(it)
	}
}

// work adds tasks at which a person decides, acts or looks, and those that cannot
// go on without one.
func (m *maker) work() {
	for _, t := range slices.Concat(m.o.Dispatch.Running, m.o.Dispatch.Waiting) {
		merge := m.merges[t.ID]
		it := m.onTask(cw.InboxItem{Since: t.Since}, &t)
		if merge != nil {
			it.MergeID = merge.ID
		}
		switch {
		case merge != nil && merge.AwaitsPerson():
			it.Key, it.Kind, it.Text, it.Hint = "checkpoint:"+string(t.ID), cw.InboxCheckpoint, "look at the result: "+t.Name, "cw task show "+string(t.ID)
		case t.Wait == nil && merge != nil && merge.WaitCode == cw.WaitProject:
			it.Key, it.Kind, it.Text, it.Hint = "merge:"+string(merge.ID), cw.InboxMerge, merge.Wait, "cw merge list "+t.Initiative
		case t.Wait == nil:
			continue
		case t.Wait.Code == cw.WaitPerson:
			it.Key, it.Kind, it.Text, it.Hint = "checkpoint:"+string(t.ID), cw.InboxCheckpoint, t.Name, t.Wait.Hint
		case t.Wait.Code == cw.WaitBlocked && merge != nil:
			it.Key, it.Kind, it.Text, it.Hint = "merge:"+string(merge.ID), cw.InboxMerge, t.Wait.Text, t.Wait.Hint
		case t.Wait.Code == cw.WaitBlocked && m.shownAs(cw.InboxCrashed, t.ID):
			continue
		case t.Wait.Code == cw.WaitBlocked:
			it.Key, it.Kind, it.Text, it.Hint = "blocked:"+string(t.ID), cw.InboxBlocked, t.Wait.Text, t.Wait.Hint
		default:
			continue
		}
		m.add(it)
	}
}

// shownAs tells whether a task is in an item of a kind already.
func (m *maker) shownAs(kind cw.InboxKind, task cw.TaskID) bool {
	return slices.ContainsFunc(m.out, func(it cw.InboxItem) bool { return it.Kind == kind && it.TaskID == task })
}

// setUps adds what tasks wait for that only a person can set up: trust in
// commands, a provider, a dependency that runs in a circle. An initiative that is
// held is held because somebody wants it.
func (m *maker) setUps() {
	held := map[cw.InitiativeID]bool{}
	for _, in := range m.o.Initiatives {
		held[in.ID] = in.Work.Hold
	}
	for _, g := range m.byReason(func(r cw.WaitReason) bool { return r.Code == cw.WaitProject || r.Code == cw.WaitCircle }) {
		if held[g.first.InitiativeID] {
			continue
		}
		m.add(g.item("project", cw.InboxProject))
	}
}

// group are tasks of one initiative that wait for the same.
type group struct {
	first cw.DispatchTask
	n     int
	since time.Time
}

func (g group) item(prefix string, kind cw.InboxKind) cw.InboxItem {
	return cw.InboxItem{
		Key: prefix + ":" + string(g.first.InitiativeID) + ":" + g.first.Wait.Text, Kind: kind, Text: g.first.Wait.Text, Hint: g.first.Wait.Hint,
		Count: g.n, Since: g.since, Behind: g.n, InitiativeID: g.first.InitiativeID,
	}
}

// byReason groups the waiting tasks whose reason is of some sort.
func (m *maker) byReason(wanted func(cw.WaitReason) bool) []*group {
	at := map[[2]string]*group{}
	var order []*group
	for _, t := range m.o.Dispatch.Waiting {
		if t.Wait == nil || !wanted(*t.Wait) {
			continue
		}
		key := [2]string{string(t.InitiativeID), t.Wait.Text}
		g := at[key]
		if g == nil {
			g = &group{first: t, since: t.Since}
			at[key] = g
			order = append(order, g)
		}
		g.n++
		if t.Since.Before(g.since) {
			g.since = t.Since
		}
	}
	return order
}

// landings adds initiatives that are done and whose work is not in the user's
// repositories yet.
func (m *maker) landings() {
	for _, in := range m.o.Dispatch.Landing {
		m.add(cw.InboxItem{
			Key: "landing:" + string(in.ID), Kind: cw.InboxLanding, Text: "every task is done: " + in.Slug + " can be landed", Hint: "cw merge " + in.Slug,
			InitiativeID: in.ID, Since: m.finished(in.ID),
		})
	}
}

// finished is when an initiative last changed, as far as that is known.
func (m *maker) finished(id cw.InitiativeID) time.Time {
	for _, in := range m.o.Initiatives {
		if in.ID == id {
			return in.UpdatedAt
		}
	}
	return time.Time{}
}
