package planning

import (
	"context"
	"encoding/json"
	"fmt"

	"cw/internal/cw"
	"cw/internal/tiptap"
)

// PageDocument implements cw.PageDocumentService.
func (m *Manager) PageDocument(ctx context.Context, id cw.PageID) (cw.EditorDocument, error) {
	d, err := m.PageByID(ctx, id)
	if err != nil {
		return cw.EditorDocument{}, err
	}
	return documentOf(ctx, d)
}

// EditPageDocument implements cw.PageDocumentService.
func (m *Manager) EditPageDocument(ctx context.Context, id cw.PageID, e cw.EditorEdit) (cw.EditorDocument, error) {
	doc, err := documentIn(e)
	if err != nil {
		return cw.EditorDocument{}, err
	}
	had, err := m.PageByID(ctx, id)
	if err != nil {
		return cw.EditorDocument{}, err
	}
	// A page of another revision is left as it is, so it does not matter what is
	// made of its text.
	body, err := tiptap.Rewrite(had.Body, doc)
	if err != nil {
		return cw.EditorDocument{}, err
	}
	d, err := m.EditPage(ctx, id, cw.PageEdit{Body: &body, Revision: e.Revision})
	if err != nil {
		return cw.EditorDocument{}, err
	}
	return documentOf(ctx, d)
}

// documentOf is a page as the editor has it.
func documentOf(ctx context.Context, d cw.Document) (cw.EditorDocument, error) {
	read, err := tiptap.Read(ctx, d.Body)
	if err != nil {
		return cw.EditorDocument{}, err
	}
	doc, err := json.Marshal(read)
	if err != nil {
		return cw.EditorDocument{}, fmt.Errorf("write the document of a page: %w", err)
	}
	return cw.EditorDocument{Page: d.ID, Revision: d.Revision, Document: doc}, nil
}

// documentIn is the editor's document in a request.
func documentIn(e cw.EditorEdit) (tiptap.Node, error) {
	if e.Revision <= 0 {
		return tiptap.Node{}, cw.Errorf(cw.CodeInvalid, "it is not said which revision was edited").
			WithHint("send the revision that came with the document")
	}
	return tiptap.Decode(e.Document)
}
