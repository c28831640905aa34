package cw

import (
	"context"
	"time"
)

// Document is a page of an initiative; in Go it has another name, since Page is
// a piece of a list. Pages are a tree below the initiative's first page.
type Document struct {
	ID           PageID       `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	InitiativeID InitiativeID `json:"initiativeId" doc:"the initiative"`
	ParentID     PageID       `json:"parentId" doc:"the page above; empty for the first page"`
	Title        string       `json:"title" doc:"its heading, one line"`
	Body         string       `json:"body,omitempty" doc:"its text, Markdown; missing in lists"`
	Position     int          `json:"position" doc:"place among its siblings, from 0"`
	Revision     int          `json:"revision" doc:"1, and one more with each change of title or text"`
	UpdatedBy    string       `json:"updatedBy" doc:"who changed it last: a person, or the agent whose proposal was accepted"`
	DeletedAt    *time.Time   `json:"deletedAt,omitempty" doc:"when it was removed; missing while it is there"`
	CreatedAt    time.Time    `json:"createdAt" doc:"when it was made"`
	UpdatedAt    time.Time    `json:"updatedAt" doc:"when its row last changed"`
}

// TableName is the table of pages.
func (Document) TableName() string { return "pages" }

// CreatePageRequest makes a page.
type CreatePageRequest struct {
	Initiative string `json:"initiative" doc:"id or slug"`
	ParentID   PageID `json:"parentId,omitempty" doc:"the page above; default: the initiative's first page"`
	Title      string `json:"title" doc:"its heading, one line"`
	Body       string `json:"body,omitempty" doc:"its text, Markdown"`
}

// PageEdit changes a page. What is null stays.
type PageEdit struct {
	Title    *string `json:"title,omitempty" doc:"its heading, one line"`
	Body     *string `json:"body,omitempty" doc:"its text, Markdown"`
	ParentID *PageID `json:"parentId,omitempty" doc:"the page above from now on"`
	Position *int    `json:"position,omitempty" doc:"place among its siblings, from 0"`
	// Revision is the one that was edited: a page that has changed since is left
	// as it is. 0: whatever it is.
	Revision int `json:"revision,omitempty" doc:"the revision that was edited: a page that changed since is left as it is; default: whatever it is"`
}

// DocumentService is what faces may do with the pages of initiatives.
type DocumentService interface {
	// CreatePage makes one as the last of its siblings. CodeInvalid; CodeNotFound;
	// CodeRefused in an archived initiative.
	CreatePage(ctx context.Context, req CreatePageRequest) (Document, error)
	// Pages lists an initiative's pages without their texts, in the order of the
	// tree. CodeNotFound.
	Pages(ctx context.Context, initiative string) ([]Document, error)
	// PageByID gives one with its text. CodeNotFound.
	PageByID(ctx context.Context, id PageID) (Document, error)
	// EditPage changes one. CodeNotFound; CodeInvalid; CodeRefused when it changed
	// since PageEdit.Revision, in an archived initiative, and for a move below
	// itself, naming the way around.
	EditPage(ctx context.Context, id PageID, e PageEdit) (Document, error)
	// RemovePage removes one. CodeRefused for the first page and for one with
	// pages below it.
	RemovePage(ctx context.Context, id PageID) (Document, error)
}
