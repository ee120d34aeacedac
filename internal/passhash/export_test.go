package passhash

import (
	"context"
	"time"
)

// Gate is the gate alone, for work that tests hold in their hands.
type Gate struct{ g *gate }

// NewGate makes one.
func NewGate(slots, room int, wait time.Duration) Gate { return Gate{newGate(slots, room, wait)} }

// Run runs the work in a slot.
func (g Gate) Run(ctx context.Context, work func()) error { return g.g.run(ctx, work) }

// Stats returns the present counts.
func (g Gate) Stats() Stats { return g.g.stats() }
