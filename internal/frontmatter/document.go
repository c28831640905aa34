package frontmatter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"cw/internal/cw"
)

// Limits of a document.
const (
	HeadMax   = 64 << 10   // bytes of the head
	BodyMax   = cw.BodyMax // bytes of the text below, without blanks around it
	keyMax    = 100        // characters of a key
	depthMax  = 16         // lists and mappings inside of each other
	errorText = 120        // bytes of the author's text in an error
)

// Document is a Markdown text with its head.
type Document struct {
	Fields []Field // keys of the head in their order; nil for none
	Body   string  // what follows the head, line ends as \n
	Line   int     // of the body's first line, from 1; not written
}

// Field is one key with what it says.
type Field struct {
	Key   string // as it was written
	Value Value
	Line  int // from 1; 0 when it was not read; not written
}

// Kind is what a value is.
type Kind int

// The kinds. A date is a String here.
const (
	Null Kind = iota // a key without a value
	String
	Bool
	Int
	Float
	List
	Map
)

// Value is what a key says.
type Value struct {
	Kind   Kind
	Text   string  // of a String; of a number and of true and false as it was written
	Items  []Value // of a List
	Fields []Field // of a Map, in their order
	Line   int     // from 1; 0 when it was not read; not written
}

// StringValue is a value of a text.
func StringValue(s string) Value { return Value{Kind: String, Text: s} }

// IntValue is a value of a number.
func IntValue(n int) Value { return Value{Kind: Int, Text: strconv.Itoa(n)} }

// BoolValue is true or false.
func BoolValue(b bool) Value { return Value{Kind: Bool, Text: strconv.FormatBool(b)} }

// ListValue is a list of texts.
func ListValue[T ~string](texts []T) Value {
	v := Value{Kind: List}
	for _, t := range texts {
		v.Items = append(v.Items, StringValue(string(t)))
	}
	return v
}

// Any gives a value as Go's own types: nil, string, bool, int64, float64, []any
// or map[string]any. A number that has no such form is the text of it.
func (v Value) Any() any {
	switch v.Kind {
	case Null:
		return nil
	case Bool:
		return strings.EqualFold(v.Text, "true")
	case Int:
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return n
		}
	case Float:
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil {
			return f
		}
	case List:
		out := make([]any, 0, len(v.Items))
		for _, item := range v.Items {
			out = append(out, item.Any())
		}
		return out
	case Map:
		out := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			out[f.Key] = f.Value.Any()
		}
		return out
	}
	return v.Text
}

// Error is what is wrong with a text, for people.
type Error struct {
	Line int // from 1
	Text string
}

// Error gives the line and what is wrong.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

func errorAt(line int, format string, args ...any) *Error {
	return &Error{Line: line, Text: fmt.Sprintf(format, args...)}
}

// Key is the one spelling of a key of the head: dependsOn, DependsOn,
// depends-on and depends_on are all depends_on.
func Key(name string) string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		switch {
		case r == '-' || r == ' ':
			r = '_'
		case unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)):
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}

// Field finds a key of the head in any of its spellings. A key without a value
// says nothing: it is not there.
func (d Document) Field(key string) (Field, bool) {
	for _, f := range d.Fields {
		if f.Value.Kind != Null && Key(f.Key) == key {
			return f, true
		}
	}
	return Field{}, false
}

// Text gives what a key says as a text, numbers as they were written; "" when it
// is not there. *Error for a list or a mapping.
func (d Document) Text(key string) (string, error) {
	f, ok := d.Field(key)
	if !ok {
		return "", nil
	}
	if f.Value.Kind == List || f.Value.Kind == Map {
		return "", errorAt(f.Line, "%s takes one text, and this is %s", f.Key, f.Value.Kind)
	}
	return f.Value.Text, nil
}

// Bool gives true or false; yes, no and quoted words count too. false when the
// key is not there. *Error for anything else.
func (d Document) Bool(key string) (bool, error) {
	f, ok := d.Field(key)
	if !ok {
		return false, nil
	}
	if f.Value.Kind == Bool || f.Value.Kind == String {
		switch strings.ToLower(f.Value.Text) {
		case "true", "yes":
			return true, nil
		case "false", "no":
			return false, nil
		}
	}
	return false, errorAt(f.Line, "%s takes true or false", f.Key)
}

// Int gives a whole number, quoted ones too; 0 when the key is not there.
// *Error for anything else.
func (d Document) Int(key string) (int, error) {
	f, ok := d.Field(key)
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(f.Value.Text)
	if err != nil || f.Value.Kind == List || f.Value.Kind == Map {
		return 0, errorAt(f.Line, "%s takes a whole number", f.Key)
	}
	return n, nil
}

// Texts gives a list of texts; one text is a list of one. nil when the key is
// not there, not nil for a list of nothing. *Error for lists in lists, mappings
// and entries of nothing.
func (d Document) Texts(key string) ([]string, error) {
	f, ok := d.Field(key)
	if !ok {
		return nil, nil
	}
	items := f.Value.Items
	switch f.Value.Kind {
	case List:
	case Map:
		return nil, errorAt(f.Line, "%s takes a list of texts, and this is %s", f.Key, f.Value.Kind)
	default:
		items = []Value{f.Value}
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		if item.Kind == List || item.Kind == Map || item.Kind == Null {
			return nil, errorAt(item.Line, "%s takes a list of texts, and an entry is %s", f.Key, item.Kind)
		}
		out = append(out, item.Text)
	}
	return out, nil
}

// String names a kind for people.
func (k Kind) String() string {
	return [...]string{"empty", "a text", "true or false", "a number", "a number", "a list", "a mapping"}[k]
}
