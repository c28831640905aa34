package cw

import (
	"errors"
	"fmt"
)

// Code classifies an error for programs: it decides the exit code of the
// command line and the HTTP status of the API. The text beside it is for people.
type Code string

// The codes. Everything that is not a *Error counts as CodeInternal.
const (
	CodeInternal     Code = "internal"     // a bug or a broken machine; details go to the log only
	CodeFailed       Code = "failed"       // the act was tried and did not succeed
	CodeInvalid      Code = "invalid"      // the request itself is wrong
	CodeNotFound     Code = "not_found"    // the named thing does not exist
	CodeRefused      Code = "refused"      // legal, but not in this state
	CodeTooMany      Code = "too_many"     // as many as there may be are in use; later it can be had
	CodeUnauthorized Code = "unauthorized" // nobody is known to be calling
	CodeForbidden    Code = "forbidden"    // the caller is known and may not
	CodeGone         Code = "gone"         // it existed and is past its retention
	CodeUnreachable  Code = "unreachable"  // no daemon answers
	CodeTimeout      Code = "timeout"      // the time given is over; the work may go on
	CodeWaiting      Code = "waiting"      // an answer from a person is needed first
	CodeInterrupted  Code = "interrupted"  // the caller let go
)

// Outcome is what one code means outside the program.
type Outcome struct {
	HTTPStatus int // status of an API answer
	ExitCode   int // exit code of the command line
}

// Outcomes is the one table from code to HTTP status and exit code.
func Outcomes() map[Code]Outcome {
	return map[Code]Outcome{
		CodeInternal:     {500, 1},
		CodeFailed:       {422, 1},
		CodeInvalid:      {400, 2},
		CodeNotFound:     {404, 3},
		CodeRefused:      {409, 4},
		CodeTooMany:      {429, 4},
		CodeUnauthorized: {401, 4},
		CodeForbidden:    {403, 4},
		CodeGone:         {410, 4},
		CodeUnreachable:  {503, 5},
		CodeTimeout:      {504, 6},
		CodeWaiting:      {425, 7},
		CodeInterrupted:  {499, 130},
	}
}

// Error is an error that a person may see: what is wrong, and what to do next.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`        // what is wrong, one sentence, no final stop
	Hint    string `json:"hint,omitempty"` // what to do next
	Err     error  `json:"-"`              // the cause, for the log
}

// Error gives the message, followed by the cause when there is one.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// WithHint returns a copy that carries the hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	out := *e
	out.Hint = fmt.Sprintf(format, args...)
	return &out
}

// Because returns a copy that carries the cause.
func (e *Error) Because(err error) *Error {
	out := *e
	out.Err = err
	return &out
}

// Errorf makes an error with a code. It does not wrap: use Because for a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ErrorCode gives the code of an error: "" for nil, CodeInternal for anything
// that carries none.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// ErrorHint gives the hint of an error, or "".
func ErrorHint(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// ExitCode gives the exit code that an error stands for; nil is 0.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	return Outcomes()[ErrorCode(err)].ExitCode
}
