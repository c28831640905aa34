package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"cw/internal/cw"
)

// usagef makes an error of usage: exit code 2.
func usagef(format string, args ...any) *cw.Error { return cw.Errorf(cw.CodeInvalid, format, args...) }

// flagError says what is wrong with a flag. The library's own words for a bad
// value are those of the function that parsed it.
func flagError(err error) *cw.Error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return usagef("%s", oneLine(err.Error()))
	}
	f := bad.GetFlag()
	want := map[string]string{"int": "a whole number", "int64": "a whole number", "duration": "a time like 90s or 30m", "bool": "true or false"}[f.Value.Type()]
	if want == "" {
		want = "a value it takes"
	}
	return usagef("--%s %s is not %s", f.Name, oneLine(strconv.Quote(bad.GetValue())), want)
}

// negativeNumber returns the argument that was taken for flags and is a negative
// number, "" for any other error.
func negativeNumber(err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	number := "-" + unknown.GetSpecifiedShortnames()
	if _, err := strconv.ParseFloat(number, 64); err != nil {
		return ""
	}
	return number
}

// explain gives every error a code: what went wrong before the command had
// understood its arguments is usage, and what ended because of Ctrl-C is an
// interruption, whatever the layers below made of it.
func explain(ctx context.Context, err error, understood bool) *cw.Error {
	var e *cw.Error
	isOurs := errors.As(err, &e)
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return cw.Errorf(cw.CodeInterrupted, "interrupted")
	case isOurs && err != error(e): //nolint:errorlint // identity is meant: wrapped: what was tried is part of the story
		whole := *e
		whole.Message, whole.Err = err.Error(), nil
		return &whole
	case isOurs:
		return e
	case !understood:
		return usagef("%s", oneLine(err.Error())).WithHint("cw --help lists the commands, cw COMMAND --help their flags")
	}
	if e := cw.SystemError(err); e != nil {
		return cw.Errorf(e.Code, "%s", err.Error()).WithHint("%s", e.Hint) // what was tried is part of the story
	}
	return cw.Errorf(cw.CodeInternal, "%s", err.Error())
}

// fail prints an error and gives the exit code it stands for.
func (a *app) fail(e *cw.Error) int {
	if a.json {
		shown := *e
		shown.Message = e.Error()
		_ = writeJSON(a.err, map[string]any{"error": shown}, "")
		return cw.ExitCode(e)
	}
	p := a.paint(a.errTTY)
	text := strings.TrimSpace(clean(e.Error()))
	fmt.Fprintf(a.err, "%s %s\n", p.red("cw:"), strings.ReplaceAll(text, "\n", "\n    "))
	if e.Hint != "" {
		fmt.Fprintf(a.err, "%s %s\n", p.dim("hint:"), clean(e.Hint))
	}
	return cw.ExitCode(e)
}
