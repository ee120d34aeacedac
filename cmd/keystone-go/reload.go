package main

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
)

// reloadTime is how long a reload may take: a new database may not answer.
const reloadTime = time.Minute

// restartOptions are read at the start alone. All others are taken over by a
// reload.
var restartOptions = []conf.Name{
	{Section: "keystone_go", Option: "listen"},
	{Section: "keystone_go", Option: "admin_listen"},
	{Section: "keystone_go", Option: "socket_mode"},
	{Section: "keystone_go", Option: "socket_group"},
}

// reload reads everything again and serves by it, or goes on as before.
func (d *daemon) reload(ctx context.Context) {
	d.tell(d.manager.Reloading(ctx))
	status := serving
	err := d.replace(ctx)
	if err != nil {
		status += "; the last reload failed"
		// First the figure: who reads the log looks for it next.
		d.live.App().Metrics.Reloaded(false, time.Now())
		for _, e := range apart(err) {
			slog.ErrorContext(ctx, "Configuration not taken over, the last good one stays in use", "error", e)
		}
	}
	d.tell(d.manager.Ready(ctx, status))
}

// replace builds everything anew, and swaps when nothing can fail any more.
func (d *daemon) replace(ctx context.Context) error {
	next, err := d.load()
	if err != nil {
		return err
	}
	if err := wire.DatabaseFile(next.Database.Connection); err != nil {
		return err
	}
	if _, err := unixOf(next.KeystoneGo); err != nil {
		return err
	}
	before := d.live.App()
	certs, err := certificates(next.KeystoneGo, before.Metrics)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, reloadTime)
	defer cancel()
	o := d.options
	o.Before = before
	app, err := wire.Build(ctx, next, o)
	if err != nil {
		return err
	}
	undo, err := app.Adopt(ctx)
	if err != nil {
		app.Close()
		return err
	}
	if err := d.reloadLog(next); err != nil {
		undo()
		app.Close()
		return err
	}
	old := d.cfg
	d.cfg = next
	if certs != nil {
		d.certs.Use(certs)
	}
	d.open(app, before)
	d.live.Swap(app)
	app.Metrics.Reloaded(true, time.Now())
	notes(ctx, slog.Default(), next)
	d.report(ctx, old)
	app.TellLimits(ctx, slog.Default(), before)
	return nil
}

// report says what the new configuration changes, and what it does not.
func (d *daemon) report(ctx context.Context, old *conf.Config) {
	changed := changes(old, d.cfg)
	slog.InfoContext(ctx, "Configuration and policy were read again", "changed", cmp.Or(strings.Join(changed, ", "), "nothing"))
	var late []string
	for _, name := range changes(d.first, d.cfg) {
		if slices.ContainsFunc(restartOptions, func(n conf.Name) bool { return n.String() == name }) {
			late = append(late, name)
		}
	}
	if usesTLS(d.first) != usesTLS(d.cfg) {
		late = append(late, "[keystone_go] tls_cert_file")
	}
	if len(late) > 0 {
		slog.WarnContext(ctx, "These options take effect at a restart", "options", strings.Join(late, ", "))
	}
}

func usesTLS(c *conf.Config) bool { return c.KeystoneGo.TLSCertFile != "" }

// changes names the options whose values differ and that have an effect.
func changes(a, b *conf.Config) []string {
	values := map[conf.Name]any{}
	for _, s := range a.Settings() {
		values[s.Name] = s.Value
	}
	var out []string
	for _, s := range b.Settings() {
		if s.Effect != "" && !reflect.DeepEqual(values[s.Name], s.Value) {
			out = append(out, s.Name.String())
		}
		delete(values, s.Name)
	}
	for _, s := range a.Settings() {
		if _, gone := values[s.Name]; gone && s.Effect != "" {
			out = append(out, s.Name.String()) // of a route whose section is gone
		}
	}
	return out
}

// reopen opens the log files by their names again, after a rotation.
func (d *daemon) reopen(ctx context.Context) {
	if err := d.reopenLog(); err != nil {
		slog.ErrorContext(ctx, "Log files not opened again", "error", err)
		return
	}
	slog.InfoContext(ctx, "Log files were opened again")
}
