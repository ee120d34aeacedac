package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/cmd/wire"
	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/listen"
)

// garbage is how much may pile up before it is collected, in percent of what is
// in use. The server holds some ten megabytes and throws away much: with Go's
// own 100 a quarter of a validation's processor time goes there.
const garbage = 400

func (p *program) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve the Identity API",
		Long: `serve answers on [keystone_go] listen until SIGTERM or SIGINT. It then lets
running requests end for [keystone_go] graceful_timeout seconds; a second signal
ends it at once.

SIGHUP reads configuration, policy, certificates and log settings again, all of
them or, when something is wrong, none. SIGUSR1 opens the log files again.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, set := p.lookupEnv("GOGC"); !set {
				debug.SetGCPercent(garbage)
			}
			return p.withConfig(cmd.Context(), func(ctx context.Context, cfg *conf.Config) error {
				return (&daemon{program: p, load: p.load}).serve(ctx, cfg)
			})
		},
	}
}

// daemon is a server that runs.
type daemon struct {
	*program
	load    func() (*conf.Config, error) // the configuration, once more
	options wire.Options

	first, cfg    *conf.Config // of the start, and in use
	live          *wire.Live
	certs         listen.TLS
	manager       *listen.Manager
	public, admin *listen.Server
	servers       int
	ended         chan error
}

func (d *daemon) serve(ctx context.Context, cfg *conf.Config) error {
	ctx, cancel := d.untilSignal(ctx)
	defer cancel()
	control, end := d.controls()
	defer end()
	notes(ctx, slog.Default(), cfg)
	s, err := d.openSockets(ctx, cfg.KeystoneGo)
	app, buildErr := wire.Build(ctx, cfg, d.options)
	if err != nil || buildErr != nil { // everything that is wrong, at once
		if app != nil {
			app.Close()
		}
		_, certErr := certificates(cfg.KeystoneGo, nil)
		return errors.Join(err, certErr, buildErr, s.close())
	}
	return d.answer(ctx, cfg, app, s, control)
}

// controls are the signals that change a running server. They are caught from
// the start on: a process that does not would end by them.
func (p *program) controls() (<-chan os.Signal, func()) {
	if p.control != nil {
		return p.control, func() {}
	}
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGHUP, syscall.SIGUSR1)
	return c, func() { signal.Stop(c) }
}

// sameSignal is the time within which a signal counts as the one before:
// timeout(1) and some supervisors send it to the process and to its group.
const sameSignal = 500 * time.Millisecond

// untilSignal gives a context that ends with the first signal. A later one
// stays in p.signals.
func (p *program) untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case s := <-p.signals:
			slog.InfoContext(ctx, "Stopping", "signal", s.String())
			p.stopping = time.Now()
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// secondSignal is closed when another signal comes after the first.
func (p *program) secondSignal() <-chan struct{} {
	second := make(chan struct{})
	go func() {
		for range p.signals {
			if time.Since(p.stopping) > sameSignal {
				close(second)
				return
			}
		}
	}()
	return second
}

// answer serves until ctx ends, then drains; it closes app and the sockets.
func (d *daemon) answer(ctx context.Context, cfg *conf.Config, app *wire.App, s sockets, control <-chan os.Signal) error {
	certs, err := certificates(cfg.KeystoneGo, app.Metrics)
	if err != nil {
		app.Close()
		return errors.Join(err, s.close())
	}
	d.first, d.cfg, d.live = cfg, cfg, wire.NewLive(app)
	d.certs.Use(certs)
	d.open(app, nil)
	app.Metrics.Started(time.Now())
	d.ended = make(chan error, 2)
	times := listen.Times{Write: writeTime + seconds(cfg.KeystoneGo.HashWait)}
	d.public = listen.NewServer(d.live, slog.Default(), times)
	public := s.public
	if certs != nil {
		public = overTLS(public, &d.certs)
	}
	go func() { d.ended <- d.public.Serve(public...) }()
	d.servers = 1
	if len(s.admin) > 0 {
		d.admin = listen.NewServer(app.Admin.Handler(), slog.Default(), listen.Times{Write: adminTime})
		go func() { d.ended <- d.admin.Serve(s.admin...) }()
		d.servers = 2
	}
	slog.InfoContext(ctx, "Serving", "listen", addresses(s.public), "admin_listen", addresses(s.admin))
	d.manager = listen.NewManager(d.env, os.Getpid())
	d.tell(d.manager.Ready(ctx, serving))
	alive, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	go d.watchdog(alive)
	return d.loop(ctx, control)
}

const (
	// writeTime is more than an answer takes, but for the queue for hashes.
	writeTime = 2 * time.Minute
	// adminTime leaves room for a profile of some minutes.
	adminTime = 10 * time.Minute
)

// The states that the service manager shows.
const (
	serving  = "Serving"
	draining = "Waiting for the last requests"
)

// loop serves and obeys.
func (d *daemon) loop(ctx context.Context, control <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return d.drain()
		case err := <-d.ended:
			d.servers--
			return errors.Join(err, d.stop(0))
		case s := <-control:
			if s == syscall.SIGUSR1 {
				d.reopen(ctx)
			} else {
				d.reload(ctx)
			}
		}
	}
}

// open does what is done to every App that begins to serve.
func (d *daemon) open(app, before *wire.App) {
	app.Admin.Profile(d.cfg.KeystoneGo.Pprof)
	known := map[string]bool{}
	if before != nil {
		for _, w := range before.Warnings {
			known[w] = true
		}
	}
	for _, w := range app.Warnings {
		if !known[w] {
			slog.Warn(w)
		}
	}
}

// tell logs what the service manager could not be told.
func (d *daemon) tell(err error) {
	if err != nil {
		slog.Warn("The service manager does not listen", "error", err)
	}
}

// watchdog tells the service manager, twice in the time that it waits, that
// the process runs.
func (d *daemon) watchdog(ctx context.Context) {
	every := d.manager.Watchdog() / 2
	if every == 0 {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			d.tell(d.manager.Alive(ctx))
		}
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// errSecondSignal ends the program without waiting for anybody.
var errSecondSignal = errors.New("a second signal came: requests were cut off")

// drain turns traffic away, lets running requests end and closes everything.
// It is cut short by another signal.
func (d *daemon) drain() error {
	d.live.App().Admin.Drain()
	d.tell(d.manager.Stopping(context.Background(), draining))
	second := d.secondSignal()
	select {
	case <-time.After(seconds(d.cfg.KeystoneGo.DrainDelay)):
	case <-second:
		return errSecondSignal
	}
	stopped := make(chan error, 1)
	go func() { stopped <- d.stop(seconds(d.cfg.KeystoneGo.GracefulTimeout)) }()
	select {
	case err := <-stopped:
		return err
	case <-second:
		return errSecondSignal
	}
}

// stop ends the servers within the time, and then what they stand on. Requests
// that take longer are cut off, which is told and is no failure.
func (d *daemon) stop(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := d.public.Shutdown(ctx); err != nil {
		slog.Warn("Requests were cut off at the end", "after", within.String())
	}
	if d.admin != nil {
		// It has answered to the end; nobody needs it longer.
		_ = d.admin.Shutdown(ctx)
	}
	var err error
	for range d.servers {
		err = errors.Join(err, <-d.ended)
	}
	d.live.Close()
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
