package artifacts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/internal/frontmatter"
)

// head reads the keys of a draft and collects what is wrong with them.
type head struct {
	doc    frontmatter.Document
	draft  *Draft
	known  map[string]bool // keys that were asked for
	faults []frontmatter.Error
}

func newHead(doc frontmatter.Document, draft *Draft) *head {
	return &head{doc: doc, draft: draft, known: map[string]bool{}}
}

// ask reads one key by one of the document's getters.
func ask[T any](h *head, key string, read func(key string) (T, error)) T {
	h.known[key] = true
	value, err := read(key)
	if err != nil {
		h.fault(err)
	} else if _, there := h.doc.Field(key); there {
		h.draft.Has[key] = true
	}
	return value
}

func (h *head) text(key string) string    { return ask(h, key, h.doc.Text) }
func (h *head) texts(key string) []string { return ask(h, key, h.doc.Texts) }
func (h *head) flag(key string) bool      { return ask(h, key, h.doc.Bool) }

// title reads the title, which may be called name.
func (h *head) title() string {
	key := keyTitle
	h.known[keyTitle] = true
	if _, there := h.doc.Field(keyTitle); !there {
		key = keyName
	}
	title := strings.TrimSpace(h.text(key))
	if !h.draft.Has[key] {
		return ""
	}
	h.check(key, cw.CheckName(string(h.draft.Target), title))
	delete(h.draft.Has, keyName)
	h.draft.Has[keyTitle] = true
	return title
}

func (h *head) position() int {
	n := ask(h, keyPosition, h.doc.Int)
	if n < 0 {
		h.faultAt(keyPosition, "%s counts from 0", keyPosition)
	}
	return n
}

// id reads a key that names something else; "" when it is not there.
func (h *head) id(key string) string {
	id := strings.TrimSpace(h.text(key))
	if id != "" && !cw.IsID(id) {
		h.faultAt(key, "%s names %s, which is no id", key, shown(id))
	}
	return id
}

// idList reads a key that names several things, each once.
func idList[T ~string](h *head, key string) []T {
	texts := h.texts(key)
	if texts == nil {
		return nil
	}
	ids := make([]T, 0, len(texts))
	for _, text := range texts {
		if !cw.IsID(text) {
			h.faultAt(key, "%s names %s, which is no id", key, shown(text))
		}
		if id := T(text); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > cw.DependenciesMax {
			h.faultAt(key, "%s names more than %d", key, cw.DependenciesMax)
			break
		}
	}
	return ids
}

func (h *head) body() string { return trimBody(h.doc.Body) }

// leaveOut passes over keys that are for reading only: whoever copies the file
// that it read may leave them in.
func (h *head) leaveOut(keys ...string) {
	for _, key := range keys {
		h.known[key] = true
	}
}

// check places what a rule says about a key.
func (h *head) check(key string, err error) {
	if err == nil {
		return
	}
	text := err.Error()
	if hint := cw.ErrorHint(err); hint != "" {
		text += ": " + hint
	}
	h.faultAt(key, "%s", text)
}

func (h *head) faultAt(key, format string, args ...any) {
	f, _ := h.doc.Field(key)
	h.fault(&frontmatter.Error{Line: f.Line, Text: fmt.Sprintf(format, args...)})
}

// faultIn tells what is wrong with a value inside of a key's.
func (h *head) faultIn(v frontmatter.Value, format string, args ...any) {
	h.fault(&frontmatter.Error{Line: v.Line, Text: fmt.Sprintf(format, args...)})
}

func (h *head) fault(err error) {
	fault := &frontmatter.Error{Text: err.Error()}
	errors.As(err, &fault)
	h.faults = append(h.faults, *fault)
}

// extra gives the keys that nobody asked for, as they were written.
func (h *head) extra() map[string]any {
	var out map[string]any
	for _, f := range h.doc.Fields {
		if h.known[frontmatter.Key(f.Key)] {
			continue
		}
		if out == nil {
			out = map[string]any{}
		}
		out[f.Key] = f.Value.Any()
	}
	return out
}

// problems gives what was wrong in the order of the lines.
func (h *head) problems() []Problem {
	slices.SortStableFunc(h.faults, func(a, b frontmatter.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	var out []Problem
	for _, f := range h.faults {
		out = append(out, Problem{File: h.draft.File, Line: f.Line, Text: f.Text})
	}
	return out
}
