package wire

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/keystone-go/keystone-go/internal/limitlog"
	"github.com/keystone-go/keystone-go/ratelimit"
)

// shape is what of a limiter cannot change while it holds debts.
type shape struct {
	spec  ratelimit.Spec // without quota, mode and what is a function
	store storeOptions   // where the counters live
	away  string         // what the limiter does while that is away
}

// change is another quota or mode for a limiter that goes on with its debts.
type change struct {
	limiter            *ratelimit.Limiter
	from, to           ratelimit.Quota
	fromMode, intoMode ratelimit.Mode
}

// keep gives the limiter of the App before, with what it remembers, where its
// shape is the same; its new quota and mode wait for Adopt. Else it makes one.
func (b *builder) keep(spec ratelimit.Spec, onFailure string, open ratelimit.Opener) (*ratelimit.Limiter, error) {
	s := shape{spec: spec, store: b.store, away: onFailure}
	s.spec.Quota, s.spec.Mode, s.spec.Now, s.spec.Observe = ratelimit.Quota{}, "", nil, nil
	refusals := b.refusals()
	l, err := held(b, "limiter "+spec.Name, s, func() (*ratelimit.Limiter, error) {
		l, err := ratelimit.New(spec, open)
		l.OnRefusal(func(ctx context.Context, l *ratelimit.Limiter, k ratelimit.Key) {
			refusals.Refused(ctx, limitlog.Refusal{Limiter: l.Name(), Key: k.Bytes(), Shadow: l.Mode() == ratelimit.Shadow})
		})
		return l, err
	}, (*ratelimit.Limiter).Close)
	if err != nil {
		return nil, err
	}
	mode := spec.Mode
	if mode == "" {
		mode = ratelimit.Enforce
	}
	if l.Quota() != spec.Quota || l.Mode() != mode {
		b.app.changes = append(b.app.changes, change{l, l.Quota(), spec.Quota, l.Mode(), mode})
	}
	return l, nil
}

// Adopt gives the limiters that this App has from the one before it their new
// quotas, converting what is owed, and the log of refusals its new settings. It
// is the last step that may fail before the App serves: then, and when undo is
// called, they are as they were.
func (a *App) Adopt(ctx context.Context) (undo func(), err error) {
	done := 0
	back := func() {
		for _, c := range slices.Backward(a.changes[:done]) {
			// The quota has been in force; to go back to it cannot fail but
			// where the store is away, which its owner tells.
			_ = c.limiter.Requota(context.WithoutCancel(ctx), c.from)
			c.limiter.SetMode(c.fromMode)
		}
		done = 0
	}
	for _, c := range a.changes {
		if err := c.limiter.Requota(ctx, c.to); err != nil {
			back()
			return nil, fmt.Errorf("[%s]: %w", c.limiter.Name(), err)
		}
		c.limiter.SetMode(c.intoMode)
		done++
	}
	before := a.refusals.Use(a.telling)
	return func() { back(); a.refusals.Use(before) }, nil
}

// TellLimits logs what a new configuration makes of the limits.
func (a *App) TellLimits(ctx context.Context, log *slog.Logger, before *App) {
	for _, c := range a.changes {
		log.InfoContext(ctx, "A rate limit has changed; what is owed was converted", "limiter", c.limiter.Name(),
			"from", words(c.from, c.fromMode), "to", words(c.to, c.intoMode))
	}
	was := map[string]*ratelimit.Limiter{}
	for _, l := range before.Limits.All() {
		was[l.Name()] = l
	}
	for _, l := range a.Limits.All() {
		switch old, known := was[l.Name()]; {
		case !known:
			log.InfoContext(ctx, "A rate limit is new", "limiter", l.Name(), "quota", words(l.Quota(), l.Mode()))
		case old != l:
			log.WarnContext(ctx, "A rate limit begins anew: what was owed is forgotten, because its store has changed", "limiter", l.Name())
		}
		delete(was, l.Name())
	}
	for name := range was {
		log.WarnContext(ctx, "A rate limit is off", "limiter", name)
	}
}

func words(q ratelimit.Quota, m ratelimit.Mode) string {
	return fmt.Sprintf("%d at once, %d each %s, %s", q.Burst, q.Rate, q.Period, m)
}
