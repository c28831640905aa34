package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// diffing notes which differences are asked for.
type diffing struct {
	cw.Services

	asked []cw.DiffRequest
}

func (d *diffing) give(req cw.DiffRequest) (cw.Diff, error) {
	d.asked = append(d.asked, req)
	return cw.Diff{Project: "shop"}, nil
}

func (d *diffing) Diff(_ context.Context, _ string, req cw.DiffRequest) (cw.Diff, error) {
	return d.give(req)
}

func (d *diffing) TaskDiff(_ context.Context, _ cw.TaskID, req cw.DiffRequest) (cw.Diff, error) {
	return d.give(req)
}

func (d *diffing) InitiativeDiff(_ context.Context, _ string, req cw.DiffRequest) (cw.Diff, error) {
	return d.give(req)
}

// TestDiffRequests: what of a difference is wanted arrives byte for byte, for all
// that has one, and no list of the answer is null.
func TestDiffRequests(t *testing.T) {
	t.Parallel()
	var asked *diffing
	d := startDaemon(t, func(o *api.Options) {
		asked = &diffing{Services: o.Services}
		o.Services = asked
	})
	own := plan(t, d, servicetest.PreparedAgent)
	person := d.client("")
	for _, req := range []cw.DiffRequest{
		{},
		{Project: "shop", Stat: true, Against: cw.AgainstHead},
		{Against: cw.AgainstBase, Paths: []string{"a,b", "-c", " d ", ":(glob)**", "caf\xe9", "\"q\"", "a&path=b", "%2e", "x\ny", "../x/../../a/../..b"}[:9]},
		{Paths: []string{"a", "a"}},
	} {
		for name, ask := range map[string]func() (cw.Diff, error){
			"agent":      func() (cw.Diff, error) { return person.Diff(t.Context(), servicetest.PreparedAgent, req) },
			"task":       func() (cw.Diff, error) { return person.TaskDiff(t.Context(), cw.TaskID(own["task"]), req) },
			"initiative": func() (cw.Diff, error) { return person.InitiativeDiff(t.Context(), own["initiative"], req) },
		} {
			asked.asked = nil
			got, err := ask()
			if diff := cmp.Diff([]cw.DiffRequest{req}, asked.asked); err != nil || diff != "" {
				t.Errorf("%s: %v, asked for (-want +got):\n%s", name, err, diff)
			}
			if got.Files == nil || got.Commits == nil || got.Uncommitted == nil {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
	asked.asked = nil
	for _, of := range []string{"/v1/agents/" + servicetest.PreparedAgent, "/v1/tasks/" + own["task"], "/v1/initiatives/" + own["initiative"]} {
		for query, status := range map[string]int{
			"against=heads": 400, "against=base&against=head": 400, "agianst=head": 400, "path=a&path=": 400, "path=/etc": 400, "path=a&path=..": 400, "path=a%00b": 400,
			"pathh=a": 400, "stat=maybe": 400, "path=a&path=b&stat=true": 200,
		} {
			if got := send(t, d, http.MethodGet, of+"/diff?"+query, "", nil); got.status != status {
				t.Errorf("%s?%s: %s, want %d", of, query, got, status)
			}
		}
	}
	if len(asked.asked) != 3 {
		t.Errorf("asked for %+v", asked.asked)
	}
}
