package planning

import (
	"cmp"
	"slices"

	"cw/internal/cw"
)

// number gives everything its place among its siblings, from 0 without gaps.
func (p *plan) number() {
	number(p.Pages, pageKind())
	number(p.Phases, phaseKind())
	number(p.Tasks, taskKind())
}

func number[T any](rows []T, k kind[T]) {
	groups := map[string][]*T{}
	for i := range rows {
		groups[k.among(&rows[i])] = append(groups[k.among(&rows[i])], &rows[i])
	}
	for _, group := range groups {
		arrange(group, k)
		for i, row := range group {
			*k.place(row) = i
		}
	}
}

// arrange sorts siblings by their places; what is over comes last.
func arrange[T any](siblings []*T, k kind[T]) {
	slices.SortStableFunc(siblings, func(a, b *T) int {
		return cmp.Or(rank(k.over(a))-rank(k.over(b)), cmp.Compare(*k.place(a), *k.place(b)))
	})
}

func rank(over bool) int {
	if over {
		return 1
	}
	return 0
}

// move gives one row the place at among its siblings; a place behind the last
// is the last. CodeInvalid for one before the first.
func move[T any](p *plan, rows []T, k kind[T], row *T, at int) error {
	if at < 0 {
		return cw.Errorf(cw.CodeInvalid, "there is no place %d", at).WithHint("the first place is 0; a place behind the last is the last")
	}
	var others []*T
	for i := range rows {
		if &rows[i] != row && k.among(&rows[i]) == k.among(row) {
			others = append(others, &rows[i])
		}
	}
	arrange(others, k)
	for i, other := range others {
		*k.place(other) = i + rank(i >= at)
	}
	*k.place(row) = min(at, len(others))
	p.moved[k.id(row)] = true
	return nil
}
