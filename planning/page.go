package planning

import (
	"context"
	"strings"

	"cw/internal/cw"
)

// CreatePage implements cw.DocumentService.
func (m *Manager) CreatePage(ctx context.Context, req cw.CreatePageRequest) (cw.Document, error) {
	i, err := m.store.InitiativeByRef(ctx, req.Initiative)
	if err != nil {
		return cw.Document{}, err
	}
	page := cw.Document{
		ID: cw.PageID(cw.NewID()), ParentID: req.ParentID, Title: strings.TrimSpace(req.Title), Body: req.Body,
		UpdatedBy: nameOf(cw.ActorOf(ctx)),
	}
	_, err = m.change(ctx, i.ID, func(p *plan) error {
		p.addPage(page, last)
		return nil
	})
	if err != nil {
		return cw.Document{}, err
	}
	return m.store.DocumentByID(ctx, page.ID)
}

// Pages implements cw.DocumentService.
func (m *Manager) Pages(ctx context.Context, initiative string) ([]cw.Document, error) {
	s, err := m.state(ctx, initiative)
	if err != nil {
		return nil, err
	}
	return withoutTexts(s.Pages, withoutPageText), nil
}

// PageByID implements cw.DocumentService.
func (m *Manager) PageByID(ctx context.Context, id cw.PageID) (cw.Document, error) {
	return m.store.DocumentByID(ctx, id)
}

// EditPage implements cw.DocumentService.
func (m *Manager) EditPage(ctx context.Context, id cw.PageID, e cw.PageEdit) (cw.Document, error) {
	_, err := m.changePage(ctx, id, func(p *plan, d *cw.Document) error {
		return p.editPage(d, e, nameOf(p.actor))
	})
	if err != nil {
		return cw.Document{}, err
	}
	return m.store.DocumentByID(ctx, id)
}

// RemovePage implements cw.DocumentService.
func (m *Manager) RemovePage(ctx context.Context, id cw.PageID) (cw.Document, error) {
	return m.changePage(ctx, id, func(p *plan, d *cw.Document) error {
		p.removePage(d, nameOf(p.actor))
		return nil
	})
}

func (m *Manager) changePage(ctx context.Context, id cw.PageID, rule func(*plan, *cw.Document) error) (cw.Document, error) {
	had, err := m.store.DocumentByID(ctx, id)
	if err != nil {
		return cw.Document{}, err
	}
	p, err := m.change(ctx, had.InitiativeID, func(p *plan) error {
		d := p.page(id)
		if d == nil {
			return p.noPage(id)
		}
		return rule(p, d)
	})
	if err != nil {
		return cw.Document{}, err
	}
	return *p.page(id), nil
}

// addPage adds a page at a place among its siblings, below the first page
// unless it says otherwise.
func (p *plan) addPage(d cw.Document, at int) {
	d.InitiativeID, d.Position = p.Initiative.ID, last
	if d.ParentID == "" {
		d.ParentID = p.Initiative.RootPageID
	}
	p.Pages = append(p.Pages, d)
	if at < last {
		_ = move(p, p.Pages, pageKind(), &p.Pages[len(p.Pages)-1], at) // at is never negative here
	}
}

func (p *plan) editPage(d *cw.Document, e cw.PageEdit, by string) error {
	if e.Revision != 0 && e.Revision != d.Revision {
		return cw.Errorf(cw.CodeRefused, "the page %q (%s) changed since: you edited revision %d, it is at revision %d now, by %s",
			d.Title, d.ID, e.Revision, d.Revision, d.UpdatedBy).
			WithHint("look at it with: cw page show %s; then make your change to that", d.ID)
	}
	had := *d
	set(&d.Title, e.Title)
	d.Title = strings.TrimSpace(d.Title)
	set(&d.Body, e.Body)
	if e.ParentID != nil {
		d.ParentID = p.above(d, *e.ParentID)
	}
	if d.ParentID != had.ParentID {
		p.moved[string(d.ID)], d.Position = true, last
	}
	if e.Position != nil {
		if err := move(p, p.Pages, pageKind(), d, *e.Position); err != nil {
			return err
		}
	}
	if d.Title != had.Title || d.Body != had.Body {
		d.UpdatedBy = by
	}
	return nil
}

// above gives the page below which one shall be: the first page when none is
// named, but nothing is above that one.
func (p *plan) above(d *cw.Document, named cw.PageID) cw.PageID {
	if named == "" && d.ID != p.Initiative.RootPageID {
		return p.Initiative.RootPageID
	}
	return named
}

// removePage removes a page; settle refuses what must stay.
func (p *plan) removePage(d *cw.Document, by string) {
	at := p.at
	d.DeletedAt, d.UpdatedBy = &at, by
}

// checkRemoval refuses to remove the first page, and one with pages below it.
func (p *plan) checkRemoval(d *cw.Document, below []*node) error {
	if d.ID == p.Initiative.RootPageID {
		return cw.Errorf(cw.CodeRefused, "%q (%s) is the first page of %s, which stays", d.Title, d.ID, p.Initiative.Slug).
			WithHint("empty it with: cw page edit %s --body -", d.ID)
	}
	if len(below) > 0 {
		return cw.Errorf(cw.CodeRefused, "the page %q (%s) has pages below it: %s", d.Title, d.ID, some(below)).
			WithHint("move or remove these first")
	}
	return nil
}

// checkPlace refuses a page above which there is none, or itself. That the one
// above goes is refused when that is looked at.
func (p *plan) checkPlace(d *cw.Document, tree graph) error {
	if d.ID == p.Initiative.RootPageID {
		if d.ParentID != "" {
			return cw.Errorf(cw.CodeRefused, "%q (%s) is the first page of %s, which stays above all others", d.Title, d.ID, p.Initiative.Slug).
				WithHint("move the others below it")
		}
		return nil
	}
	if tree[string(d.ParentID)] == nil {
		return p.noPage(d.ParentID)
	}
	if c := tree.circle([]string{string(d.ID)}); c != nil {
		return cw.Errorf(cw.CodeRefused, "the page %q (%s) would be below itself: %s", d.Title, d.ID, tree.way(c)).
			WithHint("move the page that shall be above it first")
	}
	return nil
}

func (p *plan) noPage(id cw.PageID) error {
	err := cw.Errorf(cw.CodeNotFound, "the initiative %s has no page %.60q", p.Initiative.Slug, string(id))
	var ids []string
	for _, d := range p.Pages {
		if d.DeletedAt == nil {
			ids = append(ids, string(d.ID))
		}
	}
	if near, ok := cw.Nearest(string(id), ids); ok {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("list its pages: cw page list %s", p.Initiative.Slug)
}

func withoutPageText(d *cw.Document) { d.Body = "" }
