package cw_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"cw/internal/cw"
)

// TestEventTable: every type of events has exactly one row, with a payload of
// its own whose fields are described, and the rows say what Stored says.
func TestEventTable(t *testing.T) {
	t.Parallel()
	declared := declaredEvents(t)
	var listed []cw.EventType
	for _, row := range cw.EventTable() {
		if slices.Contains(listed, row.Type) {
			t.Errorf("%s has two rows", row.Type)
		}
		listed = append(listed, row.Type)
		if !slices.Contains(declared, row.Type) {
			t.Errorf("%s is no constant", row.Type)
		}
		if row.Stored != row.Type.Stored() {
			t.Errorf("%s: the table says stored %t, the type %t", row.Type, row.Stored, row.Type.Stored())
		}
		if row.Text == "" || strings.HasSuffix(row.Text, ".") || row.Emitter == "" {
			t.Errorf("%s is not described: %q, told by %q", row.Type, row.Text, row.Emitter)
		}
		fields := payloadFields(reflect.TypeOf(row.Payload), "")
		if len(fields) == 0 {
			t.Errorf("%s has no payload", row.Type)
		}
		for _, f := range fields {
			if f.Text == "" || f.Name == "" {
				t.Errorf("%s: the field %q has no description", row.Type, f.Name)
			}
		}
	}
	for _, typ := range declared {
		if !slices.Contains(listed, typ) {
			t.Errorf("%s has no row", typ)
		}
	}
}

// declaredEvents reads the constants of type EventType from the source.
func declaredEvents(t *testing.T) []cw.EventType {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []cw.EventType
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != "EventType" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, cw.EventType(text))
		return true
	})
	if len(types) == 0 {
		t.Fatal("event.go declares no types of events")
	}
	return types
}

// TestEventsDocument holds docs/events.md to the table in the code.
func TestEventsDocument(t *testing.T) {
	const name = "../../docs/events.md"
	want := eventsDocument(t)
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not say what the code says; run: go test ./internal/cw -run TestEventsDocument -update", name)
	}
}

// eventRow is a row of the table as the template needs it.
type eventRow struct {
	cw.EventInfo

	Anchor, Sentence string
	Fields           []payloadField
}

type payloadField struct{ Name, Type, Text string }

func eventsDocument(t *testing.T) []byte {
	t.Helper()
	var rows []eventRow
	for _, info := range cw.EventTable() {
		rows = append(rows, eventRow{
			EventInfo: info,
			Anchor:    strings.ReplaceAll(string(info.Type), ":", ""), // as it is made of a heading
			Sentence:  strings.ToUpper(info.Text[:1]) + info.Text[1:] + ".",
			Fields:    payloadFields(reflect.TypeOf(info.Payload), ""),
		})
	}
	var out bytes.Buffer
	if err := template.Must(template.ParseFiles("testdata/events.md.tmpl")).Execute(&out, rows); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// payloadFields lists the fields of a payload, those of structs in it too.
func payloadFields(typ reflect.Type, prefix string) []payloadField {
	var fields []payloadField
	for f := range typ.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		text := f.Tag.Get("doc")
		if strings.Contains(options, "omitempty") {
			text += " (may be missing)"
		}
		fields = append(fields, payloadField{prefix + name, typeText(f.Type), text})
		if isObject(f.Type) {
			fields = append(fields, payloadFields(f.Type, prefix+name+".")...)
		}
	}
	return fields
}

func isObject(typ reflect.Type) bool {
	return typ.Kind() == reflect.Struct && typ != reflect.TypeFor[time.Time]()
}

// typeText is a type as a reader of JSON sees it.
func typeText(typ reflect.Type) string {
	switch {
	case typ == reflect.TypeFor[time.Time]():
		return "time (RFC 3339)"
	case typ.Kind() == reflect.Pointer:
		return typeText(typ.Elem())
	case typ.Kind() == reflect.Slice:
		return "list of " + typeText(typ.Elem()) + "s"
	case typ.Kind() == reflect.String:
		return "string"
	case typ.Kind() == reflect.Bool:
		return "boolean"
	case isObject(typ):
		return "object"
	}
	return "integer"
}
