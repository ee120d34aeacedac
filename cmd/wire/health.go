package wire

import (
	"context"
	"fmt"

	"github.com/keystone-go/keystone-go/internal/health"
)

// health makes what /healthcheck asks.
func (b *builder) health(context.Context) error {
	c := b.cfg.Healthcheck
	// Balancers decide by the status, so a store of the limits that is away
	// changes none.
	checks, warnings, err := health.New(health.Config{
		Detailed: c.Detailed, Backends: c.Backends, DisableByFile: c.DisableByFilePath, DisableByPort: c.DisableByFilePaths,
		EnableByFiles: c.EnableByFilePaths, SourceRanges: c.AllowedSourceRanges, IgnoreProxied: c.IgnoreProxiedRequests, Log: b.Log,
		Degraded: b.app.face.degraded,
	})
	if err != nil {
		return fmt.Errorf("[healthcheck] %w", err)
	}
	b.app.Warnings = append(b.app.Warnings, warnings...)
	b.checks = checks
	return nil
}
