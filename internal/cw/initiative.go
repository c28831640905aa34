package cw

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Limits of an initiative and of what belongs to it.
const (
	NameMax              = 200     // characters of a name or title
	BodyMax              = 1 << 20 // bytes of one text: goal, page, phase, task
	InitiativeProjects   = 50      // projects of one initiative
	InitiativePages      = 1000    // pages of one initiative
	InitiativePhases     = 500     // phases of one initiative
	InitiativeTasks      = 5000    // tasks of one initiative
	DependenciesMax      = 200     // dependencies of one phase or task
	initiativeSlugMax    = 60      // characters of a slug
	initiativeSlugNoName = "goal"  // of a name without a letter or digit
	initiativeBranchRoot = "cw/"   // before the slug: the branch of an initiative
)

// InitiativeStatus is where an initiative stands.
type InitiativeStatus string

// The statuses of an initiative.
const (
	InitiativeActive   InitiativeStatus = "active"
	InitiativeArchived InitiativeStatus = "archived" // nothing in it changes any more
)

// Initiative is a goal of a lead over one or more projects. It has pages, the
// first of which is made with it, phases and tasks.
type Initiative struct {
	ID         InitiativeID        `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	Name       string              `json:"name" doc:"what people call it"`
	Slug       string              `json:"slug" doc:"its name in branches and commands; unique, numbered when taken; it stays when the name changes"`
	Goal       string              `json:"goal" doc:"what is to be reached, Markdown"`
	Status     InitiativeStatus    `json:"status" doc:"active, or archived: nothing in it changes any more"`
	RootPageID PageID              `json:"rootPageId" doc:"the page that was made with it"`
	Projects   []InitiativeProject `json:"projects" gorm:"-" doc:"the repositories that it spans, never null"`
	// Work is how its tasks are done.
	Work      WorkSettings `json:"work" gorm:"serializer:json" doc:"how its tasks are done"`
	CreatedBy string       `json:"createdBy" doc:"who made it"`
	CreatedAt time.Time    `json:"createdAt" doc:"when it was made"`
	UpdatedAt time.Time    `json:"updatedAt" doc:"when its row last changed"`
	// Progress is told in lists only: the view of one has its tasks.
	Progress *Progress `json:"progress,omitempty" gorm:"-" doc:"in lists: how far its tasks are"`
}

// Progress is how far the tasks of an initiative are.
type Progress struct {
	Tasks int `json:"tasks" doc:"all of its tasks but those that are cancelled"`
	Done  int `json:"done" doc:"those of them that are done: merged, or closed with nothing to merge"`
}

// WorkSettings say which agents do the tasks of an initiative. What is empty is
// chosen as for any agent.
type WorkSettings struct {
	Provider string `json:"provider,omitempty" doc:"whose CLI does its tasks; default: as for any agent"`
	Model    string `json:"model,omitempty" doc:"the model"`
	Script   string `json:"script,omitempty" doc:"for the provider script: the executable"`
	Hold     bool   `json:"hold,omitempty" doc:"its tasks are not started by themselves"`
}

// WorkEdit changes how the tasks of an initiative are done. What is null stays.
type WorkEdit struct {
	Provider *string `json:"provider,omitempty" doc:"whose CLI does its tasks; empty: as for any agent"`
	Model    *string `json:"model,omitempty" doc:"the model; empty: the CLI's own"`
	Script   *string `json:"script,omitempty" doc:"for the provider script: the executable"`
	Hold     *bool   `json:"hold,omitempty" doc:"true: its tasks are not started by themselves"`
}

// InitiativeProject is a project of an initiative.
type InitiativeProject struct {
	ID   ProjectID `json:"id" doc:"the project"`
	Name string    `json:"name" doc:"its name"`
}

// Branch is the branch onto which an initiative's work is merged.
func (i Initiative) Branch() string { return initiativeBranchRoot + i.Slug }

// Slug makes the name of branches and commands of what people call something:
// lower-case letters and digits of ASCII with single dashes between them.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= initiativeSlugMax {
			break
		}
	}
	if slug := strings.Trim(b.String(), "-"); slug != "" {
		return slug
	}
	return initiativeSlugNoName
}

// CheckName refuses names that cannot be shown on one line. what is the noun.
// CodeInvalid.
func CheckName(what, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return Errorf(CodeInvalid, "the %s has no name", what).WithHint("say in a few words what it is")
	case len([]rune(name)) > NameMax:
		return Errorf(CodeInvalid, "the name of the %s is longer than %d characters", what, NameMax).WithHint("put the rest into its text")
	case strings.ContainsFunc(name, unicode.IsControl):
		return Errorf(CodeInvalid, "the name of the %s holds line ends or control characters", what).WithHint("a name is one line; put the rest into its text")
	}
	return nil
}

// CheckBody refuses texts that are too long. CodeInvalid.
func CheckBody(what, body string) error {
	if len(body) > BodyMax {
		return Errorf(CodeInvalid, "the text of the %s has %d bytes, at most %d are taken", what, len(body), BodyMax).WithHint("split it into pages")
	}
	return nil
}

// CreateInitiativeRequest makes an initiative and its first page.
type CreateInitiativeRequest struct {
	Name     string   `json:"name" doc:"what people call it, one line"`
	Goal     string   `json:"goal,omitempty" doc:"what is to be reached, Markdown; default: the name"`
	Projects []string `json:"projects,omitempty" doc:"ids, names or absolute paths of its repositories; they can be set later"`
	Start    bool     `json:"start,omitempty" doc:"true: the daemon starts its tasks as soon as they are accepted; default: it is held until a person starts it, by work.hold"`
}

// InitiativeEdit changes an initiative. What is null stays.
type InitiativeEdit struct {
	Name     *string   `json:"name,omitempty" doc:"what people call it; its slug stays"`
	Goal     *string   `json:"goal,omitempty" doc:"what is to be reached"`
	Projects *[]string `json:"projects,omitempty" doc:"all of its repositories"`
	Archived *bool     `json:"archived,omitempty" doc:"true archives it, false takes it out again"`
	Work     *WorkEdit `json:"work,omitempty" doc:"how its tasks are done"`
}

// InitiativeFilter selects initiatives, newest first unless it says otherwise.
// They can be sorted by createdAt, updatedAt and name.
type InitiativeFilter struct {
	PageQuery

	Archived bool `json:"archived,omitempty"` // archived ones instead of active ones
}

// InitiativeList says how initiatives can be sorted.
func InitiativeList() List {
	return List{Name: "initiatives", Own: "-createdAt", Times: []string{"createdAt", "updatedAt"}, Texts: []string{"name"}}
}

// Start checks a filter. CodeInvalid for a limit, an order or a cursor that is
// none.
func (f InitiativeFilter) Start() (PageStart, error) {
	return InitiativeList().Start(f.PageQuery, strconv.FormatBool(f.Archived))
}

// PageKey implements Keyed.
func (i Initiative) PageKey(field string) (key, id string) {
	switch field {
	case "name":
		return i.Name, string(i.ID)
	case "updatedAt":
		return TimeKey(i.UpdatedAt), string(i.ID)
	}
	return TimeKey(i.CreatedAt), string(i.ID)
}

// InitiativeView is an initiative with everything that belongs to it.
type InitiativeView struct {
	Initiative
	Branch        string     `json:"branch" doc:"the branch onto which its work is merged"`
	Pages         []Document `json:"pages" doc:"its pages without their texts, in the order of the tree, the first page first"`
	Phases        []Phase    `json:"phases" doc:"its phases that are not archived, without their texts, in order"`
	Tasks         []Task     `json:"tasks" doc:"its tasks that are not cancelled, without their texts, in the order of their phases"`
	OpenProposals int        `json:"openProposals" doc:"proposals that wait for a decision"`
}

// InitiativeService is what faces may do with initiatives. One is named by its
// id or its slug.
type InitiativeService interface {
	// CreateInitiative makes one, and its first page, which holds the goal.
	// CodeInvalid; CodeNotFound for a project that is none.
	CreateInitiative(ctx context.Context, req CreateInitiativeRequest) (Initiative, error)
	// Initiatives lists them. CodeInvalid for a cursor or an order that is none.
	Initiatives(ctx context.Context, f InitiativeFilter) (Page[Initiative], error)
	// Initiative finds one. CodeNotFound.
	Initiative(ctx context.Context, ref string) (InitiativeView, error)
	// EditInitiative changes one. CodeNotFound, CodeInvalid; CodeRefused for
	// anything but taking it out of the archive when it is archived, and for
	// archiving while agents of it work.
	EditInitiative(ctx context.Context, ref string, e InitiativeEdit) (Initiative, error)
}
