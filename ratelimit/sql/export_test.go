package sql

import (
	"context"
	"time"
)

// SetClock makes the client decide by a clock of the test.
func (c *Client) SetClock(now func() time.Duration) { c.clock = now }

// Portable makes the client decide as engines do that have no statement of
// their own.
func (s *Store) Portable() { s.portable = true }

// Sweep sweeps once.
func (s *Store) Sweep(ctx context.Context, after string, rows, chunks int) (string, error) {
	return s.sweep(ctx, after, rows, chunks)
}
