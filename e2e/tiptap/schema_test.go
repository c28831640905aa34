// Package tiptap checks the documents of internal/tiptap with the schema of the
// real editor.
package tiptap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cwtest/lab"
	"cw/internal/tiptap"
)

const testdata = "../../internal/tiptap/testdata"

// TestSchema: the editor takes every document of the corpus.
func TestSchema(t *testing.T) {
	names, texts := corpus(t)
	var docs []any
	for _, md := range texts {
		docs = append(docs, tiptap.FromMarkdown(md))
	}
	for i, said := range check(t, docs) {
		if said != "ok" {
			t.Errorf("%s: %s\n%q", names[i], said, texts[i])
		}
	}
}

// TestSchemaRefuses: the same check refuses broken documents, each for its
// fault.
func TestSchemaRefuses(t *testing.T) {
	broken := []struct{ doc, said string }{
		{`{"type":"doc"}`, "Invalid content for node doc"},
		{`{"type":"doc","content":[{"type":"iframe"}]}`, "Unknown node type: iframe"},
		{`{"type":"doc","content":[{"type":"bulletList","content":[{"type":"listItem","content":[{"type":"codeBlock"}]}]}]}`, "Invalid content for node listItem"},
		{`{"type":"doc","content":[{"type":"paragraph","content":[{"type":"text","text":"a","marks":[{"type":"bold"},{"type":"code"}]}]}]}`, "Invalid collection of marks"},
		{`{"type":"doc","content":[{"type":"paragraph","content":[{"type":"text","text":""}]}]}`, "Empty text nodes"},
	}
	var docs []any
	for _, b := range broken {
		docs = append(docs, json.RawMessage(b.doc))
	}
	for i, said := range check(t, docs) {
		if !strings.Contains(said, broken[i].said) {
			t.Errorf("%s\nsaid %q, not %q", broken[i].doc, said, broken[i].said)
		}
	}
}

// check asks the editor about each document.
func check(t *testing.T, docs []any) []string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		lab.Lacks(t, "node is not installed")
	}
	if _, err := os.Stat("node_modules/.installed-lock.json"); err != nil {
		lab.Lacks(t, "the editor is not installed: make deps")
	}
	var in bytes.Buffer
	for _, doc := range docs {
		line, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), node, "check.mjs")
	cmd.Stdin = &in
	out, err := cmd.CombinedOutput()
	said := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(said) != len(docs) {
		t.Fatalf("%v: %d answers to %d documents\n%s", err, len(said), len(docs), out)
	}
	return said
}

// corpus gives the names and texts of all documents.
func corpus(t *testing.T) (names, texts []string) {
	t.Helper()
	files, err := filepath.Glob(testdata + "/corpus/*.md")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		names, texts = append(names, filepath.Base(f)), append(texts, string(text))
	}
	data, err := os.ReadFile(testdata + "/commonmark.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct {
		Example  int
		Markdown string
	}
	if err := json.Unmarshal(data, &examples); err != nil || len(examples) < 600 {
		t.Fatalf("%d examples: %v", len(examples), err)
	}
	for _, e := range examples {
		names, texts = append(names, fmt.Sprintf("commonmark-%d", e.Example)), append(texts, e.Markdown)
	}
	return names, texts
}
