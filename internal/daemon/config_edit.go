package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

// SetConfig writes one setting into config.yaml, and leaves every other line
// as it is. CodeNotFound for a name that is no setting, CodeInvalid for a wrong
// value or a file that stays wrong elsewhere, CodeRefused for a home that cannot be
// used and for a file whose form cw does not edit.
func SetConfig(home cw.Home, name, value string) error {
	key, err := findKey(name)
	if err != nil {
		return err
	}
	parsed, err := key.parse(value)
	if err != nil {
		return cw.Errorf(cw.CodeInvalid, "%s %s", key.Name, quoted(value, err)).WithHint("%s takes %s", key.Name, key.Form.Allowed)
	}
	line, err := writtenValue(parsed)
	if err != nil {
		return err
	}
	if err := PrepareHome(home); err != nil {
		return err
	}
	return editConfig(home, func(file configFile) ([]byte, error) {
		return file.edited(key, parsed, func(doc *yaml.Node) []byte { return withLine(file.data, doc, key, line) })
	})
}

// UnsetConfig takes one setting out of config.yaml. It is no error when it is
// not there. CodeNotFound, CodeInvalid and CodeRefused as for SetConfig.
func UnsetConfig(home cw.Home, name string) error {
	key, err := findKey(name)
	if err != nil {
		return err
	}
	return editConfig(home, func(file configFile) ([]byte, error) {
		return file.edited(key, nil, func(doc *yaml.Node) []byte { return withoutLine(file.data, doc, key) })
	})
}

// findKey finds a setting by the name that somebody typed. CodeNotFound.
func findKey(name string) (Key, error) {
	if key, ok := keyOf(name); ok {
		return key, nil
	}
	return Key{}, cw.Errorf(cw.CodeNotFound, "%.100s is not a setting%s", name, didYouMean(name, Keys(), func(k Key) string { return k.Name })).
		WithHint("cw config show lists them")
}

// editConfig changes the text of the file.
func editConfig(home cw.Home, edit func(configFile) ([]byte, error)) error {
	file, err := readConfig(home.Config())
	if err != nil {
		return err
	}
	data, err := edit(file)
	if err != nil || bytes.Equal(data, file.data) {
		return err
	}
	if err := writeWhole(file.path, data, 0o600); err != nil {
		return cw.Errorf(cw.CodeFailed, "%s cannot be written", file.path).WithHint("nothing was changed; free some space, or make the folder writable").Because(err)
	}
	return nil
}

// edited gives the text after an edit, which must say exactly what it should:
// want for the key (nil: nothing), and all else as before.
func (f configFile) edited(key Key, want any, edit func(*yaml.Node) []byte) ([]byte, error) {
	before := f.layer()
	var doc yaml.Node
	if err := yaml.Unmarshal(f.data, &doc); err != nil {
		return nil, faultsError(before)
	}
	changed := configFile{path: f.path, data: edit(&doc)}
	after := changed.layer()
	expected := before.values
	delete(expected, key.Name)
	if want != nil {
		expected[key.Name] = want
	}
	if len(before.faults) > 0 && len(after.faults) > 0 {
		return nil, faultsError(after)
	}
	if len(after.faults) > 0 || !reflect.DeepEqual(expected, after.values) || len(changed.data) > configMax {
		return nil, cw.Errorf(cw.CodeRefused, "%s is written in a way that cw does not edit", f.path).
			WithHint("change %s in it by hand; one setting a line, set in below its section, is what cw edits", key.Name)
	}
	return changed.data, nil
}

// writtenValue is a checked value as YAML on one line.
func writtenValue(value any) (string, error) {
	node := &yaml.Node{}
	if err := node.Encode(presentable(value)); err != nil {
		return "", fmt.Errorf("write a setting: %w", err)
	}
	node.Style = yaml.FlowStyle
	out, err := yaml.Marshal(node)
	if err != nil {
		return "", fmt.Errorf("write a setting: %w", err)
	}
	return strings.Join(strings.Fields(string(out)), " "), nil
}

// place is where a setting stands in the lines of the file.
type place struct {
	section    int // line of the section's name, counted from 1; 0: there is none
	first, end int // lines of the setting, end excluded; 0: it is not there
	indent     string
}

// placeOf finds a setting. The lines of one that runs over several end before
// the next name, and without the comments that stand above that.
func placeOf(lines [][]byte, doc *yaml.Node, key Key) place {
	p := place{indent: "  "}
	section, name, _ := strings.Cut(key.Name, ".")
	_, head, body := childOf(rootOf(doc), section)
	if head == nil {
		return p
	}
	p.section = head.Line
	if body.Kind == yaml.MappingNode && len(body.Content) > 0 {
		p.indent = strings.Repeat(" ", max(0, body.Content[0].Column-1))
	}
	_, entry, value := childOf(body, name)
	if entry == nil {
		return p
	}
	p.first, p.end = entry.Line, max(entry.Line, lastLine(value))+1
	for p.end <= len(lines) && continues(lines[p.end-1], p.indent) {
		p.end++ // the rest of a text over several lines, or a closing bracket
	}
	return p
}

// continues tells whether a line belongs to the setting above it: it is set in
// deeper and says something.
func continues(line []byte, indent string) bool {
	said := bytes.TrimSpace(line)
	return len(said) > 0 && said[0] != '#' && bytes.HasPrefix(line, []byte(indent+" "))
}

func rootOf(doc *yaml.Node) *yaml.Node {
	if len(doc.Content) == 0 {
		return &yaml.Node{}
	}
	return doc.Content[0]
}

// childOf finds a name in a mapping; nil when it is not there.
func childOf(mapping *yaml.Node, name string) (index int, key, value *yaml.Node) {
	if mapping.Kind != yaml.MappingNode {
		return -1, nil, nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return i, mapping.Content[i], mapping.Content[i+1]
		}
	}
	return -1, nil, nil
}

func lastLine(node *yaml.Node) int {
	last := node.Line
	for _, child := range node.Content {
		last = max(last, lastLine(child))
	}
	return last
}

// withLine puts a setting's new line in the place of its old ones, at the end
// of its section, or with a new section at the end of the file.
func withLine(data []byte, doc *yaml.Node, key Key, value string) []byte {
	lines := linesOf(data)
	section, name, _ := strings.Cut(key.Name, ".")
	p := placeOf(lines, doc, key)
	line := p.indent + name + ": " + value
	switch {
	case p.first > 0:
		line += trailingComment(lines[p.first-1])
		lines = slices.Replace(lines, p.first-1, p.end-1, []byte(line+"\n"))
	case p.section > 0:
		lines = slices.Insert(lines, p.section, []byte(line+"\n"))
	default:
		lines = append(lines, []byte(section+":\n"), []byte(line+"\n"))
	}
	return bytes.Join(lines, nil)
}

// withoutLine takes the lines of a setting away, and its section's with the
// last one.
func withoutLine(data []byte, doc *yaml.Node, key Key) []byte {
	lines := linesOf(data)
	p := placeOf(lines, doc, key)
	if p.first == 0 {
		return data
	}
	return bytes.Join(slices.Delete(lines, p.first-1, p.end-1), nil)
}

// linesOf cuts a text into lines, each with its end.
func linesOf(data []byte) [][]byte {
	lines := slices.Collect(bytes.Lines(data))
	if n := len(lines); n > 0 && !bytes.HasSuffix(lines[n-1], []byte("\n")) {
		lines[n-1] = append(slices.Clip(lines[n-1]), '\n')
	}
	return lines
}

var commentForm = cw.Pattern(`\s+#[^"'\]]*$`)

// trailingComment is what a line says for people after its value.
func trailingComment(line []byte) string {
	return string(commentForm().Find(bytes.TrimRight(line, "\r\n")))
}

// Overridden tells which variable of an environment is stronger than the file
// for a setting; "" when none is.
func Overridden(environ []string, name string) string {
	key, ok := keyOf(name)
	for _, entry := range environ {
		if variable, _, _ := strings.Cut(entry, "="); ok && variable == key.Variable() {
			return variable
		}
	}
	return ""
}

// GetConfig gives one setting as it holds. CodeNotFound, and CodeInvalid as
// for LoadSettings.
func GetConfig(from ConfigSources, name string) (ConfigValue, error) {
	key, err := findKey(name)
	if err != nil {
		return ConfigValue{}, err
	}
	values, err := ShowSettings(from)
	if err != nil {
		return ConfigValue{}, err
	}
	i := slices.IndexFunc(values, func(v ConfigValue) bool { return v.Key == key.Name })
	if i < 0 {
		return ConfigValue{}, errors.New("a setting is missing in the list of all")
	}
	return values[i], nil
}
