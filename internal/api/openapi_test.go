package api

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

var update = flag.Bool("update", false, "write docs/openapi.json")

const openAPIPath = "../../docs/openapi.json"

func describeAPI(t *testing.T) string {
	t.Helper()
	s, err := NewServer(plainOptions())
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestOpenAPIDocument: docs/openapi.json is what the routes and types say, and
// they say it in one way only.
func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	got := describeAPI(t)
	if again := describeAPI(t); again != got {
		t.Errorf("described twice (-first +second):\n%s", cmp.Diff(got, again))
	}
	if *update {
		if err := os.WriteFile(openAPIPath, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(openAPIPath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/openapi.json is old; run go test ./internal/api -run TestOpenAPIDocument -update (-want +got):\n%s", diff)
	}
}

// document is what these tests look at of a description.
type document struct {
	OpenAPI    string
	Paths      map[string]map[string]operation
	Components struct {
		Schemas   map[string]map[string]any
		Responses map[string]any
	}
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Security                          []map[string][]string
	Parameters                        []struct {
		Name, In, Description string
		Schema                map[string]any
	}
	Responses map[string]struct {
		Ref     string `json:"$ref"`
		Content map[string]any
	}
}

func readDocument(t *testing.T) document {
	t.Helper()
	var doc document
	if err := json.Unmarshal([]byte(describeAPI(t)), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOperationsAreDescribed(t *testing.T) {
	t.Parallel()
	doc := readDocument(t)
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("version %q", doc.OpenAPI)
	}
	operations := 0
	for _, byMethod := range doc.Paths {
		operations += len(byMethod)
	}
	if operations != len(Routes()) {
		t.Errorf("%d operations for %d routes", operations, len(Routes()))
	}
	texts := operationTexts()
	for _, row := range Routes() {
		op := doc.Paths[row.Path][strings.ToLower(row.Method)]
		if op.OperationID != row.ID || op.Summary != row.Summary || len(op.Tags) != 1 || texts[row.ID] == "" {
			t.Errorf("%s is described as %+v", row.Pattern(), op)
		}
		if row.Dashboard != never && !row.tokenless() && !strings.Contains(op.Description, "`"+string(row.Dashboard)+"`") {
			t.Errorf("%s does not name its scope: %q", row.ID, op.Description)
		}
		token := slices.ContainsFunc(op.Security, func(s map[string][]string) bool {
			return slices.Equal(s[schemeToken], []string{string(row.Dashboard)})
		})
		if token != (row.Dashboard != never && !row.tokenless()) {
			t.Errorf("%s (%q) has the security %v", row.ID, row.Dashboard, op.Security)
		}
		for status, r := range op.Responses {
			name := strings.TrimPrefix(r.Ref, "#/components/responses/")
			if status != "200" && doc.Components.Responses[name] == nil {
				t.Errorf("%s: %s is %q", row.ID, status, r.Ref)
			}
			if status == "200" && len(r.Content) == 0 {
				t.Errorf("%s answers with nothing", row.ID)
			}
		}
		for _, p := range op.Parameters {
			if p.Description == "" {
				t.Errorf("%s: %s is not described", row.ID, p.Name)
			}
			if p.Name == "limit" && (p.Schema["maximum"] != float64(cw.PageMax) || p.Schema["minimum"] != 0.0) {
				t.Errorf("%s: the limit is %v", row.ID, p.Schema)
			}
		}
	}
}

// Every component and every field says what it is, and nothing of huma's own
// form of errors is left.
func TestSchemasAreDescribed(t *testing.T) {
	t.Parallel()
	doc := readDocument(t)
	for name, schema := range doc.Components.Schemas {
		if schema["description"] == "" || schema["description"] == nil {
			t.Errorf("%s is not described", name)
		}
		fields, _ := schema["properties"].(map[string]any)
		for field, about := range fields {
			if text, _ := about.(map[string]any)["description"].(string); text == "" {
				t.Errorf("%s.%s is not described", name, field)
			}
		}
		if strings.HasPrefix(name, "Error") {
			t.Errorf("there is a schema %s", name)
		}
	}
	for _, info := range cw.EventTable() {
		if doc.Components.Schemas[eventSchemaName(info.Type)] == nil || doc.Components.Schemas[reflect.TypeOf(info.Payload).Name()] == nil {
			t.Errorf("the event %s is not described", info.Type)
		}
	}
	for _, field := range sometimesEmpty() {
		name, key, _ := strings.Cut(field, ".")
		if fields, _ := doc.Components.Schemas[name]["properties"].(map[string]any); fields[key] == nil {
			t.Errorf("there is no field %s", field)
		}
	}
}

// TestWordsAreWhole: a constant of a described type that is not in the list of
// its words would be left out of the description.
func TestWordsAreWhole(t *testing.T) {
	t.Parallel()
	listed := map[string][]string{}
	for _, e := range enums() {
		for _, w := range e.words {
			listed[e.is.Name()] = append(listed[e.is.Name()], reflect.ValueOf(w).String())
		}
	}
	written := 0
	for name, words := range constants(t, "../cw") {
		known, ok := listed[name]
		if !ok {
			continue
		}
		for _, word := range words {
			written++
			if !slices.Contains(known, word) {
				t.Errorf("%s of type %s is not described", word, name)
			}
		}
	}
	if written < 50 {
		t.Errorf("only %d constants were found", written)
	}
}

// constants gives the values of a package's typed string constants by type.
func constants(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	out := map[string][]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil || len(spec.Values) != 1 {
				return true
			}
			is, _ := spec.Type.(*ast.Ident)
			value, _ := spec.Values[0].(*ast.BasicLit)
			if is != nil && value != nil && value.Kind == token.STRING {
				if text, err := strconv.Unquote(value.Value); err == nil && text != "" {
					out[is.Name] = append(out[is.Name], text)
				}
			}
			return true
		})
	}
	return out
}
