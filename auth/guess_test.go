package auth_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/identity"
	"github.com/keystone-go/keystone-go/internal/db"
	"github.com/keystone-go/keystone-go/internal/dbtest"
	"github.com/keystone-go/keystone-go/internal/passhash"
)

// step is one change of a user's failure count, as a trigger saw it: changes
// of one row come one after another.
type step struct{ was, now int64 }

// probe notes every change of a failure count from now on.
func probe(s *stand) {
	s.Helper()
	if s.db.Dialect() == db.SQLite {
		s.exec(`create table probe (seq integer primary key autoincrement, was integer, now integer)`)
		s.exec(`create trigger probe after update of failed_auth_count on local_user
begin insert into probe (was, now) values (coalesce(old.failed_auth_count, 0), coalesce(new.failed_auth_count, 0)); end`)
		return
	}
	if s.db.Dialect() == db.MariaDB {
		s.exec(`create table probe (seq bigint auto_increment primary key, was integer, now integer)`)
		s.exec(`create trigger probe after update on local_user for each row
if not (old.failed_auth_count <=> new.failed_auth_count) then
insert into probe (was, now) values (coalesce(old.failed_auth_count, 0), coalesce(new.failed_auth_count, 0)); end if`)
		return
	}
	s.exec(`create table probe (seq bigserial primary key, was integer, now integer)`)
	s.exec(`create function probe() returns trigger language plpgsql as
'begin insert into probe (was, now) values (coalesce(old.failed_auth_count, 0), coalesce(new.failed_auth_count, 0)); return null; end'`)
	s.exec(`create trigger probe after update of failed_auth_count on local_user for each row execute function probe()`)
}

func (s *stand) history() []step {
	s.Helper()
	all, err := db.All(s.Context(), s.db, db.Query[step]{
		Text: `select was, now from probe order by seq`,
		Scan: func(r db.Row) (x step, err error) { err = r.Scan(&x.was, &x.now); return x, err },
	})
	s.must(err)
	return all
}

// TestGuesses sends 64 guesses at once, one of them right, in random order, 50
// times: the account locks after 5 failures, so no more than 5 guesses between
// two successes are answered by what the password is.
func TestGuesses(t *testing.T) {
	const guesses, rounds, limit = 64, 50, 5
	dbtest.Each(t, func(t *testing.T, d db.DB) {
		hash, err := passhash.New(passhash.Options{Rounds: ptr(4), Slots: 8, Queue: guesses, Wait: 5 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		s := newStand(t, d, world{attempts: ptr(limit), duration: time.Hour, hasher: hash})
		probe(s)
		won := 0
		for round := range rounds {
			s.update("ana", identity.Change{Enabled: ptr(true)}) // lifts the lock
			if round%2 == 0 {
				s.exec(`update "user" set last_active_at = $1 where id = $2`, nil, s.ids["ana"])
			}
			s.exec(`delete from probe`)
			answers := guessAtOnce(s, guesses)
			success := slices.Contains(answers, "")
			for _, a := range answers {
				if a != "" && a != bare {
					t.Fatalf("round %d: a guess was told %q", round, a)
				}
			}
			if success {
				won++
			}
			judge(s, round, limit, success)
			if t.Failed() {
				return
			}
		}
		t.Logf("the right one was in time in %d of %d rounds", won, rounds)
	})
}

// guessAtOnce runs n logins at once, of which one, at a random place, has the right
// password, and gives their answers.
func guessAtOnce(s *stand, n int) []string {
	answers := make([]string, n)
	right := rand.IntN(n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		password := "wrong"
		if i == right {
			password = "ana"
		}
		r := s.parse(byPassword(s.ids["ana"], password, onP1))
		wg.Go(func() {
			<-start
			_, err := s.auth.Authenticate(context.WithoutCancel(s.Context()), r)
			answers[i] = message(err)
		})
	}
	close(start)
	wg.Wait()
	return answers
}

// judge reads how the count went: one up, or back to zero from below the
// limit; full at the end, and with all failures in it unless the right guess
// came through.
func judge(s *stand, round, limit int, success bool) {
	s.Helper()
	history := s.history()
	count, failures, clears := int64(0), 0, 0
	for _, x := range history {
		switch {
		case x.was != count, x.now > int64(limit):
			s.Errorf("round %d: the count went %v", round, history)
			return
		case x.now == x.was+1:
			failures++
		case x.now == 0 && x.was < int64(limit) && success:
			clears++
		default:
			s.Errorf("round %d: success %v, the count went %v", round, success, history)
			return
		}
		count = x.now
	}
	switch {
	case clears > 1, count != int64(limit), failures > 2*limit-1, clears == 0 && failures != limit:
		s.Errorf("round %d: success %v, %d clears, %d failures: the count went %v", round, success, clears, failures, history)
	}
}
