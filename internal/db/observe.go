package db

import (
	"context"
	"time"
)

// Watch gives the same pool with one observer more, for tests that count
// statements. Closing either closes both.
func Watch(d DB, f func(Event)) DB {
	if w, ok := d.(interface{ watch(func(Event)) DB }); ok {
		return w.watch(f)
	}
	return d
}

// note reports a round trip that began at start.
func note(ctx context.Context, observe func(Event), start time.Time, err error, writes int, texts ...string) {
	if observe == nil {
		return
	}
	observe(Event{Context: ctx, Texts: texts, Writes: writes, Duration: time.Since(start), Err: err})
}

func both(a, b func(Event)) func(Event) {
	if a == nil {
		return b
	}
	return func(e Event) {
		a(e)
		b(e)
	}
}

// waited reports the time since a caller began to wait for a connection.
func waited(report func(time.Duration), since time.Time) {
	if report != nil {
		report(time.Since(since))
	}
}
