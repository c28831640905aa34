package cw

import (
	"context"
	"time"
)

// Project is a git repository that cw works on.
type Project struct {
	ID        ProjectID `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	Name      string    `json:"name" doc:"unique; the folder's name, numbered when taken"`
	Path      string    `json:"path" doc:"absolute top level of the repository"`
	GitDir    string    `json:"gitDir" doc:"the repository's common git directory"`
	RemoteURL string    `json:"remoteUrl,omitempty" doc:"kept for later: missing"`
	Mirror    string    `json:"mirror" doc:"name of cw's own bare copy"`
	CreatedAt time.Time `json:"createdAt" doc:"when it was registered"`
	UpdatedAt time.Time `json:"updatedAt" doc:"when its row last changed"`
}

// ProjectList says how projects can be sorted.
func ProjectList() List {
	return List{Name: "projects", Own: "name", Times: []string{"createdAt"}, Texts: []string{"name"}}
}

// PageKey implements Keyed.
func (p Project) PageKey(field string) (key, id string) {
	if field == "createdAt" {
		return TimeKey(p.CreatedAt), string(p.ID)
	}
	return p.Name, string(p.ID)
}

// ProjectService is what faces may do with projects.
type ProjectService interface {
	// AddProject registers the repository that contains path. A repository
	// already registered is returned as it is. CodeInvalid when path is no git
	// repository that cw can work on.
	AddProject(ctx context.Context, path string) (Project, error)
	// Projects lists projects, by name unless the query says otherwise: name,
	// createdAt. CodeInvalid for a cursor or an order that is none.
	Projects(ctx context.Context, q PageQuery) (Page[Project], error)
	// Project finds one by id, name or path. CodeNotFound.
	Project(ctx context.Context, ref string) (Project, error)
	// RemoveProject forgets a project and its mirror. CodeRefused while agents
	// use it.
	RemoveProject(ctx context.Context, ref string) (Project, error)
}
