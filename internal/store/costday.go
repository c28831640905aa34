package store

import (
	"fmt"
	"strings"
	"time"
)

// firstDay is older than all that cw has stored.
var firstDay = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// dayIn is an expression for the day of a time in a zone, "2026-01-31". The
// database knows no zones, so the expression says when the distance from UTC
// changed until now. The column is a constant of the program.
func dayIn(column string, zone *time.Location, now time.Time) string {
	var offset strings.Builder
	at := firstDay.In(zone)
	for {
		_, seconds := at.Zone()
		_, end := at.ZoneBounds()
		if end.IsZero() || end.After(now) {
			return fmt.Sprintf("date(%s, (CASE%s WHEN 1 THEN %d END) || ' seconds')", column, offset.String(), seconds)
		}
		fmt.Fprintf(&offset, " WHEN unixepoch(%s) < %d THEN %d", column, end.Unix(), seconds)
		at = end
	}
}
