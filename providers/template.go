package providers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

// argMax is the longest argument that Linux takes, without its final zero byte
// (MAX_ARG_STRLEN is 128 KiB).
const argMax = 128<<10 - 1

// variables lists what a template may name in {{ }}. {{json NAME}} gives the
// value as a JSON string.
func variables() []string {
	return []string{
		"sessionId", "model", "prompt", "promptFile", "cwd", "runDir", "script",
		"configDir", "mcpConfig", "hookConfig", "cw", "socket", "stopHook", "onPath", writableDir,
	}
}

// writableDir is the variable that has several values: an item that names it
// comes once for each.
const writableDir = "writableDir"

// includes lists the lists of arguments that spawn.args and resume.args may
// name as {{…}}, as an item of their own.
func includes() []string {
	return []string{
		"modelArgs", "outputArgs", "nonInteractiveArgs", "autoApproveArgs",
		"configArgs", "mcpArgs", "hookArgs",
	}
}

var placeholder = cw.Pattern(`\{\{\s*(json\s+)?([A-Za-z]+)\s*\}\}`)

// Args is a list of argument templates. An item is a string, or a list of
// strings that belong together. An item in which a variable is empty is left
// out as a whole.
type Args []Group

// Group is one item of Args.
type Group []string

// readYAML accepts a string and a list of strings.
func (g *Group) readYAML(node *yaml.Node) *Problem {
	items := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		items = node.Content
	}
	*g = Group{}
	for _, item := range items {
		if tag := item.ShortTag(); tag != "!!str" && tag != "!!timestamp" {
			return problemAt(item, "an argument is a string; put it into quotes")
		}
		*g = append(*g, item.Value)
	}
	return nil
}

// uses tells whether a template in the list names the variable.
func (a Args) uses(name string) bool {
	return slices.ContainsFunc(a, func(g Group) bool {
		return slices.ContainsFunc(g, func(item string) bool { return templateUses(item, name) })
	})
}

func envUses(env map[string]string, name string) bool {
	for _, value := range env {
		if templateUses(value, name) {
			return true
		}
	}
	return false
}

func templateUses(template, name string) bool {
	for _, m := range placeholder().FindAllStringSubmatch(template, -1) {
		if m[2] == name {
			return true
		}
	}
	return false
}

// include gives the name of the list that an item stands for, or "".
func include(g Group) string {
	if len(g) != 1 {
		return ""
	}
	m := placeholder().FindStringSubmatch(g[0])
	if m == nil || m[0] != g[0] || !slices.Contains(includes(), m[2]) {
		return ""
	}
	return m[2]
}

func checkGroup(g Group, mayInclude bool) error {
	if len(g) == 0 {
		return fmt.Errorf("an item is empty")
	}
	if mayInclude && include(g) != "" {
		return nil
	}
	for _, item := range g {
		if err := checkTemplate(item); err != nil {
			return err
		}
	}
	return nil
}

// checkTemplate refuses unknown variables and braces that belong to none.
func checkTemplate(template string) error {
	for _, m := range placeholder().FindAllStringSubmatch(template, -1) {
		if !slices.Contains(variables(), m[2]) {
			return fmt.Errorf("{{%s}} is not known; did you mean {{%s}}?", m[2], nearest(m[2], append(variables(), includes()...)))
		}
	}
	if rest := placeholder().ReplaceAllString(template, ""); strings.Contains(rest, "{{") {
		return fmt.Errorf("%q has {{ without a variable and }}", template)
	}
	if strings.Contains(template, "\x00") {
		return fmt.Errorf("%q has a zero byte", template)
	}
	return nil
}

// expand fills a template. complete is false when a variable in it is empty.
// Values are not looked at again: a {{ }} in a value stays as it is.
func expand(template string, values map[string]string) (text string, complete bool) {
	complete = true
	text = placeholder().ReplaceAllStringFunc(template, func(match string) string {
		m := placeholder().FindStringSubmatch(match)
		value := values[m[2]]
		if value == "" {
			complete = false
		}
		if m[1] == "" {
			return value
		}
		quoted, _ := json.Marshal(value) // a string always marshals
		return string(quoted)
	})
	return text, complete
}

// expand makes the arguments of a list. No shell is involved; what must not
// happen is that a value is taken for an option.
func (a Args) expand(values map[string]string, writableDirs ...string) ([]string, error) {
	var out []string
	for _, group := range a {
		rounds := []map[string]string{values}
		if (Args{group}).uses(writableDir) {
			rounds = eachDir(values, writableDirs)
		}
		for _, values := range rounds {
			items, err := group.expand(values, slices.Contains(out, "--"))
			if err != nil {
				return nil, err
			}
			out = append(out, items...)
		}
	}
	return out, nil
}

// eachDir gives the values once for each directory.
func eachDir(values map[string]string, dirs []string) []map[string]string {
	var out []map[string]string
	for _, dir := range dirs {
		round := maps.Clone(values)
		round[writableDir] = dir
		out = append(out, round)
	}
	return out
}

// expand makes the arguments of one item, none when a variable in it is empty.
// protected: a "--" stands before it.
func (g Group) expand(values map[string]string, protected bool) ([]string, error) {
	items := make([]string, 0, len(g))
	for _, item := range g {
		text, complete := expand(item, values)
		if !complete {
			return nil, nil
		}
		items = append(items, text)
	}
	for i, text := range items {
		if err := checkArg(g[i], text, protected || slices.Contains(items[:i], "--")); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// checkArg refuses an argument that cannot be passed, or whose value would be
// taken for an option. protected: a "--" stands before it.
func checkArg(template, text string, protected bool) error {
	begins := placeholder().FindStringIndex(template)
	switch {
	case begins != nil && begins[0] == 0 && strings.HasPrefix(text, "-") && !protected:
		return fmt.Errorf("%s is %q, which would be taken for an option", template, shorten(text))
	case strings.Contains(text, "\x00"):
		return fmt.Errorf("%s has a zero byte in it", template)
	case len(text) > argMax:
		return fmt.Errorf("%s has %d bytes; an argument has at most %d", template, len(text), argMax)
	}
	return nil
}

func shorten(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return text
}
