package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// phaseWhat says in errors what a command wants.
const phaseWhat = "a phase: its id"

func newPhaseCmd(a *app) *cobra.Command {
	return newGroupCmd("phase", "The phases of an initiative",
		newPhaseCreateCmd(a, nil), newPhaseListCmd(a, nil), newPhaseShowCmd(a, nil), newPhaseEditCmd(a, nil),
		newPhaseApproveCmd(a, nil), newPhaseArchiveCmd(a, nil))
}

// printPhase shows a phase without its text.
func (a *app) printPhase(ph cw.Phase) {
	p := a.paint(a.outTTY)
	a.printf("%s  %s\n", p.bold(oneLine(ph.Name)), phaseColour(ph.Status)(p, oneLine(string(ph.Status))))
	facts(a.out, "  ", [][2]string{
		{"id", string(ph.ID)},
		{"initiative", string(ph.InitiativeID)},
		{"position", fmt.Sprint(ph.Position)},
		{"after", oneLine(commaList(ph.DependsOn))},
		{"changed", clock(ph.UpdatedAt)},
	})
}

// editPhases changes phases one after the other and shows them.
func (a *app) editPhases(ctx context.Context, refs []string, e cw.PhaseEdit) ([]cw.Phase, error) {
	svc, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	done := []cw.Phase{}
	for _, ref := range refs {
		ph, err := svc.EditPhase(ctx, cw.PhaseID(ref), e)
		if err != nil {
			return done, hintNear(ctx, svc, err, nounPhase, ref)
		}
		done = append(done, ph)
		if !a.json {
			a.printPhase(ph)
		}
	}
	return done, nil
}

// setPhases sets the status of phases.
func (a *app) setPhases(ctx context.Context, refs []string, status cw.PhaseStatus) error {
	done, err := a.editPhases(ctx, refs, cw.PhaseEdit{Status: &status})
	if a.json && (err == nil || len(done) > 0) {
		if printErr := a.printJSON(done); err == nil {
			err = printErr
		}
	}
	return err
}
