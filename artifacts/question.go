package artifacts

import (
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/internal/frontmatter"
)

// questionFields is the field of what a decision asks; none for nothing.
func questionFields(questions []cw.TaskQuestion) []frontmatter.Field {
	if len(questions) == 0 {
		return nil
	}
	list := frontmatter.Value{Kind: frontmatter.List}
	for _, q := range questions {
		fields := []frontmatter.Field{textField(keyID, q.ID)}
		if q.Header != "" {
			fields = append(fields, textField(keyHeader, q.Header))
		}
		fields = append(fields, textField(keyQuestion, q.Text))
		if len(q.Options) > 0 {
			fields = append(fields, frontmatter.Field{Key: keyOptions, Value: optionList(q.Options)})
		}
		if q.MultiSelect {
			fields = append(fields, frontmatter.Field{Key: keyMultiSelect, Value: frontmatter.BoolValue(true)})
		}
		list.Items = append(list.Items, frontmatter.Value{Kind: frontmatter.Map, Fields: fields})
	}
	return []frontmatter.Field{{Key: keyQuestions, Value: list}}
}

// optionList writes options: one that needs no description is its label.
func optionList(options []cw.QuestionOption) frontmatter.Value {
	list := frontmatter.Value{Kind: frontmatter.List}
	for _, o := range options {
		item := frontmatter.StringValue(o.Label)
		if o.Description != "" {
			item = frontmatter.Value{Kind: frontmatter.Map, Fields: []frontmatter.Field{textField(keyLabel, o.Label), textField(keyDescription, o.Description)}}
		}
		list.Items = append(list.Items, item)
	}
	return list
}

// questions reads what a decision asks: a list of questions, of which one may be
// its text alone.
func (h *head) questions() []cw.TaskQuestion {
	h.known[keyQuestions] = true
	f, there := h.doc.Field(keyQuestions)
	if !there {
		return nil
	}
	h.draft.Has[keyQuestions] = true
	if f.Value.Kind != frontmatter.List {
		h.faultAt(keyQuestions, "%s takes a list of questions, and this is %s", f.Key, f.Value.Kind)
		delete(h.draft.Has, keyQuestions)
		return nil
	}
	sound := len(h.faults)
	out := make([]cw.TaskQuestion, 0, len(f.Value.Items))
	for _, item := range f.Value.Items {
		out = append(out, h.question(item))
	}
	if len(h.faults) > sound { // else what could not be read would break rules, too
		delete(h.draft.Has, keyQuestions)
		return nil
	}
	return cw.FilledQuestions(out)
}

// question reads one question. Its answer is left out: whoever copies the file
// that it read may leave it in.
func (h *head) question(v frontmatter.Value) cw.TaskQuestion {
	m := mapping{Document: frontmatter.Document{Fields: v.Fields}, head: h}
	switch v.Kind {
	case frontmatter.Map:
	case frontmatter.List, frontmatter.Null:
		h.faultIn(v, "a question is a mapping with the key question, and this is %s", v.Kind)
		return cw.TaskQuestion{}
	default:
		return cw.TaskQuestion{Text: v.Text}
	}
	m.knows(keyID, keyHeader, keyQuestion, keyOptions, keyMultiSelect, keyAnswer)
	q := cw.TaskQuestion{ID: m.text(keyID), Header: m.text(keyHeader), Text: m.text(keyQuestion), MultiSelect: m.flag(keyMultiSelect)}
	f, there := m.Field(keyOptions)
	switch {
	case !there:
	case f.Value.Kind != frontmatter.List:
		h.faultIn(f.Value, "%s takes a list of answers, and this is %s", f.Key, f.Value.Kind)
	default:
		for _, item := range f.Value.Items {
			q.Options = append(q.Options, h.option(item))
		}
	}
	return q
}

// option reads one offered answer: its label, or a mapping.
func (h *head) option(v frontmatter.Value) cw.QuestionOption {
	m := mapping{Document: frontmatter.Document{Fields: v.Fields}, head: h}
	switch v.Kind {
	case frontmatter.Map:
	case frontmatter.List, frontmatter.Null:
		h.faultIn(v, "an option is a text, or a mapping with the key label, and this is %s", v.Kind)
		return cw.QuestionOption{}
	default:
		return cw.QuestionOption{Label: v.Text}
	}
	m.knows(keyLabel, keyDescription)
	return cw.QuestionOption{Label: m.text(keyLabel), Description: m.text(keyDescription)}
}

// mapping reads the keys of a mapping inside of a head.
type mapping struct {
	frontmatter.Document

	head *head
}

func (m mapping) text(key string) string {
	text, err := m.Text(key)
	if err != nil {
		m.head.fault(err)
	}
	return text
}

func (m mapping) flag(key string) bool {
	is, err := m.Bool(key)
	if err != nil {
		m.head.fault(err)
	}
	return is
}

// knows refuses other keys: what stands in one would be lost in silence.
func (m mapping) knows(keys ...string) {
	for _, f := range m.Fields {
		if !slices.Contains(keys, frontmatter.Key(f.Key)) {
			m.head.fault(&frontmatter.Error{Line: f.Line, Text: shown(f.Key) + " is no key here; there are " + strings.Join(keys, ", ")})
		}
	}
}
