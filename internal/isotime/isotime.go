// Package isotime reads the times that clients write, in every form that
// Python Keystone takes (oslo.utils' parse_isotime).
package isotime

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// forms are those of the iso8601 module: a part that is left out is its least,
// and a zone that is left out is UTC.
var forms = regexp.MustCompile(`^(\d{4})(?:(?:-(\d{1,2})|(\d{2}))(?:(?:-(\d{1,2})|(\d{2}))(?:[ T](\d{2})(?::?(\d{2}))?(?::?(\d{1,2})(?:[.,](\d+))?)?(Z|[-+]\d{2}:?(?:\d{2})?)?)?)?)?$`)

// Parse reads a time, in UTC and whole microseconds; false where the text is
// none.
func Parse(text string) (time.Time, bool) {
	text = strings.TrimSuffix(text, "\n")
	m := forms.FindStringSubmatch(text)
	if m == nil || len(text) == len("200601") && m[3] != "" {
		return time.Time{}, false
	}
	offset, known := zone(m[10])
	if !known {
		return time.Time{}, false
	}
	year, month, day := number(m[1], 0), number(m[2]+m[3], 1), number(m[4]+m[5], 1)
	hour, minute, second := number(m[6], 0), number(m[7], 0), number(m[8], 0)
	micros := number((m[9] + "000000")[:6], 0)
	at := time.Date(year, time.Month(month), day, hour, minute, second, micros*1000, time.UTC)
	// time.Date makes a date of the 30th of February, and Python refuses it.
	if year < 1 || int(at.Month()) != month || at.Day() != day || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	return at.Add(-offset), true
}

func number(digits string, usual int) int {
	if digits == "" {
		return usual
	}
	n, _ := strconv.Atoi(digits) // digits alone, six at the most
	return n
}

// zone is how far a zone is ahead of UTC, less than a day.
func zone(text string) (time.Duration, bool) {
	if text == "" || text == "Z" {
		return 0, true
	}
	hours, minutes := text[1:3], strings.TrimPrefix(text[3:], ":")
	offset := time.Duration(number(hours, 0))*time.Hour + time.Duration(number(minutes, 0))*time.Minute
	if text[0] == '-' {
		offset = -offset
	}
	return offset, offset.Abs() < 24*time.Hour
}
