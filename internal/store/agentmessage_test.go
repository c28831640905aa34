package store

import (
	"fmt"
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestMailbox: texts wait up to a number and a length, a repeated request stores
// nothing, and one that only a person may start again gets none.
func TestMailbox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	from, to := b.runningAgent("brave-otter").Agent.ID, b.runningAgent("calm-heron").Agent.ID
	send := func(key, body string) (cw.Message, bool, error) {
		return b.QueueAgentMessage(t.Context(), cw.Message{AgentID: to, SenderAgentID: from, RequestKey: key, Body: body}, event(cw.EventMessageQueued, "x"))
	}
	first, again, err := send("k", "one")
	if err != nil || again || first.Origin != cw.OriginAgent || first.Role != cw.RoleUser {
		t.Fatalf("%+v, %v, %v", first, again, err)
	}
	if same, again, err := send("k", "two"); err != nil || !again || same.ID != first.ID || same.Body != "one" {
		t.Errorf("again: %+v, %v, %v", same, again, err)
	}
	if found, ok, err := b.MessageByKey(t.Context(), from, "k"); err != nil || !ok || found.ID != first.ID {
		t.Errorf("by key: %+v, %v, %v", found, ok, err)
	}
	if _, ok, err := b.MessageByKey(t.Context(), to, "k"); err != nil || ok {
		t.Errorf("another's key: %v, %v", ok, err)
	}
	_, _, err = send("", strings.Repeat("x", cw.MailboxBytes-2))
	refuses(t, err, cw.CodeRefused, "wait for agent calm-heron")
	b.must(b.state.write.Exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO messages (id, agent_id, seq, role, body, created_at) SELECT 'm' || i, ?, i + 100, 'user', 'x', '2026-01-01' FROM n`, cw.MailboxMax, to).Error)
	_, _, err = send("", "one more")
	refuses(t, err, cw.CodeRefused, fmt.Sprint(cw.MailboxMax))
	b.must(b.state.write.Exec("UPDATE messages SET delivered_at = '2026-01-02' WHERE agent_id = ?", to).Error)
	b.must(b.state.write.Exec("UPDATE agents SET status = 'crashed' WHERE id = ?", to).Error)
	_, _, err = send("", "to nobody")
	refuses(t, err, cw.CodeRefused, "crashed")
}

// TestChildren: the rows decide about a new agent of an agent at the moment when
// it is stored.
func TestChildren(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shop := project("shop")
	b.must(b.AddProject(t.Context(), shop, event(cw.EventProjectAdded, "shop")))
	in := intent("brave-otter", shop)
	b.must(b.IntendSpawn(t.Context(), in))
	child := func(change func(*cw.SpawnIntent)) error {
		c := intent("child-"+cw.NewID(), shop)
		c.Agent.ParentID, c.Agent.Depth = in.Agent.ID, 1
		change(&c)
		return b.IntendSpawn(t.Context(), c)
	}
	plain := func(*cw.SpawnIntent) {}
	refuses(t, child(plain), cw.CodeRefused, "may not make agents")
	set := func(column string, value any) {
		b.must(b.state.write.Exec("UPDATE projects SET "+column+" = ?", value).Error)
	}
	set("agent_spawn", 1)
	bank := project("bank")
	b.must(b.AddProject(t.Context(), bank, event(cw.EventProjectAdded, "bank")))
	refuses(t, child(func(c *cw.SpawnIntent) { c.Worktrees[0].ProjectID = bank.ID }), cw.CodeForbidden, "its own projects")
	refuses(t, child(func(c *cw.SpawnIntent) { c.Worktrees = nil }), cw.CodeForbidden, "its own projects")
	refuses(t, child(func(c *cw.SpawnIntent) { c.Agent.InitiativeID = "other" }), cw.CodeForbidden, "initiative")
	if err := child(func(c *cw.SpawnIntent) { c.Agent.Depth = 0 }); err == nil {
		t.Error("a child of depth 0 was stored")
	}
	for range cw.ChildrenAlive {
		b.must(child(plain))
	}
	refuses(t, child(plain), cw.CodeRefused, "still work")
	for made := cw.ChildrenAlive; made < cw.ChildrenMax; made++ {
		b.must(b.state.write.Exec("UPDATE agents SET status = 'idle' WHERE parent_id <> ''").Error)
		b.must(child(plain))
	}
	b.must(b.state.write.Exec("UPDATE agents SET status = 'idle' WHERE parent_id <> ''").Error)
	refuses(t, child(plain), cw.CodeRefused, "as many as an agent may")
}
