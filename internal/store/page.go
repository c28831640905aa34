package store

import (
	"gorm.io/gorm"

	"cw/internal/cw"
)

// pageOf reads one page of a table in one statement. g selects the rows and
// column is the one that the page is sorted by. An index on (column, id) gives
// the rows behind a place without reading those before it.
func pageOf[T cw.Keyed](g *gorm.DB, s cw.PageStart, column string) (cw.Page[T], error) {
	direction, behind := " ASC", " > "
	if s.Descending {
		direction, behind = " DESC", " < "
	}
	g = g.Order(column + direction + ", id" + direction).Limit(s.Limit + 1) // one more: is there a next page?
	if s.After {
		var key any = s.Key
		if t, ok := s.KeyTime(); ok {
			key = t // written as the column is
		}
		g = g.Where("("+column+", id)"+behind+"(?, ?)", key, s.ID)
	}
	var rows []T
	if err := g.Find(&rows).Error; err != nil {
		return cw.Page[T]{}, err
	}
	return cw.CutPage(s, rows), nil
}
