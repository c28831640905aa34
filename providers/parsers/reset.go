package parsers

import (
	"slices"
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

// moment is the latest moment that is known of a run: its start, until the
// output tells one. What the output tells wins over the start even when it is
// earlier, for a clock that was wrong may have been put right; after that time
// only goes on. Its location is that of the start.
type moment struct {
	at   time.Time
	told bool // by the output
}

func (m *moment) tell(at time.Time) {
	if at.Year() < 9999 && (!m.told || at.After(m.at)) { // no reset may pass what JSON can say
		m.at, m.told = at.In(m.at.Location()), true
	}
}

// ResetTime reads from an error text when a limit is over: as seconds of the
// epoch, or as a time of day, with or without a date, which is taken as the
// first such moment after ref. A zone that this machine does not know, and a
// time of day with a zero ref, give nil. When none is told the zone is that of
// ref for "try again at", which is local time, and UTC for "resets". CLIs cut
// the seconds: what is told as this minute is not tomorrow's.
func ResetTime(text string, ref time.Time) *time.Time {
	if m := resetEpoch().FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64) // ten digits by the pattern
		return epoch(seconds)
	}
	if ref.IsZero() {
		return nil
	}
	if m := resetLocal().FindStringSubmatch(text); m != nil {
		return atClock(ref, m[1:7])
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

// epoch gives the moment that many seconds after 1970, nil for one that is
// none, or not in seconds.
func epoch(seconds int64) *time.Time {
	at := time.Unix(seconds, 0).UTC()
	if seconds <= 0 || at.Year() >= 9999 {
		return nil
	}
	return &at
}

// atClock gives the first moment from ref's minute on with the month, day,
// year, hour, minute and half of the day in m; the date may be empty.
func atClock(ref time.Time, m []string) *time.Time {
	hour, minute, ok := clock(m[3], m[4], m[5])
	if !ok {
		return nil
	}
	ref = ref.Truncate(time.Minute)
	at := nextMoment(ref, m[0], m[1], m[2], hour, minute)
	if at == nil {
		return nil
	}
	utc := at.UTC()
	if utc.Year() < 1970 || utc.Year() >= 9999 {
		return nil
	}
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

// dateOver is how long a date without a year may be over and still be this
// year's: a clock may be wrong, and a limit of a year there is none.
const dateOver = 7 * 24 * time.Hour

// nextMoment gives the first moment from ref on with the given date (which may
// be empty, or lack the year) and time of day. A date may be just over.
func nextMoment(ref time.Time, monthText, dayText, yearText string, hour, minute int) *time.Time {
	if monthText == "" {
		return firstOf(ref, onDay(ref, ref.Year(), ref.Month(), ref.Day(), hour, minute),
			onDay(ref, ref.Year(), ref.Month(), ref.Day()+1, hour, minute))
	}
	parsed, err := time.Parse("Jan", strings.ToUpper(monthText[:1])+strings.ToLower(monthText[1:]))
	day, _ := strconv.Atoi(dayText) // digits by the pattern
	month := parsed.Month()
	if err != nil || day < 1 || time.Date(2028, month, day, 0, 0, 0, 0, time.UTC).Month() != month { // a leap year
		return nil
	}
	if yearText == "" {
		return firstOf(ref.Add(-dateOver), onDay(ref, ref.Year()-1, month, day, hour, minute),
			onDay(ref, ref.Year(), month, day, hour, minute), onDay(ref, ref.Year()+1, month, day, hour, minute))
	}
	year, _ := strconv.Atoi(yearText)
	return firstOf(time.Time{}, onDay(ref, year, month, day, hour, minute))
}

// onDay gives the moments of a day with that time of day in ref's zone: two when
// the clock is put back over it. In the gap of a clock that is put forward it is
// a moment beside it.
func onDay(ref time.Time, year int, month time.Month, day, hour, minute int) []time.Time {
	at := time.Date(year, month, day, hour, minute, 0, 0, ref.Location())
	moments := []time.Time{at}
	for _, twin := range []time.Time{at.Add(-time.Hour), at.Add(time.Hour)} { // which of two Date gives is not said
		if twin.Hour() == at.Hour() && twin.Minute() == at.Minute() {
			moments = append(moments, twin)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	return moments
}

// firstOf gives the first moment that is not before ref, nil when there is none.
func firstOf(ref time.Time, days ...[]time.Time) *time.Time {
	for _, at := range slices.Concat(days...) {
		if !at.Before(ref) {
			return &at
		}
	}
	return nil
}
