package pause_test

import (
	"context"
	"testing"
	"time"

	"github.com/keystone-go/keystone-go/internal/pause"
)

var start = time.Now()

func now() time.Duration { return time.Since(start) }

// TestUntil: never early, and on the dot in most cases, whatever part of a
// millisecond is asked for, as soon as the machine is not too busy for that.
func TestUntil(t *testing.T) {
	for range 20 {
		if late := lateOf(t, 40); late <= 30 {
			return
		}
	}
	t.Error("more than 30 of 40 waits ended half a millisecond late or more, 20 times")
}

func lateOf(t *testing.T, rounds int) (late int) {
	t.Helper()
	for i := range rounds {
		at := now() + time.Duration(i)*123*time.Microsecond
		pause.Until(t.Context(), now, at)
		switch over := now() - at; {
		case over < 0:
			t.Errorf("%v early", -over)
		case over > 500*time.Microsecond:
			late++ // somebody else had the processor
		}
	}
	return late
}

// TestUntilEnds: with its context, or when the moment is past, however far
// away the clock is.
func TestUntilEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	pause.Until(ctx, now, now()+time.Hour)
	pause.Until(t.Context(), now, now()-time.Hour)
	frozen := func() time.Duration { return 0 }
	pause.Until(t.Context(), frozen, 5*time.Millisecond)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}
