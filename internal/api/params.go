package api

import (
	"net/url"
	"reflect"
	"slices"
	"strings"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// PageParams are the parameters of every list. Its name is exported because
// huma reads only what reflection may.
type PageParams struct {
	Limit  int    `query:"limit" doc:"the greatest number of items on the page; 0 stands for 100"`
	Cursor string `query:"cursor" doc:"where the page begins: next of the page before, with the same filters and the same sort. Without it: the first page"`
	Sort   string `query:"sort" doc:"what the items are sorted by, with - before it from the greatest on. Without it: the list's own order"`
}

// listPage is the input of a list without filters.
type listPage struct{ PageParams }

func (p PageParams) query() cw.PageQuery {
	return cw.PageQuery{Limit: p.Limit, Cursor: p.Cursor, Sort: p.Sort}
}

// page sets the parameters of a list's page.
func (q query) page(p cw.PageQuery) {
	q.number("limit", int64(p.Limit))
	q.text("cursor", p.Cursor)
	q.text("sort", p.Sort)
}

// checkedQuery refuses queries that the route would read in another way than
// they were meant: a parameter that is nearly one of the route's, one that
// stands there twice, and what cannot be read at all. Others are left alone,
// since newer clients say more. The header that a stream resumes by stands for
// a parameter.
func checkedQuery[I any](s *Server) func(huma.Context, func(huma.Context)) {
	names, several := queryNames(reflect.TypeFor[I]())
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		err := checkQuery(r.URL.RawQuery, names, several)
		if ids := r.Header.Values("Last-Event-ID"); err == nil && len(ids) > 1 {
			err = cw.Errorf(cw.CodeInvalid, "Last-Event-ID stands there %d times", len(ids)).WithHint("send the id of the last frame alone")
		}
		if err != nil {
			s.writeError(r.Context(), w, err)
			return
		}
		next(ctx)
	}
}

func checkQuery(raw string, names, several []string) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return cw.Errorf(cw.CodeInvalid, "the query of the address cannot be read").
			WithHint("separate parameters by &, and percent-encode ; %% and what is no letter").Because(err)
	}
	for _, given := range sortedKeys(values) {
		if slices.Contains(names, given) {
			if len(values[given]) > 1 && !slices.Contains(several, given) {
				return cw.Errorf(cw.CodeInvalid, "the parameter %s stands there %d times", given, len(values[given])).
					WithHint("say it once; several values of one parameter are separated by commas")
			}
			continue
		}
		if meant, ok := nearestOf(given, names); ok {
			return cw.Errorf(cw.CodeInvalid, "there is no parameter %.100q here", given).
				WithHint("did you mean %s? The parameters are %s", meant, strings.Join(names, ", "))
		}
	}
	return nil
}

// queryNames lists the query parameters of a route's input, and those that may
// stand there more than once.
func queryNames(input reflect.Type) (names, several []string) {
	for _, f := range reflect.VisibleFields(input) {
		if name, ok := f.Tag.Lookup("query"); ok {
			name, how, _ := strings.Cut(name, ",")
			names = append(names, name)
			if how == "explode" {
				several = append(several, name)
			}
		}
	}
	return names, several
}
