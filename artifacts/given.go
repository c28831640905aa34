package artifacts

import "cw/internal/cw"

// Given is what of an input an agent may suggest to change, as it was given. It is
// kept for the end of its run: meanwhile people may change the same.
type Given struct {
	Pages  []cw.Document `json:"pages"`
	Phases []cw.Phase    `json:"phases"`
	Tasks  []cw.Task     `json:"tasks"`
}

// Given is the part of an input that can be changed.
func (in Input) Given() Given {
	return Given{Pages: in.Pages, Phases: in.Phases, Tasks: in.Tasks}
}
