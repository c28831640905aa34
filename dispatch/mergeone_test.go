package dispatch

import (
	"context"
	"testing"

	"cw/internal/cw"
)

// oneResult merges everything into the same commit.
type oneResult struct {
	Repos
	merged []string // the branches' heads
}

func (r *oneResult) File(context.Context, cw.Project, string) (cw.ProjectFileView, error) {
	return cw.ProjectFileView{}, nil
}

func (r *oneResult) Merge(_ context.Context, req MergeRequest) (MergeResult, error) {
	r.merged = append(r.merged, req.Onto)
	return MergeResult{Commit: "merged"}, nil
}

// TestTryAgain: of the parts of a merge that did not come to its end, one whose
// branch is where it was moved to counts as moved. One whose branch is somewhere
// else is merged again, whatever was stored of it: it would never be moved.
func TestTryAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		part             cw.MergePart
		head             string
		again            bool
		applied, checked bool
	}{
		"moved":                   {cw.MergePart{Onto: "base", Commit: "merged", Checked: true, Applied: true}, "merged", false, true, true},
		"moved, and not stored":   {cw.MergePart{Onto: "base", Commit: "merged", Checked: true}, "merged", false, true, true},
		"moved, and put back":     {cw.MergePart{Onto: "base", Commit: "merged", Checked: true, Applied: true}, "base", true, false, true},
		"moved, and other by now": {cw.MergePart{Onto: "base", Commit: "before", Checked: true, Applied: true}, "other", true, false, false},
		"never tried":             {cw.MergePart{}, "base", true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repos := &oneResult{}
			tt.part.ProjectID, tt.part.Head = "shop", "work"
			x := &merging{
				d: New(Config{Repos: repos}), m: cw.Merge{Parts: []cw.MergePart{tt.part}},
				rows: map[cw.ProjectID]cw.Integration{"shop": {Head: tt.head}}, proj: map[cw.ProjectID]cw.Project{"shop": {}},
			}
			if conflicts, err := x.try(t.Context()); err != nil || len(conflicts) > 0 {
				t.Fatal(conflicts, err)
			}
			got := x.m.Parts[0]
			if (len(repos.merged) == 1) != tt.again || got.Applied != tt.applied || got.Checked != tt.checked || got.Commit != "merged" {
				t.Errorf("merged onto %q: %+v", repos.merged, got)
			}
		})
	}
}

// branchStore has merges and branches.
type branchStore struct {
	Store
	merges []cw.Merge
	rows   []cw.Integration
}

func (s branchStore) MergesOf(context.Context, cw.InitiativeID) ([]cw.Merge, error) {
	return s.merges, nil
}

func (s branchStore) IntegrationsOf(context.Context, cw.InitiativeID) ([]cw.Integration, error) {
	return s.rows, nil
}

// TestMovedThere: cw moved a branch to where a checked merge that is not stored yet
// wants it, onto what is stored, and nowhere else.
func TestMovedThere(t *testing.T) {
	t.Parallel()
	part := cw.MergePart{ProjectID: "shop", Onto: "base", Commit: "merged", Checked: true}
	unchecked, onto, elsewhere := part, part, part
	unchecked.Checked, onto.Onto, elsewhere.ProjectID = false, "before", "docs"
	for name, tt := range map[string]struct {
		status cw.MergeStatus
		part   cw.MergePart
		head   string
		want   bool
	}{
		"being merged":         {cw.MergeChecking, part, "base", true},
		"held up":              {cw.MergeQueued, part, "base", true},
		"stored meanwhile":     {cw.MergeMerged, part, "merged", true},
		"long ago":             {cw.MergeMerged, part, "later", false},
		"let go":               {cw.MergeDismissed, part, "base", false},
		"not checked":          {cw.MergeChecking, unchecked, "base", false},
		"onto something else":  {cw.MergeChecking, onto, "base", false},
		"of another project":   {cw.MergeChecking, elsewhere, "base", false},
		"another one's commit": {cw.MergeChecking, cw.MergePart{ProjectID: "shop", Onto: "base", Commit: "x", Checked: true}, "base", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := New(Config{Store: branchStore{
				merges: []cw.Merge{{Status: tt.status, Parts: []cw.MergePart{tt.part}}}, rows: []cw.Integration{{ProjectID: "docs", Head: "x"}, {ProjectID: "shop", Head: tt.head}},
			}})
			if got, err := d.movedThere(t.Context(), "sale", "shop", "merged"); got != tt.want || err != nil {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
