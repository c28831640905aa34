package cw

import (
	"context"
	"time"
)

// Project is a git repository that cw works on.
type Project struct {
	ID        ProjectID `json:"id" gorm:"primaryKey"`
	Name      string    `json:"name"`   // unique; the folder's name, numbered when taken
	Path      string    `json:"path"`   // absolute top level of the user's repository ("" for a remote one)
	GitDir    string    `json:"gitDir"` // the user's common git directory: tells one repository from another at the same path
	RemoteURL string    `json:"remoteUrl,omitempty"`
	Mirror    string    `json:"mirror"` // name of cw's own bare copy under repos/
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
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
