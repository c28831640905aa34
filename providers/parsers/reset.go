package parsers

import (
	"strconv"
	"strings"
	"time"

	"cw/internal/cw"
)

// Reset times as CLIs write them into error texts.
var (
	// "Claude AI usage limit reached|1795237769"
	resetEpoch = cw.Pattern(`\|(\d{10})(?:\D|$)`)
	// "resets 5:13am (UTC)", "resets 5am (UTC)", "resets Nov 25, 5:13am (Europe/Berlin)",
	// "resets Jan 2, 2027, 5am (UTC)"
	resetClock = cw.Pattern(`(?i)resets? (?:at )?(?:([a-z]{3}) (\d{1,2})(?:, (\d{4}))?,? (?:at )?)?(\d{1,2})(?::(\d{2}))?\s?([ap]m)(?: \(([A-Za-z0-9_+\-/]+)\))?`)
	// "try again at 5:15 AM", "try again at Nov 23rd, 2026 5:15 AM": codex writes
	// the local time of its own process
	resetLocal = cw.Pattern(`(?i)try again at (?:([a-z]{3}) (\d{1,2})(?:st|nd|rd|th)?(?:, (\d{4}))?,? (?:at )?)?(\d{1,2})(?::(\d{2}))?[\s\x{202f}]?([ap]m)`)
)

// ResetTime reads from an error text when a limit is over: as seconds of the
// epoch, or as a time of day, with or without a date, which is taken as the
// first such moment after ref. A zone that this machine does not know, and a
// time of day with a zero ref, give nil. When none is told the zone is that of
// ref for "try again at", which is local time, and UTC for "resets".
func ResetTime(text string, ref time.Time) *time.Time {
	if m := resetEpoch().FindStringSubmatch(text); m != nil {
		seconds, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return nil
		}
		at := time.Unix(seconds, 0).UTC()
		return &at
	}
	if ref.IsZero() {
		return nil
	}
	if m := resetLocal().FindStringSubmatch(text); m != nil {
		// Its minute is cut, not rounded: what is told as this minute is not
		// tomorrow's.
		return atClock(ref.Truncate(time.Minute), m[1:7])
	}
	m := resetClock().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	zone, err := time.LoadLocation(m[7]) // "" is UTC
	if err != nil {
		return nil
	}
	return atClock(ref.In(zone), m[1:7])
}

// atClock gives the first moment after ref with the month, day, year, hour,
// minute and half of the day in m; the date may be empty.
func atClock(ref time.Time, m []string) *time.Time {
	hour, minute, ok := clock(m[3], m[4], m[5])
	if !ok {
		return nil
	}
	at := nextMoment(ref, m[0], m[1], m[2], hour, minute)
	if at == nil {
		return nil
	}
	utc := at.UTC()
	return &utc
}

func clock(hourText, minuteText, half string) (hour, minute int, ok bool) {
	hour, _ = strconv.Atoi(hourText) // digits by the pattern
	minute, _ = strconv.Atoi("0" + minuteText)
	if hour < 1 || hour > 12 || minute > 59 {
		return 0, 0, false
	}
	hour %= 12
	if strings.EqualFold(half, "pm") {
		hour += 12
	}
	return hour, minute, true
}

// nextMoment gives the first moment after ref with the given date (which may be
// empty, or lack the year) and time of day.
func nextMoment(ref time.Time, monthText, dayText, yearText string, hour, minute int) *time.Time {
	if monthText == "" {
		at := time.Date(ref.Year(), ref.Month(), ref.Day(), hour, minute, 0, 0, ref.Location())
		if at.Before(ref) {
			at = time.Date(ref.Year(), ref.Month(), ref.Day()+1, hour, minute, 0, 0, ref.Location())
		}
		return &at
	}
	month, err := time.Parse("Jan", strings.ToUpper(monthText[:1])+strings.ToLower(monthText[1:]))
	day, _ := strconv.Atoi(dayText) // digits by the pattern
	if err != nil || day < 1 || day > 31 {
		return nil
	}
	year := ref.Year()
	if yearText != "" {
		year, _ = strconv.Atoi(yearText)
	}
	at := time.Date(year, month.Month(), day, hour, minute, 0, 0, ref.Location())
	if yearText == "" && at.Before(ref) {
		at = time.Date(year+1, month.Month(), day, hour, minute, 0, 0, ref.Location())
	}
	return &at
}
