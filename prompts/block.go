package prompts

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"cw/internal/cw"
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
	// Own are the files of the repository that replace or extend our words,
	// relative to OverrideDir; nil in a table and for a block that is ours alone.
	Own []string
}

// tagged is the block as it stands in a prompt, between its tags.
func (b Block) tagged() string { return fmt.Sprintf("<%s>\n%s\n</%[1]s>\n", b.Tag, b.Body) }

// origin says whose words a block is made of, for people.
func (b Block) origin() string {
	if len(b.Own) == 0 {
		return cw.PromptBuiltin
	}
	files := make([]string, len(b.Own))
	for i, file := range b.Own {
		files[i] = path.Join(OverrideDir, file)
	}
	return strings.Join(files, ", ")
}

// Tokens estimates how many tokens a text has: four bytes each, which is about
// right for English and code and too few for most other writing.
func Tokens(text string) int { return (len(text) + 3) / 4 }

// Row is one line of the table of all modes and blocks.
type Row struct {
	Mode string
	Block
}

// Shared says whether the template is for all modes.
func (r Row) Shared() bool { return path.Dir(r.Source) == "shared" }

// mode is what an agent is for, and the blocks that tell it.
type mode struct {
	name      string
	architect bool    // it reads and suggests, and commits nothing
	blocks    []Block // by order
}

// modes lists the modes that have a prompt.
func modes() []mode {
	return []mode{
		{name: "execute", blocks: executeBlocks()},
		{name: "discuss", architect: true, blocks: discussBlocks()},
		{name: "refine", architect: true, blocks: refineBlocks()},
		{name: "plan", architect: true, blocks: planBlocks()},
		{name: "detail", architect: true, blocks: detailBlocks()},
	}
}

// derived is the name of the table of mode execute for a CLI that runs no commands.
const derived = "derived"

// Table lists every block of every mode, by mode and order, and at its end those
// of further runs and the one before a prompt.
func Table() []Row {
	var rows []Row
	for _, m := range append(modes(), mode{name: derived, blocks: derivedBlocks()}, mode{name: resumed, blocks: resumeBlocks()}, mode{name: reminder, blocks: reminderBlocks()}) {
		for _, b := range m.blocks {
			rows = append(rows, Row{Mode: m.name, Block: b})
		}
	}
	return rows
}
