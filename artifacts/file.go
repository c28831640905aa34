package artifacts

import (
	"strings"

	"cw/internal/frontmatter"
)

// The keys of heads.
const (
	keyID        = "id"
	keyTitle     = "title"
	keyName      = "name" // taken for title
	keyParent    = "parent"
	keyPosition  = "position"
	keyStatus    = "status"
	keyDependsOn = "depends_on"
	keyPhase     = "phase"
	keyType      = "type"
	keySize      = "size"
	keyPriority  = "priority"
	keyPaths     = "paths"
	keyChecks    = "checks"
	keySummary   = "summary"
	keyPage      = "page"
	keyProjects  = "projects"
	keyIDs       = "ids"
	keyDelete    = "delete"
	keyReason    = "reason"
	keyQuestions = "questions"
)

// The keys of a question, beside id.
const (
	keyQuestion    = "question"
	keyHeader      = "header"
	keyOptions     = "options"
	keyMultiSelect = "multi_select"
	keyLabel       = "label"
	keyDescription = "description"
	keyAnswer      = "answer"
)

// canonical gives the one text of a head and a body.
func canonical(body string, fields ...frontmatter.Field) string {
	if body = trimBody(body); body != "" {
		body = "\n" + body + "\n"
	}
	return frontmatter.Write(frontmatter.Document{Fields: fields, Body: body})
}

// trimBody takes blank lines from both ends of a text, and no more: the first
// line may be set in.
func trimBody(body string) string {
	body = strings.TrimRight(body, " \t\r\n")
	blanks := len(body) - len(strings.TrimLeft(body, " \t\r\n"))
	return body[strings.LastIndexAny(body[:blanks], "\r\n")+1:]
}

func textField[T ~string](key string, value T) frontmatter.Field {
	return frontmatter.Field{Key: key, Value: frontmatter.StringValue(string(value))}
}

func numberField(key string, value int) frontmatter.Field {
	return frontmatter.Field{Key: key, Value: frontmatter.IntValue(value)}
}

// placeFields is the field of a place among others; a place below 0 is none.
func placeFields(position int) []frontmatter.Field {
	if position < 0 {
		return nil
	}
	return []frontmatter.Field{numberField(keyPosition, position)}
}

func listField[T ~string](key string, values []T) frontmatter.Field {
	return frontmatter.Field{Key: key, Value: frontmatter.ListValue(values)}
}
