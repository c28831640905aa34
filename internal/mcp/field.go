package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"
)

// argumentsMax is the greatest length of a call's arguments in bytes.
const argumentsMax = lineMax

// kind is the type of an argument, as JSON Schema names it.
type kind string

// The kinds of arguments.
const (
	text   kind = "string"
	number kind = "integer"
	flag   kind = "boolean"
	list   kind = "array"
	object kind = "object"
)

// field describes one argument: for the model, as a schema, and for the check.
type field struct {
	name   string
	about  string
	kind   kind
	needed bool
	// least and most bound a text's bytes, a number, or the entries of a list.
	// most 0: a text of textMax bytes, a number or a list without a bound.
	least, most int
	words       []string // the only texts, where some are named
	of          *field   // of a list: each entry
	fields      []field  // of an object
	// short names the field of an object that a plain text in place of the object
	// stands for: models write questions and options as texts. The schema does not
	// tell it.
	short string
}

// textMax is the greatest length in bytes of a text whose field names none.
const textMax = 64 << 10

// schema describes the field to the model.
func (f field) schema() map[string]any {
	s := map[string]any{"type": string(f.kind)}
	if f.about != "" {
		s["description"] = f.about
	}
	switch f.kind {
	case text:
		if len(f.words) > 0 {
			s["enum"] = f.words
		}
	case number:
		s["minimum"] = f.least
		if f.most > 0 {
			s["maximum"] = f.most
		}
	case list:
		s["items"], s["minItems"] = f.of.schema(), f.least
		if f.most > 0 {
			s["maxItems"] = f.most
		}
	case object:
		maps.Copy(s, objectSchema(f.fields))
	}
	return s
}

func objectSchema(fields []field) map[string]any {
	properties, needed := map[string]any{}, []string{}
	for _, f := range fields {
		properties[f.name] = f.schema()
		if f.needed {
			needed = append(needed, f.name)
		}
	}
	s := map[string]any{"type": string(object), "properties": properties, "additionalProperties": false}
	if len(needed) > 0 {
		s["required"] = needed
	}
	return s
}

// decode reads the arguments of a call strictly. The error names the field and
// says what to do. CodeInvalid.
func decode(fields []field, raw json.RawMessage, into any) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	if len(raw) > argumentsMax {
		return cw.Errorf(cw.CodeInvalid, "the arguments have %d bytes, at most %d are taken", len(raw), argumentsMax).
			WithHint("put long texts into a file, and name it")
	}
	if !utf8.Valid(raw) {
		return cw.Errorf(cw.CodeInvalid, "the arguments are not UTF-8").WithHint("send UTF-8 text")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil || dec.More() {
		return cw.Errorf(cw.CodeInvalid, "the arguments are not one JSON object").WithHint("send an object with: %s", names(fields))
	}
	value, err := checkObject("", fields, value)
	if err != nil {
		return err
	}
	clean, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode checked arguments: %w", err)
	}
	if err := json.Unmarshal(clean, into); err != nil {
		return fmt.Errorf("decode checked arguments: %w", err)
	}
	return nil
}

// checkObject gives the object without what is null, or why it is none.
func checkObject(path string, fields []field, value any) (any, error) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil, wrong(path, "must be an object, and is %s", kindOf(value)).WithHint("send an object with: %s", names(fields))
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			return nil, unknown(join(path, name), fields)
		}
	}
	out := map[string]any{}
	for _, f := range fields {
		v, there := given[f.name]
		if !there || v == nil {
			if f.needed {
				return nil, wrong(join(path, f.name), "is missing").WithHint("it is: %s", f.about)
			}
			continue
		}
		checked, err := f.check(join(path, f.name), v)
		if err != nil {
			return nil, err
		}
		out[f.name] = checked
	}
	return out, nil
}

// check gives the value, or why it is none for the field.
func (f field) check(path string, value any) (any, error) {
	switch f.kind {
	case text:
		s, ok := value.(string)
		if !ok {
			return nil, f.wrongKind(path, value)
		}
		return s, f.checkText(path, s)
	case number:
		return f.checkNumber(path, value)
	case flag:
		if _, ok := value.(bool); !ok {
			return nil, f.wrongKind(path, value)
		}
		return value, nil
	case list:
		return f.checkList(path, value)
	case object:
		if s, ok := value.(string); ok && f.short != "" {
			value = map[string]any{f.short: s}
		}
		return checkObject(path, f.fields, value)
	}
	return nil, fmt.Errorf("the field %s has no kind", path)
}

func (f field) checkText(path, s string) error {
	most := f.most
	if most == 0 {
		most = textMax
	}
	switch {
	case len(s) > most:
		return wrong(path, "is %d bytes long, at most %d are taken", len(s), most).WithHint("shorten it, or put the text into a file and name that")
	case strings.ContainsRune(s, 0):
		return wrong(path, "holds a zero byte").WithHint("send plain text")
	case f.needed && strings.TrimSpace(s) == "":
		return wrong(path, "is empty").WithHint("it is: %s", f.about)
	case len(f.words) > 0 && !slices.Contains(f.words, s):
		return wrong(path, "is %.60q", s).WithHint("it is one of: %s", strings.Join(f.words, ", "))
	}
	return nil
}

func (f field) checkNumber(path string, value any) (any, error) {
	n, ok := value.(json.Number)
	if !ok {
		return nil, f.wrongKind(path, value)
	}
	whole, err := n.Int64()
	if err != nil { // 3e2 and 3.0 are whole numbers, too
		float, ferr := n.Float64()
		if ferr != nil || float != math.Trunc(float) || math.Abs(float) > 1<<53 {
			return nil, wrong(path, "is %.40s, and must be a whole number", n.String())
		}
		whole = int64(float)
	}
	if whole < int64(f.least) || f.most > 0 && whole > int64(f.most) {
		err := wrong(path, "is %d", whole)
		if f.most > 0 {
			return nil, err.WithHint("it is a whole number from %d to %d", f.least, f.most)
		}
		return nil, err.WithHint("it is a whole number, at least %d", f.least)
	}
	return whole, nil
}

func (f field) checkList(path string, value any) (any, error) {
	items, ok := value.([]any)
	if !ok {
		return nil, f.wrongKind(path, value)
	}
	if len(items) < f.least || f.most > 0 && len(items) > f.most {
		err := wrong(path, "has %d entries", len(items))
		if f.most > 0 {
			return nil, err.WithHint("it must have %d to %d", f.least, f.most)
		}
		return nil, err.WithHint("it must have at least %d", f.least)
	}
	out := make([]any, len(items))
	for i, item := range items {
		checked, err := f.of.check(fmt.Sprintf("%s[%d]", path, i), item)
		if err != nil {
			return nil, err
		}
		out[i] = checked
	}
	return out, nil
}

// wrong is the error of an argument.
func wrong(path, format string, args ...any) *cw.Error {
	if path == "" {
		return cw.Errorf(cw.CodeInvalid, "the arguments %s", fmt.Sprintf(format, args...))
	}
	return cw.Errorf(cw.CodeInvalid, "the argument %s %s", path, fmt.Sprintf(format, args...))
}

func (f field) wrongKind(path string, value any) error {
	return wrong(path, "must be %s, and is %s", article(string(f.kind)), kindOf(value)).WithHint("it is: %s", f.about)
}

func unknown(path string, fields []field) error {
	at := strings.LastIndexByte(path, '.') + 1
	err := cw.Errorf(cw.CodeInvalid, "there is no argument %.80s", path)
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.name
	}
	if near, ok := cw.Nearest(path[at:], known); ok {
		return err.WithHint("did you mean %s? There are: %s", near, names(fields))
	}
	return err.WithHint("there are: %s", names(fields))
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// names lists fields for a sentence.
func names(fields []field) string {
	if len(fields) == 0 {
		return "no arguments"
	}
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.name
		if !f.needed {
			out[i] += " (optional)"
		}
	}
	return strings.Join(out, ", ")
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}

func article(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}
