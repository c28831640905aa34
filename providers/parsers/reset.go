package parsers

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"cw/internal/cw"
)

// The pieces of which reset times are made, as CLIs write them into error texts.
const (
	resetWhen    = `(?:resets?|renews?|refresh(?:es)?|(?:try|retry|available|back) again|available|wait until|retry after|until)(?: (?:at|on|after))?[: ]*`
	resetWeekday = `(?:(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? (?:at )?)?`
	resetMonth   = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
	resetDay     = `(\d{1,2})(?:st|nd|rd|th)?`
	resetYear    = `(?:,? (\d{4}))?`
	resetTime    = `(\d{1,2})(?:(?::(\d{2}))?(?::\d{2})?[\s\x{202f}]?([ap]\.?m\b\.?)|:(\d{2})(?::\d{2})?)`
	resetZone    = `(?: ?\(([A-Za-z0-9_+\-/: ]+)\)| (UTC|GMT|[A-Z][a-z]+/[A-Za-z_/]+|[A-Z]{2,4}T)\b)?`
	resetLink    = `,?(?: at)? `
)

// Reset times as CLIs write them into error texts.
var (
	// "Claude AI usage limit reached|1795237769"
	resetEpoch = cw.Pattern(`\|(\d{10})(?:\D|$)`)
	// "resets at 2026-11-25T05:13:00Z", "Retry after 2026-11-25 05:13:00 UTC"
	resetStamp = cw.Pattern(`(?i)` + resetWhen + `(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(?:\.\d+)? ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?`)
	// "resets 5:13am (UTC)", "resets 5am", "resets 17:13", "resets Monday 9am",
	// "try again at 5:15 AM", "reset at tomorrow 9am"
	resetClock = cw.Pattern(`(?i)` + resetWhen + `(tomorrow,? (?:at )?)?` + resetWeekday + resetTime + resetZone)
	// "resets Nov 25, 5:13am (Europe/Berlin)", "resets January 2, 2027, 5am (UTC)",
	// "try again at Nov 23rd, 2026 5:15 AM", "reset on April 20, 2026 at 2:00 AM"
	resetDate = cw.Pattern(`(?i)` + resetWhen + resetWeekday + resetMonth + ` ` + resetDay + resetYear + `(?:` + resetLink + resetTime + `)?` + resetZone)
	// "resets 25 Nov 2026, 5:13am"
	resetDayFirst = cw.Pattern(`(?i)` + resetWhen + resetWeekday + resetDay + ` ` + resetMonth + resetYear + `(?:` + resetLink + resetTime + `)?` + resetZone)
	// "resets Monday"
	resetOnDay = cw.Pattern(`(?i)` + resetWhen + `(mon|tue|wed|thu|fri|sat|sun)(?:day|sday|nesday|rsday|urday)?\b`)
)

// zoneNames are the zones that people of America name by their initials, and
// those that mean no other place.
var zoneNames = map[string]string{
	"Z": "UTC", "PT": "America/Los_Angeles", "PST": "America/Los_Angeles", "PDT": "America/Los_Angeles",
	"MT": "America/Denver", "MST": "America/Denver", "MDT": "America/Denver",
	"CT": "America/Chicago", "CST": "America/Chicago", "CDT": "America/Chicago",
	"ET": "America/New_York", "EST": "America/New_York", "EDT": "America/New_York",
	"CET": "Europe/Berlin", "CEST": "Europe/Berlin", "JST": "Asia/Tokyo", "KST": "Asia/Seoul",
}

// zoneOffset is a zone told as a distance: "UTC+5:30", "GMT-3".
var zoneOffset = cw.Pattern(`^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$`)

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
// epoch, as a timestamp, or as a time of day, with or without a day, which is
// taken as the first such moment after ref. A time of day with a zero ref gives
// nil. The zone is that of ref, which is the CLI's local time, when none is told
// or one that this machine does not know: CLIs name their own. What is told as
// just over is not tomorrow's.
func ResetTime(text string, ref time.Time) *time.Time {
	if m := resetEpoch().FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64) // ten digits by the pattern
		return epoch(seconds)
	}
	if m := resetStamp().FindStringSubmatch(text); m != nil {
		return stamp(m, ref)
	}
	if ref.IsZero() {
		return nil
	}
	if m := resetDate().FindStringSubmatch(text); m != nil {
		return resetDateOf(m[2], m[3], m[4], m[5:9], m[9]+m[10], ref)
	}
	if m := resetDayFirst().FindStringSubmatch(text); m != nil {
		return resetDateOf(m[3], m[2], m[4], m[5:9], m[9]+m[10], ref)
	}
	if m := resetClock().FindStringSubmatch(text); m != nil {
		hour, minute, ok := clock(m[3:7])
		if !ok {
			return nil
		}
		ref = inZone(ref, m[7]+m[8]).Truncate(time.Minute)
		switch {
		case m[1] != "":
			return told(onDay(ref, ref.Year(), ref.Month(), ref.Day()+1, hour, minute)[0])
		case m[2] != "":
			return told(onWeekday(ref, m[2], hour, minute))
		}
		return nextClock(ref, hour, minute)
	}
	if m := resetOnDay().FindStringSubmatch(text); m != nil {
		return told(onWeekday(ref, m[1], 0, 0))
	}
	return nil
}

// stamp reads a date and a time of day as ISO 8601 writes them.
func stamp(m []string, ref time.Time) *time.Time {
	text, layout := m[1]+"T"+m[2]+m[3], "2006-01-02T15:04"
	if m[3] != "" {
		layout += ":05"
	}
	at, err := time.ParseInLocation(layout, text, inZone(ref, m[4]).Location())
	if err != nil {
		return nil
	}
	return told(at)
}

// resetDateOf gives the moment with that month, day and year, which may be empty,
// and that time of day; without one it is the day's beginning.
func resetDateOf(month, day, year string, timeOfDay []string, zone string, ref time.Time) *time.Time {
	hour, minute, ok := clock(timeOfDay)
	if !ok {
		return nil
	}
	at := onDate(inZone(ref, zone).Truncate(time.Minute), month, day, year, hour, minute)
	if at == nil {
		return nil
	}
	return told(*at)
}

// inZone is the moment in a zone; in its own when none is told, or one that this
// machine does not know.
func inZone(ref time.Time, name string) time.Time {
	name = strings.TrimSpace(name)
	if known, ok := zoneNames[strings.ToUpper(name)]; ok {
		name = known
	}
	if name == "" {
		return ref
	}
	if m := zoneOffset().FindStringSubmatch(name); m != nil {
		hours, _ := strconv.Atoi(m[2]) // digits by the pattern
		minutes, _ := strconv.Atoi("0" + m[3])
		seconds := hours*3600 + minutes*60
		if m[1] == "-" {
			seconds = -seconds
		}
		return ref.In(time.FixedZone(name, seconds))
	}
	if zone, err := time.LoadLocation(name); err == nil {
		return ref.In(zone)
	}
	return ref
}

// told is a moment as it is given: in UTC, and only one that JSON can say.
func told(at time.Time) *time.Time {
	utc := at.UTC()
	if utc.Year() < 1970 || utc.Year() >= 9999 {
		return nil
	}
	return &utc
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

// clock reads a time of day: the hour, the minute and the half of the day of a
// clock of twelve hours, or the minute of one of 24. All are empty for midnight.
func clock(m []string) (hour, minute int, ok bool) {
	if m[0] == "" {
		return 0, 0, true
	}
	hour, _ = strconv.Atoi(m[0]) // digits by the pattern
	minute, _ = strconv.Atoi("0" + m[1] + m[3])
	if m[2] == "" {
		return hour, minute, hour <= 23 && minute <= 59
	}
	if hour < 1 || hour > 12 || minute > 59 {
		return 0, 0, false
	}
	hour %= 12
	if strings.EqualFold(m[2][:1], "p") {
		hour += 12
	}
	return hour, minute, true
}

const (
	// dateOver is how long a date without a year may be over and still be this
	// year's: a clock may be wrong, and a limit of a year there is none.
	dateOver = 7 * 24 * time.Hour
	// clockOver is the same for a time of day: some CLIs go on telling a limit for
	// a while when its window has begun anew.
	clockOver = 10 * time.Minute
)

// nextClock gives the first moment from ref on with that time of day, or one that
// is just over.
func nextClock(ref time.Time, hour, minute int) *time.Time {
	var moments [][]time.Time
	for day := ref.Day() - 1; day <= ref.Day()+1; day++ {
		moments = append(moments, onDay(ref, ref.Year(), ref.Month(), day, hour, minute))
	}
	at := firstOf(ref, moments...)
	if over := lastOf(ref, moments...); over != nil && ref.Sub(*over) < clockOver {
		at = over
	}
	if at == nil {
		return nil
	}
	return told(*at)
}

// onWeekday gives the first moment from ref on that is on that day of the week.
func onWeekday(ref time.Time, day string, hour, minute int) time.Time {
	day = strings.ToLower(day)
	for n := range 7 {
		at := onDay(ref, ref.Year(), ref.Month(), ref.Day()+n, hour, minute)[0]
		if strings.HasPrefix(strings.ToLower(at.Weekday().String()), day) && !at.Before(ref) {
			return at
		}
	}
	return onDay(ref, ref.Year(), ref.Month(), ref.Day()+7, hour, minute)[0] // today, and it is over
}

// onDate gives the first moment from ref on with the given date, whose year may
// be empty, and time of day. A date may be just over.
func onDate(ref time.Time, monthText, dayText, yearText string, hour, minute int) *time.Time {
	parsed, err := time.Parse("Jan", strings.ToUpper(monthText[:1])+strings.ToLower(monthText[1:3]))
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

// lastOf gives the last moment that is before ref, nil when there is none.
func lastOf(ref time.Time, days ...[]time.Time) *time.Time {
	for _, at := range slices.Backward(slices.Concat(days...)) {
		if at.Before(ref) {
			return &at
		}
	}
	return nil
}
