package planning

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

func TestEditPage(t *testing.T) {
	t.Parallel()
	parent := func(name string) *cw.PageID { return to(id[cw.PageID](name)) }
	tests := []struct {
		name  string
		page  string
		edit  cw.PageEdit
		state cw.InitiativeState
		tree  string // title(revision) below one another, as it becomes
		code  cw.Code
		words []string
	}{
		{name: "nothing", page: "shop", tree: "root1(shop1(cart1 till1) stock1)"},
		{name: "title", page: "shop", edit: cw.PageEdit{Title: to(" Store "), Revision: 1}, tree: "root1(Store2(cart1 till1) stock1)"},
		{name: "the same title", page: "shop", edit: cw.PageEdit{Title: to("shop")}, tree: "root1(shop1(cart1 till1) stock1)"},
		{name: "text", page: "root", edit: cw.PageEdit{Body: to("")}, tree: "root2(shop1(cart1 till1) stock1)"},
		{name: "move is no revision", page: "cart", edit: cw.PageEdit{ParentID: parent("stock")}, tree: "root1(shop1(till1) stock1(cart1))"},
		{name: "move to the top", page: "cart", edit: cw.PageEdit{ParentID: to(cw.PageID(""))}, tree: "root1(shop1(till1) stock1 cart1)"},
		{name: "move to a place", page: "cart", edit: cw.PageEdit{ParentID: parent("root"), Position: to(1)}, tree: "root1(shop1(till1) cart1 stock1)"},
		{name: "first place", page: "stock", edit: cw.PageEdit{Position: to(0)}, tree: "root1(stock1 shop1(cart1 till1))"},
		{name: "a place behind the last", page: "shop", edit: cw.PageEdit{Position: to(99)}, tree: "root1(stock1 shop1(cart1 till1))"},
		{name: "a place before the first", page: "shop", edit: cw.PageEdit{Position: to(-1)}, code: cw.CodeInvalid, words: []string{"no place -1"}},
		{name: "an older revision", page: "shop", edit: cw.PageEdit{Title: to("x"), Revision: 3}, code: cw.CodeRefused,
			words: []string{"revision 3", "revision 1", "cw page show shopaaaaaaaa"}},
		{name: "below itself", page: "shop", edit: cw.PageEdit{ParentID: parent("shop")}, code: cw.CodeRefused,
			words: []string{`"shop" (shopaaaaaaaa) → "shop" (shopaaaaaaaa)`}},
		{name: "below what is below it", page: "shop", edit: cw.PageEdit{ParentID: parent("cart")}, code: cw.CodeRefused,
			words: []string{`"shop" (shopaaaaaaaa) → "cart" (cartaaaaaaaa) → "shop" (shopaaaaaaaa)`}},
		{name: "below nothing", page: "shop", edit: cw.PageEdit{ParentID: parent("stocj")}, code: cw.CodeNotFound, words: []string{"did you mean stockaaaaaaa"}},
		{name: "the first page below another", page: "root", edit: cw.PageEdit{ParentID: parent("cart")}, code: cw.CodeRefused, words: []string{"first page"}},
		{name: "no title", page: "shop", edit: cw.PageEdit{Title: to("  ")}, code: cw.CodeInvalid, words: []string{"no name"}},
		{name: "a title of two lines", page: "shop", edit: cw.PageEdit{Title: to("a\nb")}, code: cw.CodeInvalid},
		{name: "a long title", page: "shop", edit: cw.PageEdit{Title: to(strings.Repeat("é", cw.NameMax+1))}, code: cw.CodeInvalid, words: []string{"200"}},
		{name: "a title that is no text", page: "shop", edit: cw.PageEdit{Title: to("\xff")}, code: cw.CodeInvalid, words: []string{"UTF-8"}},
		{name: "a long text", page: "shop", edit: cw.PageEdit{Body: to(strings.Repeat("x", cw.BodyMax+1))}, code: cw.CodeInvalid, words: []string{"1048577"}},
		{name: "a text with zero bytes", page: "shop", edit: cw.PageEdit{Body: to("\x00")}, code: cw.CodeInvalid, words: []string{"UTF-8"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, _, err := settled(sale(), func(p *plan) error { return p.editPage(p.page(id[cw.PageID](tt.page)), tt.edit, "person") })
			wantError(t, err, tt.code, tt.words...)
			if err != nil {
				return
			}
			if got := tree(p.Pages, ""); got != tt.tree {
				t.Errorf("became %s, want %s", got, tt.tree)
			}
		})
	}
}

// tree writes the pages below one, in order.
func tree(pages []cw.Document, above cw.PageID) string {
	var below []cw.Document
	for _, d := range pages {
		if d.ParentID == above && d.DeletedAt == nil {
			below = append(below, d)
		}
	}
	slices.SortFunc(below, func(a, b cw.Document) int { return a.Position - b.Position })
	var out []string
	for i, d := range below {
		text := fmt.Sprintf("%s%d", d.Title, d.Revision)
		if sub := tree(pages, d.ID); sub != "" {
			text += "(" + sub + ")"
		}
		if d.Position != i {
			text += fmt.Sprintf("@%d", d.Position)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestRemovePage(t *testing.T) {
	t.Parallel()
	remove := func(name string) func(*plan) error {
		return func(p *plan) error { p.removePage(p.page(id[cw.PageID](name)), "person"); return nil }
	}
	p, c, err := settled(sale(), remove("cart"))
	wantError(t, err, "")
	if got := tree(p.Pages, ""); got != "root1(shop1(till1) stock1)" {
		t.Errorf("became %s", got)
	}
	if got := eventTypes(c); got != "page:removed" || len(c.Pages) != 2 || c.Pages[0].DeletedAt == nil {
		t.Errorf("events %s, pages %+v", got, c.Pages)
	}
	_, _, err = settled(sale(), remove("root"))
	wantError(t, err, cw.CodeRefused, "first page")
	_, _, err = settled(sale(), remove("shop"))
	wantError(t, err, cw.CodeRefused, `"cart" (cartaaaaaaaa), "till" (tillaaaaaaaa)`)
}

func TestAddPage(t *testing.T) {
	t.Parallel()
	p, c, err := settled(sale(), func(p *plan) error {
		p.addPage(cw.Document{ID: id[cw.PageID]("new"), Title: "new"}, last)
		p.addPage(cw.Document{ID: id[cw.PageID]("sub"), Title: "sub", ParentID: id[cw.PageID]("new")}, last)
		p.addPage(cw.Document{ID: id[cw.PageID]("top"), Title: "top"}, 0)
		return nil
	})
	wantError(t, err, "")
	if got := tree(p.Pages, ""); got != "root1(top1 shop1(cart1 till1) stock1 new1(sub1))" {
		t.Errorf("became %s", got)
	}
	if got := eventTypes(c); got != "page:created page:created page:created" {
		t.Errorf("pages that only make room are told: %s", got)
	}
	if len(c.Pages) != 5 {
		t.Errorf("%d rows, want the three and the two that made room", len(c.Pages))
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	full := sale(func(s *cw.InitiativeState) {
		for i := len(s.Pages); i < cw.InitiativePages; i++ {
			s.Pages = append(s.Pages, page(fmt.Sprint("p", i, "x"), "root", i))
		}
		for i := len(s.Phases); i < cw.InitiativePhases; i++ {
			s.Phases = append(s.Phases, phase(fmt.Sprint("f", i, "x"), i))
		}
		for i := len(s.Tasks); i < cw.InitiativeTasks; i++ {
			s.Tasks = append(s.Tasks, task(fmt.Sprint("t", i, "x"), "one", i-1))
		}
	})
	for what, rule := range map[string]func(*plan) error{
		"1001 pages": func(p *plan) error { p.addPage(cw.Document{ID: "new", Title: "new"}, last); return nil },
		"501 phases": func(p *plan) error { p.addPhase(cw.Phase{ID: "new", Name: "new"}, last); return nil },
		"5001 tasks": func(p *plan) error { p.addTask(cw.Task{ID: "new", Name: "new", PhaseID: p.Phases[0].ID}); return nil },
		"51 projects": func(p *plan) error {
			p.Initiative.Projects = make([]cw.InitiativeProject, cw.InitiativeProjects+1)
			return nil
		},
	} {
		_, _, err := settled(full, rule)
		wantError(t, err, cw.CodeInvalid, what, "another initiative")
	}
	_, c, err := settled(full, func(p *plan) error { return p.editTask(p.Tasks[0].ID, cw.TaskEdit{Body: to("more")}) })
	wantError(t, err, "")
	if len(c.Tasks) != 1 {
		t.Errorf("an edit in a full initiative changes %d tasks", len(c.Tasks))
	}
}
