package notify

import (
	"context"
	"log/slog"

	"github.com/keystone-go/keystone-go/internal/olog"
	"github.com/keystone-go/keystone-go/internal/pyjson"
)

// Log is the driver "log": a line of the log for each event, by a logger that
// is named after it.
type Log struct{ Logger *slog.Logger }

// Name is log.
func (Log) Name() string { return "log" }

// Send writes a line of level INFO.
func (d Log) Send(_ context.Context, m Message) error {
	d.Logger.LogAttrs(m.ctx, slog.LevelInfo, pyjson.Encode(masked(m.Body)), olog.Name("oslo.messaging.notification."+m.Type))
	return nil
}

// Close does nothing: the log is not the driver's.
func (Log) Close() {}
