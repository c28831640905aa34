package artifacts

import (
	"cw/internal/cw"
	"cw/internal/frontmatter"
)

// PageFile gives the file of a page. The first page has no parent; a position
// below 0 is left out.
func PageFile(p cw.Document) string {
	fields := []frontmatter.Field{textField(keyID, p.ID), textField(keyTitle, p.Title)}
	if p.ParentID != "" {
		fields = append(fields, textField(keyParent, p.ParentID))
	}
	return canonical(p.Body, append(fields, placeFields(p.Position)...)...)
}

func readPage(h *head) cw.Document {
	return cw.Document{
		ID: cw.PageID(h.draft.ID), Title: h.title(), ParentID: cw.PageID(h.id(keyParent)),
		Position: h.position(), Body: h.body(),
	}
}
