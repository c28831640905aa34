package store

import (
	"testing"

	"cw/internal/cw"
)

// TestPorts: ranges of worktrees that are there never overlap, those of
// worktrees that went are in nobody's way, and a spawn that is taken back leaves
// none.
func TestPorts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, two := intent("one", b.addProject("one")), intent("two", b.addProject("two"))
	b.must(b.IntendSpawn(t.Context(), one))
	b.must(b.IntendSpawn(t.Context(), two))
	save := func(in cw.SpawnIntent, first, count int) error {
		return b.SavePorts(t.Context(), cw.WorktreePorts{AgentID: in.Agent.ID, ProjectID: in.Worktrees[0].ProjectID, First: first, Count: count})
	}
	b.must(save(one, 20000, 3))
	b.must(save(one, 20001, 3)) // its own are not in its way
	for _, first := range []int{20000, 20001, 20003} {
		refuses(t, save(two, first, 2), cw.CodeRefused, "another worktree")
	}
	b.must(save(two, 20004, 2))
	inUse := func() []int {
		ports, err := b.PortsInUse(t.Context())
		b.must(err)
		var all []int
		for _, p := range ports {
			all = append(all, p.Numbers()...)
		}
		return all
	}
	same(t, "ports in use", inUse(), []int{20001, 20002, 20003, 20004, 20005})

	b.exec("UPDATE agent_worktrees SET state = 'removed' WHERE agent_id = ?", one.Agent.ID)
	same(t, "ports in use", inUse(), []int{20004, 20005})
	ports, err := b.PortsOf(t.Context(), one.Agent.ID)
	b.must(err)
	same(t, "ports of one", ports, []cw.WorktreePorts{{AgentID: one.Agent.ID, ProjectID: one.Worktrees[0].ProjectID, First: 20001, Count: 3}})
	b.must(save(two, 20003, 2))
	if ports, err = b.PortsOf(t.Context(), one.Agent.ID); err != nil || len(ports) > 0 {
		t.Errorf("ports that are another worktree's by now: %+v %v", ports, err)
	}
	b.must(b.AbortSpawn(t.Context(), two.Op.ID))
	same(t, "ports in use", len(inUse()), 0)
	refuses(t, save(two, 20000, 1), cw.CodeNotFound, "")
}
