package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"
)

// bodyDepth is how deep objects and lists of a body may be nested. Nothing of
// ours is deeper than four.
const bodyDepth = 64

// readJSON is json.Unmarshal of one whole text that two readers cannot read in
// two ways: no key twice, no bytes that are no UTF-8, nothing behind it. A key
// that v does not know is left alone, since newer clients say more; one that
// is nearly known is refused, because somebody meant the other.
func readJSON(data []byte, v any) error {
	if !utf8.Valid(data) {
		return errors.New("it holds bytes that are no UTF-8")
	}
	target := reflect.TypeOf(v).Elem()
	for target.Kind() == reflect.Pointer {
		target = target.Elem()
	}
	if text := bytes.TrimLeft(data, " \t\r\n"); target.Kind() == reflect.Struct && !bytes.HasPrefix(text, []byte("{")) {
		return errors.New("it must be one JSON object: {…}")
	}
	if err := checkKeys(data, target); err != nil {
		return err
	}
	return plainTypes(json.Unmarshal(data, v))
}

// plainTypes says which field has the wrong type in the words of JSON.
func plainTypes(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	var want string
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Slice:
		want = "a list"
	case reflect.Struct, reflect.Map:
		want = "an object"
	default:
		want = "a whole number in range"
	}
	return fmt.Errorf("%.100s must be %s, not %.40s", wrong.Field, want, wrong.Value)
}

// level is one object or list that is open while a text is read.
type level struct {
	seen    map[string]bool // keys of an object so far; nil: a list
	is      reflect.Type    // what it is read into; nil: nobody knows
	wantKey bool            // the next token is a key
	next    reflect.Type    // what the next value is read into
}

// checkKeys walks the tokens of one JSON text, which is read into is.
func checkKeys(data []byte, is reflect.Type) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	var open []level
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) && len(open) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is no JSON: %w", err)
		}
		inside := len(open) - 1
		if key, isString := token.(string); isString && inside >= 0 && open[inside].wantKey {
			if err := open[inside].key(key); err != nil {
				return err
			}
			continue
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if len(open) == bodyDepth {
				return fmt.Errorf("it is nested deeper than %d levels", bodyDepth)
			}
			if inside >= 0 {
				is = open[inside].next
			}
			open = append(open, enter(token == json.Delim('{'), is))
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:inside]
			inside--
		}
		if inside >= 0 {
			open[inside].wantKey = open[inside].seen != nil
		}
	}
}

// enter opens an object or a list.
func enter(object bool, is reflect.Type) level {
	for is != nil && is.Kind() == reflect.Pointer {
		is = is.Elem()
	}
	l := level{is: is}
	if object {
		l.seen, l.wantKey = map[string]bool{}, true
	}
	if is != nil && (is.Kind() == reflect.Slice || is.Kind() == reflect.Map) {
		l.next = is.Elem()
	}
	return l
}

// key takes the next key of an object.
func (l *level) key(key string) error {
	if l.seen[key] {
		return fmt.Errorf("the key %.100q stands there twice", key)
	}
	l.seen[key], l.wantKey = true, false
	if l.is == nil || l.is.Kind() != reflect.Struct {
		return nil
	}
	fields := jsonFields(l.is)
	l.next = fields[key]
	if l.next != nil {
		return nil
	}
	if meant, ok := nearestOf(key, sortedKeys(fields)); ok {
		return fmt.Errorf("there is no field %.100q; did you mean %s?", key, meant)
	}
	return nil
}

// nearestOf is cw.Nearest that also knows a name in other letters, which
// encoding/json would take for the name itself.
func nearestOf(word string, names []string) (string, bool) {
	for _, name := range names {
		if strings.EqualFold(word, name) {
			return name, true
		}
	}
	return cw.Nearest(word, names)
}

// jsonFields gives the types of a struct's fields by their JSON names.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "-" && name != "" {
			fields[name] = f.Type
		}
	}
	return fields
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
