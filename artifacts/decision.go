package artifacts

import (
	"cw/internal/cw"
	"cw/internal/frontmatter"
)

// Decision is one thing that was decided, with its reasons.
type Decision struct {
	ID     string
	Title  string
	PageID cw.PageID // where it belongs; "": the first page
	Body   string    // Markdown
}

// DecisionFile gives the file of a decision.
func DecisionFile(d Decision) string {
	fields := []frontmatter.Field{textField(keyID, d.ID), textField(keyTitle, d.Title)}
	if d.PageID != "" {
		fields = append(fields, textField(keyPage, d.PageID))
	}
	return canonical(d.Body, fields...)
}

func readDecision(h *head) Decision {
	return Decision{ID: h.draft.ID, Title: h.title(), PageID: cw.PageID(h.id(keyPage)), Body: h.body()}
}
