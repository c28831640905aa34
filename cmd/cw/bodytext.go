package main

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"cw/internal/cw"
)

// bodyFlag defines --body, the file with the text of a page, a phase or a task.
func bodyFlag(fl *pflag.FlagSet, into *optionalText) {
	fl.Var(into, "body", "read its text, Markdown, from this `FILE`; - for stdin")
}

// body reads the text that --body names; nil without the flag. CodeInvalid.
func (a *app) body(file optionalText) (*string, error) {
	if file.value == nil {
		return nil, nil
	}
	if *file.value == "" {
		return nil, usagef("--body is empty").WithHint("name a file, or - for stdin")
	}
	data, err := a.readFile("--body", *file.value, cw.BodyMax)
	if err != nil {
		return nil, err
	}
	text := string(data)
	return &text, checkText("the text", text)
}

// goalText reads a goal that --goal gives, - for stdin; nil without the flag.
// CodeInvalid.
func (a *app) goalText(goal optionalText) (*string, error) {
	if goal.value == nil {
		return nil, nil
	}
	text, err := a.readText("the goal", *goal.value, cw.BodyMax)
	if err != nil {
		return nil, err
	}
	return &text, checkText("the goal", text)
}

// checkText refuses what JSON would not carry as it is. CodeInvalid.
func checkText(what, text string) error {
	if !utf8.ValidString(text) { // JSON would put other characters in its place
		return usagef("%s is not UTF-8 text", what).WithHint("convert it, for example with iconv -t utf-8")
	}
	if strings.ContainsRune(text, 0) {
		return usagef("%s holds a NUL byte", what).WithHint("give a text file")
	}
	if len(text) > cw.BodyMax {
		return usagef("%s is larger than %s", what, size(cw.BodyMax)).WithHint("split it")
	}
	return nil
}

// orText gives the text, "" for none.
func orText(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// printText prints a text of people or agents below a heading.
func (a *app) printText(heading, text string) {
	text = strings.TrimRight(clean(text), "\n \t")
	if text == "" {
		return
	}
	if heading != "" {
		a.printf("\n%s\n", a.paint(a.outTTY).bold(heading))
	}
	a.printf("%s\n", text)
}
