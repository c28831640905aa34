package providers

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// presetMax is how large a preset file may be, in bytes.
const presetMax = 256 << 10

// Problem is what is wrong with a preset file. It never stops the program: the
// file is left out and what was good before stays.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // from 1; 0 when it is not about a line
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// String gives the problem as FILE:LINE:COLUMN: message.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// decodePreset reads one preset file, strictly. base gives the text of the
// embedded preset that a file may extend: the file's keys are laid over it, a
// list taking the place of a list.
func decodePreset(data []byte, base func(name string) []byte) (preset Preset, problem *Problem) {
	defer func() {
		// The library is outside code and the file is a person's: whatever it
		// trips over must not take the daemon down.
		if r := recover(); r != nil {
			preset, problem = Preset{}, &Problem{Message: fmt.Sprintf("it cannot be read as YAML: %v", r)}
		}
	}()
	if len(data) > presetMax {
		return Preset{}, &Problem{Message: fmt.Sprintf("it is larger than %d bytes", presetMax)}
	}
	root, problem := parseYAML(data)
	if problem != nil {
		return Preset{}, problem
	}
	below, err := extended(root, base)
	if err != nil {
		return Preset{}, locate(err, root)
	}
	preset = below
	preset.Aliases = nil // they are the name's: a preset of another name has its own
	if problem := readNode(root, reflect.ValueOf(&preset).Elem()); problem != nil {
		return Preset{}, problem
	}
	if preset.Name == below.Name && preset.Aliases == nil {
		preset.Aliases = below.Aliases
	}
	preset.fill()
	if err := preset.check(); err != nil {
		return Preset{}, locate(err, root)
	}
	return preset, nil
}

// extended gives the preset that a file extends, with what that one extends
// below it, freshly read so that nothing is shared with it; or an empty one.
func extended(root *yaml.Node, base func(name string) []byte) (Preset, error) {
	_, value := entry(root, "extends")
	if value == nil || value.Kind != yaml.ScalarNode || isNull(value) || value.Value == "" {
		return Preset{}, nil // what is no name is refused where the whole file is read
	}
	text := base(value.Value)
	if text == nil {
		return Preset{}, keyError("extends", "there is no embedded preset %q", value.Value)
	}
	extends, problem := parseYAML(text)
	if problem != nil {
		return Preset{}, keyError("extends", "%s: %s", value.Value, problem.Message)
	}
	below, err := extended(extends, base)
	if err != nil {
		return Preset{}, err
	}
	below.Aliases = nil
	if problem := readNode(extends, reflect.ValueOf(&below).Elem()); problem != nil {
		return Preset{}, keyError("extends", "%s: %s", value.Value, problem.Message)
	}
	setDefault(&below.Account.Of, below.Name)
	return below, nil
}

// locate finds the line of the key that a check refused, or of the nearest key
// above it.
func locate(err error, root *yaml.Node) *Problem {
	problem := &Problem{Line: 1, Column: 1, Message: err.Error()}
	var bad *checkError
	if !errors.As(err, &bad) {
		return problem
	}
	for key := range strings.SplitSeq(bad.key, ".") {
		name, value := entry(root, key)
		if name == nil {
			break
		}
		problem.Line, problem.Column = name.Line, name.Column
		root = value
	}
	return problem
}

// Keys lists every key of a preset file, nested ones with dots.
func Keys() []string {
	keys := keysOf(reflect.TypeFor[Preset](), "")
	slices.Sort(keys)
	return keys
}

func keysOf(t reflect.Type, prefix string) []string {
	var out []string
	for i := range t.NumField() {
		field := t.Field(i)
		name := field.Tag.Get("yaml")
		if name == "" {
			continue
		}
		out = append(out, prefix+name)
		if field.Type.Kind() == reflect.Struct {
			out = append(out, keysOf(field.Type, prefix+name+".")...)
		}
	}
	return out
}

func lastParts(keys []string) []string {
	out := make([]string, 0, len(keys))
	for _, key := range keys {
		out = append(out, key[strings.LastIndexByte(key, '.')+1:])
	}
	return out
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
