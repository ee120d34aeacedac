package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/keystone-go/keystone-go/auth/method"
	"github.com/keystone-go/keystone-go/internal/fault"
	"github.com/keystone-go/keystone-go/internal/pause"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// evening makes all refusals of a secret take the same time. The hash costs the
// same for each already, but not what is around it: a user who exists has rows
// to be read, and his wrong password is written down, which on a database that
// keeps its word takes longer than most else. So a refusal is held back until
// what is around the hash has taken as long as it takes with that write.
//
// How long that is, only refusals with the write teach: were others to teach it
// too, a flood of unknown names would bring it down to what those take.
type evening struct {
	now  func() time.Duration
	wait func(ctx context.Context, until time.Duration)

	mu   sync.Mutex
	most time.Duration // what around the hash is held to
}

const (
	// firstEven is what is assumed before anything is known.
	firstEven = 10 * time.Millisecond
	// leastEven and longestEven bound what is learned: a slow database makes
	// nobody wait for ever.
	leastEven, longestEven = time.Millisecond, time.Second
	// up and down are the parts by which a refusal that took longer, or less,
	// moves what is held to: so of 250 written refusals one takes longer.
	up, down = 8, 8 * 250
)

func newEvening() *evening {
	return &evening{now: ratelimit.Monotonic, most: firstEven, wait: func(ctx context.Context, until time.Duration) {
		pause.Until(ctx, ratelimit.Monotonic, until)
	}}
}

// even holds back a refusal of a login that began at start.
func (e *evening) even(ctx context.Context, start time.Duration, attempts []method.Attempt, err error) {
	var sum method.Spent
	for _, a := range attempts {
		s := a.Spent()
		sum.Secret, sum.Counted = sum.Secret || s.Secret, sum.Counted || s.Counted
		sum.Hashing += s.Hashing
	}
	if !sum.Secret || !alike(err) {
		return
	}
	around := e.now() - start - sum.Hashing
	most := e.learn(around, sum.Counted)
	e.wait(ctx, start+sum.Hashing+most)
}

// learn gives the time that is held to, and moves it by a refusal that was
// written down.
func (e *evening) learn(around time.Duration, counted bool) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	most := e.most
	switch {
	case !counted:
	case around >= most:
		e.most = min(most+most/up, longestEven)
	default:
		e.most = max(most-most/down, leastEven)
	}
	return most
}

// alike tells whether an answer is one that must not be told from others of its
// kind by its time. One that lists the missing methods tells what it tells.
func alike(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Kind < fault.Internal && f.Reason != reasonFactors
}
