package store

import (
	"testing"

	"cw/internal/cw"
)

// TestTrust: it is of one content in one project, stored once, and goes with the
// project.
func TestTrust(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shop, other := b.addProject("shop"), b.addProject("other")
	told := len(b.toldEvents())
	save := func(p cw.ProjectID, digest, by string) error {
		return b.SaveTrust(t.Context(), cw.ProjectTrust{ProjectID: p, Digest: digest, TrustedBy: by}, event(cw.EventProjectTrusted, digest))
	}
	b.must(save(shop.ID, "one", "person"))
	b.must(save(shop.ID, "one", "somebody else"))
	b.must(save(shop.ID, "two", "person"))
	refuses(t, save("nosuchnosuch", "one", ""), cw.CodeNotFound, "nosuchnosuch")
	same(t, "events", len(b.toldEvents())-told, 2)
	for _, c := range []struct {
		project cw.ProjectID
		digest  string
		want    bool
	}{{shop.ID, "one", true}, {shop.ID, "two", true}, {shop.ID, "three", false}, {other.ID, "one", false}} {
		trust, found, err := b.TrustOf(t.Context(), c.project, c.digest)
		b.must(err)
		if found != c.want || found && (trust.TrustedBy != "person" || trust.TrustedAt.IsZero()) {
			t.Errorf("%s %s: %+v %t", c.project, c.digest, trust, found)
		}
	}
	for _, want := range []bool{true, false} {
		was, err := b.RevokeTrust(t.Context(), shop.ID, "one", event(cw.EventProjectUntrusted, "one"))
		b.must(err)
		same(t, "revoked", was, want)
	}
	if _, found, _ := b.TrustOf(t.Context(), shop.ID, "one"); found {
		t.Error("it is still trusted")
	}
	same(t, "events", len(b.toldEvents())-told, 3)
	b.must(b.RemoveProject(t.Context(), shop.ID, event(cw.EventProjectRemoved, "shop")))
	if _, found, _ := b.TrustOf(t.Context(), shop.ID, "two"); found {
		t.Error("what was trusted of a project outlives it")
	}
}
