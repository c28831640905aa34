package cw

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of the files that are named outside of a task's paths. The others are
// counted.
const (
	OutsideFilesMax = 20
	OutsideBytesMax = 4 << 10
)

// OutsidePolicy says what becomes of work that changed files outside the paths of
// its task.
type OutsidePolicy string

// The policies.
const (
	OutsideWarn   OutsidePolicy = "warn"   // it is merged, with a warning
	OutsideRefuse OutsidePolicy = "refuse" // it is not merged until a person acts
)

// OutsidePolicies lists them.
func OutsidePolicies() []OutsidePolicy { return []OutsidePolicy{OutsideWarn, OutsideRefuse} }

// OutsideFiles are the files that the work on a task changed outside its paths.
type OutsideFiles struct {
	Total int      `json:"total" doc:"how many there are"`
	Files []string `json:"files" doc:"the first of them in the order of their paths, at most 20; PROJECT:PATH when the initiative has several projects"`
}

// NewOutsideFiles names the first of some files, and counts all.
func NewOutsideFiles(paths []string) OutsideFiles {
	out, size := OutsideFiles{Total: len(paths), Files: []string{}}, 0
	for _, p := range paths {
		if size += len(p); len(out.Files) == OutsideFilesMax || size > OutsideBytesMax {
			break
		}
		if !utf8.ValidString(p) {
			p = strings.ToValidUTF8(p, "\uFFFD")
		}
		out.Files = append(out.Files, p)
	}
	return out
}

// Text says in words what was changed: "changed 3 files outside its paths: a, b, c".
func (o OutsideFiles) Text() string {
	noun := "files"
	if o.Total == 1 {
		noun = "file"
	}
	text := fmt.Sprintf("changed %d %s outside its paths", o.Total, noun)
	if len(o.Files) == 0 {
		return text
	}
	text += ": " + strings.Join(o.Files, ", ")
	if more := o.Total - len(o.Files); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
