package artifacts

import (
	"cw/internal/cw"
	"cw/internal/frontmatter"
)

// PhaseFile gives the file of a phase. A position below 0 is left out.
func PhaseFile(p cw.Phase) string { return canonical(p.Body, phaseFields(p)...) }

// contextPhaseFile is the file of a phase for reading: with where it stands.
func contextPhaseFile(p cw.Phase) string {
	return canonical(p.Body, append(phaseFields(p), textField(keyStatus, p.Status))...)
}

func phaseFields(p cw.Phase) []frontmatter.Field {
	return append([]frontmatter.Field{
		textField(keyID, p.ID), textField(keyTitle, p.Name), listField(keyDependsOn, p.DependsOn),
	}, placeFields(p.Position)...)
}

func readPhase(h *head) cw.Phase {
	h.leaveOut(keyStatus)
	return cw.Phase{
		ID: cw.PhaseID(h.draft.ID), Name: h.title(), DependsOn: idList[cw.PhaseID](h, keyDependsOn),
		Position: h.position(), Body: h.body(),
	}
}
