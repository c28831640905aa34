package main

import (
	"context"
	"errors"
	"strings"

	"cw/internal/cw"
)

// The nouns of initiatives, as hintNear knows them.
const (
	nounInitiative = "initiative"
	nounPage       = "page"
	nounPhase      = "phase"
	nounTask       = "task"
	nounProposal   = "proposal"
)

// nearInitiatives is in how many initiatives a mistyped id is looked for.
const nearInitiatives = 50

// hintNear adds to an error about a name that is none the one that was probably
// meant. It asks the daemon again, so it is for errors only.
func hintNear(ctx context.Context, svc cw.Services, err error, noun, ref string) error {
	var e *cw.Error
	if !errors.As(err, &e) || e.Code != cw.CodeNotFound || !strings.Contains(e.Message, ref) || strings.Contains(e.Hint, "did you mean") {
		return err
	}
	name, ok := cw.Nearest(ref, namesOf(ctx, svc, noun))
	if !ok || name == ref {
		return err
	}
	if e.Hint == "" {
		return e.WithHint("did you mean %s?", name)
	}
	hint := e.Hint
	if !strings.HasPrefix(hint, "cw ") {
		hint = strings.ToUpper(hint[:1]) + hint[1:]
	}
	return e.WithHint("did you mean %s? %s", name, hint)
}

// hintNamed is hintNear for whichever of these the error is about.
func hintNamed(ctx context.Context, svc cw.Services, err error, initiative, phase, task string) error {
	for _, named := range [][2]string{{nounInitiative, initiative}, {nounPhase, phase}, {nounTask, task}} {
		if named[1] != "" {
			err = hintNear(ctx, svc, err, named[0], named[1])
		}
	}
	return err
}

// namesOf lists what something can be called by; what cannot be read is left
// out.
func namesOf(ctx context.Context, svc cw.Services, noun string) []string {
	var names []string
	if noun == nounProposal {
		some, _ := allProposals(ctx, svc, cw.ProposalFilter{PageQuery: cw.PageQuery{Limit: cw.PageMax, Sort: "-createdAt"}})
		for _, p := range some {
			names = append(names, string(p.ID))
		}
		return names
	}
	for _, archived := range []bool{false, true} {
		some, _ := allInitiatives(ctx, svc, cw.InitiativeFilter{PageQuery: cw.PageQuery{Limit: nearInitiatives}, Archived: archived})
		for _, i := range some {
			if noun == nounInitiative {
				names = append(names, i.Slug, string(i.ID))
				continue
			}
			names = append(names, namesIn(ctx, svc, i.ID, noun)...)
		}
	}
	return names
}

// namesIn lists the ids of one noun in an initiative.
func namesIn(ctx context.Context, svc cw.Services, id cw.InitiativeID, noun string) []string {
	v, err := svc.Initiative(ctx, string(id))
	if err != nil {
		return nil
	}
	var names []string
	switch noun {
	case nounPage:
		for _, d := range v.Pages {
			names = append(names, string(d.ID))
		}
	case nounPhase:
		for _, ph := range v.Phases {
			names = append(names, string(ph.ID))
		}
	case nounTask:
		for _, t := range v.Tasks {
			names = append(names, string(t.ID))
		}
	}
	return names
}
