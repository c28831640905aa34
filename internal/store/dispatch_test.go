package store

import (
	"testing"

	"cw/internal/cw"
)

// TestIntegrationByThree has a branch begun, merged onto and landed by callers
// that read its row before the others stored theirs: none takes back what another
// one stored.
func TestIntegrationByThree(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.fullInitiative(1, 1)
	task := b.stateOf(i.ID).Tasks[0]
	row := cw.Integration{InitiativeID: i.ID, ProjectID: "shop", Project: "shop", Branch: "cw/x", BaseBranch: "main", BaseCommit: "a", Head: "a"}
	b.must(b.BeginIntegration(t.Context(), row))
	landed, merged := row, row
	merged.Head = "b"
	m := cw.Merge{ID: cw.MergeID(cw.NewID()), InitiativeID: i.ID, TaskID: task.ID, Status: cw.MergeMerged}
	moved, err := b.MoveMerge(t.Context(), cw.MergeMove{Merge: m, Integrations: []cw.Integration{merged}})
	if err != nil || !moved {
		t.Fatal(moved, err)
	}
	landed.Landed, landed.LandedOn = "a", "main"
	b.must(b.LandIntegration(t.Context(), landed, event(cw.EventInitiativeLanded, "x")))
	merged.Head, m.ID = "c", cw.MergeID(cw.NewID())
	_, err = b.MoveMerge(t.Context(), cw.MergeMove{Merge: m, Integrations: []cw.Integration{merged}})
	b.must(err)
	b.must(b.BeginIntegration(t.Context(), row))
	rows, err := b.IntegrationsOf(t.Context(), i.ID)
	if err != nil || len(rows) != 1 || rows[0].Head != "c" || rows[0].Landed != "a" || rows[0].LandedOn != "main" || rows[0].BaseCommit != "a" {
		t.Errorf("%+v, %v", rows, err)
	}
}
