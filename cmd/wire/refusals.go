package wire

import (
	"time"

	"github.com/keystone-go/keystone-go/internal/limitlog"
)

// flushEvery is how often counts of refusals that nobody adds to are written.
const flushEvery = 10 * time.Second

// refusals is the log of the limits' decisions: one for the life of the
// process, so that a caller has one hash, however often the configuration is
// read again.
func (b *builder) refusals() *limitlog.Log {
	if b.app.refusals != nil {
		return b.app.refusals
	}
	c := b.cfg.RateLimit
	b.app.telling = limitlog.Config{Log: b.Log, Now: b.Now, ClearAddresses: c.LogClearAddresses, Off: !c.DecisionLog}
	// held cannot fail: the open function has no error.
	b.app.refusals, _ = held(b, "refusals", nil, func() (*limitlog.Log, error) { return limitlog.New(b.app.telling), nil }, nil)
	if b.Before == nil {
		b.flushing()
	}
	return b.app.refusals
}

// flushing tells of floods that have ended, until the last App closes.
func (b *builder) flushing() {
	log, quit, done := b.app.refusals, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(flushEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				log.Flush()
			}
		}
	}()
	p := b.app.parts["refusals"]
	p.end = func() { close(quit); <-done }
}
