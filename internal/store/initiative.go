package store

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// AddInitiative stores a new initiative with its first page, and gives it as it
// was stored. Its slug, that of its name when it has none, is numbered when it
// is taken. The events say that the actor of ctx made both.
func (db *DB) AddInitiative(ctx context.Context, i cw.Initiative, root cw.Document) (cw.Initiative, error) {
	var stored cw.Initiative
	err := db.change(ctx, "add initiative", func(t *tx) (err error) {
		stored, err = t.addInitiative(i, root, cw.ActorOf(ctx))
		return err
	})
	if err != nil {
		return cw.Initiative{}, err
	}
	return stored, nil
}

func (t *tx) addInitiative(i cw.Initiative, root cw.Document, by cw.Actor) (cw.Initiative, error) {
	slug, err := t.freeSlug(cmp.Or(i.Slug, cw.Slug(i.Name)))
	if err != nil {
		return i, err
	}
	i.Slug, i.RootPageID, i.Projects = slug, root.ID, orEmpty(i.Projects)
	i.Status = cmp.Or(i.Status, cw.InitiativeActive)
	root.InitiativeID, root.ParentID, root.Revision = i.ID, "", max(root.Revision, 1)
	for _, step := range []func() error{
		func() error { return t.Create(&i).Error },
		func() error { return t.setProjects(i.ID, i.Projects) },
		func() error { return t.Create(&root).Error },
	} {
		if err := step(); err != nil {
			return i, err
		}
	}
	return i, t.emit(
		cw.NewEvent(cw.EventInitiativeCreated, by, cw.InitiativeChanged{
			InitiativeID: i.ID, Name: i.Name, Slug: i.Slug, Status: i.Status,
		}).In(i.ID),
		cw.NewEvent(cw.EventPageCreated, by, cw.PageChanged{
			PageID: root.ID, Title: root.Title, Revision: root.Revision,
		}).In(i.ID))
}

// freeSlug gives a slug that no initiative has: the one that is wanted, or the
// first number behind it from 2 on that is free.
func (t *tx) freeSlug(want string) (string, error) {
	var like []string
	err := t.Model(&cw.Initiative{}).Where("slug >= ? AND slug < ?", want, want+"{").Pluck("slug", &like).Error // "{" comes after "z"
	if err != nil {
		return "", err
	}
	taken := make(map[string]bool, len(like))
	for _, slug := range like {
		taken[slug] = true
	}
	slug := want
	for n := 2; taken[slug]; n++ {
		slug = want + "-" + strconv.Itoa(n)
	}
	return slug, nil
}

// initiativeProject is a row of initiative_projects.
type initiativeProject struct {
	InitiativeID cw.InitiativeID
	ProjectID    cw.ProjectID
	Project      string
	Position     int
}

// setProjects stores all repositories of an initiative, in order.
func (t *tx) setProjects(id cw.InitiativeID, projects []cw.InitiativeProject) error {
	if err := t.Where("initiative_id = ?", id).Delete(&initiativeProject{}).Error; err != nil {
		return err
	}
	for at, p := range projects {
		row := initiativeProject{InitiativeID: id, ProjectID: p.ID, Project: p.Name, Position: at}
		if err := t.Create(&row).Error; err != nil {
			return fmt.Errorf("store project %s of an initiative: %w", p.Name, err)
		}
	}
	return nil
}

// InitiativePage gives one page of the initiatives, with their repositories.
// CodeInvalid as cw.InitiativeFilter.Start.
func (db *DB) InitiativePage(ctx context.Context, f cw.InitiativeFilter) (cw.Page[cw.Initiative], error) {
	start, err := f.Start()
	if err != nil {
		return cw.Page[cw.Initiative]{}, err
	}
	status := cw.InitiativeActive
	if f.Archived {
		status = cw.InitiativeArchived
	}
	var page cw.Page[cw.Initiative]
	err = db.query(ctx, "list initiatives", func(g *gorm.DB) (err error) {
		page, err = pageOf[cw.Initiative](g.Where("status = ?", status), start, initiativeColumn(start.Field))
		if err != nil {
			return err
		}
		if err := addProgress(g, page.Items); err != nil {
			return err
		}
		return addProjects(g, page.Items)
	})
	return page, err
}

// addProgress counts the tasks of initiatives.
func addProgress(g *gorm.DB, initiatives []cw.Initiative) error {
	var rows []struct {
		InitiativeID cw.InitiativeID
		cw.Progress
	}
	err := g.Model(&cw.Task{}).Select("initiative_id, count(*) AS tasks, sum(status = ?) AS done", cw.TaskDone).
		Where("initiative_id IN (SELECT value FROM json_each(?)) AND status <> ?", list(idsOf(initiatives)), cw.TaskCancelled).
		Group("initiative_id").Find(&rows).Error
	if err != nil {
		return err
	}
	of := make(map[cw.InitiativeID]*cw.Progress, len(rows))
	for i := range rows {
		of[rows[i].InitiativeID] = &rows[i].Progress
	}
	for i := range initiatives {
		initiatives[i].Progress = cmp.Or(of[initiatives[i].ID], &cw.Progress{})
	}
	return nil
}

func idsOf(initiatives []cw.Initiative) []cw.InitiativeID {
	ids := make([]cw.InitiativeID, len(initiatives))
	for i, in := range initiatives {
		ids[i] = in.ID
	}
	return ids
}

// initiativeColumn gives the column of a field of cw.InitiativeList.
func initiativeColumn(field string) string {
	switch field {
	case "updatedAt":
		return "updated_at"
	case "name":
		return "name"
	}
	return "created_at"
}

// addProjects reads the repositories of initiatives into them.
func addProjects(g *gorm.DB, initiatives []cw.Initiative) error {
	ids := idsOf(initiatives)
	var rows []initiativeProject
	err := g.Where("initiative_id IN (SELECT value FROM json_each(?))", list(ids)).Order("initiative_id, position").Find(&rows).Error
	if err != nil {
		return err
	}
	projects := make(map[cw.InitiativeID][]cw.InitiativeProject, len(ids))
	for _, r := range rows {
		projects[r.InitiativeID] = append(projects[r.InitiativeID], cw.InitiativeProject{ID: r.ProjectID, Name: r.Project})
	}
	for i := range initiatives {
		initiatives[i].Projects = orEmpty(projects[initiatives[i].ID])
	}
	return nil
}

// InitiativeByRef finds an initiative by id or slug, an archived one too.
// CodeNotFound, with the nearest slug as hint.
func (db *DB) InitiativeByRef(ctx context.Context, ref string) (cw.Initiative, error) {
	var i cw.Initiative
	err := db.query(ctx, "find initiative", func(g *gorm.DB) (err error) {
		i, err = initiativeByRef(g, ref)
		return err
	})
	return i, err
}

// initiativeByRef prefers an id to a slug.
func initiativeByRef(g *gorm.DB, ref string) (cw.Initiative, error) {
	for _, column := range []string{"id", "slug"} {
		var found [1]cw.Initiative
		switch is, err := one(g, &found[0], column+" = ?", ref); {
		case err != nil:
			return cw.Initiative{}, err
		case is:
			err := addProjects(g, found[:])
			return found[0], err
		}
	}
	return cw.Initiative{}, noInitiative(g, ref)
}

// noInitiative says that there is none, and which one was perhaps meant.
func noInitiative(g *gorm.DB, ref string) error {
	var slugs []string
	if err := g.Model(&cw.Initiative{}).Order("created_at DESC, id").Pluck("slug", &slugs).Error; err != nil {
		return err
	}
	missing := cw.Errorf(cw.CodeNotFound, "there is no initiative %.100q", ref)
	if len(slugs) == 0 {
		return missing.WithHint(`none is there; make one with: cw initiative create "what is to be reached"`)
	}
	if slug, ok := cw.Nearest(ref, slugs); ok {
		return missing.WithHint("did you mean %s? All initiatives: cw initiative list", slug)
	}
	return missing.WithHint("all initiatives: cw initiative list, and cw initiative list --archived")
}
