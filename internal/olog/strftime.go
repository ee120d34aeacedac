package olog

import (
	"strconv"
	"time"
)

// strftimeForms are the directives of C's strftime that are one of Go's forms.
var strftimeForms = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'j': "002", 'H': "15", 'I': "03", 'M': "04", 'S': "05",
	'p': "PM", 'P': "pm", 'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'z': "-0700", 'Z': "MST",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'r': "03:04:05 PM",
	'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05",
}

// strftime appends a time in C's form, in the locale "C". An unknown directive
// stays as it is written.
func strftime(b []byte, form string, t time.Time) []byte {
	for i := 0; i < len(form); i++ {
		if form[i] != '%' || i+1 == len(form) {
			b = append(b, form[i])
			continue
		}
		i++
		if layout, ok := strftimeForms[form[i]]; ok {
			b = t.AppendFormat(b, layout)
			continue
		}
		switch form[i] {
		case '%':
			b = append(b, '%')
		case 'n':
			b = append(b, ' ') // a line stays one line
		case 't':
			b = append(b, '\t')
		case 's':
			b = strconv.AppendInt(b, t.Unix(), 10)
		case 'L': // ours: milliseconds
			b = appendPadded(b, t.Nanosecond()/int(time.Millisecond), 3)
		case 'C':
			b = appendPadded(b, t.Year()/100, 2)
		case 'u':
			b = strconv.AppendInt(b, int64((t.Weekday()+6)%7+1), 10)
		case 'w':
			b = strconv.AppendInt(b, int64(t.Weekday()), 10)
		case 'G', 'g', 'V':
			b = appendISOWeek(b, form[i], t)
		case 'U':
			b = appendPadded(b, (t.YearDay()+6-int(t.Weekday()))/7, 2)
		case 'W':
			b = appendPadded(b, (t.YearDay()+6-int(t.Weekday()+6)%7)/7, 2)
		default:
			b = append(b, '%', form[i])
		}
	}
	return b
}

func appendISOWeek(b []byte, directive byte, t time.Time) []byte {
	year, week := t.ISOWeek()
	switch directive {
	case 'G':
		return appendPadded(b, year, 4)
	case 'g':
		return appendPadded(b, year%100, 2)
	}
	return appendPadded(b, week, 2)
}

// appendPadded appends n with zeros before it up to the width.
func appendPadded(b []byte, n, width int) []byte {
	s := strconv.Itoa(n)
	for range width - len(s) {
		b = append(b, '0')
	}
	return append(b, s...)
}
