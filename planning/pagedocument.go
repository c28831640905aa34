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
	body, err := bodyOf(e)
	if err != nil {
		return cw.EditorDocument{}, err
	}
	had, err := m.PageByID(ctx, id)
	if err != nil {
		return cw.EditorDocument{}, err
	}
	// Of the text that was edited: a later one is refused by its revision.
	if had.Revision == e.Revision {
		if _, whole, err := tiptap.Read(ctx, had.Body); err != nil {
			return cw.EditorDocument{}, err
		} else if !whole {
			return cw.EditorDocument{}, cw.Errorf(cw.CodeRefused, "the page %q (%s) has something that the editor cannot hold, such as HTML, or is too big for it", had.Title, id).
				WithHint("edit it as Markdown: cw page edit %s, or the field body of the page", id)
		}
	}
	d, err := m.EditPage(ctx, id, cw.PageEdit{Body: &body, Revision: e.Revision})
	if err != nil {
		return cw.EditorDocument{}, err
	}
	return documentOf(ctx, d)
}

// documentOf is a page as the editor has it.
func documentOf(ctx context.Context, d cw.Document) (cw.EditorDocument, error) {
	read, whole, err := tiptap.Read(ctx, d.Body)
	if err != nil {
		return cw.EditorDocument{}, err
	}
	doc, err := json.Marshal(read)
	if err != nil {
		return cw.EditorDocument{}, fmt.Errorf("write the document of a page: %w", err)
	}
	return cw.EditorDocument{Page: d.ID, Revision: d.Revision, Document: doc, MarkdownOnly: !whole}, nil
}

// bodyOf is the Markdown of an editor's document.
func bodyOf(e cw.EditorEdit) (string, error) {
	if e.Revision <= 0 {
		return "", cw.Errorf(cw.CodeInvalid, "it is not said which revision was edited").
			WithHint("send the revision that came with the document")
	}
	doc, err := tiptap.Decode(e.Document)
	if err != nil {
		return "", err
	}
	return tiptap.Markdown(doc)
}
