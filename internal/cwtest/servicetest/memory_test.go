package servicetest_test

import (
	"context"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asPerson makes the calls of a test those of a person, as a server does.
type asPerson struct{ *servicetest.Memory }

func (p asPerson) Whoami(ctx context.Context) (cw.Whoami, error) {
	return p.Memory.Whoami(cw.WithActor(ctx, cw.Actor{Kind: cw.ActorPerson}))
}

func TestMemory(t *testing.T) {
	t.Parallel()
	servicetest.Exercise(t, func(t *testing.T) servicetest.Fixture {
		m, f := servicetest.Prepared(t)
		f.Services = asPerson{m}
		return f
	})
}
