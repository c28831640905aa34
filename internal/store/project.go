package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// namedMax is how many things an error names before it counts the rest.
const namedMax = 5

// AddProject stores a project. CodeRefused when its name, git directory, URL or
// mirror is another's.
func (db *DB) AddProject(ctx context.Context, p cw.Project, e cw.Event) error {
	return db.change(ctx, "add project", func(t *tx) error {
		var other cw.Project
		found, err := one(t.DB, &other, "name = ? OR mirror = ? OR (git_dir <> '' AND git_dir = ?) OR (remote_url <> '' AND remote_url = ?)",
			p.Name, p.Mirror, p.GitDir, p.RemoteURL)
		if err != nil {
			return err
		}
		if found {
			return projectTaken(p, other)
		}
		p.Stall, p.Fallback = cmp.Or(p.Stall, cw.StallEvent), orEmpty(p.Fallback)
		if err := t.Create(&p).Error; err != nil {
			return err
		}
		return t.emit(e)
	})
}

func projectTaken(p, other cw.Project) error {
	switch {
	case p.GitDir != "" && p.GitDir == other.GitDir, p.Remote() && p.RemoteURL == other.RemoteURL:
		return cw.Errorf(cw.CodeRefused, "the repository %s is already the project %s", p.Where(), other.Name)
	case p.Name == other.Name:
		return cw.Errorf(cw.CodeRefused, "the project name %s is taken by %s", p.Name, other.Where())
	}
	return cw.Errorf(cw.CodeRefused, "the mirror %s belongs to the project %s", p.Mirror, other.Name)
}

// Projects lists all projects by name.
func (db *DB) Projects(ctx context.Context) ([]cw.Project, error) {
	projects := []cw.Project{}
	err := db.query(ctx, "list projects", func(g *gorm.DB) error {
		return g.Order("name").Find(&projects).Error
	})
	return wholeProjects(projects), err
}

// ProjectPage gives one page of the projects. CodeInvalid as cw.List.Start.
func (db *DB) ProjectPage(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Project], error) {
	start, err := cw.ProjectList().Start(q)
	if err != nil {
		return cw.Page[cw.Project]{}, err
	}
	column := "name"
	if start.Field == "createdAt" {
		column = "created_at"
	}
	var page cw.Page[cw.Project]
	err = db.query(ctx, "list projects", func(g *gorm.DB) (err error) {
		page, err = pageOf[cw.Project](g, start, column)
		page.Items = wholeProjects(page.Items)
		return err
	})
	return page, err
}

// ProjectByRef finds a project by id, name, absolute path or URL. CodeNotFound.
func (db *DB) ProjectByRef(ctx context.Context, ref string) (cw.Project, error) {
	var p cw.Project
	err := db.query(ctx, "find project", func(g *gorm.DB) (err error) {
		p, err = projectByRef(g, ref)
		return err
	})
	return p, err
}

// wholeProjects gives projects whose lists are [] and never null: rows of an
// earlier cw have none.
func wholeProjects(projects []cw.Project) []cw.Project {
	for i := range projects {
		projects[i].Fallback = orEmpty(projects[i].Fallback)
	}
	return projects
}

// projectByRef prefers an id to a name, and a name to a path. A URL is looked for
// in the form in which it is stored.
func projectByRef(g *gorm.DB, ref string) (cw.Project, error) {
	var p cw.Project
	columns := []string{"id", "name", "path"}
	if remote, err := cw.ParseRemote(ref); err == nil {
		ref, columns = remote, []string{"remote_url"}
	}
	for _, column := range columns {
		found, err := one(g, &p, column+" = ?", ref)
		if err != nil || found {
			p.Fallback = orEmpty(p.Fallback)
			return p, err
		}
	}
	return p, cw.Errorf(cw.CodeNotFound, "there is no project %q", ref).WithHint("see: cw project list")
}

// ProjectByGitDir finds the project of a git directory, and tells whether
// there is one.
func (db *DB) ProjectByGitDir(ctx context.Context, gitDir string) (p cw.Project, found bool, err error) {
	err = db.query(ctx, "find project", func(g *gorm.DB) error {
		found, err = one(g, &p, "git_dir = ? AND git_dir <> ''", gitDir)
		p.Fallback = orEmpty(p.Fallback)
		return err
	})
	return p, found, err
}

// UpdateProjectPath stores where a repository is after it was moved.
// CodeNotFound; CodeRefused when the git directory is another project's.
func (db *DB) UpdateProjectPath(ctx context.Context, id cw.ProjectID, path, gitDir string) error {
	return db.change(ctx, "move project", func(t *tx) error {
		var other cw.Project
		taken, err := one(t.DB, &other, "git_dir = ? AND git_dir <> '' AND id <> ?", gitDir, id)
		if err != nil {
			return err
		}
		if taken {
			return cw.Errorf(cw.CodeRefused, "the repository %s is already the project %s", path, other.Name)
		}
		updated := t.Model(&cw.Project{}).Where("id = ?", id).Updates(map[string]any{"path": path, "git_dir": gitDir})
		return orMissing(updated, "project", string(id))
	})
}

// SetProject changes policies of a project and gives it as it is then; what is
// null stays. CodeNotFound, CodeInvalid as cw.ProjectSettings.Check.
func (db *DB) SetProject(ctx context.Context, id cw.ProjectID, s cw.ProjectSettings, e cw.Event) (cw.Project, error) {
	var p cw.Project
	if err := s.Check(); err != nil {
		return p, err
	}
	err := db.change(ctx, "set project", func(t *tx) error {
		found, err := one(t.DB, &p, "id = ?", id)
		if err != nil {
			return err
		}
		if !found {
			return cw.Errorf(cw.CodeNotFound, "there is no project %s", id).WithHint("see: cw project list")
		}
		if s.Stall != nil {
			p.Stall = *s.Stall
		}
		if s.AutoResume != nil {
			p.AutoResume = *s.AutoResume
		}
		if s.Fallback != nil {
			p.Fallback = *s.Fallback
		}
		if s.AgentSpawn != nil {
			p.AgentSpawn = *s.AgentSpawn
		}
		p.Fallback = orEmpty(p.Fallback)
		if err := t.Model(&p).Select("stall", "auto_resume", "fallback", "agent_spawn").Updates(&p).Error; err != nil {
			return err
		}
		return t.emit(e)
	})
	if err != nil {
		return cw.Project{}, err
	}
	return p, nil
}

// RemoveProject forgets a project. CodeRefused while agents use it: those that
// are not removed, and removed ones whose worktree is in the trash, because they
// can come back. CodeNotFound.
func (db *DB) RemoveProject(ctx context.Context, id cw.ProjectID, e cw.Event) error {
	return db.change(ctx, "remove project", func(t *tx) error {
		if err := t.checkUnused(id); err != nil {
			return err
		}
		if err := t.Where("project_id = ?", id).Delete(&cw.ProjectTrust{}).Error; err != nil {
			return err
		}
		if err := orMissing(t.Where("id = ?", id).Delete(&cw.Project{}), "project", string(id)); err != nil {
			return err
		}
		return t.emit(e)
	})
}

func (t *tx) checkUnused(id cw.ProjectID) error {
	var users, trashed []string
	for _, q := range []struct {
		where string
		names *[]string
	}{{"a.deleted_at IS NULL", &users}, {"a.deleted_at IS NOT NULL AND (w.state = 'trashed' OR w.keep_ref <> '')", &trashed}} {
		err := t.Raw(`SELECT a.alias FROM agents a JOIN agent_worktrees w ON w.agent_id = a.id
			WHERE w.project_id = ? AND `+q.where+` ORDER BY a.created_at DESC, a.rowid DESC`, id).Scan(q.names).Error
		if err != nil {
			return err
		}
	}
	switch {
	case len(users) > 0:
		return cw.Errorf(cw.CodeRefused, "the project is used by %s", naming(users)).
			WithHint("a project can be removed when no agent uses it; see: cw agent remove")
	case len(trashed) > 0:
		return cw.Errorf(cw.CodeRefused, "work of removed agents is still in the trash or in snapshots: %s", naming(trashed)).
			WithHint("a project can be removed when their time in the trash is over; see: cw agent list --removed")
	}
	return nil
}

// naming gives the first names, and how many more there are.
func naming(names []string) string {
	if len(names) <= namedMax {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namedMax], ", "), len(names)-namedMax)
}

// orMissing gives the error of a change that must have hit one row.
func orMissing(changed *gorm.DB, noun, id string) error {
	if changed.Error != nil {
		return changed.Error
	}
	if changed.RowsAffected == 0 {
		return cw.Errorf(cw.CodeNotFound, "there is no %s %s", noun, id)
	}
	return nil
}
