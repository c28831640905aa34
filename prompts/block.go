package prompts

import (
	"embed"
	"path"
)

//go:embed templates
var templates embed.FS

// Block is one tagged part of a prompt: a row of a mode's table and, once
// rendered, its text.
type Block struct {
	Tag   string // name of the XML tag around it
	Order int    // place in the prompt; rows have gaps of ten for later blocks
	// Source is the template file, relative to templates/.
	Source string
	// MaxLen is the greatest length of the template file in bytes. It guards our
	// own words, which every run pays for; data that is put in does not count.
	MaxLen int
	Body   string // the rendered text, without its tags; empty in a table
}

// Row is one line of the table of all modes and blocks.
type Row struct {
	Mode string
	Block
}

// Shared says whether the template is for all modes.
func (r Row) Shared() bool { return path.Dir(r.Source) == "shared" }

// mode is what an agent is for, and the blocks that tell it.
type mode struct {
	name   string
	blocks []Block // by order
}

// modes lists the modes that have a prompt.
func modes() []mode {
	return []mode{
		{name: "execute", blocks: executeBlocks()},
	}
}

// Table lists every block of every mode, by mode and order.
func Table() []Row {
	var rows []Row
	for _, m := range modes() {
		for _, b := range m.blocks {
			rows = append(rows, Row{Mode: m.name, Block: b})
		}
	}
	return rows
}
