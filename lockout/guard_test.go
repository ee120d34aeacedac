package lockout_test

import (
	"errors"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/lockout"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC)

func ptr[T any](v T) *T { return &v }

func guard(attempts *int, duration time.Duration) lockout.Guard {
	return lockout.Guard{Policy: lockout.Policy{Attempts: attempts, Duration: duration}, Now: func() time.Time { return now }}
}

// TestLocked is the rule of keystone/identity/backends/sql.py
// _is_account_locked: at N failures, as long as the last one plus the duration
// is ahead; a duration of 0 is for ever.
func TestLocked(t *testing.T) {
	const half = 30 * time.Minute
	at := func(d time.Duration) *time.Time { return ptr(now.Add(-d)) }
	for _, tt := range []struct {
		name            string
		attempts        *int
		duration        time.Duration
		state           lockout.State
		locked, expired bool
	}{
		{"no limit", nil, half, lockout.State{Failures: 1000, FailedAt: at(0)}, false, false},
		{"no failures", ptr(3), half, lockout.State{}, false, false},
		{"below", ptr(3), half, lockout.State{Failures: 2, FailedAt: at(0)}, false, false},
		{"at the limit", ptr(3), half, lockout.State{Failures: 3, FailedAt: at(0)}, true, false},
		{"beyond", ptr(3), half, lockout.State{Failures: 9, FailedAt: at(0)}, true, false},
		{"limit of one", ptr(1), half, lockout.State{Failures: 1, FailedAt: at(0)}, true, false},
		{"a microsecond left", ptr(3), half, lockout.State{Failures: 3, FailedAt: at(half - time.Microsecond)}, true, false},
		{"time is over", ptr(3), half, lockout.State{Failures: 3, FailedAt: at(half)}, false, true},
		{"long over", ptr(3), half, lockout.State{Failures: 9, FailedAt: at(24 * time.Hour)}, false, true},
		{"below and long ago", ptr(3), half, lockout.State{Failures: 2, FailedAt: at(24 * time.Hour)}, false, false},
		{"for ever, now", ptr(3), 0, lockout.State{Failures: 3, FailedAt: at(0)}, true, false},
		{"for ever, years ago", ptr(3), 0, lockout.State{Failures: 3, FailedAt: at(9999 * time.Hour)}, true, false},
		{"for ever, no time", ptr(3), 0, lockout.State{Failures: 3}, true, false},
		{"no time", ptr(3), half, lockout.State{Failures: 3}, false, true},
		{"exempt", ptr(3), half, lockout.State{Failures: 9, FailedAt: at(0), Exempt: true}, false, false},
		{"exempt, for ever", ptr(3), 0, lockout.State{Failures: 9, FailedAt: at(0), Exempt: true}, false, false},
	} {
		g := guard(tt.attempts, tt.duration)
		if got := g.Locked(tt.state); got != tt.locked {
			t.Errorf("%s: locked is %v, want %v", tt.name, got, tt.locked)
		}
		if got := g.Expired(tt.state); got != tt.expired {
			t.Errorf("%s: expired is %v, want %v", tt.name, got, tt.expired)
		}
	}
}

// rows is a database with two local users, ids 1 and 2.
func rows(t *testing.T, d db.DB) {
	t.Helper()
	for _, id := range []string{"u1", "u2"} {
		exec(t, d, `insert into "user" (id, extra, domain_id) values ($1, '{}', 'd')`, id)
		exec(t, d, `insert into local_user (user_id, domain_id, name) values ($1, 'd', $1)`, id)
	}
}

func exec(t *testing.T, d db.DB, text string, args ...any) {
	t.Helper()
	if _, err := d.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func set(t *testing.T, d db.DB, id int64, count any, at any) {
	t.Helper()
	exec(t, d, `update local_user set failed_auth_count = $1, failed_auth_at = $2 where id = $3`, count, at, id)
}

func state(t *testing.T, d db.DB, id int64) (count *int64, at *time.Time) {
	t.Helper()
	_, err := db.One(t.Context(), d, db.Query[bool]{
		Text: `select failed_auth_count, failed_auth_at from local_user where id = $1`, Args: []any{id},
		Scan: func(r db.Row) (bool, error) { return true, r.Scan(&count, &at) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return count, at
}

// TestFail adds one below the limit and nothing at it; without a limit, and
// for an exempt user, it always adds.
func TestFail(t *testing.T) {
	before := now.Add(-time.Minute)
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		rows(t, d)
		for _, tt := range []struct {
			name     string
			attempts *int
			exempt   bool
			count    any
			want     int64
		}{
			{"first", ptr(3), false, nil, 1},
			{"from zero", ptr(3), false, 0, 1},
			{"last", ptr(3), false, 2, 3},
			{"at the limit", ptr(3), false, 3, 3},
			{"beyond", ptr(3), false, 7, 7},
			{"no limit", nil, false, 7, 8},
			{"no limit, first", nil, false, nil, 1},
			{"exempt", ptr(3), true, 7, 8},
		} {
			set(t, d, 1, tt.count, before)
			if err := guard(tt.attempts, time.Hour).Fail(t.Context(), d, lockout.State{LocalID: 1, Exempt: tt.exempt}); err != nil {
				t.Fatal(err)
			}
			count, at := state(t, d, 1)
			wantAt := now
			if tt.count == any(int(tt.want)) {
				wantAt = before // a try while locked does not lengthen the lock
			}
			if count == nil || *count != tt.want || at == nil || !at.Equal(dbtest.Kept(d, wantAt)) {
				t.Errorf("%s: %v failures at %v, want %d at %v", tt.name, count, at, tt.want, wantAt)
			}
		}
		if count, at := state(t, d, 2); count != nil || at != nil {
			t.Errorf("another user has %v failures at %v", count, at)
		}
	})
}

// TestClear forgets below the limit; at it the account is locked and the
// statement says so.
func TestClear(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		rows(t, d)
		for _, tt := range []struct {
			name     string
			attempts *int
			exempt   bool
			count    int
			open     bool
		}{
			{"below", ptr(3), false, 2, true},
			{"at the limit", ptr(3), false, 3, false},
			{"beyond", ptr(3), false, 9, false},
			{"no limit", nil, false, 9, true},
			{"exempt", ptr(3), true, 9, true},
		} {
			set(t, d, 1, tt.count, now)
			set(t, d, 2, 1, now)
			var b db.Batch
			cleared := guard(tt.attempts, time.Hour).Clear(&b, lockout.State{LocalID: 1, Exempt: tt.exempt})
			if err := d.Send(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			count, at := state(t, d, 1)
			if open := cleared.Rows() == 1; open != tt.open || open != (*count == 0) || open != (at == nil) {
				t.Errorf("%s: open is %v, want %v; left %d failures at %v", tt.name, open, tt.open, *count, at)
			}
			if other, _ := state(t, d, 2); *other != 1 {
				t.Errorf("%s: another user was cleared", tt.name)
			}
		}
	})
}

// TestRelease clears a lock that has run out; one that is newer stays.
func TestRelease(t *testing.T) {
	const half = 30 * time.Minute
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		rows(t, d)
		for _, tt := range []struct {
			name  string
			count int
			at    any
			want  int64
		}{
			{"run out", 3, now.Add(-half), 0},
			{"run out long ago", 8, now.Add(-24 * time.Hour), 0},
			{"no time", 3, nil, 0},
			{"locked anew meanwhile", 3, now.Add(-half + time.Second), 3},
			{"cleared and failed again meanwhile", 1, now, 1},
			{"below, long ago", 2, now.Add(-24 * time.Hour), 2},
		} {
			set(t, d, 1, tt.count, tt.at)
			set(t, d, 2, 9, now.Add(-24*time.Hour))
			if err := guard(ptr(3), half).Release(t.Context(), d, lockout.State{LocalID: 1}); err != nil {
				t.Fatal(err)
			}
			count, at := state(t, d, 1)
			if *count != tt.want || (tt.want == 0) != (at == nil) {
				t.Errorf("%s: %d failures at %v, want %d", tt.name, *count, at, tt.want)
			}
			if other, _ := state(t, d, 2); *other != 9 {
				t.Errorf("%s: another user was released", tt.name)
			}
		}
	})
}

// TestRecheck reads what the row says by now and keeps who is exempt.
func TestRecheck(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		rows(t, d)
		g := guard(ptr(3), time.Hour)
		for _, tt := range []struct {
			count any
			at    any
			want  lockout.State
		}{
			{nil, nil, lockout.State{LocalID: 1, Exempt: true}},
			{4, now, lockout.State{LocalID: 1, Exempt: true, Failures: 4, FailedAt: &now}},
		} {
			set(t, d, 1, tt.count, tt.at)
			got, err := db.One(t.Context(), d, g.Recheck(lockout.State{LocalID: 1, Exempt: true, Failures: 2, FailedAt: ptr(now.Add(-time.Hour))}))
			if err != nil {
				t.Fatal(err)
			}
			if got.LocalID != 1 || !got.Exempt || got.Failures != tt.want.Failures || (got.FailedAt == nil) != (tt.want.FailedAt == nil) {
				t.Errorf("row %v at %v: got %+v", tt.count, tt.at, got)
			}
		}
		if _, err := db.One(t.Context(), d, g.Recheck(lockout.State{LocalID: 99})); !errors.Is(err, db.ErrNoRow) {
			t.Errorf("a user who is gone: %v", err)
		}
	})
}
