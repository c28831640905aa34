package prompts

import (
	"fmt"
	"slices"
	"strings"
	"text/template"

	"cw/internal/cw"
)

// Prompt is the text an agent starts with, and the blocks it is made of.
type Prompt struct {
	Blocks []Block // rendered, in order; those without text are left out
	Text   string
}

// Body returns the rendered text of the block with that tag, and whether the
// prompt has it.
func (p Prompt) Body(tag string) (body string, found bool) {
	i := slices.IndexFunc(p.Blocks, func(b Block) bool { return b.Tag == tag })
	if i < 0 {
		return "", false
	}
	return p.Blocks[i].Body, true
}

// View is the prompt as faces show it.
func (p Prompt) View() cw.PromptView {
	v := cw.PromptView{Text: p.Text, Tokens: Tokens(p.Text), Blocks: []cw.PromptBlock{}}
	for _, b := range p.Blocks {
		text := b.tagged()
		v.Blocks = append(v.Blocks, cw.PromptBlock{Tag: b.Tag, Source: b.origin(), Bytes: len(text), Tokens: Tokens(text)})
	}
	return v
}

// Render makes the prompt of a mode. It begins with a tag, never with "-" or
// "/", which some command lines would take for an option or a command of theirs.
// The error is about a mode without a prompt or an incomplete input.
func Render(modeName string, in Input) (Prompt, error) {
	m, err := modeOf(modeName)
	if err != nil {
		return Prompt{}, err
	}
	if in.Derived {
		if m.architect {
			return Prompt{}, fmt.Errorf("the %s prompt needs a CLI that runs commands", modeName)
		}
		m = mode{name: m.name, blocks: derivedBlocks()}
	}
	if err := in.validate(); err != nil {
		return Prompt{}, fmt.Errorf("render the %s prompt: %w", modeName, err)
	}
	esc := newEscaper()
	v := newView(in, m.architect, esc)
	var p Prompt
	for _, b := range m.blocks {
		if b.Body, err = renderBody(b.Source, v); err != nil {
			return Prompt{}, fmt.Errorf("render block %s of the %s prompt: %w", b.Tag, modeName, err)
		}
		b = apply(b, m.name, in.Overrides, esc)
		if strings.TrimSpace(b.Body) != "" {
			p.Blocks = append(p.Blocks, b)
		}
	}
	p.Text = join(p.Blocks)
	return p, nil
}

func modeOf(modeName string) (mode, error) {
	var known []string
	for _, m := range modes() {
		if m.name == modeName {
			return m, nil
		}
		known = append(known, m.name)
	}
	return mode{}, fmt.Errorf("mode %q has no prompt (modes that have one: %s)", modeName, strings.Join(known, ", "))
}

func renderBody(source string, v any) (string, error) {
	src, err := templates.ReadFile("templates/" + source)
	if err != nil {
		return "", fmt.Errorf("read template: %w", err)
	}
	// The file's last line end is not part of the body; those of the data are.
	tmpl, err := template.New(source).Option("missingkey=error").Parse(strings.TrimSuffix(string(src), "\n"))
	if err != nil {
		return "", fmt.Errorf("parse template: %w", err)
	}
	var b strings.Builder
	if err := tmpl.Execute(&b, v); err != nil {
		return "", fmt.Errorf("execute template: %w", err)
	}
	return b.String(), nil
}

// join puts each body between its tags, each tag on a line of its own.
func join(blocks []Block) string {
	var b strings.Builder
	for i, block := range blocks {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(block.tagged())
	}
	return b.String()
}
