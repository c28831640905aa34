package cw

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"
)

// cursorVersion is raised when the form of cursors changes; older ones are
// then refused. They are worth nothing after the walk that they belong to.
const cursorVersion = 1

// Bounds of a cursor in bytes. Sorted fields are names, statuses and times.
const (
	cursorMax   = 2048
	cursorSum   = 6 // of SHA-256: finds what was cut or mistyped; it is no secret
	fingerBytes = 9
)

// cursor is the place behind one item of a list in one order.
type cursor struct {
	Version int    `json:"v"`
	List    string `json:"l"`
	Sort    string `json:"s"`
	Filter  string `json:"f"` // fingerprint
	Key     string `json:"k"` // what the item was sorted by
	ID      string `json:"i"`
}

// encodeCursor gives a cursor as people see it: text without a meaning for
// them, fit for a URL.
func encodeCursor(c cursor) string {
	c.Version = cursorVersion
	text, err := json.Marshal(c)
	if err != nil { // cannot happen: numbers and strings
		return ""
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(append(sum[:cursorSum:cursorSum], text...))
}

var errNoCursor = errors.New("not what cw makes")

// decodeCursor reads exactly what encodeCursor wrote.
func decodeCursor(s string) (cursor, error) {
	if len(s) > cursorMax {
		return cursor{}, errNoCursor
	}
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return cursor{}, err
	}
	if len(data) < cursorSum {
		return cursor{}, errNoCursor
	}
	var c cursor
	if err := json.Unmarshal(data[cursorSum:], &c); err != nil {
		return cursor{}, err
	}
	// Once more the other way round, version and sum too: one cursor has one form.
	if !IsID(c.ID) || encodeCursor(c) != s {
		return cursor{}, errNoCursor
	}
	return c, nil
}

// differs tells what of a list a cursor of another one does not share, or "".
func (c cursor) differs(other cursor) string {
	switch {
	case c.List != other.List:
		return "list"
	case c.Sort != other.Sort:
		return "order"
	case c.Filter != other.Filter:
		return "filter"
	}
	return ""
}

// fingerprint tells one selection of a list from another.
func fingerprint(filter []string) string {
	text, err := json.Marshal(filter)
	if err != nil { // cannot happen: strings
		return ""
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:fingerBytes])
}

// timeKeyLayout has all digits, so that keys sort as their times do.
const timeKeyLayout = "2006-01-02T15:04:05.000000000Z"

// TimeKey is the key of an item that is sorted by a time.
func TimeKey(t time.Time) string { return t.UTC().Format(timeKeyLayout) }

// ParseTimeKey reads a key that TimeKey wrote.
func ParseTimeKey(key string) (time.Time, error) {
	return time.Parse(timeKeyLayout, key)
}

func isTimeKey(key string) bool {
	t, err := ParseTimeKey(key)
	return err == nil && TimeKey(t) == key
}
