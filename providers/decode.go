package providers

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
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
	if p := refuseForms(data); p != nil {
		return Preset{}, p
	}
	below, err := extended(data, base)
	if err != nil {
		return Preset{}, locate(err, data)
	}
	preset = below
	preset.Aliases = nil // they are the name's: a preset of another name has its own
	if err := decodeStrict(data, &preset); err != nil {
		return Preset{}, problemOf(err)
	}
	if preset.Name == below.Name && preset.Aliases == nil {
		preset.Aliases = below.Aliases
	}
	preset.fill()
	if err := preset.check(); err != nil {
		return Preset{}, locate(err, data)
	}
	return preset, nil
}

// extended gives the preset that a file extends, freshly decoded so that
// nothing is shared with it, or an empty one.
func extended(data []byte, base func(name string) []byte) (Preset, error) {
	var head struct {
		Extends string `yaml:"extends"`
	}
	if err := yaml.Unmarshal(data, &head); err != nil || head.Extends == "" {
		return Preset{}, nil // an error comes again where the whole file is read
	}
	text := base(head.Extends)
	if text == nil {
		return Preset{}, keyError("extends", "there is no embedded preset %q", head.Extends)
	}
	var below Preset
	if err := decodeStrict(text, &below); err != nil {
		return Preset{}, err
	}
	return below, nil
}

// decodeStrict decodes one YAML document and refuses unknown keys. Empty files
// leave the target as it is.
func decodeStrict(data []byte, into *Preset) error {
	dec := yaml.NewDecoder(strings.NewReader(string(data)), yaml.DisallowUnknownField())
	if err := dec.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// refuseForms refuses forms of YAML that a preset does not need: anchors and
// aliases, with which a small file grows without bound while it is read, and
// further documents, which would be left unread in silence.
func refuseForms(data []byte) *Problem {
	begun := false
	for _, t := range lexer.Tokenize(string(data)) {
		message := ""
		switch t.Type {
		case token.CommentType:
			continue
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			message = "anchors and aliases are not taken"
		case token.DocumentHeaderType:
			if begun {
				message = "a file holds one preset"
			}
		}
		begun = true
		if message != "" {
			return &Problem{Line: t.Position.Line, Column: t.Position.Column, Message: message}
		}
	}
	return nil
}

// problemOf gives the line, the column and a short message of an error of the
// library.
func problemOf(err error) *Problem {
	var withToken yaml.Error
	if !errors.As(err, &withToken) {
		return &Problem{Message: firstLine(err.Error())}
	}
	problem := &Problem{Message: firstLine(withToken.GetMessage())}
	at := withToken.GetToken()
	if at != nil && at.Position != nil {
		problem.Line, problem.Column = at.Position.Line, at.Position.Column
	}
	var wrongType *yaml.TypeError
	if errors.As(err, &wrongType) {
		problem.Message = "it takes " + kindName(wrongType.DstType)
	}
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) && at != nil {
		problem.Message = fmt.Sprintf("unknown key %q; did you mean %q?", at.Value, nearest(at.Value, lastParts(Keys())))
	}
	return problem
}

// kindName names a type as a person who writes YAML knows it.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	}
	return "another kind of value"
}

// locate finds the line of the key that a check refused, or of the nearest key
// above it.
func locate(err error, data []byte) *Problem {
	problem := &Problem{Line: 1, Column: 1, Message: err.Error()}
	var bad *checkError
	if !errors.As(err, &bad) {
		return problem
	}
	file, parseErr := parser.ParseBytes(data, 0)
	if parseErr != nil || len(file.Docs) == 0 {
		return problem
	}
	node := file.Docs[0].Body
	for key := range strings.SplitSeq(bad.key, ".") {
		value := entry(node, key)
		if value == nil {
			break
		}
		if pos := value.Key.GetToken().Position; pos != nil {
			problem.Line, problem.Column = pos.Line, pos.Column
		}
		node = value.Value
	}
	return problem
}

func entry(node ast.Node, key string) *ast.MappingValueNode {
	mapping, ok := node.(ast.MapNode)
	if !ok {
		return nil
	}
	for it := mapping.MapRange(); it.Next(); {
		if it.Key().GetToken().Value == key {
			return it.KeyValue()
		}
	}
	return nil
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
