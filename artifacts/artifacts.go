package artifacts

import "cw/internal/cw"

// Input is everything that an agent is given to read.
type Input struct {
	Agent      cw.Agent
	Initiative cw.Initiative
	Pages      []cw.Document // all pages with their texts
	Phase      *cw.Phase     // that the agent works on; nil for none
	Task       *cw.Task      // that the agent does; nil for none
	Phases     []cw.Phase    // all, for reading
	Tasks      []cw.Task     // all, for reading, with what was done
	Dismissed  []cw.Proposal // what people did not want, so that it is not suggested again
}

// File is one file of an agent's input.
type File struct {
	Path string // relative to .cw/input, with slashes
	Data []byte
}

// Output is what an agent left, as far as it could be read.
type Output struct {
	Summary   string // SUMMARY.md
	Pages     []Draft
	Phases    []Draft
	Tasks     []Draft
	Decisions []Draft
	Problems  []Problem // what could not be read, file by file
}

// Draft is one file of an agent's output that could be read.
type Draft struct {
	File   string // relative to .cw/output, with slashes
	Target cw.ProposalTarget
	ID     string // file name without .md
	Delete bool   // the head says delete: true
	// Reason is why something is to be deleted: what the head calls reason, else
	// the text. At most reasonMax bytes; "" when nothing is deleted.
	Reason string
	// Exactly one of these is what the file says, with the id set; what the head
	// does not name has its zero value, and Has tells what it names.
	Page     cw.Document
	Phase    cw.Phase
	Task     cw.Task
	Decision Decision
	// Has are the keys of the head that say something, by the names of this
	// package: name is title, dependsOn is depends_on.
	Has map[string]bool
	// Extra are the head's other keys, as they were written.
	Extra map[string]any
}

// Problem is why a file was not taken, for people.
type Problem struct {
	File string // relative to .cw/output
	Line int    // from 1; 0: the whole file
	Text string
}
