package main

import (
	"strings"

	"github.com/spf13/pflag"

	"cw/internal/cw"
)

// listing are the flags of commands that print a list.
type listing struct {
	limit int
	sort  string
}

func (l *listing) flags(fl *pflag.FlagSet, list cw.List) {
	var fields []string
	for _, sort := range list.Sorts() {
		if !strings.HasPrefix(sort, "-") {
			fields = append(fields, sort)
		}
	}
	fl.IntVar(&l.limit, "limit", 0, "print at most `N`; 0: all")
	fl.StringVar(&l.sort, "sort", list.Own, "sort by this `FIELD`, with - before it from the greatest on: "+strings.Join(fields, ", "))
}

// query gives what to ask the daemon for; it knows the fields.
func (l *listing) query() (cw.PageQuery, error) {
	if l.limit < 0 {
		return cw.PageQuery{}, usagef("there is no limit of %d", l.limit).WithHint("leave --limit out for all")
	}
	return cw.PageQuery{Limit: l.limit, Sort: l.sort}, nil
}
