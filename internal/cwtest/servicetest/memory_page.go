package servicetest

import (
	"slices"

	"cw/internal/cw"
)

// pageOf cuts a page out of a whole list: it sorts a copy and leaves out what
// is not behind the start.
func pageOf[T cw.Keyed](s cw.PageStart, all []T) cw.Page[T] {
	var behind []T
	for _, item := range all {
		key, id := item.PageKey(s.Field)
		if !s.After || s.Compare(s.Key, s.ID, key, id) < 0 {
			behind = append(behind, item)
		}
	}
	slices.SortFunc(behind, func(a, b T) int {
		aKey, aID := a.PageKey(s.Field)
		bKey, bID := b.PageKey(s.Field)
		return s.Compare(aKey, aID, bKey, bID)
	})
	return cw.CutPage(s, behind)
}
