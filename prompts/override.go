package prompts

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a project's own words.
const (
	OverrideMax  = 16 << 10 // bytes of one file
	OverridesMax = 100      // files
)

// OverrideDir is where a repository keeps its own words for blocks. They are
// read from the commit that an agent begins from, never from a worktree.
const OverrideDir = ".cw/prompts"

// extension marks a file that is put behind a block instead of in its place.
const extension = ".extend"

// Override is a repository's own text for a block: in its place, or behind it.
// It is text, not a template, and cannot forge a block.
type Override struct {
	Source string // the file, relative to OverrideDir
	Mode   string // "": every mode that has the block
	Tag    string
	Extend bool // behind our words instead of in their place
	Text   string
}

// fixedTags are blocks without which no run ends well: a repository may extend
// them, not replace them.
func fixedTags() []string {
	return []string{"input_files", "id_generation", "signal_format", "workspace", "inter_agent_communication"}
}

// ParseOverride makes an override of a file: TAG.md or MODE/TAG.md in the place
// of a block, TAG.extend.md or MODE/TAG.extend.md behind it. The error says why
// a file is none.
func ParseOverride(file, content string) (Override, error) {
	dir, name := path.Split(file)
	o := Override{Source: file, Mode: strings.TrimSuffix(dir, "/"), Text: strings.TrimSpace(content)}
	name, isMarkdown := strings.CutSuffix(name, ".md")
	o.Tag, o.Extend = strings.CutSuffix(name, extension)
	known := tagsOfMode(o.Mode)
	switch {
	case !isMarkdown:
		return o, fmt.Errorf("%s/%s is no Markdown file: blocks are TAG.md or TAG%s.md", OverrideDir, file, extension)
	case o.Mode != "" && len(known) == 0:
		return o, fmt.Errorf("%s/%s: there is no mode %q", OverrideDir, file, o.Mode)
	case !slices.Contains(known, o.Tag) || o.Tag == "task":
		return o, fmt.Errorf("%s/%s: there is no block %q to replace or extend", OverrideDir, file, o.Tag)
	case !o.Extend && slices.Contains(fixedTags(), o.Tag):
		return o, fmt.Errorf("%s/%s: cw depends on what the block %s says: extend it by %[3]s%s.md", OverrideDir, file, o.Tag, extension)
	case len(o.Text) > OverrideMax:
		return o, fmt.Errorf("%s/%s has %d bytes, at most %d are taken", OverrideDir, file, len(o.Text), OverrideMax)
	case !utf8.ValidString(o.Text) || strings.ContainsRune(o.Text, 0):
		return o, fmt.Errorf("%s/%s is not UTF-8 text", OverrideDir, file)
	case o.Text == "":
		return o, fmt.Errorf("%s/%s is empty", OverrideDir, file)
	}
	return o, nil
}

// tagsOfMode are the tags of a mode, or of all ("").
func tagsOfMode(name string) []string {
	var tags []string
	for _, m := range modes() {
		if name != "" && name != m.name {
			continue
		}
		for _, b := range m.blocks {
			tags = append(tags, b.Tag)
		}
	}
	return tags
}

// apply puts a repository's own words into a block: the most particular
// replacement, then every extension, those of all modes first.
func apply(b Block, mode string, overrides []Override, esc escaper) Block {
	var behind []Override
	for _, particular := range []bool{false, true} {
		for _, o := range overrides {
			switch {
			case o.Tag != b.Tag || particular != (o.Mode != "") || particular && o.Mode != mode:
			case o.Extend:
				behind = append(behind, o)
			default:
				b.Body, b.Own = string(esc.text(o.Text)), []string{o.Source}
			}
		}
	}
	for _, o := range behind {
		if b.Body != "" {
			b.Body += "\n\n"
		}
		b.Body += string(esc.text(o.Text))
		b.Own = append(b.Own, o.Source)
	}
	return b
}
