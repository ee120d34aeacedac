// Package audit records what administrators do to the protection of others: a
// line a deed, by a logger of its own, that says who did what to whom from
// where. Who and the request's id are in the line as in every other.
package audit

import (
	"context"
	"log/slog"

	"github.com/keystone-go/keystone-go/internal/olog"
)

// Logger is the name of the log's lines, for [DEFAULT] default_log_levels and
// for whoever collects them.
const Logger = "keystone.audit"

// Actions, as CADF names what is done (DSP0262).
const (
	Unlock = "unlock"
	Reset  = "reset"
)

// Event is one deed.
type Event struct {
	Action string
	// Kind and Target say to whom: a kind of the code's, such as user or
	// address, and its id.
	Kind, Target string
	// Err is why it failed; nil is success.
	Err error
}

// Record writes an event. A nil logger records nothing.
func Record(ctx context.Context, log *slog.Logger, e Event) {
	if log == nil {
		return
	}
	outcome, level := "success", slog.LevelInfo
	attrs := []slog.Attr{olog.Name(Logger)}
	if e.Err != nil {
		outcome, level = "failure", slog.LevelWarn
	}
	r := olog.FromContext(ctx)
	attrs = append(attrs, slog.String("action", e.Action), slog.String("outcome", outcome), slog.String("target_type", e.Kind), slog.String("target", e.Target))
	if r.Addr.IsValid() {
		attrs = append(attrs, slog.String("initiator_address", r.Addr.String()))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("error", e.Err))
	}
	log.LogAttrs(ctx, level, "audit: "+e.Action+" "+e.Kind, attrs...)
}
